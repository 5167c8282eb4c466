//! `wavecast rank`: order, ties, choices, formats, exit codes, on all shipped kernels and many devices.

mod program;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;

use program::{answer, json, number, results, stderr, stdout, unsound, wavecast};
use serde_json::Value;
use wavecast::kernel::{Kernel, load};
use wavecast::launch::{Candidate, candidates};
use wavecast::predict::{Choice, Estimator, rank};
use wavecast::{device, report};

const COPY: &str = "wavecast: 1
kernel: copy
params: {N: 1048576}
fields: {a: {dtype: f64, size: N}, b: {like: a}}
domain: {x: N}
loads: ['a[x]']
stores: ['b[x]']
work: {flops: 0}
launch: {block: [[32], [256], [2048]], registers: 16}
";

/// NVIDIA from Fermi to Hopper, CDNA 1 to 3, RDNA 2.
const DEVICES: [&str; 9] =
    ["gtx-480", "v100", "rtx-2080-ti", "a100", "h200", "mi100", "mi210", "mi300x", "rx-6900-xt"];

/// Some candidates of a kernel, spread over all of them.
fn choices(kernel: &Kernel, number: usize, most: usize) -> Vec<Choice> {
    let step = candidates(kernel).count().div_ceil(most).max(1);
    candidates(kernel).step_by(step).map(|candidate| Choice { kernel: number, candidate }).collect()
}

#[test]
fn shipped_kernels_have_sound_results_on_every_kind_of_device() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()) {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let loaded = load(&name, &text, &Default::default()).unwrap();
        // Loops under conditions take long to count.
        let most = if name == "conv2d-shared" { 1 } else { 6 };
        for id in DEVICES {
            let device = device::find(id, &[]).unwrap();
            let estimators: Vec<_> = loaded.kernels.iter().map(|k| Estimator::new(k, &device)).collect();
            let all: Vec<_> =
                loaded.kernels.iter().enumerate().flat_map(|(i, k)| choices(k, i, most)).collect();
            let ranking = rank(&estimators, &all, 0.04, usize::MAX, &AtomicUsize::new(0));
            let document = report::ranking_document(&estimators, ranking.clone(), 0.04, Vec::new());
            let document = serde_json::to_value(document.unwrap()).unwrap();
            for result in results(&document) {
                let wrong = unsound(result);
                assert!(wrong.is_empty(), "{name} on {id}: {wrong:?} in {result:#}");
                seen += 1;
            }
            let rejected = document["infeasible"].as_array().unwrap();
            assert_eq!(results(&document).len() + rejected.len(), all.len(), "{name} on {id}");
            for one in rejected {
                let code = one["code"].as_str().unwrap();
                assert!(!["not-countable", "not-computable"].contains(&code), "{name} on {id}: {one}");
            }
        }
    }
    assert!(seen > 800, "only {seen} results");
}

#[test]
fn those_that_are_kept_are_the_best_of_all() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/stream-copy.yaml")).unwrap();
    let kernel = load("copy", &text, &Default::default()).unwrap().kernels.remove(0);
    let device = device::find("a100", &[]).unwrap();
    let estimators = [Estimator::new(&kernel, &device)];
    // More than are predicted at a time, the best of them not among the first; some cannot run.
    let of = |x: i64, fold: i64| Candidate::new([x, 1, 1], [fold, 1, 1]).unwrap();
    let all: Vec<Choice> = (1..=1030)
        .flat_map(|x| (1..=4).map(move |fold| Choice { kernel: 0, candidate: of(x, fold) }))
        .collect();
    let of_most = |most: usize| rank(&estimators, &all, 0.04, most, &AtomicUsize::new(0));
    let (whole, some) = (of_most(usize::MAX), of_most(7));
    assert_eq!(some.results(), &whole.results()[..7]);
    assert_eq!((some.feasible(), some.registers_assumed()), (whole.feasible(), whole.registers_assumed()));
    assert_eq!(whole.feasible(), whole.results().len());
    assert_eq!(whole.candidates(), all.len());
    assert_eq!((some.rejected().len(), whole.rejected().len()), (24, 24));
}

