//! Which launch and which variant are meant, and that every command says which it took.

mod program;

use program::{answer, json, number, results, stderr, stdout, wavecast};
use serde_json::{Value, json};
use wavecast::ask::Session;

const TILED: &str = "kernels/transpose-tiled.yaml";

/// A copy whose document lists these folds.
fn folded(folds: &str) -> String {
    format!(
        "wavecast: 1\nkernel: copy\nfields: {{a: {{dtype: f64, size: 1048576}}, b: {{like: a}}}}\n\
         domain: {{x: 1048576}}\nloads: ['a[x]']\nstores: ['b[x]']\nwork: {{flops: 0}}\n\
         launch: {{block: [[64], [128]], fold: {folds}, registers: 16}}\n"
    )
}

fn fold(result: &Value) -> &Value {
    &result["config"]["fold"]
}

#[test]
fn a_block_alone_has_the_fold_of_the_file() {
    let one = folded("[[4]]");
    let predicted = answer(&["predict", "-", "-d", "a100", "--block", "256"], &one);
    assert_eq!(fold(&predicted["result"]), &json!([4, 1, 1]));
    assert_eq!(predicted["choice"]["fold"], "only");
    let ranking = answer(&["rank", "-", "-d", "a100", "--block", "256"], &one);
    assert_eq!(results(&ranking)[0]["time_s"], predicted["result"]["time_s"]);
    // The same in every command that takes one launch.
    let explained = answer(&["explain", "-", "-d", "a100", "--block", "256"], &one);
    assert_eq!(fold(&explained["result"]), &json!([4, 1, 1]));
    let swept = answer(&["sweep", "-", "-d", "a100", "--vary", "block=64,256"], &one);
    assert_eq!(swept["points"][1]["config"]["fold"], json!([4, 1, 1]));
    let swept =
        answer(&["sweep", "-", "-d", "a100", "--block", "256", "--vary", "dram.bandwidth=1TB/s"], &one);
    assert_eq!(swept["points"][0]["config"]["fold"], json!([4, 1, 1]));
    let compared = answer(&["compare", "-", "-d", "a100", "--block", "256"], &one);
    assert_eq!(compared["fold"], json!([4, 1, 1]));
    let text = stdout(&wavecast(&["predict", "-", "-d", "a100", "--block", "256"], &one));
    assert!(text.contains("fold 4x1x1") && text.contains("4x1x1 is the only one of the file"), "{text}");
}

#[test]
fn of_several_folds_the_one_that_does_not_fold_is_meant() {
    for (folds, expected, word) in
        [("[[2], [1], [4]]", [1, 1, 1], "unfolded"), ("[[2], [4]]", [2, 1, 1], "first")]
    {
        let found = answer(&["predict", "-", "-d", "a100", "--block", "256"], &folded(folds));
        assert_eq!(fold(&found["result"]), &json!(expected), "{folds}");
        assert_eq!((&found["choice"]["block"], &found["choice"]["fold"]), (&json!("given"), &json!(word)));
        assert!(found["choice"]["text"].as_str().unwrap().contains("no fold was given"), "{folds}");
    }
    let given =
        answer(&["predict", "-", "-d", "a100", "--block", "256", "--fold", "4"], &folded("[[2], [1]]"));
    assert_eq!((fold(&given["result"]), &given["choice"]["text"]), (&json!([4, 1, 1]), &Value::Null));
    let first = answer(&["predict", "-", "-d", "a100"], &folded("[[2], [1]]"));
    assert_eq!((fold(&first["result"]), &first["choice"]["block"]), (&json!([2, 1, 1]), &json!("first")));
    assert!(first["choice"]["text"].as_str().unwrap().contains("the first of the 4 launches"), "{first:#}");
}

#[test]
fn variants_can_be_chosen_everywhere() {
    let names = |document: &Value| -> Vec<String> {
        let all = results(document).iter().map(|r| r["config"]["variant"].as_str().unwrap().to_owned());
        all.collect()
    };
    let variant = ["--variant", "16 rows"];
    let with = |arguments: &[&str]| answer(&[arguments, &["-d", "a100"], &variant].concat(), "");
    assert_eq!(names(&with(&["rank", TILED])), ["16 rows"]);
    let two = answer(&["rank", TILED, "-d", "a100", "--variant", "4 rows", "--variant", "8 rows"], "");
    assert_eq!(two["summary"]["candidates"], 2);
    assert_eq!(with(&["predict", TILED])["result"]["config"]["variant"], "16 rows");
    assert_eq!(with(&["explain", TILED])["result"]["config"]["variant"], "16 rows");
    assert_eq!(with(&["check", TILED])["kernel"]["variant"], "16 rows");
    assert_eq!(with(&["compare", TILED])["variant"], "16 rows");
    let swept = with(&["sweep", TILED, "--vary", "l2.bandwidth=4TB/s,5TB/s"]);
    let points = swept["points"].as_array().unwrap();
    assert!(points.len() == 2 && points.iter().all(|p| p["config"]["variant"] == "16 rows"), "{swept:#}");
    let emitted = wavecast(&["emit", TILED, "--variant", "16 rows", "--kernels-only"], "");
    assert_eq!(emitted.status.code(), Some(0), "{}", stderr(&emitted));
}

