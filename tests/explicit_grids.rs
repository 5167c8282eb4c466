//! Launches whose grid does not follow from the domain: every candidate does the same job, and what does
//! another one is refused.

mod program;

use program::{answer, json, number, results, stderr, wavecast};
use proptest::prelude::*;
use serde_json::Value;
use wavecast::kernel::load;
use wavecast::launch::{Candidate, Launch};

const SOFTMAX: &str = "tests/launches/softmax.yaml";

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

/// Blocks in the order of a ranking.
fn blocks(ranking: &Value) -> Vec<i64> {
    results(ranking).iter().map(|r| r["config"]["block"][0].as_i64().unwrap()).collect()
}

/// What has to hold of each ranking of candidates that do the same job.
fn sound(ranking: &Value) {
    let domain: f64 =
        ranking["kernel"]["domain"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).product();
    let all = results(ranking);
    let best = number(&all[0], "time_s");
    for pair in all.windows(2) {
        assert!(number(&pair[0], "time_s") <= number(&pair[1], "time_s"));
    }
    for one in all {
        assert!(near(number(one, "rate_per_s") * number(one, "time_s"), domain), "rates are of the domain");
        assert!(near(number(one, "relative") * number(one, "time_s"), best));
    }
}

#[test]
fn blocks_of_one_row_each_are_ranked_by_the_time_of_all_rows() {
    for device in ["a100", "mi210"] {
        let ranking = answer(&["rank", SOFTMAX, "-d", device], "");
        assert_eq!(results(&ranking).len(), 5, "every block of the file does the whole domain");
        sound(&ranking);
    }
    let two = answer(&["rank", SOFTMAX, "-d", "a100", "--block", "64", "--block", "1024"], "");
    sound(&two);
    // Threads have 64 and 4 elements each, which is no reason to be sixteen times as fast.
    assert!(number(&results(&two)[1], "relative") > 0.3, "{two:#}");
}

#[test]
fn explanations_compare_the_time_of_the_whole_job() {
    let ranking = answer(&["rank", SOFTMAX, "-d", "a100"], "");
    let (best, slowest) = (&results(&ranking)[0], &results(&ranking)[4]);
    let block = slowest["config"]["block"][0].to_string();
    let explained = answer(&["explain", SOFTMAX, "-d", "a100", "--block", &block, "--all"], "");
    let found = &explained["neighbours"]["best"];
    assert_eq!(found["block"], best["config"]["block"]);
    assert!(near(number(found, "relative"), number(slowest, "time_s") / number(best, "time_s")));
    assert!(number(found, "relative") < 3.0, "not sixteen times");
}

/// Threads of a grid of their own that touch one work item each while each stands for many: all levels divide by
/// the same work items.
#[test]
fn volumes_of_all_levels_are_per_work_item() {
    let of = |n: i64, more: &str| {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f32, size: {n}}}, b: {{like: a}}}}\n\
             domain: {{x: {n}}}\nloads: ['a[x]']\nstores: ['b[x]']\nwork: {{flops: 1}}\n\
             launch: {{block: [[32]], registers: 32{more}}}"
        );
        json(&wavecast(&["predict", "-", "-d", "a100", "--format", "json", "--caches", "cold"], &text))
    };
    let (alone, many) = (of(1024, ""), of(1 << 20, ", grid: [32], units_per_thread: 1024"));
    for path in ["volumes.l1.load_bytes", "volumes.l2.load.total", "volumes.dram.load.total"] {
        let [alone, many] = [&alone, &many].map(|d| number(&d["result"], path));
        assert!(near(alone, 1024.0 * many), "{path}: {alone}, {many}");
    }
}

#[test]
fn what_follows_need_not_be_said() {
    let text = std::fs::read_to_string(SOFTMAX).unwrap();
    let units = "  units_per_thread: COLUMNS/blockDim.x\n";
    assert!(text.contains(units));
    let said = answer(&["rank", "-", "-d", "a100"], &text);
    let silent = answer(&["rank", "-", "-d", "a100"], &text.replace(units, ""));
    let gridwise =
        text.replace("COLUMNS/blockDim.x", "ROWS*COLUMNS/(blockDim.x*gridDim.x*blockDim.y*gridDim.y)");
    assert_eq!(results(&said), results(&silent));
    assert_eq!(results(&said), results(&answer(&["rank", "-", "-d", "a100"], &gridwise)));
    // Rows that no block divides: threads have parts of a work item more or less, on average.
    let odd = answer(&["rank", SOFTMAX, "-d", "a100", "--set", "COLUMNS=1000"], "");
    assert_eq!(results(&odd).len(), 5);
    sound(&odd);
}