#[test]
fn the_best_come_first_and_ties_are_groups() {
    let ranking = answer(&["rank", "kernels/star3d25.yaml", "-d", "a100"], "");
    let all = results(&ranking);
    assert_eq!(all.len(), 168);
    let best = number(&all[0], "rate_per_s");
    let mut group_best = best;
    for (i, pair) in all.windows(2).enumerate() {
        let [before, this] = pair else { unreachable!() };
        let rate = number(this, "rate_per_s");
        assert!(rate <= number(before, "rate_per_s"));
        assert_eq!(this["rank"], i + 2);
        assert!((number(this, "relative") - rate / best).abs() < 1e-12);
        // A group reaches from its best down to 4 % less.
        let (group, group_before) = (number(this, "tie_group"), number(before, "tie_group"));
        if rate < group_best * 0.96 {
            group_best = rate;
            assert!((group - group_before - 1.0).abs() < 1e-12);
        } else {
            assert!((group - group_before).abs() < 1e-12);
        }
    }
    let grown = answer(&["rank", "kernels/star3d25.yaml", "-d", "a100", "--tie", "100"], "");
    assert!(results(&grown).iter().all(|r| r["tie_group"] == 1));
    let alone = answer(&["rank", "-", "-d", "a100", "--tie", "0"], COPY);
    assert_eq!(results(&alone)[1]["tie_group"], 2);
}

#[test]
fn top_cuts_results_but_not_the_summary() {
    let arguments = ["rank", "kernels/star3d7.yaml", "-d", "a100"];
    for format in ["json", "jsonl", "csv", "md", "table"] {
        let output = wavecast(&[&arguments[..], &["--top", "3", "--format", format]].concat(), "");
        let text = stdout(&output);
        let rows = match format {
            "json" => {
                assert_eq!(json(&output)["summary"]["feasible"], 246);
                results(&json(&output)).len()
            }
            "jsonl" => text.lines().count(),
            "csv" => text.lines().count() - 1,
            "md" => text.lines().count() - 2,
            _ => {
                assert!(text.contains("243 more: --top 246 shows all"), "{text}");
                text.lines().filter(|l| l.trim_start().starts_with(char::is_numeric)).count() - 2
            }
        };
        assert_eq!(rows, 3, "{format}: {text}");
    }
    assert_eq!(results(&answer(&arguments, "")).len(), 246, "only tables are cut without being asked");
}

