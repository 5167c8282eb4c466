//! Warnings about launches that leave a device idle, about sizes that it does not have, and about axes in an
//! order that costs much. Sound kernels have none of them.

mod program;

use program::{answer, number, results, stdout, wavecast};
use serde_json::Value;

const CODES: [&str; 4] = ["few-blocks", "partial-wave", "memory-exceeded", "axis-order"];

/// Codes of the warnings of a document and of its results, of those that this file is about.
fn codes(document: &Value) -> Vec<String> {
    let of = |d: &Value| d["warnings"].as_array().cloned().unwrap_or_default();
    let mut all = of(document);
    all.extend(of(&document["result"]));
    all.extend(document["results"].as_array().into_iter().flatten().flat_map(of));
    let codes = all.iter().map(|w| w["code"].as_str().unwrap().to_owned());
    let mut codes: Vec<String> = codes.filter(|c| CODES.contains(&c.as_str())).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// A grid-stride copy of N doubles.
fn strided(blocks: usize) -> String {
    format!(
        "wavecast: 1\nkernel: strided\nparams: {{N: 1048576}}\nfields: {{a: {{dtype: f64, size: N}}, b: {{like: a}}}}\n\
         domain: {{i: N}}\nbody:\n  - loop: {{k: {{from: tidx, to: N-1, step: blockDim.x*gridDim.x}}}}\n    \
         body: ['load a[k]', 'store b[k]']\nwork: {{flops: 0}}\n\
         launch: {{block: [[256]], grid: [{blocks}], registers: 16}}\n"
    )
}

fn copy(n: usize) -> String {
    format!(
        "wavecast: 1\nkernel: copy\nparams: {{N: {n}}}\nfields: {{a: {{dtype: f64, size: N}}, b: {{like: a}}}}\n\
         domain: {{x: N}}\nloads: ['a[x]']\nstores: ['b[x]']\nwork: {{flops: 0}}\n\
         launch: {{block: [[256]], registers: 16}}\n"
    )
}

fn predicted(text: &str, more: &[&str]) -> Value {
    answer(&[&["predict", "-", "-d", "a100"], more].concat(), text)
}

#[test]
fn a_grid_of_few_blocks_leaves_sms_idle() {
    let few = predicted(&strided(32), &[]);
    assert_eq!(codes(&few), ["few-blocks"]);
    let all = few["result"]["warnings"].as_array().unwrap();
    let warning = all.iter().find(|w| w["code"] == "few-blocks").unwrap();
    assert!(warning["message"].as_str().unwrap().contains("32 blocks with work for 108 SMs"), "{warning}");
    assert_eq!(warning["where"], "occupancy.waves");
    let text = stdout(&wavecast(&["predict", "-", "-d", "a100"], &strided(32)));
    assert!(text.contains("warning: the launch has 32 blocks"), "{text}");
    assert!(codes(&predicted(&strided(54), &[])).is_empty(), "half of the SMs");
    assert!(codes(&predicted(&strided(864), &[])).is_empty(), "a whole wave");
    // Blocks that the domain leaves without work do not count.
    assert_eq!(codes(&predicted(&copy(32 * 256), &[])), ["few-blocks"]);
}

#[test]
fn a_last_wave_below_half_of_the_sms_is_worth_a_word() {
    // 8 blocks on each of 108 SMs are a wave.
    let of_blocks = |blocks: usize| codes(&predicted(&copy(blocks * 256), &[]));
    assert_eq!(of_blocks(864 + 20), ["partial-wave"]);
    assert_eq!(of_blocks(4 * 864 + 53), ["partial-wave"]);
    assert!(of_blocks(4 * 864 + 54).is_empty(), "half of the SMs have a block");
    assert!(of_blocks(4 * 864).is_empty());
    assert!(of_blocks(40 * 864 + 20).is_empty(), "a fortieth is not worth it");
    // Of a ranking, how many have it and which is the first.
    let text = copy(884 * 256).replace("[[256]]", "[[256], [1024]]");
    let table = stdout(&wavecast(&["rank", "-", "-d", "a100"], &text));
    let ranking = answer(&["rank", "-", "-d", "a100"], &text);
    let with = results(&ranking).iter().filter(|r| !r["warnings"].as_array().unwrap().is_empty()).count();
    assert!(with == 2 || table.contains(&format!("{with} of the 2 launches shown")), "{table}");
}

#[test]
fn arrays_have_to_fit_into_memory() {
    let large = predicted(&copy(3 << 30), &[]);
    assert_eq!(codes(&large), ["memory-exceeded"]);
    let warning = large["result"]["warnings"].to_string();
    for part in ["48 GiB together", "alone 24 GiB", "has 40 GiB of memory", "\"fields."] {
        assert!(warning.contains(part), "{part}: {warning}");
    }
    assert!(codes(&predicted(&copy(3 << 30), &["--device-set", "dram.capacity=80GiB"])).is_empty());
    // What nobody touches need not be there.
    let unused = copy(1 << 20).replace("fields: {", "fields: {c: {dtype: f64, size: 8589934592}, ");
    assert!(codes(&predicted(&unused, &[])).is_empty());
}

#[test]
fn the_first_axis_should_be_the_fastest_in_memory() {
    let text = "wavecast: 1\nkernel: copy\nfields: {a: {dtype: f64, shape: [4096, 1024]}, b: {like: a}}\n\
                domain: {y: 1024, x: 4096}\nloads: ['a[x, y]']\nstores: ['b[x, y]']\nwork: {flops: 0}\n\
                launch: {block: [[32, 8]], registers: 16}\n";
    let found = predicted(text, &[]);
    assert_eq!(codes(&found), ["axis-order"]);
    let warning = &found["warnings"][0];
    assert_eq!(warning["where"], "<stdin>:4:10");
    assert!(warning["message"].as_str().unwrap().contains("moves by 4096 elements"), "{warning}");
    assert!(warning["message"].as_str().unwrap().contains("put `x` first in `domain`"), "{warning}");
    assert!(codes(&predicted(&text.replace("{y: 1024, x: 4096}", "{x: 4096, y: 1024}"), &[])).is_empty());
}

#[test]
fn sound_kernels_have_none_of_these_warnings() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()) {
        let path = file.to_str().unwrap();
        // Loops under conditions take long to count.
        let block: &[&str] = if path.contains("conv2d-shared") { &["--block", "32,8"] } else { &[] };
        let document = answer(&[&["predict", path, "-d", "a100"], block].concat(), "");
        for one in document.as_array().map_or_else(|| vec![document.clone()], Clone::clone) {
            let name = one["kernel"]["name"].as_str().unwrap().to_owned();
            let found = codes(&one);
            // A thread for each of 4096 or 8192 rows or columns: 16 or 32 blocks for 108 SMs deserve it.
            let matrix_vector = ["polybench-atax", "polybench-bicg", "polybench-mvt", "matvec"];
            let deserved = matrix_vector.iter().any(|m| name.starts_with(m));
            let expected: &[&str] = if deserved { &["few-blocks"] } else { &[] };
            assert_eq!(found, expected, "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 30, "{seen}");
}

#[test]
fn a_limit_that_does_not_apply_is_null() {
    // Both arrays stay in the L2 from one launch to the next.
    let small = predicted(&copy(1 << 14), &[]);
    let limits = &small["result"]["limits_per_s"];
    let dram = number(&small["result"], "volumes.dram.load.total")
        + number(&small["result"], "volumes.dram.store.total");
    assert!(dram < 1e-3, "{dram}");
    assert!(limits["dram"].is_null(), "{limits}");
    assert!(limits["l2"].is_number());
    let text = stdout(&wavecast(&["rank", "-", "-d", "a100"], &copy(1 << 14)));
    assert!(
        !text.lines().any(|l| l.split_whitespace().any(|w| w.len() > 12 && w.parse::<f64>().is_ok())),
        "{text}"
    );
    assert!(predicted(&copy(1 << 26), &[])["result"]["limits_per_s"]["dram"].is_number());
}

#[test]
fn the_precision_of_flops_is_that_of_what_is_accessed() {
    let text = |fields: &str| {
        format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f32, size: 4096}}{fields}}}\ndomain: {{x: 4096}}\n\
             loads: ['a[x]']\nwork: {{flops: 100}}\nlaunch: {{block: [[256]], registers: 16}}\n"
        )
    };
    let fp = |fields: &str| number(&predicted(&text(fields), &[])["result"], "limits_per_s.fp");
    let unused = ", b: {dtype: f64, size: 4096}";
    assert_eq!(fp("").to_bits(), fp(unused).to_bits());
    let used = text(unused).replace("loads: ['a[x]']", "loads: ['a[x]', 'b[x]']");
    assert!(number(&predicted(&used, &[])["result"], "limits_per_s.fp") < 0.6 * fp(""));
}
