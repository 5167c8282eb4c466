//! All steps in their order, and how sure the whole is.

use super::super::clusters::Clusters;
use super::super::confidence::{Finding, FindingConfidence};
use super::super::finding::{
    FittingArrays, MappedLines, MappingFound, PrefetchFound, ReplacementFound, Structure,
};
use super::super::log::Run;
use super::super::noise::noise_of;
use super::super::sethash::{self, Evictions};
use super::fit::{self, fit};
use super::flips::{Flips, flips};
use super::pattern::{Pattern, pattern};
use super::replay::Known;
use super::{BESIDE, edge, line, prefetch, replay, rules, sector};
use crate::trace::numbering::number;

/// Certainty of the least certain line from which on nothing is left open: odds of about 3000.
const CERTAIN: f64 = 8.0;

/// The same where lines miss now and then: those of a set are not quite alike.
const CERTAIN_RANDOM: f64 = 60.0;
/// The same where a rule puts many lines together.
const CERTAIN_BY_RULE: f64 = 16.0;
/// Loads of a line in a set of its own, from where it misses on, that make sure of it.
const ALONE: f64 = 48.0;
/// Lines that begin to miss long after they came, which sets of unequal size would have more of.
const FEW: usize = 3;

/// The structure behind chases through one level.
pub fn infer(runs: &[Run]) -> Structure {
    let clusters = Clusters::new(runs);
    let noise = noise_of(runs, &clusters);
    let arrays = edge::arrays(runs, &clusters, noise);
    let sector = line::line(runs, &clusters, noise, arrays);
    let Some(brought) = sector.value.filter(|&b| b > 0) else {
        return without_line(clusters, sector, arrays);
    };
    let prefetch = prefetch::prefetch(runs, &clusters, brought);
    let line = sector::line(runs, &clusters, noise, &sector, (arrays, prefetch.value));
    let bytes = line.value.unwrap_or(brought);
    let flips = flips(runs, &clusters, noise, (bytes, brought), arrays.fits_bytes);
    let evictions = sethash::evictions(runs, &clusters, noise, bytes);
    let sets = known_sets(&flips, &evictions, prefetch.value, noise);
    let (mut ways, mapping, capacity) = match &sets {
        Some(sets) => whole(&flips, sets, bytes),
        None => parts(runs, &clusters, &flips, arrays, bytes),
    };
    let known = sets.as_ref().and_then(|sets| {
        let ways: &[u32] = &sets.ways;
        let mapping = mapping.value.as_ref()?;
        Some((reordered(ways, sets, mapping), mapping))
    });
    let known = known.as_ref().map(|(ways, mapping)| Known {
        line: bytes,
        sector: brought,
        ways,
        mapping,
        prefetch: prefetch.value,
    });
    let missing = (flips.missing, flips.rounds);
    let replacement = replay::replacement(runs, &clusters, noise, known.as_ref(), missing);
    if let Some(known) = &known {
        ways.value = Some(known.ways.to_vec());
    }
    let mapping = mapping.map(|rule| MappedLines::new(rule, bytes));
    let mut found =
        Structure { clusters, line, sector, capacity, arrays, ways, mapping, replacement, prefetch };
    if found.replacement.value == Some(ReplacementFound::Direct) && flips.rounds < 2 {
        found.capacity.at_most(FindingConfidence::Medium);
    }
    found.no_surer_than_its_ground();
    found
}

