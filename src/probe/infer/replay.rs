//! Which replacement policy makes the misses of a shuffled chase: each is simulated beside it.

use super::super::clusters::Clusters;
use super::super::confidence::{Finding, FindingConfidence};
use super::super::finding::{MappingFound, PrefetchFound, ReplacementFound};
use super::super::log::{ChaseOrder, Run};
use super::super::marks::most_places;
use super::super::simulate::{CacheSpec, Prefetch, ProbedCache, ReplacementRule, SetMapping, Trigger};

/// Misses that a policy must make where there are some.
const RECALL: f64 = 0.93;

/// What is known of the cache already.
pub(super) struct Known<'k> {
    pub(super) line: u64,
    pub(super) sector: u64,
    pub(super) ways: &'k [u32],
    pub(super) mapping: &'k MappingFound,
    pub(super) prefetch: Option<PrefetchFound>,
}

/// How well a policy does.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    /// Loads that should miss, and do.
    miss: (u64, u64),
    /// Loads that should hit, and miss.
    hit: (u64, u64),
}

impl Score {
    fn fits(&self, noise: f64) -> bool {
        let recall = self.miss.1 as f64 / self.miss.0.max(1) as f64;
        let expected = self.hit.0 as f64 * noise * 2.0;
        self.miss.0 > 0 && recall >= RECALL && self.hit.1 as f64 <= expected + 5.0 * expected.sqrt() + 3.0
    }
}

/// The replacement policy. `missing` is the share of loads that miss in sets that overflowed, under a
/// stride; `rounds` how often it went round.
pub(super) fn replacement(
    runs: &[Run],
    clusters: &Clusters,
    noise: f64,
    known: Option<&Known<'_>>,
    (missing, rounds): (f64, u32),
) -> Finding<ReplacementFound> {
    if let Some(known) = known
        && known.ways.iter().all(|&w| w == 1)
    {
        return Finding::new(ReplacementFound::Direct, FindingConfidence::High, "every set has one line");
    }
    if rounds < 2 || missing <= 0.0 {
        return Finding::open("less than two rounds of an array that is a little too large were timed")
            .next("the same array for at least 10 rounds: a line that misses always, or sometimes?");
    }
    let strided = if missing > 0.9 {
        let why = format!("periodic: lines of full sets miss in {:.1} % of {rounds} rounds", 100.0 * missing);
        // Others that miss as regularly are nearly as likely.
        Finding::new(ReplacementFound::Lru, FindingConfidence::Low, why)
    } else {
        let why = format!("aperiodic: lines of full sets miss in {:.1} % of their rounds", 100.0 * missing);
        Finding::new(ReplacementFound::NotLru, FindingConfidence::High, why)
    };
    let shuffled = known.and_then(|known| shuffled(runs, clusters, noise, known));
    match (strided.value, shuffled) {
        (_, Some(fitting)) => {
            let pairs = known.is_some_and(|k| k.ways.iter().all(|&w| w <= 2));
            let mut found = verdict(&fitting, strided, pairs);
            if known.is_none_or(|k| k.prefetch.is_none()) {
                // A prefetch that nobody looked for would put out lines too.
                found.at_most(FindingConfidence::Medium);
            }
            found
        }
        (Some(ReplacementFound::Lru), None) => {
            let mut found = strided;
            found.because("FIFO, tree-PLRU, NRU and SRRIP miss as regularly when lines come in turn");
            found.next("a shuffled chase (order=shuffled), two loads of each line in random orders")
        }
        _ => strided,
    }
}

/// From the policies that fit a shuffled chase; `pairs` if no set has more than two lines.
fn verdict(
    fitting: &[ReplacementFound],
    strided: Finding<ReplacementFound>,
    pairs: bool,
) -> Finding<ReplacementFound> {
    let because = strided.evidence.into_iter();
    let finding = |value, confidence, why: String| {
        let mut found = Finding::new(value, confidence, why);
        found.evidence.extend(because);
        found
    };
    match fitting {
        [] => {
            let why = "none of LRU, FIFO, tree-PLRU, NRU and SRRIP makes the misses of the shuffled chase";
            finding(ReplacementFound::NotLru, FindingConfidence::High, why.to_owned())
        }
        [ReplacementFound::Lru, ReplacementFound::TreePlru] if pairs => {
            let why = "LRU makes the misses of the shuffled chase; tree-PLRU of two ways is the same";
            finding(ReplacementFound::Lru, FindingConfidence::High, why.to_owned())
        }
        [one] => {
            let why = format!("{} alone makes the misses of the shuffled chase", one.word());
            finding(*one, FindingConfidence::High, why)
        }
        [first, others @ ..] => {
            let words: Vec<&str> = others.iter().map(|o| o.word()).collect();
            let why = format!(
                "{} makes the misses of the shuffled chase, as does {}",
                first.word(),
                words.join(", ")
            );
            finding(*first, FindingConfidence::Medium, why).next("a shuffled chase with a few lines more")
        }
    }
}