#[test]
fn launches_can_be_chosen_on_the_command_line() {
    let configs = |arguments: &[&str]| -> BTreeSet<String> {
        let ranking = answer(&[&["rank", "kernels/star3d7.yaml", "-d", "a100"], arguments].concat(), "");
        let of = |r: &Value| format!("{}{}", r["config"]["block"], r["config"]["fold"]);
        results(&ranking).iter().map(of).collect()
    };
    let blocks = ["--block", "32,4,2", "--block", "64x2"];
    assert_eq!(configs(&blocks).len(), 2 * 3, "the folds of the file");
    assert_eq!(
        configs(&[&blocks[..], &["--fold", "1,1,4"]].concat()),
        ["[32,4,2][1,1,4]", "[64,2,1][1,1,4]"].map(str::to_owned).into()
    );
    let cubes = configs(&["--threads", "64", "--fold", "1"]);
    assert!(cubes.contains("[64,1,1][1,1,1]") && cubes.contains("[4,4,4][1,1,1]"), "{cubes:?}");
    assert_eq!(cubes.len(), 28, "7 factors of two over three axes");
    assert_eq!(configs(&["--fold", "2"]).len(), 82, "the blocks of the file");
    let both = wavecast(&["rank", "kernels/star3d7.yaml", "--block", "32", "--threads", "64"], "");
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn what_cannot_run_is_named() {
    let ranking = answer(&["rank", "-", "-d", "a100"], COPY);
    assert_eq!(ranking["summary"]["candidates"], 3);
    assert_eq!(ranking["summary"]["feasible"], 2);
    assert_eq!(ranking["infeasible"][0]["config"]["block"], serde_json::json!([2048, 1, 1]));
    assert_eq!(ranking["infeasible"][0]["reason"], "threads_per_block 2048 > 1024");
    assert_eq!(ranking["infeasible"][0]["code"], "threads-per-block");
    let text = stdout(&wavecast(&["rank", "-", "-d", "a100"], COPY));
    assert!(text.contains("block 2048x1x1, fold 1x1x1: threads_per_block 2048 > 1024"), "{text}");
}

#[test]
fn exit_codes_say_whether_there_is_a_result() {
    let code = |arguments: &[&str]| wavecast(arguments, COPY).status.code();
    assert_eq!(code(&["rank", "-"]), Some(0));
    let none = wavecast(&["rank", "-", "--block", "2048", "--format", "json"], COPY);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(json(&none)["schema"], "wavecast/ranking/1", "an empty ranking is a ranking");
    assert!(results(&json(&none)).is_empty());
    let none = wavecast(&["rank", "-", "--block", "2048"], COPY);
    assert!(!stdout(&none).contains("limiter"), "no table without rows: {}", stdout(&none));
    assert_eq!(code(&["rank", "missing.yaml"]), Some(2));
    assert_eq!(code(&["rank", "-", "-d", "a1000"]), Some(2));
    assert_eq!(code(&["rank", "-", "--block", "0"]), Some(2));
    assert_eq!(code(&["rank", "-", "--tie", "200"]), Some(2));
    let stream = format!("{COPY}---\n{}", COPY.replace("[32], [256], ", ""));
    assert_eq!(wavecast(&["rank", "-"], &stream).status.code(), Some(1), "one of two has none");
}

#[test]
fn usage_errors_are_json_where_json_is_asked_for() {
    for arguments in [
        vec!["rank", "-", "--block", "q", "--format", "json"],
        vec!["rank", "--format=jsonl", "-", "--bloc", "1"],
    ] {
        let output = wavecast(&arguments, COPY);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(json(&output)["schema"], "wavecast/error/1");
        assert_eq!(json(&output)["errors"][0]["code"], "usage");
    }
    let nowhere = wavecast(&["rank", "-", "-o", "/no/such/folder/r.json"], COPY);
    assert_eq!(json(&nowhere)["errors"][0]["code"], "cannot-write");
}

/// Codes of the warnings of a ranking.
fn codes(ranking: &Value) -> Vec<&str> {
    ranking["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect()
}

#[test]
fn assumptions_are_warned_of_once() {
    assert_eq!(codes(&answer(&["rank", "-"], COPY)), ["device-assumed"]);
    assert!(codes(&answer(&["rank", "-", "-d", "a100"], COPY)).is_empty());
    let vague = COPY.replace(", registers: 16", "").replace("work: {flops: 0}\n", "");
    let ranking = answer(&["rank", "-", "-d", "a100"], &vague);
    assert_eq!(codes(&ranking), ["flops-missing", "registers-assumed"]);
    assert_eq!(results(&ranking)[0]["limits_per_s"]["fp"], Value::Null);
    let text = stdout(&wavecast(&["rank", "-", "-d", "a100"], &vague));
    assert_eq!(text.matches("warning: ").count(), 2, "{text}");
    // Every fold that is launched has its number.
    assert!(codes(&answer(&["rank", "kernels/star3d7.yaml", "-d", "a100"], "")).is_empty());
    let other = answer(&["rank", "kernels/star3d7.yaml", "-d", "a100", "--fold", "2,2,2"], "");
    assert_eq!(codes(&other), ["registers-assumed"]);
}

#[test]
fn variants_compete_with_each_other() {
    let ranking = answer(&["rank", "kernels/transpose-tiled.yaml", "-d", "a100"], "");
    let names: BTreeSet<_> =
        results(&ranking).iter().map(|r| r["config"]["variant"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 5);
    // Columns of a tile that is not padded collide in one bank.
    let place = |name: &str| results(&ranking).iter().position(|r| r["config"]["variant"] == name).unwrap();
    assert!(place("8 rows") < place("8 rows, not padded"));
    assert_eq!(results(&ranking)[place("8 rows, not padded")]["limiter"], "l1");
    let text = stdout(&wavecast(&["rank", "kernels/transpose-tiled.yaml", "-d", "a100"], ""));
    assert!(text.contains("variant") && text.contains("8 rows, not padded"));
}

#[test]
fn several_documents_give_several_rankings() {
    let array =
        answer(&["rank", "kernels/polybench-atax.yaml", "kernels/stream-copy.yaml", "-d", "a100"], "");
    let names: Vec<_> =
        array.as_array().unwrap().iter().map(|d| d["kernel"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["polybench-atax-1", "polybench-atax-2", "stream-copy"]);
    let lines = wavecast(&["rank", "kernels/polybench-atax.yaml", "-d", "a100", "--format", "jsonl"], "");
    for line in stdout(&lines).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["kernel"]["name"].as_str().unwrap().starts_with("polybench-atax-"));
        assert_eq!(line["device"]["id"], "a100-40gb");
        assert!(unsound(&line).is_empty());
    }
}

#[test]
fn all_formats_have_the_same_numbers() {
    let arguments = ["rank", "-", "-d", "a100"];
    let ranking = answer(&arguments, COPY);
    let csv = stdout(&wavecast(&[&arguments[..], &["--format", "csv"]].concat(), COPY));
    let mut rows = csv.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let column = |name: &str| head.iter().position(|h| *h == name).unwrap();
    for (row, result) in rows.zip(results(&ranking)) {
        assert_eq!(row.len(), head.len());
        for (name, path) in [
            ("rate_per_s", "rate_per_s"),
            ("time_s", "time_s"),
            ("l1_cycles", "volumes.l1.wavefront_cycles"),
            ("l2_load_B", "volumes.l2.load.total"),
            ("dram_load_B", "volumes.dram.load.total"),
            ("dram_store_B", "volumes.dram.store.total"),
            ("occupancy", "occupancy.fraction"),
        ] {
            let (short, exact): (f64, f64) = (row[column(name)].parse().unwrap(), number(result, path));
            assert!((short - exact).abs() <= 1e-5 * exact, "{name}: {short} {exact}");
        }
    }
    let md = stdout(&wavecast(&[&arguments[..], &["--format", "md"]].concat(), COPY));
    assert_eq!(
        md.lines().nth(2).unwrap().replace([' ', '|'], ""),
        csv.lines().nth(1).unwrap().replace(',', "")
    );
}

#[test]
fn time_is_told_only_if_asked_for() {
    assert!(answer(&["rank", "-"], COPY).get("elapsed_s").is_none());
    assert!(answer(&["rank", "-", "--timing"], COPY)["elapsed_s"].as_f64().unwrap() > 0.0);
    let quiet = wavecast(&["rank", "-"], COPY);
    assert!(stderr(&quiet).is_empty());
    let verbose = wavecast(&["rank", "-", "-v"], COPY);
    assert!(stderr(&verbose).starts_with("3 candidates in "), "{}", stderr(&verbose));
    assert_eq!(stdout(&quiet), stdout(&verbose));
}

/// What people read. After a change of the model: `INSTA_UPDATE=always cargo test --test ranking`.
#[test]
fn what_a_person_reads() {
    let table = wavecast(&["rank", "kernels/star3d7.yaml", "-d", "a100", "--top", "5"], "");
    insta::assert_snapshot!("rank_star3d7", stdout(&table));
    let csv = stdout(&wavecast(&["rank", "-", "--format", "csv"], COPY));
    insta::assert_snapshot!("rank_csv_head", csv.lines().next().unwrap().replace(',', "\n"));
    // The shape of the document; numbers that follow from coefficients are masked.
    let document = stdout(&wavecast(&["rank", "-", "--format", "json", "--top", "1"], COPY));
    insta::with_settings!({filters => vec![
        (r": [0-9]+\.[0-9]+(e-?[0-9]+)?", ": [number]"),
        (r"\n +[0-9]+\.[0-9]+(e-?[0-9]+)?", "\n[number]"),
    ]}, {
        insta::assert_snapshot!("rank_json", document);
    });
}