#[test]
fn a_constant_that_contradicts_the_domain_is_refused() {
    let file = "tests/launches/constant_units.yaml";
    let ranking = answer(&["rank", file, "-d", "a100"], "");
    assert_eq!(blocks(&ranking), [256], "the block for which the constant is right");
    sound(&ranking);
    let refused = &ranking["infeasible"][0];
    assert_eq!(refused["code"], "not-the-domain");
    let reason = refused["reason"].as_str().unwrap();
    for part in ["4096 x 64 x 1/256 = 1024 work items", "the domain has 4096", "it is 1/64 here", "blockDim"]
    {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    let one = wavecast(&["predict", file, "-d", "a100", "--block", "512"], "");
    assert_eq!(one.status.code(), Some(1));
    assert!(stderr(&one).contains("4096 x 512 x 1/256 = 8192 work items"), "{}", stderr(&one));
    let checked = wavecast(&["check", file, "--format", "json"], "");
    assert_eq!(checked.status.code(), Some(0));
    assert_eq!(json(&checked)["launch"]["infeasible"][0]["code"], "not-the-domain");
    // With another number of rows it is right for no block.
    let none = wavecast(&["check", file, "--set", "ROWS=100"], "");
    assert_eq!(none.status.code(), Some(0), "grid and domain follow");
    let text = std::fs::read_to_string(file).unwrap().replace("grid: [ROWS]", "grid: [512]");
    assert_eq!(wavecast(&["check", "-"], &text).status.code(), Some(1), "no launch does the domain");
}

#[test]
fn a_grid_that_does_not_reach_the_domain_is_refused() {
    let text = "wavecast: 1\nkernel: few\nfields: {a: {dtype: f64, size: 1048576}, b: {like: a}}\n\
                domain: {x: 1048576}\nloads: ['a[x]']\nstores: ['b[x]']\nwork: {flops: 0}\n\
                launch: {block: [[256]], grid: [32], registers: 16}\n";
    let ranking = wavecast(&["rank", "-", "-d", "a100", "--format", "json"], text);
    assert_eq!(ranking.status.code(), Some(1));
    let refused = &json(&ranking)["infeasible"][0];
    assert_eq!(refused["code"], "grid-too-small");
    let reason = refused["reason"].as_str().unwrap();
    assert!(reason.contains("reach 8192 of 1048576 work items") && reason.contains("tidx"), "{reason}");
    // More blocks than are needed end at once.
    let many = answer(&["rank", "-", "-d", "a100"], &text.replace("[32]", "[10000]"));
    sound(&many);
}

#[test]
fn units_need_a_value() {
    let text = std::fs::read_to_string(SOFTMAX).unwrap();
    for (units, code) in
        [("COLUMNS/(blockDim.x - 64)", "no-units"), ("(64 - blockDim.x)/COLUMNS", "not-positive")]
    {
        let text = text.replace("COLUMNS/blockDim.x", units);
        let ranking = json(&wavecast(&["rank", "-", "--block", "64", "--format", "json"], &text));
        assert_eq!(ranking["infeasible"][0]["code"], code, "{units}: {ranking:#}");
    }
    for (units, code) in [("COLUMNS/0", "divisor"), ("0*blockDim.x", "launch")] {
        let text = text.replace("COLUMNS/blockDim.x", units);
        let output = wavecast(&["check", "-", "--format", "json"], &text);
        assert_eq!(output.status.code(), Some(2), "{units}");
        let error = &json(&output)["errors"][0];
        assert_eq!(
            (error["line"].as_u64(), error["code"].as_str()),
            (Some(22), Some(code)),
            "{units}: {error}"
        );
    }
}

#[test]
fn variants_of_different_domains_are_ranked_by_time() {
    let text = "wavecast: 1\nkernel: copies\nparams: {N: 16777216}\n\
                fields: {a: {dtype: f32, size: N}, b: {like: a}}\ndomain: {i: N}\nloads: ['a[i]']\n\
                stores: ['b[i]']\nwork: {unit: element, flops: 0}\nlaunch: {block: [[256]], registers: 10}\n\
                variants:\n  - {name: scalar}\n  - name: vector\n    domain: {i: N/4}\n    \
                loads: [{at: 'a[4*i]', width: 16}]\n    stores: [{at: 'b[4*i]', width: 16}]\n";
    let ranking = answer(&["rank", "-", "-d", "a100"], text);
    let [first, second] = results(&ranking) else { panic!("{ranking:#}") };
    assert_eq!(first["config"]["variant"], "vector", "four elements at a time are not slower");
    assert!(number(first, "time_s") <= number(second, "time_s"));
    assert!(near(number(second, "relative"), number(first, "time_s") / number(second, "time_s")));
    assert!(ranking["warnings"].to_string().contains("domains-differ"));
    let table = program::stdout(&wavecast(&["rank", "-", "-d", "a100"], text));
    assert!(table.contains(" time ") && table.contains("ranked by their time"), "{table}");
}

/// A kernel over threads with a grid and work items of a thread, in up to three dimensions.
fn of_threads(domain: [i64; 3], grid: &str, units: &str) -> String {
    let [x, y, z] = domain;
    format!(
        "wavecast: 1\nkernel: threads\nparams: {{X: {x}, Y: {y}, Z: {z}}}\nfields: {{a: {{dtype: f64, size: 1}}}}\n\
         domain: {{x: X, y: Y, z: Z}}\nloads: ['a[0*tidx]']\n\
         launch: {{block: [[1]], registers: 8, grid: {grid}, units_per_thread: '{units}'}}\n"
    )
}

fn launch(text: &str, block: [i64; 3]) -> Result<Launch, String> {
    let kernel = load("threads", text, &Default::default()).unwrap().kernels.remove(0);
    Launch::new(&kernel, Candidate::new(block, [1; 3]).unwrap()).map_err(|why| why.code().to_owned())
}

#[test]
fn a_work_item_for_each_of_too_many_threads_is_refused() {
    // 416 blocks of 16,744 threads, eight times the domain; one work item is also what the fold says.
    let text = of_threads([104, 182, 46], "[16, 26, 1]", "1");
    assert_eq!(launch(&text, [56, 23, 13]).unwrap_err(), "not-the-domain");
    let text = of_threads([104, 182, 46], "[4, 13, 1]", "1");
    assert!(launch(&text, [56, 23, 13]).is_ok(), "52 blocks are the domain");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_shares_the_domain_out_is_accepted(
        domain in prop::array::uniform3(1_i64..300),
        block in prop::array::uniform3(1_i64..65),
        blocks in prop::array::uniform3(1_i64..40),
        factor in 2_i64..9,
    ) {
        let up = "['(X+blockDim.x-1)/blockDim.x', '(Y+blockDim.y-1)/blockDim.y', '(Z+blockDim.z-1)/blockDim.z']";
        // A thread for each work item, the last block of each dimension filled in part.
        prop_assert!(launch(&of_threads(domain, up, "1"), block).is_ok());
        // What is needed, by division, whatever the grid.
        let given = format!("{blocks:?}");
        let needed = "X*Y*Z/(blockDim.x*blockDim.y*blockDim.z)/(gridDim.x*gridDim.y*gridDim.z)";
        prop_assert!(launch(&of_threads(domain, &given, needed), block).is_ok());
        // Several times as many are not the domain, unless a dimension has so few blocks that it is rounding.
        let times: f64 = blocks.iter().map(|&n| if n > 1 { n as f64 / (n - 1) as f64 } else { 1.0 }).product();
        let padded: f64 = (0..3).map(|d| (block[d] as f64 / domain[d] as f64).max(1.0)).product();
        if times * padded < factor as f64 {
            let more = format!("{factor}*({needed})");
            prop_assert_eq!(launch(&of_threads(domain, &given, &more), block).unwrap_err(), "not-the-domain");
        }
        let down: f64 = blocks.iter().map(|&n| if n > 1 { n as f64 / (n + 1) as f64 } else { 1.0 }).product();
        if down.min(0.5) > 1.0 / factor as f64 {
            let fewer = format!("({needed})/{factor}");
            prop_assert_eq!(launch(&of_threads(domain, &given, &fewer), block).unwrap_err(), "not-the-domain");
        }
    }
}