impl Structure {
    /// Lets nothing be surer than what it rests on: everything on telling hits from misses; the line on the sector;
    /// sets on the line; capacity and replacement on the sets.
    fn no_surer_than_its_ground(&mut self) {
        let ground = self.clusters.clarity();
        self.sector.at_most(ground);
        self.line.at_most(self.sector.confidence);
        self.prefetch.at_most(self.sector.confidence);
        self.ways.at_most(self.line.confidence);
        // What a prefetch brings throws lines out as well: without a look at it nothing about sets is certain.
        self.ways.at_most(self.prefetch.confidence.max(FindingConfidence::Medium));
        self.mapping.at_most(self.line.confidence);
        if self.ways.value.is_some() {
            self.mapping.at_most(self.ways.confidence);
        }
        // The largest array that fits is all of the cache only if all sets are full with it, which nothing shows.
        self.capacity.at_most(self.ways.confidence.max(FindingConfidence::Low).min(self.line.confidence));
        self.replacement.at_most(self.ways.confidence.max(FindingConfidence::Low).min(self.line.confidence));
    }
}

fn without_line(clusters: Clusters, sector: Finding<u64>, arrays: FittingArrays) -> Structure {
    let open = || "the line size is not known".to_owned();
    Structure {
        clusters,
        line: sector.clone(),
        sector,
        capacity: Finding::open(open()),
        arrays,
        ways: Finding::open(open()),
        mapping: Finding::open(open()),
        replacement: Finding::open(open()),
        prefetch: Finding::open(open()),
    }
}

/// Sets whose lines are all known.
struct Sets {
    /// Lines with their sets.
    known: Vec<(u64, u32)>,
    /// Lines beside the array with theirs.
    beside: Vec<(u64, u32)>,
    /// Lines of each set.
    ways: Vec<u32>,
    /// How sure they are, if a rule explains most lines and not all.
    ruled: Option<FindingConfidence>,
}

/// Sets as their lines begin to miss, or as a rule says that explains most of it better.
fn known_sets(
    flips: &Flips,
    evictions: &Evictions,
    prefetch: Option<PrefetchFound>,
    noise: f64,
) -> Option<Sets> {
    let mut exact = sets(flips, evictions);
    let plain = matches!(prefetch, None | Some(PrefetchFound::None));
    let count = |sets: &Sets| number(sets.ways.len());
    let fitted = exact.as_ref().map(|s| fit(&s.known, &s.beside, count(s)));
    if plain && fitted.as_ref().is_some_and(|f| !matches!(f, MappingFound::Table { .. })) {
        return exact;
    }
    let Some((ruled, margin)) = rules::likeliest(flips, noise, plain) else {
        // A prefetch may hide when lines begin to miss, and nothing confirms it.
        if let Some(exact) = exact.as_mut().filter(|_| !plain) {
            exact.ruled = Some(FindingConfidence::Low);
        }
        return exact;
    };
    // Numbered alike, or not.
    let same =
        |s: &Sets| s.ways.len() == ruled.ways.len() && reordered(&s.ways, s, &ruled.rule) == ruled.ways;
    if fitted == Some(ruled.rule.clone()) && exact.as_ref().is_some_and(same) {
        return exact;
    }
    let known: Vec<(u64, u32)> = (0..flips.lines).filter_map(|l| Some((l, ruled.rule.set(l)?))).collect();
    let certain = if flips.missing > 0.9 { CERTAIN } else { CERTAIN_BY_RULE };
    let sure = if margin >= certain { FindingConfidence::Medium } else { FindingConfidence::Low };
    let beside = beside(&known, evictions);
    Some(Sets { known, beside, ways: ruled.ways, ruled: Some(sure) })
}

/// Numbers the sets, if all lines of the first array that is too large belong to one that overflowed.
fn sets(flips: &Flips, evictions: &Evictions) -> Option<Sets> {
    flips.fitting?;
    let complete = flips.whole && flips.steady.is_empty();
    if !complete || flips.classes.is_empty() {
        return None;
    }
    let mut known = Vec::new();
    let mut ways = Vec::new();
    for (set, class) in (0_u32..).zip(&flips.classes) {
        known.extend(class.old.iter().map(|&l| (l, set)));
        if flips.single_steps {
            known.push((class.fresh.start, set));
        }
        ways.push(number(class.old.len()));
    }
    known.sort_unstable();
    let beside = beside(&known, evictions);
    Some(Sets { known, beside, ways, ruled: None })
}