/// The policies that make the misses of the shuffled chases; none if there is no such chase.
fn shuffled(
    runs: &[Run],
    clusters: &Clusters,
    noise: f64,
    known: &Known<'_>,
) -> Option<Vec<ReplacementFound>> {
    let runs: Vec<&Run> = runs.iter().filter(|r| r.order == ChaseOrder::Shuffled && !r.cold).collect();
    let candidates = [
        (ReplacementFound::Lru, ReplacementRule::Lru),
        (ReplacementFound::Fifo, ReplacementRule::Fifo),
        (ReplacementFound::TreePlru, ReplacementRule::TreePlru),
        (ReplacementFound::Nru, ReplacementRule::Nru),
        (ReplacementFound::Srrip, ReplacementRule::Srrip),
    ];
    let mut tried = false;
    let mut fitting = Vec::new();
    for (found, policy) in candidates {
        let halves = |w: &u32| w.is_power_of_two() && *w <= 64;
        if policy == ReplacementRule::TreePlru && !known.ways.iter().all(halves) {
            continue;
        }
        // It must make the misses of each run: in one with many lines too many all policies look alike.
        let mut fits = true;
        let mut any = false;
        for run in &runs {
            let Some(spec) = spec(known, run, policy.clone()) else { continue };
            let score = replay(run, clusters, &spec);
            fits &= score.miss.0 == 0 || score.fits(noise);
            any |= score.miss.0 > 0;
        }
        tried |= any;
        if any && fits {
            fitting.push(found);
        }
    }
    tried.then_some(fitting)
}

/// The cache as it is known, if the sets of all lines of a run are.
fn spec(known: &Known<'_>, run: &Run, policy: ReplacementRule) -> Option<CacheSpec> {
    let lines = run.bytes().div_ceil(known.line);
    if lines > most_places(run.loads.len()) {
        return None;
    }
    let table: Vec<u32> = (0..lines).map(|l| known.mapping.set(l)).collect::<Option<_>>()?;
    let sets = known.ways.len();
    if table.is_empty() || table.iter().any(|&s| s as usize >= sets) {
        return None;
    }
    let prefetch = match known.prefetch {
        // How far ahead it is changes what is put out.
        Some(PrefetchFound::Stream { distance: None }) => return None,
        Some(PrefetchFound::AtMiss { distance }) => Some(Prefetch { distance, trigger: Trigger::Miss }),
        Some(PrefetchFound::Stream { distance: Some(distance) }) => {
            Some(Prefetch { distance, trigger: Trigger::Tagged })
        }
        _ => None,
    };
    let (line, ways, mapping) = (known.line, known.ways.to_vec(), SetMapping::Table(table));
    let sector = known.sector.min(line);
    Some(CacheSpec { line, sector, ways, mapping, policy, prefetch, hit_cycles: 1.0 })
}

/// Simulates a run, warm from two rounds.
fn replay(run: &Run, clusters: &Clusters, spec: &CacheSpec) -> Score {
    let limit = u32::try_from(run.bytes().div_ceil(spec.line)).unwrap_or(u32::MAX);
    let mut cache = ProbedCache::new(spec, limit, 0);
    let first = run.loads.first().map_or(0, |l| l.index);
    let again = run.loads.iter().skip(1).position(|l| l.index == first).map_or(run.loads.len(), |p| p + 1);
    let round = &run.loads[..again];
    let address = |index: u32| u64::from(index) * u64::from(run.element);
    for _ in 0..2 {
        for l in round {
            cache.load(address(l.index));
        }
    }
    let mut score = Score::default();
    for load in &run.loads {
        let hits = cache.load(address(load.index));
        let Some(missed) = clusters.missed(load.latency) else { continue };
        let counts = if hits { &mut score.hit } else { &mut score.miss };
        counts.0 += 1;
        counts.1 += u64::from(missed);
    }
    score
}
