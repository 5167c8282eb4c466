//! Lines in sectors, as every GPU since Maxwell has them: found as such, or not claimed.

use wavecast::probe::simulate::{LineRange, ProbeSpec, explore, read_spec};
use wavecast::probe::{ChaseOrder, FindingConfidence, Logs, ReplacementFound, Run, infer};
use wavecast::report::probe::{ProbeDocument, ProbedLevel};

use super::truth;

fn cache(replacement: &str, mapping: &str) -> ProbeSpec {
    let text = format!(
        "{{line: 128, sector: 32, sets: 4, ways: 4, replacement: {replacement}, mapping: {mapping}, hit: 33, miss: 200, \
         noise: 0.03, outliers: 0.01}}"
    );
    read_spec("sectored", &text).unwrap()
}

#[test]
fn lines_of_sectors_are_found_whole() {
    for (replacement, mapping) in [("lru", "bits"), ("srrip", "table"), ("nru", "spatial")] {
        let spec = cache(replacement, mapping);
        let found = infer(&explore(&spec, LineRange::CACHE));
        let wrong = truth::differences(&spec, &found);
        assert!(wrong.is_empty(), "{replacement}, {mapping}: {wrong:?} of {found:#?}");
        assert_eq!(
            (found.line.confidence, found.sector.confidence),
            (FindingConfidence::High, FindingConfidence::High)
        );
    }
}

/// The keys that go into a device file, and their values.
fn keys(runs: Vec<Run>) -> Vec<(String, String)> {
    let logs = Logs { runs, ..Logs::default() };
    let document = ProbeDocument::new(vec!["log".to_owned()], &logs, Some(ProbedLevel::L1));
    document.device_keys.into_iter().map(|k| (k.path, k.value)).collect()
}

#[test]
fn a_device_file_gets_the_line_and_the_sector() {
    let runs = explore(&cache("lru", "bits"), LineRange::CACHE);
    let all = keys(runs.clone());
    for (path, value) in
        [("l1.line", "128 B"), ("l1.sector", "32 B"), ("l1.capacity", "2 KiB"), ("l1.ways", "4")]
    {
        let found = all.iter().find(|k| k.0 == path).map(|k| k.1.as_str());
        assert_eq!(found, Some(value), "{all:?}");
    }
    // Without the runs that tell them apart, what a miss brings is known, and nothing that rests on lines.
    let told_apart = |r: &Run| r.order == ChaseOrder::Scattered;
    let without: Vec<Run> = runs.into_iter().filter(|r| !told_apart(r)).collect();
    let found = infer(&without);
    assert_eq!((found.sector.value, found.sector.confidence), (Some(32), FindingConfidence::High));
    assert!(found.line.next.iter().any(|n| n.contains("order=scattered")), "{:?}", found.line);
    let rest =
        [found.line.confidence, found.ways.confidence, found.mapping.confidence, found.capacity.confidence];
    assert!(rest.iter().all(|&c| c <= FindingConfidence::Low), "{found:#?}");
    let paths: Vec<String> = keys(without).into_iter().map(|k| k.0).collect();
    assert_eq!(paths, ["l1.sector", "l1.latency"]);
}

#[test]
fn clocks_with_steps_of_two_cycles_split_nothing() {
    let text = "{line: 128, sector: 32, sets: 4, ways: 4, hit: 29, miss: 61, step: 2, outliers: 0.01}";
    let spec = read_spec("step", text).unwrap();
    let found = infer(&explore(&spec, LineRange::CACHE));
    assert!(truth::differences(&spec, &found).is_empty(), "{found:#?}");
    assert_eq!(found.clusters.all.len(), 2, "{:?}", found.clusters.all);
}

#[test]
fn nru_and_srrip_are_told_from_the_others() {
    for (word, expected) in [("nru", ReplacementFound::Nru), ("srrip", ReplacementFound::Srrip)] {
        let text =
            format!("{{line: 64, sets: 4, ways: 4, replacement: {word}, hit: 40, miss: 200, noise: 0.03}}");
        let found = infer(&explore(&read_spec(word, &text).unwrap(), LineRange::CACHE));
        assert_eq!(found.replacement.value, Some(expected), "{found:#?}");
    }
}