/// Lines beside the array: one that put others out lies where they do.
fn beside(known: &[(u64, u32)], evictions: &Evictions) -> Vec<(u64, u32)> {
    let set_of = |line: u64| known.iter().find(|k| k.0 == line).map(|k| k.1);
    evictions.pairs.iter().filter_map(|&(extra, line)| Some((extra, set_of(line)?))).collect()
}

/// Ways in the order in which the mapping numbers sets.
fn reordered(ways: &[u32], sets: &Sets, mapping: &MappingFound) -> Vec<u32> {
    let mut all = vec![0; ways.len()];
    for &(line, set) in &sets.known {
        let place = mapping.set(line).and_then(|s| all.get_mut(s as usize));
        if let (Some(place), Some(&count)) = (place, ways.get(set as usize)) {
            *place = count;
        }
    }
    all
}

type Parts = (Finding<Vec<u32>>, Finding<MappingFound>, Finding<u64>);

/// With all sets seen to overflow.
fn whole(flips: &Flips, sets: &Sets, bytes: u64) -> Parts {
    let count = number(sets.ways.len());
    let mut rule = fit(&sets.known, &sets.beside, count);
    let tried = sets.known.len() + sets.beside.len();
    if let MappingFound::Xor { bits, .. } = &rule
        && tried < 2 * sets.ways.len() + 8 + *bits as usize
    {
        // So few lines lie as some bits or others say, whatever the mapping is.
        rule = fit::table(&sets.known);
    }
    let certain = if flips.missing > 0.9 { CERTAIN } else { CERTAIN_RANDOM };
    let mut confidence =
        if flips.margin >= certain { FindingConfidence::High } else { FindingConfidence::Low };
    let rule_known = !matches!(rule, MappingFound::Table { .. });
    // A line that came later may have stayed in a way that seldom gives way, and have been there all along.
    let fitting = flips.fitting.unwrap_or(0);
    let late = flips.classes.iter().flat_map(|c| &c.old).filter(|&&l| l >= fitting).count();
    if late > 0 && flips.missing <= 0.9 {
        confidence =
            confidence.min(if late <= FEW { FindingConfidence::Low } else { FindingConfidence::Medium });
    }
    // What looks like a set of one line may be one of several that seldom gives way.
    if sets.ways.contains(&1) && flips.least_alone() < ALONE {
        confidence = confidence.min(FindingConfidence::Medium);
    }
    confidence = sets.ruled.unwrap_or(confidence);
    // Where lines miss now and then and no rule confirms their sets, a few may be in the wrong one.
    if !rule_known && flips.missing <= 0.9 {
        confidence = confidence.min(FindingConfidence::Medium);
    }
    // The next line may have a set of its own as long as no line beside those of a set was tried.
    if flips.tail < flips.longest().max(BESIDE) && flips.longest() as u64 * 2 > flips.fitting.unwrap_or(0) {
        confidence = confidence.min(FindingConfidence::Low);
    }
    if !flips.single_steps {
        // Two sets that overflow at once would be taken for one; a rule that all lines follow speaks
        // against it.
        confidence =
            confidence.min(if rule_known { FindingConfidence::Medium } else { FindingConfidence::Low });
    }
    let why = format!(
        "{} arrays from {} to {} lines: {count} groups of lines begin to miss together",
        flips.lines - flips.fitting.unwrap_or(0),
        flips.fitting.unwrap_or(0) + 1,
        flips.lines
    );
    let mut ways = Finding::new(sets.ways.clone(), confidence, why.clone());
    if !flips.single_steps {
        ways.next.push(format!("arrays that grow by one line of {bytes} B each"));
    }
    let lines: u64 = sets.ways.iter().map(|&w| u64::from(w)).sum();
    let capacity = Finding::new(lines * bytes, confidence, format!("{lines} lines of {bytes} B in all sets"));
    let highest = sets.known.iter().map(|k| k.0).max().unwrap_or(0);
    // A few lines follow many rules.
    let few = rule_known && count > 1 && tried < 2 * sets.ways.len() + 8;
    // A hash seldom ends with the bits of the array.
    let few = few || matches!(rule, MappingFound::Xor { .. }) && sets.beside.is_empty();
    let sure = if few { confidence.min(FindingConfidence::Medium) } else { confidence };
    let mut mapping = Finding::new(rule, sure, why);
    mapping.because(format!("{} lines up to line {highest} lie as the rule says", sets.known.len()));
    if !sets.beside.is_empty() {
        mapping.because(format!(
            "so do {} lines beside the array, by the lines that they put out",
            sets.beside.len()
        ));
    } else if count > 1 && rule_known {
        mapping.next.push(format!("--set-hash: whether address bits above those of line {highest} matter"));
    }
    (ways, mapping, capacity)
}

