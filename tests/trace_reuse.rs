//! The reuse-distance model against published results: tables 1 to 5 and figure 7 of Nugteren et al., results
//! of their program, and of the text's rules.

use serde::Deserialize;
use wavecast::trace::coalesce::{Coalescing, Requests};
use wavecast::trace::pattern::AccessPattern;
use wavecast::trace::reference::Reference;
use wavecast::trace::reuse::{
    Batches, EffectOrder, Example, RefusalCheck, Release, RequestOutcome, ReuseConfig, ReuseRules, RunKind,
    Visible, profile, simulate, timeline,
};
use wavecast::trace::schedule::Grouping;

fn data(name: &str) -> String {
    let path = format!("{}/tests/trace_reuse/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn requests(pattern: &AccessPattern, split: bool) -> (Requests, usize) {
    let trace = pattern.trace().unwrap();
    let how = Coalescing { grouping: Grouping::Position, split, ..Coalescing::default() };
    (Requests::coalesced(&trace, how, 0..trace.blocks()), trace.block_threads())
}

#[test]
fn the_published_program_is_reproduced_bit_for_bit() {
    let reference = Reference::parse(&data("reference.json")).unwrap();
    assert_eq!(reference.len(), 17);
    for case in 0..reference.len() {
        let comparison = reference.compare(case);
        assert_eq!(comparison.runs, 8);
        assert_eq!(comparison.differences, []);
    }
}

#[derive(Deserialize)]
struct Switches {
    rows: Vec<Switch>,
}

#[derive(Deserialize)]
struct Switch {
    name: String,
    params: AccessPattern,
    cache: String,
    rule: String,
    miss: u64,
    inf: u64,
    latency_misses: u64,
    ticks: u64,
    cancels: u64,
    n: u64,
}

/// The rules of the published program with some of the text's.
fn rules(name: &str) -> ReuseRules {
    let mut rules = ReuseRules::CODE;
    for part in name.split('+') {
        match part {
            "CODE" => {}
            "merge" => rules.merge = true,
            "check=warp" => rules.check = RefusalCheck::Warp,
            "clip" => rules.clip = true,
            "order=issue" => rules.order = EffectOrder::Issue,
            "release=last" => rules.release = Release::Last,
            // Still with two artefacts of the program, and its first lines of loads.
            "PAPER" => {
                rules = ReuseRules {
                    portions: true,
                    batches: Batches::Static,
                    split: false,
                    ..ReuseRules::PAPER
                };
            }
            other => panic!("{other}"),
        }
    }
    rules
}

#[test]
fn each_rule_of_the_text_changes_what_the_specification_says() {
    let switches: Switches = serde_json::from_str(&data("switches.json")).unwrap();
    assert!(switches.rows.len() > 200);
    for row in switches.rows {
        let (all, threads) = requests(&row.params, false);
        let config = if row.cache == "16K" { ReuseConfig::fermi_16k } else { ReuseConfig::fermi_48k };
        let [run] = &simulate(&all, threads, &config(rules(&row.rule)), [RunKind::Full]);
        let found = (run.misses, run.infinite, run.latency_misses, run.ticks, run.refusals, run.accesses());
        let golden = (row.miss, row.inf, row.latency_misses, row.ticks, row.cancels, row.n);
        assert_eq!(found, golden, "{} {} {}", row.name, row.cache, row.rule);
    }
}

#[test]
fn table_1_is_a_profile_by_address_and_by_line() {
    let addresses = [0, 5, 3, 9, 3, 3, 5];
    let distances = |p: wavecast::trace::reuse::Profile| (p.distances().collect::<Vec<_>>(), p.infinite());
    assert_eq!(distances(profile(addresses)), (vec![(0, 1), (1, 1), (2, 1)], 4));
    let by_line = profile(addresses.map(|a| a / 4));
    // 3 compulsory misses of 7 and, with two lines, 1 capacity miss.
    assert_eq!((by_line.misses(2), by_line.infinite()), (4, 3));
    assert_eq!(distances(by_line), (vec![(0, 1), (1, 2), (2, 1)], 3));
}

/// Lines of four threads that load x[2 tid] and x[2 tid + 1], four elements in a line.
const LINES: [u64; 8] = [0, 0, 1, 1, 0, 0, 1, 1];

type Distances = Vec<Option<usize>>;

fn distances(example: Example, lines: &[u64]) -> Distances {
    timeline(example, lines).0.iter().map(|r| r.distance).collect()
}

#[test]
fn tables_2_and_3_shift_effects_by_a_fixed_latency() {
    let zero = Example::of_tables(2, 0, 0);
    let expected = [None, Some(0), None, Some(0), Some(1), Some(0), Some(1), Some(0)];
    assert_eq!(distances(zero, &LINES), expected);

    let fixed = Example::of_tables(2, 2, 2);
    let (rows, effects) = timeline(fixed, &LINES);
    let found: Distances = rows.iter().map(|r| r.distance).collect();
    assert_eq!(found, [None, None, None, None, Some(0), Some(1), Some(0), Some(1)]);
    assert_eq!(rows.iter().map(|r| r.effect_at).collect::<Vec<_>>(), (2..10).map(Some).collect::<Vec<_>>());
    assert_eq!(effects, LINES.iter().zip(2..).map(|(&l, t)| (t, vec![l])).collect::<Vec<_>>());
    // The paper calls the second and fourth misses; by 4.2 they are latency misses.
    assert_eq!(rows[1].outcome, RequestOutcome::LatencyMiss);
    let before = Example { rules: ReuseRules { visible: Visible::Before, ..fixed.rules }, ..fixed };
    assert_eq!(distances(before, &LINES)[4..], [Some(1); 4]);
}

#[test]
fn table_4_has_conditional_latencies() {
    let example = Example::of_tables(2, 0, 2);
    let (rows, effects) = timeline(example, &LINES);
    let found: Distances = rows.iter().map(|r| r.distance).collect();
    assert_eq!(found, [None, None, None, None, Some(0), Some(0), Some(1), Some(0)]);
    let at: Vec<u64> = rows.iter().filter_map(|r| r.effect_at).collect();
    assert_eq!(at, [2, 3, 4, 5, 4, 5, 6, 7]);
    let expected = [(2, vec![0]), (3, vec![0]), (4, vec![1, 0]), (5, vec![1, 0]), (6, vec![1]), (7, vec![1])];
    assert_eq!(effects, expected);
    let with = |rules: ReuseRules| distances(Example { rules, ..example }, &LINES)[4..].to_vec();
    let before = with(ReuseRules { visible: Visible::Before, ..example.rules });
    assert_eq!(before, [Some(1), Some(1), Some(1), Some(0)]);
    let hits_first = with(ReuseRules { order: EffectOrder::HitsFirst, ..example.rules });
    assert_eq!(hits_first, [Some(0), Some(1), Some(0), Some(0)]);
    let clipped =
        timeline(Example { rules: ReuseRules { clip: true, ..example.rules }, ..example }, &LINES).0;
    assert_eq!(clipped.iter().filter_map(|r| r.effect_at).collect::<Vec<_>>(), [2, 2, 4, 4, 4, 5, 6, 7]);
}

#[test]
fn table_5_needs_effects_before_look_ups() {
    let after = Example { mshrs: 1, ..Example::of_tables(2, 0, 2) };
    let before = Example { rules: ReuseRules { visible: Visible::Before, ..after.rules }, ..after };
    let lines = [0, 1, 0, 1, 1];
    let (rows, effects) = timeline(before, &lines);
    let outcomes: Vec<RequestOutcome> = rows.iter().map(|r| r.outcome).collect();
    assert_eq!(
        outcomes,
        [
            RequestOutcome::Miss,
            RequestOutcome::Cancel,
            RequestOutcome::Hit,
            RequestOutcome::Miss,
            RequestOutcome::LatencyMiss
        ]
    );
    assert_eq!(
        rows.iter().map(|r| r.effect_at).collect::<Vec<_>>(),
        [Some(2), None, Some(2), Some(5), Some(6)]
    );
    assert_eq!(rows.iter().map(|r| r.mshrs).collect::<Vec<_>>(), [(0, 1), (1, 1), (0, 0), (0, 1), (1, 1)]);
    assert_eq!(effects, [(2, vec![0, 0]), (5, vec![1]), (6, vec![1])]);
    // By the convention of the other tables it reads differently.
    let outcomes: Vec<RequestOutcome> = timeline(after, &lines).0.iter().map(|r| r.outcome).collect();
    assert_eq!(
        outcomes,
        [
            RequestOutcome::Miss,
            RequestOutcome::Cancel,
            RequestOutcome::LatencyMiss,
            RequestOutcome::Cancel,
            RequestOutcome::Cancel
        ]
    );
    let alone = Example { rules: ReuseRules { merge: false, ..before.rules }, ..before };
    assert_eq!(timeline(alone, &lines).0[4].outcome, RequestOutcome::Cancel);
}

/// Two passes of 128-byte loads of one warp: all misses, or hits in the second pass (N figure 7).
#[test]
fn figure_7_tells_the_set_bits_from_miss_rates() {
    let half = |log_stride: u32, loads: u64| {
        let pattern = AccessPattern::Stream { s: log_stride, loads, passes: 2, base: 0 };
        let (all, threads) = requests(&pattern, true);
        let config = ReuseConfig::fermi_16k(ReuseRules::PAPER);
        let [run] = &simulate(&all, threads, &config, [RunKind::Full]);
        assert!(run.misses == loads || run.misses == 2 * loads, "{log_stride} {loads}");
        run.misses == loads
    };
    let halves: Vec<usize> = (7..=20)
        .map(|s| [4, 8, 16, 32, 64, 128, 256].into_iter().filter(|&loads| half(s, loads)).count())
        .collect();
    // One more than the set bits varied: four loads always fit into one set.
    assert_eq!(halves, [5, 5, 5, 5, 5, 4, 5, 4, 3, 2, 2, 1, 1, 0].map(|bits| bits + 1));
}

#[test]
fn rules_of_cores_and_mshrs_have_the_effects_they_should() {
    let pattern = AccessPattern::Colcopy { h: 256, w: 64 };
    let (all, threads) = requests(&pattern, true);
    let base = ReuseConfig::fermi_16k(ReuseRules::PAPER);
    let run = |config: &ReuseConfig| simulate(&all, threads, config, [RunKind::Full])[0].clone();
    let full = run(&base);
    assert_eq!(full.accesses(), all.requests.len() as u64);
    // With six entries a warp, its instructions of 32 lines are done in parts, and nothing is lost.
    let mut six = base.clone();
    six.mshrs.per_warp = Some(6);
    let six = run(&six);
    assert_eq!((six.accesses(), six.compulsory), (full.accesses(), full.compulsory));
    assert!(six.ticks > full.ticks);
    // A deviation needs a seed, and the same one gives the same result.
    let random = |seed: u64| {
        let mut config = base.clone();
        config.latency.deviation_ticks = 20.0;
        config.latency.seed = seed;
        run(&config)
    };
    assert_eq!(random(3), random(3));
    assert_ne!(random(3).ticks, random(4).ticks);
    // Each extension that is off changes something here.
    let runs = simulate(&all, threads, &base, RunKind::ALL);
    for (kind, result) in RunKind::ALL.iter().zip(&runs) {
        assert_eq!(result.accesses(), full.accesses(), "{kind:?}");
        assert!(
            *kind == RunKind::Full || (result.ticks, result.misses) != (full.ticks, full.misses),
            "{kind:?}"
        );
    }
}

#[test]
fn several_cores_share_the_blocks() {
    let pattern: AccessPattern = serde_json::from_str(r#"{"kernel":"mm","N":64,"wgx":16,"wgy":16}"#).unwrap();
    let (all, threads) = requests(&pattern, true);
    let run = |cores: u32, batches: Batches| {
        let rules = ReuseRules { batches, ..ReuseRules::PAPER };
        let config = ReuseConfig { cores, max_blocks: 2, ..ReuseConfig::fermi_16k(rules) };
        simulate(&all, threads, &config, [RunKind::Full])[0].clone()
    };
    for batches in [Batches::Static, Batches::Refill] {
        let (one, four) = (run(1, batches), run(4, batches));
        assert_eq!(one.accesses(), four.accesses());
        assert!(four.ticks < one.ticks && four.compulsory > one.compulsory);
    }
    assert!(run(1, Batches::Refill).ticks <= run(1, Batches::Static).ticks);
}

/// Random latencies are rounded, as the published program does: the mean of round(|N(0, 1)|) is 0.764, and
/// that of larger deviations 0.798 times the deviation. Cut down they would be 0.365 at 1.
#[test]
fn random_latencies_are_rounded() {
    let header =
        wavecast::trace::Header { kernel: None, block: wavecast::trace::Dim3([1, 1, 1]), grid: None };
    let mut builder = wavecast::trace::TraceBuilder::new(header, false);
    let count = 20_000;
    for i in 0..count {
        builder.push(wavecast::trace::TraceAccess::plain(0, wavecast::trace::TraceKind::Load, i * 128, 4));
    }
    let trace = builder.finish(wavecast::trace::Tables::default());
    let all = Requests::coalesced(
        &trace,
        Coalescing { grouping: Grouping::Position, ..Coalescing::default() },
        0..1,
    );
    let ticks = |deviation: f64| {
        let mut config = ReuseConfig::fermi_16k(ReuseRules::PAPER);
        config.latency.deviation_ticks = deviation;
        simulate(&all, 1, &config, [RunKind::Full])[0].ticks as f64
    };
    let mean = |deviation: f64| (ticks(deviation) - ticks(0.0)) / count as f64;
    assert!((mean(1.0) - 0.764).abs() < 0.02, "{}", mean(1.0));
    assert!((mean(10.0) - 7.98).abs() < 0.2, "{}", mean(10.0));
}
