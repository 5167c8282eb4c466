//! What is known to be missing in a prediction is said where a launch has it, and nowhere else.

mod program;

use program::{answer, results, stdout, wavecast};
use serde_json::Value;
use wavecast::device;
use wavecast::kernel::{Options, load};
use wavecast::launch::Candidate;
use wavecast::predict::{Estimator, gaps};

const GAPS: [&str; 5] =
    ["registers-at-limit", "local-memory", "instruction-cache", "amd-unrolled", "tensor-unit"];

/// The warnings of a result that are about gaps: codes and messages.
fn missing(result: &Value) -> Vec<(String, String)> {
    let of = |w: &Value, key: &str| w[key].as_str().unwrap().to_owned();
    let all = result["warnings"].as_array().unwrap().iter();
    all.map(|w| (of(w, "code"), of(w, "message"))).filter(|(c, _)| GAPS.contains(&c.as_str())).collect()
}

fn codes(text: &str, device: &str, more: &[&str]) -> Vec<String> {
    let document = answer(&[&["predict", "-", "-d", device], more].concat(), text);
    missing(&document["result"]).into_iter().map(|(code, _)| code).collect()
}

/// A copy of floats with something of its work and launch.
fn copy(work: &str, launch: &str) -> String {
    format!(
        "wavecast: 1\nkernel: copy\nparams: {{N: 1048576}}\nfields: {{a: {{dtype: f32, size: N}}, b: {{like: a}}}}\n\
         domain: {{x: N}}\nloads: ['a[x]']\nstores: ['b[x]']\nwork: {{unit: element, {work}}}\n\
         launch: {{block: [[256], [512]], {launch}}}\n"
    )
}

/// Sums of so many neighbours, written out or in a loop.
fn sum(neighbours: u32, rolled: bool) -> String {
    let loads = if rolled {
        format!("{{loop: {{k: 0..{}}}, body: ['load a[x + k]']}}", neighbours - 1)
    } else {
        format!("{{for: {{k: 0..{}}}, at: 'load a[x + k]'}}", neighbours - 1)
    };
    format!(
        "wavecast: 1\nkernel: sum\nparams: {{N: 65536}}\nfields: {{a: {{dtype: f32, size: N + {neighbours}}}, \
         b: {{dtype: f32, size: N}}}}\ndomain: {{x: N}}\nbody: [{loads}, 'store b[x]']\n\
         work: {{flops: 2*{neighbours}}}\nlaunch: {{block: [[256]], registers: 32}}\n"
    )
}

#[test]
fn registers_at_the_limit_may_be_spilled() {
    assert_eq!(codes(&copy("flops: 1", "registers: 255"), "v100", &[]), ["registers-at-limit"]);
    assert!(codes(&copy("flops: 1", "registers: 254"), "v100", &[]).is_empty());
    assert_eq!(codes(&copy("flops: 1", "registers: 63"), "gtx-480", &[]), ["registers-at-limit"]);
    assert!(codes(&copy("flops: 1", "registers: 255"), "mi210", &[]).is_empty(), "512 are the limit there");
    // Assumed ones say nothing.
    assert!(codes(&copy("flops: 1", ""), "v100", &[]).is_empty());
    // Blocks of 512 threads have at most 128, which matters if the compiler was told of them.
    let told = copy("flops: 1", "registers: [{threads: 512, value: 128}, {value: 128}]");
    assert_eq!(codes(&told, "v100", &["--block", "512"]), ["registers-at-limit"]);
    assert!(codes(&told, "v100", &["--block", "256"]).is_empty());
    assert!(codes(&copy("flops: 1", "registers: 128"), "v100", &["--block", "512"]).is_empty());
    assert!(
        codes(&told.replace("value: 128", "value: 120"), "v100", &["--block", "512"]).is_empty(),
        "a compiler that had eight more did not need them"
    );
}

#[test]
fn local_memory_and_matrix_units_are_named_by_the_instructions() {
    let with =
        |class: &str, n: u32| copy(&format!("flops: 1, instructions: {{{class}: {n}}}"), "registers: 32");
    for (class, code) in [("local", "local-memory"), ("tensor", "tensor-unit")] {
        assert_eq!(codes(&with(class, 4), "a100", &[]), [code]);
        assert!(codes(&with(class, 0), "a100", &[]).is_empty());
    }
    assert!(codes(&with("int", 4), "a100", &[]).is_empty());
    let document = answer(&["predict", "-", "-d", "a100"], &with("local", 4));
    let all = document["result"]["warnings"].as_array().unwrap();
    let warning = all.iter().find(|w| w["code"] == "local-memory").unwrap();
    assert_eq!(warning["where"], "work.instructions.local");
    assert!(warning["message"].as_str().unwrap().contains("4 loads and stores of local memory"), "{warning}");
    // Instructions of local memory are issued all the same.
    let time = |n| {
        answer(&["predict", "-", "-d", "a100"], &with("local", n))["result"]["time_terms_s"]["issue"].as_f64()
    };
    assert!(time(40) > time(4));
}