/// With some sets seen, or none.
fn parts(runs: &[Run], clusters: &Clusters, flips: &Flips, arrays: FittingArrays, bytes: u64) -> Parts {
    let element = runs.first().map_or(4, |r| u64::from(r.element));
    let n = |bytes: u64| bytes / element;
    let open = match (arrays.fits_bytes, arrays.overflows_bytes) {
        (Some(fits), None) => Finding::open(format!("an array of {fits} B still fits")).next(format!(
            "n={} s={}",
            n(fits * 2),
            n(bytes)
        )),
        (None, Some(over)) => {
            Finding::open(format!("the smallest array, {over} B, misses already")).next(format!(
                "n={} s={}: no misses would mean {} B",
                n((over - 1) / bytes * bytes),
                1,
                (over - 1) / bytes * bytes
            ))
        }
        _ => Finding::open("no array was large enough to miss".to_owned()).next("larger arrays"),
    };
    let capacity = match (arrays.fits_bytes, arrays.overflows_bytes) {
        (Some(fits), Some(over)) if over - fits <= bytes && over > fits => {
            let why = format!("{fits} B fit, {over} B do not");
            let mut found = Finding::new((over - 1) / bytes * bytes, FindingConfidence::Medium, why);
            found.because("if all sets are full with the same array");
            found
        }
        (Some(fits), Some(over)) => Finding::open(format!("between {fits} and {over} B")).next(format!(
            "n={} s={}",
            n(u64::midpoint(fits, over) / bytes * bytes),
            n(bytes)
        )),
        _ => open,
    };
    let mut next = format!(
        "arrays that grow from {} elements by {} each, s={}, until all lines miss",
        arrays.overflows_bytes.map_or(0, n),
        n(bytes),
        n(bytes)
    );
    let Some(Pattern { run, sets, why }) = pattern(runs, clusters, bytes) else {
        if flips.classes.is_empty() {
            "an array a little larger than the cache, a line at a time".clone_into(&mut next);
        }
        let open = || "not all sets were seen to overflow".to_owned();
        return (Finding::open(open()).next(next.clone()), Finding::open(open()).next(next), capacity);
    };
    let rule = match (run, sets) {
        (_, 1) => MappingFound::Single,
        (1, _) => MappingFound::Bits { sets },
        _ => MappingFound::Spatial { run, sets },
    };
    let mapping = Finding::new(rule, FindingConfidence::Medium, why.clone()).next(next.clone());
    let each = capacity.value.map(|c| c / bytes / u64::from(sets.max(1)));
    let ways = match each.and_then(|w| u32::try_from(w).ok()) {
        Some(each) => Finding::new(vec![each; sets as usize], FindingConfidence::Medium, why).next(next),
        None => Finding::open(format!("{sets} sets, of a number of lines that follows from the capacity"))
            .next(next),
    };
    (ways, mapping, capacity)
}