#[test]
fn a_variant_that_is_not_there_is_named_with_those_that_are() {
    for command in ["rank", "predict", "explain", "check", "emit", "compare"] {
        let output = wavecast(&[command, TILED, "--variant", "16 row"], "");
        assert_eq!(output.status.code(), Some(2), "{command}");
        let text = stderr(&output);
        assert!(text.contains("no variant `16 row`") && text.contains("did you mean `16 rows`?"), "{text}");
        assert!(text.contains("8 rows, not padded"), "{text}");
    }
    let none = wavecast(&["predict", "kernels/stream-copy.yaml", "--variant", "x", "--format", "json"], "");
    assert_eq!(json(&none)["errors"][0]["code"], "unknown-variant");
    assert_eq!(json(&none)["errors"][0]["help"], "the kernel has no variants");
}

#[test]
fn texts_name_the_variant() {
    let predicted = stdout(&wavecast(&["predict", TILED, "-d", "a100"], ""));
    for name in ["4 rows", "8 rows", "16 rows", "32 rows", "8 rows, not padded"] {
        assert!(predicted.contains(&format!("variant {name}, block ")), "{predicted}");
    }
    let explained =
        stdout(&wavecast(&["explain", TILED, "-d", "a100", "--variant", "8 rows, not padded"], ""));
    let words = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("run transpose-tiled (variant 8 rows, not padded) on"), "{explained}");
    let compared = stdout(&wavecast(&["compare", TILED, "-d", "a100", "--variant", "8 rows"], ""));
    assert!(compared.contains("8 rows"), "{compared}");
}

/// What `explain` calls the best is the best of `rank`, whichever variant it is.
#[test]
fn explanations_compare_across_variants() {
    let ranking = answer(&["rank", TILED, "-d", "a100"], "");
    let best = &results(&ranking)[0];
    let slow = results(&ranking).last().unwrap();
    let name = slow["config"]["variant"].as_str().unwrap();
    let found = answer(&["explain", TILED, "-d", "a100", "--variant", name], "");
    let other = &found["neighbours"]["best"];
    assert_eq!(other["variant"], best["config"]["variant"]);
    let times = number(slow, "time_s") / number(best, "time_s");
    assert!((number(other, "relative") / times - 1.0).abs() < 1e-9);
    assert!(times > 1.2, "{times}");
    let near = found["neighbours"]["near"].as_array().unwrap();
    assert!(near.iter().all(|n| n["listed"] == true), "only launches of the file: {near:?}");
    let text = stdout(&wavecast(&["explain", TILED, "-d", "a100", "--variant", name], ""));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!("variant {}", best["config"]["variant"].as_str().unwrap());
    assert!(words.contains(&expected), "{text}");
}

#[test]
fn requests_choose_variants_and_folds_as_the_command_line_does() {
    let session = Session::new(Some("a100".to_owned()));
    let ask = |op: &str, text: &str, options: Value| -> Value {
        let request = json!({"id": 1, "op": op, "kernel_text": text, "options": options});
        serde_json::from_str(&session.ask(&request.to_string())).unwrap()
    };
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/transpose-tiled.yaml"));
    let text = text.unwrap();
    let one = ask("predict", &text, json!({"variant": "8 rows"}));
    assert_eq!(one["result"]["result"]["config"]["variant"], "8 rows");
    assert_eq!(one["result"], answer(&["predict", TILED, "-d", "a100", "--variant", "8 rows"], ""));
    let two = ask("rank", &text, json!({"variant": ["8 rows", "4 rows"]}));
    assert_eq!(two["result"]["summary"]["candidates"], 2);
    let none = ask("check", &text, json!({"variant": "none"}));
    assert_eq!(none["error"]["errors"][0]["code"], "unknown-variant");
    let wrong = ask("check", &text, json!({"variant": 8}));
    assert!(wrong["error"]["errors"][0]["message"].as_str().unwrap().contains("a text or a list of texts"));
    let block = ask("predict", &folded("[[4]]"), json!({"block": 256}));
    assert_eq!(fold(&block["result"]["result"]), &json!([4, 1, 1]));
}

/// A number of registers that is given takes the place of that of the document, and what is said of PTX is refused.
#[test]
fn registers_of_a_document_can_be_given_and_what_is_for_ptx_cannot() {
    let star = ["predict", "kernels/star3d25.yaml", "-d", "a100", "--block", "256"];
    let of = |more: &[&str]| answer(&[&star[..], more].concat(), "")["result"].clone();
    let (own, given) = (of(&[]), of(&["--registers", "128"]));
    assert_eq!((&own["config"]["registers"], &given["config"]["registers"]), (&json!(32), &json!(128)));
    let blocks = |result: &Value| result["occupancy"]["blocks_per_sm"].clone();
    assert_eq!((blocks(&own), blocks(&given)), (json!(8), json!(2)));
    // It is no assumption any more.
    let copy = folded("[[1]]").replace(", registers: 16", "");
    let warned = |more: &[&str]| {
        let found = answer(&[&["predict", "-", "-d", "a100", "--block", "64"], more].concat(), &copy);
        found.to_string().contains("registers-assumed")
    };
    assert!(warned(&[]) && !warned(&["--registers", "16"]));
    for (option, value) in [("--trips", "5=3"), ("--entry", "k"), ("--arg", "0=1"), ("--grid", "4")] {
        let refused = wavecast(&[&star[..], &[option, value]].concat(), "");
        assert_eq!(refused.status.code(), Some(2), "{option}");
        let why = stderr(&refused);
        assert!(why.contains(&format!("`{option}` is for PTX")) && why.contains("star3d25.yaml"), "{why}");
    }
}
