//! `-o x.html`: one file with the data of what was found and all that shows it. What a browser makes of it is tested in
//! `web/tests`.

mod program;

use std::path::PathBuf;

use program::{stderr, stdout, wavecast};
use serde_json::Value;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The page that these arguments make, and the status.
fn page(name: &str, arguments: &[&str], input: &str) -> (String, Option<i32>) {
    let path = file(name);
    let _ = std::fs::remove_file(&path);
    let output = wavecast(&[arguments, &["-o", path.to_str().unwrap()]].concat(), input);
    assert!(stdout(&output).is_empty(), "{}", stdout(&output));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    (text, output.status.code())
}

/// The data that stands in a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_has_the_ranking_and_explanations() {
    let ranked = ["rank", "kernels/star3d25.yaml", "-d", "a100"];
    let (text, status) = page("star3d25.html", &ranked, "");
    assert_eq!(status, Some(0));
    assert!(text.len() < 1_000_000, "{} bytes", text.len());
    let in_page = data(&text);
    let json: Value =
        serde_json::from_str(&stdout(&wavecast(&[&ranked[..], &["--format", "json"]].concat(), ""))).unwrap();
    assert_eq!(in_page["rankings"][0]["ranking"], json);
    let sentences = in_page["rankings"][0]["sentences"].as_array().unwrap();
    assert_eq!(sentences.len(), 168);
    for (said, result) in sentences.iter().zip(json["results"].as_array().unwrap()) {
        let block = result["config"]["block"].as_array().unwrap();
        let block = block.iter().map(Value::to_string).collect::<Vec<_>>().join("x");
        assert!(said[0]["text"].as_str().unwrap().contains(&block), "{said} of {block}");
        assert!(said.as_array().unwrap().iter().any(|s| s["code"] == "limiter"), "{said}");
    }
}

#[test]
fn a_page_is_the_same_on_any_number_of_threads() {
    let of = |jobs: &str| {
        let name = format!("jobs-{jobs}.html");
        page(&name, &["rank", "kernels/star2d4.yaml", "-d", "a100", "--jobs", jobs], "").0
    };
    assert!(of("1") == of("3"));
}

#[test]
fn a_page_has_the_best_only_if_they_are_asked_for() {
    let (text, _) = page(
        "top.html",
        &["rank", "kernels/star3d25.yaml", "kernels/star3d7.yaml", "-d", "a100", "--top", "5"],
        "",
    );
    let found = data(&text);
    let rankings = found["rankings"].as_array().unwrap();
    assert_eq!(rankings.len(), 2);
    for ranking in rankings {
        assert_eq!(ranking["ranking"]["results"].as_array().unwrap().len(), 5);
        assert_eq!(ranking["sentences"].as_array().unwrap().len(), 5);
    }
}

#[test]
fn no_name_in_a_kernel_becomes_markup() {
    let hostile = "</script><script>alert(1)</script><!--";
    let kernel = format!(
        "{{wavecast: 1, kernel: k, unit: \"{hostile}\", fields: {{a: {{dtype: f64, size: 4096}}}}, domain: {{x: 4096}}, \
         loads: ['a[x]'], launch: {{block: [[256], [64]], registers: 16}}}}"
    );
    let path = file("hostile.html");
    let _ = std::fs::remove_file(&path);
    let output = wavecast(&["rank", "-", "-d", "a100", "-o", path.to_str().unwrap()], &kernel);
    // A unit of this kind may be refused as well.
    let Ok(text) = std::fs::read_to_string(&path) else {
        assert!(!output.status.success());
        return;
    };
    assert_eq!(text.matches("<script").count(), 2, "that of the data and that of the views");
    assert_eq!(text.matches("</script").count(), 2);
    assert!(!text.contains("<!--"));
    assert!(data(&text).to_string().contains("alert(1)"), "nothing is lost");
}

#[test]
fn a_ranking_without_results_is_a_page_too() {
    let kernel = "{wavecast: 1, kernel: k, fields: {a: {dtype: f64, size: 4096}}, domain: {x: 4096}, loads: ['a[x]'], \
                  launch: {block: [[2048]], registers: 16}}";
    let (text, status) = page("empty.html", &["rank", "-", "-d", "a100"], kernel);
    assert_eq!(status, Some(1));
    let ranking = &data(&text)["rankings"][0]["ranking"];
    assert_eq!(ranking["infeasible"].as_array().unwrap().len(), 1);
}

/// Of every command that has one: the documents that it prints as JSON, the rows that it writes as CSV, nothing that loads
/// anything, and no text with columns of blanks.
#[test]
fn pages_of_other_commands_have_what_they_print() {
    let star = ["kernels/star3d7.yaml", "-d", "a100"];
    let mut commands = vec![
        [&["explain"], &star[..]].concat(),
        [&["predict"], &star[..], &["-d", "h200"]].concat(),
        [&["sweep"], &star[..], &["--best", "--vary", "NX=128..512 step 128"]].concat(),
        [&["diff"], &star[..], &["--block", "32,4,4", "--block", "64,4,1"]].concat(),
    ];
    if cfg!(feature = "fit") {
        let small = ["--block", "32,8,1", "--set", "NX=512", "--set", "NY=256"];
        commands.push(vec!["validate", "tests/measured/star3d7.csv"]);
        commands.push([&["compare", "kernels/star2d5.yaml", "-d", "a100"], &small[..]].concat());
    }
    for command in commands {
        let (text, status) = page(&format!("{}.html", command[0]), &command, "");
        assert_eq!(status, Some(0), "{command:?}");
        assert!(text.starts_with("<!DOCTYPE html>") && !text.contains("<pre"), "{command:?}");
        for loads in ["<link", "<iframe", " src=\"http", "<object"] {
            assert!(!text.contains(loads), "{command:?} has {loads}");
        }
        let in_page = data(&text);
        let printed: Value =
            serde_json::from_str(&stdout(&wavecast(&[&command[..], &["--format", "json"]].concat(), "")))
                .unwrap();
        let printed = if printed.is_array() { printed } else { Value::from(vec![printed]) };
        assert_eq!(in_page["documents"], printed, "{command:?}");
        let csv = stdout(&wavecast(&[&command[..], &["--format", "csv"]].concat(), ""));
        let rows = in_page["table"]["rows"].as_array().unwrap();
        assert_eq!(rows.len() + 1, csv.lines().count(), "{command:?}");
        let title = in_page["title"].as_str().unwrap();
        assert!(text.contains(&format!("<title>{title}</title>")), "{title}");
    }
}