#[test]
fn code_that_is_larger_than_the_instruction_cache() {
    // 16 bytes of an instruction: a load and an addition that is fused, 1472 times, are 46 KiB.
    assert_eq!(codes(&sum(1480, false), "rtx-2080-ti", &[]), ["instruction-cache"]);
    assert!(codes(&sum(1460, false), "rtx-2080-ti", &[]).is_empty());
    assert!(codes(&sum(1480, true), "rtx-2080-ti", &[]).is_empty(), "a loop has its code once");
    assert!(codes(&sum(1480, false), "v100", &[]).is_empty(), "128 KiB there");
    assert_eq!(codes(&sum(1480, false), "a100", &[]), ["instruction-cache"], "the nearer one has 46 KiB");
    assert!(codes(&sum(2960, false), "gtx-470", &[]).is_empty(), "nobody measured it there");
    let known = sum(1480, false).replace("work: {", "work: {code_length: 2961, ");
    assert!(codes(&known, "rtx-2080-ti", &[]).is_empty(), "its length is given, and what it costs is known");
    assert_eq!(codes(&known, "v100", &["--device-set", "sm.instruction_cache=40KiB"]), ["instruction-cache"]);
    let set = ["--device-set", "sm.instruction_cache=40KiB"];
    assert_eq!(codes(&sum(1480, false), "v100", &set), ["instruction-cache"]);
    let text = stdout(&wavecast(&["predict", "-", "-d", "rtx-2080-ti"], &sum(1480, false)));
    let told: Vec<&str> = text.lines().filter(|l| l.contains("the code of a thread")).collect();
    assert_eq!(told.len(), 1, "{text}");
    assert!(told[0].contains("about 2961 instructions, 47 KiB, and an SM keeps 46 KiB near"), "{told:?}");
    // Work items of a thread are written out one after the other.
    let folded =
        sum(740, false).replace("domain: {x: N}", "domain: {x: N/2}").replace("a[x + k]", "a[7*x + 3*k]");
    let folded = folded.replace("size: N + 740", "size: 8*N");
    assert!(codes(&folded, "rtx-2080-ti", &["--fold", "1"]).is_empty());
    assert_eq!(codes(&folded, "rtx-2080-ti", &["--fold", "2"]), ["instruction-cache"]);
}

#[test]
fn much_that_is_written_out_on_a_device_of_amd() {
    assert_eq!(codes(&sum(320, false), "radeon-pro-w6600", &[]), ["amd-unrolled"]);
    assert!(codes(&sum(290, false), "radeon-pro-w6600", &[]).is_empty());
    assert!(codes(&sum(320, true), "radeon-pro-w6600", &[]).is_empty());
    assert!(codes(&sum(320, false), "rtx-2080-ti", &[]).is_empty());
}

#[test]
fn a_ranking_says_it_once() {
    let text = copy("flops: 1", "registers: [{threads: 512, value: 128}, {value: 32}]");
    let ranking = answer(&["rank", "-", "-d", "v100"], &text);
    let with = results(&ranking).iter().filter(|r| !missing(r).is_empty()).count();
    assert_eq!((with, results(&ranking).len()), (1, 2));
    let table = stdout(&wavecast(&["rank", "-", "-d", "v100"], &text));
    assert_eq!(table.matches("that a block of 512 threads can have").count(), 1, "{table}");
    assert!(table.contains("1 of the 2 launches shown"), "{table}");
    // All of them have it: said once and without numbers.
    let all = stdout(&wavecast(&["rank", "-", "-d", "v100"], &copy("flops: 1", "registers: 255")));
    assert_eq!(all.matches("a thread has 255 registers").count(), 1, "{all}");
}

#[test]
fn plain_kernels_have_no_gaps() {
    const PLAIN: [&str; 14] = [
        "star3d25",
        "star3d7",
        "star2d4",
        "box3d27",
        "laplap2d",
        "lbm-d3q15",
        "lbm-d3q19",
        "allen-cahn-d3q15",
        "stream-copy",
        "stream-triad",
        "strided",
        "transpose-tiled",
        "matmul-tiled",
        "minife",
    ];
    for name in PLAIN {
        let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let kernel = load(name, &text, &Options::default()).unwrap().kernels.remove(0);
        for on in ["rtx-2080-ti", "radeon-pro-w6600"] {
            let device = device::find(on, &[]).unwrap();
            let block =
                if name == "strided" || name.starts_with("stream") { [256, 1, 1] } else { [16, 16, 1] };
            let estimator = Estimator::new(&kernel, &device);
            let Ok(found) = estimator.predict(Candidate::new(block, [1; 3]).unwrap()) else { continue };
            assert_eq!(gaps(&estimator, &found), [], "{name} on {on}");
        }
    }
}
