//! The supplement's printed excerpts, N's set hash and registers, latency over size.

use wavecast::probe::simulate::{Chase, chase, mshr_points, read_spec, set_hash_runs};
use wavecast::probe::{
    Clusters, FindingConfidence, LogDefaults, Logs, MappingFound, ReplacementFound, infer, mshrs, read_logs,
    set_hash,
};

/// The rows of the supplement (4.3), with the blanks that its text lost: index of the next load, latency.
const EXCERPTS: [(&str, &str); 3] = [
    (
        "fermi-3073element-stride1.txt",
        "Next_id Latency
1025488.000000
1026246.000000
1027250.000000
1028246.000000
1029 250.000000
1030 246.000000
1031 250.000000
1032 244.000000
1033 488.000000
1034 246.000000
1035 250.000000
1036 246.000000
1037 250.000000
1038 246.000000
1039 250.000000
1040 244.000000
1041 488.000000
",
    ),
    (
        "fermi-3080element-8stride.txt",
        "Next_id Latency
1032 488.000000
1040 472.000000
1048 478.000000
1056 472.000000
1064 250.000000
1072 244.000000
1080 250.000000
1088 246.000000
1096 250.000000
1104 246.000000
1112 250.000000
1120 246.000000
1128 250.000000
1136 246.000000
1144 250.000000
1152 246.000000
1160 486.000000
",
    ),
    (
        "fermi-3112element-8stride.txt",
        "Next_id Latency
1032 488.000000
1040 472.000000
1048 476.000000
1056 472.000000
1064 478.000000
1072 472.000000
1080 476.000000
1088 474.000000
1096 250.000000
1104 244.000000
1112 250.000000
1120 246.000000
1128 250.000000
1136 246.000000
1144 250.000000
1152 246.000000
1160 484.000000
",
    ),
];

#[test]
fn the_supplements_excerpts_give_lines_and_sets_and_leave_the_rest_open() {
    let mut logs = Logs::default();
    for (name, text) in EXCERPTS {
        read_logs(name, text.as_bytes(), LogDefaults::default(), &mut logs).unwrap();
    }
    let first = &logs.runs[0];
    assert_eq!((first.n, first.stride, first.loads.len()), (3073, 1, 17));
    assert_eq!((first.loads[0].index, first.loads[0].latency), (1024, 488.0));
    let found = infer(&logs.runs);
    assert_eq!(found.line.value, Some(32), "{found:#?}");
    let mapping = found.mapping.value.as_ref().unwrap();
    assert_eq!(*mapping.rule(), MappingFound::Spatial { run: 4, sets: 4 });
    assert!(found.mapping.confidence < FindingConfidence::High);
    assert_eq!((found.capacity.value, found.replacement.value), (None, None));
    assert!(found.capacity.next[0].contains("n=3072 s=1"), "{:?}", found.capacity.next);
    assert!(!found.replacement.next.is_empty());
}

/// The runs that the supplement describes, whole: they give all five of its findings.
#[test]
fn the_supplements_runs_give_all_five_findings() {
    let text = "{line: 32, sets: 4, ways: 96, mapping: spatial, run: 4, hit: 250, miss: 480, noise: 0.03, \
                outliers: 0.01}";
    let spec = read_spec("texture", text).unwrap();
    let mut runs: Vec<_> = [3072, 3073].map(|n| chase(&spec, &Chase::warm(n, 1, 4))).into();
    runs.extend([3080, 3112, 3144, 3176].map(|n| chase(&spec, &Chase::warm(n, 8, 10))));
    let found = infer(&runs);
    assert_eq!((found.line.value, found.capacity.value), (Some(32), Some(12 << 10)), "{found:#?}");
    assert_eq!(found.ways.value, Some(vec![96; 4]));
    let mapping = found.mapping.value.as_ref().unwrap();
    assert_eq!(*mapping.rule(), MappingFound::Spatial { run: 4, sets: 4 });
    assert_eq!(found.replacement.value, Some(ReplacementFound::Lru));
}

#[test]
fn fermis_hash_is_solved_from_what_lines_put_out() {
    let masks = "\"0x41\", \"0x82\", \"0x104\", \"0x408\", \"0x1010\"";
    for (sets, ways, masks) in [(32, 4, masks.to_owned()), (64, 6, format!("{masks}, \"0x20\""))] {
        let text = format!(
            "{{line: 128, sets: {sets}, ways: {ways}, mapping: xor, masks: [{masks}], hit: 45, miss: 310, \
             noise: 0.03, outliers: 0.01}}"
        );
        let spec = read_spec("fermi", &text).unwrap();
        let runs = set_hash_runs(&spec, 16);
        let found = set_hash(&runs, &Clusters::new(&runs), 128).unwrap();
        let mut expected = vec![0x41, 0x82, 0x104, 0x408, 0x1010];
        if sets == 64 {
            expected.push(0x20);
        }
        assert!(found.linear, "{found:?}");
        assert_eq!((&found.masks, found.sets), (&expected, sets), "{found:x?}");
    }
}

#[test]
fn fermis_registers_are_counted() {
    let text = "{line: 128, sets: 32, ways: 4, hit: 45, miss: 600, noise: 0.03, outliers: 0.01, mshrs: 64, \
                mshrs_per_warp: 6}";
    let spec = read_spec("fermi", text).unwrap();
    let found = mshrs(&mshr_points(&spec, 24, 16, 9));
    assert_eq!((found.total.value, found.per_warp.value), (Some(64), Some(6)), "{found:#?}");
    assert_eq!(found.total.confidence, FindingConfidence::High);
    // N 5.2: 6 loads up to 10 warps, 5 with 11, 4 with 13, 3 with 17.
    for expected in [[10, 6], [11, 5], [12, 5], [13, 4], [16, 4], [17, 3]] {
        assert!(found.free.contains(&expected), "{expected:?}: {:?}", found.free);
    }
}
