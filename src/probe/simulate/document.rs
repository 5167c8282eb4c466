//! Simulated caches as they are written.

use std::sync::Arc;

use crate::device::{Quantity, Size};
use crate::random::Random;
use crate::text::{
    Bounds, Decode, Decoder, Diagnostic, Fault, Node, Sources, Span, Value, parse_stream, record,
};

use super::spec::{CacheSpec, Prefetch, ProbeSpec, ReplacementRule, SetMapping, Trigger};

/// Lines beyond which a simulated cache is hardly meant.
const MOST_LINES: u64 = 1 << 24;
/// Bytes of a specification beyond which it is hardly meant.
const MOST_BYTES: usize = 1 << 20;

/// Sectors of a line beyond which none are simulated.
const MOST_SECTORS: u64 = 32;

/// One number, or one for each set.
#[derive(Debug, Clone)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PerSet(Vec<i64>);

impl Decode for PerSet {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match &node.value {
            Value::List(_) => Vec::decode(node, decoder).map(Self),
            _ => i64::decode(node, decoder).map(|n| Self(vec![n])),
        }
    }
}

record! {
    /// A simulated cache as it is written: YAML or JSON.
    pub struct SpecDocument, "a simulated cache" {
        /// Its name.
        name: String,
        /// Bytes of an array element; 4 by default.
        element: i64,
        /// Bytes of a line or page, with a unit if they are not plain bytes.
        line: String [required: "for example `line: 128 B`"],
        /// Bytes of a sector: what a miss brings of a line; the whole line by default.
        sector: String,
        /// Number of sets, if `ways` is one number.
        sets: i64,
        /// Lines of a set: one number, or one for each set.
        ways: PerSet [required: "for example `ways: 4`, or one number for each set"],
        /// From lines to sets: bits (remainder by the number of sets), spatial, xor, table.
        mapping: String,
        /// For spatial: consecutive lines of a set.
        run: i64,
        /// For xor: masks of line bits in hexadecimal, one for each bit of the set.
        masks: Vec<String>,
        /// For table: the set of each line, again from the first when it ends; random if it is not given.
        table: Vec<i64>,
        /// Which line gives way: lru, fifo, random, plru, weighted, nru, srrip.
        replacement: String,
        /// For weighted: how often each way gives way, relative to the others.
        weights: Vec<i64>,
        /// Lines that are brought in beyond the one needed.
        prefetch: i64,
        /// When they are: at a miss, or (tagged) also at the first use of a line that was prefetched.
        trigger: String,
        /// Cycles of a hit.
        hit: f64 [required: "cycles, for example `hit: 96`"],
        /// Cycles of a miss in the last level.
        miss: f64,
        /// Relative standard deviation of latencies.
        noise: f64,
        /// Share of latencies that are 1.2 to 5 times what they should be.
        outliers: f64,
        /// Cycles from one time that the clock can show to the next: latencies are multiples of it.
        step: f64,
        /// Miss-status holding registers, and those that one warp can use (--mshr).
        mshrs: i64,
        /// Those that one warp can use; all by default.
        mshrs_per_warp: i64,
        /// For everything random.
        seed: i64,
        /// Further levels, the nearest first.
        below: Vec<SpecDocument>,
    }
}

/// Reads a specification; `name` is the file's.
pub fn read_spec(name: &str, text: &str) -> Result<ProbeSpec, Fault> {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let (documents, mut errors) = parse_stream(text, file, Bounds::of_bytes(MOST_BYTES));
    let mut decoder = Decoder::default();
    let mut spec = None;
    match documents.as_slice() {
        [node] => {
            let document = SpecDocument::decode(node, &mut decoder);
            if !decoder.failed()
                && let Some(document) = document
            {
                spec = whole(&document, &mut decoder);
            }
        }
        _ if errors.is_empty() => {
            let message = format!("one simulated cache was expected, not {} documents", documents.len());
            errors.push(Diagnostic::error("probe-spec", Span::new(file, 0..0), message));
        }
        _ => {}
    }
    errors.extend(decoder.diagnostics);
    spec.filter(|_| errors.is_empty()).ok_or_else(|| Fault::new(errors, Arc::new(sources)))
}

fn whole(document: &SpecDocument, decoder: &mut Decoder) -> Option<ProbeSpec> {
    let seed = document.seed.unwrap_or(1).unsigned_abs();
    let below = document.below.iter().flatten();
    let levels: Vec<Option<CacheSpec>> =
        std::iter::once(document).chain(below).map(|d| level(d, seed, decoder)).collect();
    let levels: Vec<CacheSpec> = levels.into_iter().collect::<Option<_>>()?;
    let last = document.below.as_ref().and_then(|b| b.last()).unwrap_or(document);
    let mut fail = |message: String, help: &str| {
        decoder.report(Diagnostic::error("probe-spec", last.span, message).help(help));
    };
    let Some(miss) = last.miss.or(document.miss) else {
        fail("the last level needs the key `miss`, cycles of a miss".to_owned(), "for example miss: 480");
        return None;
    };
    let element = document.element.unwrap_or(4);
    let element = u32::try_from(element).ok().filter(|&e| e > 0 && levels[0].sector / 2 >= u64::from(e));
    let Some(element) = element else {
        let message = "an element has at least one byte, a line and a sector two elements";
        fail(message.to_owned(), "for example element: 4");
        return None;
    };
    let rising = levels.windows(2).all(|l| l[0].hit_cycles < l[1].hit_cycles);
    if !rising
        || levels
            .last()
            .is_none_or(|l| !l.hit_cycles.is_finite() || l.hit_cycles >= miss || l.hit_cycles < 1.0)
    {
        fail("latencies must rise from level to level".to_owned(), "at least 1 cycle; hit less than miss");
        return None;
    }
    let (noise, outliers) = (document.noise.unwrap_or(0.0), document.outliers.unwrap_or(0.0));
    if !(0.0..=0.5).contains(&noise) || !(0.0..=0.5).contains(&outliers) {
        fail("noise and outliers are shares from 0 to 0.5".to_owned(), "3 % is 0.03");
        return None;
    }
    let step = document.step.unwrap_or(0.0);
    if !(0.0..=1000.0).contains(&step) {
        fail("the steps of the clock have 0 to 1000 cycles".to_owned(), "for example step: 2");
        return None;
    }
    let registers = |n: Option<i64>, or: u32| {
        n.map_or(Some(or), |n| u32::try_from(n).ok().filter(|&n| (1..=1 << 16).contains(&n)))
    };
    let mshrs = registers(document.mshrs, 64);
    let Some((mshrs, mshrs_per_warp)) = mshrs.and_then(|m| Some((m, registers(document.mshrs_per_warp, m)?)))
    else {
        fail("mshrs are 1 to 65536".to_owned(), "for example mshrs: 64, mshrs_per_warp: 6");
        return None;
    };
    let name = document.name.clone().unwrap_or_else(|| "simulated".to_owned());
    Some(ProbeSpec {
        name,
        element,
        levels,
        miss_cycles: miss,
        noise_share: noise,
        outlier_share: outliers,
        step_cycles: step,
        mshrs,
        mshrs_per_warp,
        seed,
    })
}

fn level(document: &SpecDocument, seed: u64, decoder: &mut Decoder) -> Option<CacheSpec> {
    match checked(document, seed) {
        Ok(level) => Some(level),
        Err((message, help)) => {
            decoder.report(Diagnostic::error("probe-spec", document.span, message).help(help));
            None
        }
    }
}

type Refusal = (String, &'static str);

fn checked(document: &SpecDocument, seed: u64) -> Result<CacheSpec, Refusal> {
    let help = "for example 128, 32 B or 2 MiB";
    let line = document.line.as_deref().and_then(bytes);
    let line = line.ok_or(("a line has a power of two of bytes".to_owned(), help))?;
    let sector = match document.sector.as_deref() {
        None => Some(line),
        Some(text) => bytes(text).filter(|&s| s <= line && line / s <= MOST_SECTORS),
    };
    let message =
        || (format!("a sector has a power of two of bytes, and a line up to {MOST_SECTORS} of them"), help);
    let sector = sector.ok_or_else(message)?;
    let ways = ways(document)?;
    let mapping = mapping(document, &ways, seed)?;
    let policy = policy(document, &ways)?;
    let trigger = match document.trigger.as_deref() {
        None | Some("miss") => Trigger::Miss,
        Some("tagged") => Trigger::Tagged,
        Some(other) => return Err((format!("`{other}` is no trigger"), "known: miss, tagged")),
    };
    let distance = u32::try_from(document.prefetch.unwrap_or(0)).ok().filter(|&d| d <= 1024);
    let distance = distance.ok_or(("prefetch is 0 to 1024 lines".to_owned(), "0 is none"))?;
    let prefetch = (distance > 0).then_some(Prefetch { distance, trigger });
    if prefetch.is_some() && sector < line {
        let help =
            "leave out sector or prefetch: what a prefetch brings of a line in sectors is not modelled";
        return Err(("a cache with sectors cannot have a prefetch here".to_owned(), help));
    }
    Ok(CacheSpec { line, sector, ways, mapping, policy, prefetch, hit_cycles: document.hit.unwrap_or(0.0) })
}

/// A power of two of bytes, with or without a unit.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let bytes = text.parse().ok().or_else(|| Size::parse(text).map(|s| s.0))?;
    (u64::is_power_of_two(bytes) && bytes <= 1 << 40).then_some(bytes)
}

fn ways(document: &SpecDocument) -> Result<Vec<u32>, Refusal> {
    let wrong = || ("ways are numbers from 1 on".to_owned(), "for example sets: 32, ways: 4");
    let given = document.ways.as_ref().map_or(&[][..], |w| &w.0);
    let given: Option<Vec<u32>> = given.iter().map(|&w| u32::try_from(w).ok().filter(|&w| w > 0)).collect();
    let given = given.filter(|g| !g.is_empty()).ok_or_else(wrong)?;
    let sets = document.sets.map_or(given.len(), |s| usize::try_from(s).unwrap_or(0));
    let all = match given.as_slice() {
        [one] if sets > 0 && sets as u64 <= MOST_LINES => vec![*one; sets],
        many if many.len() == sets => given,
        _ => return Err((format!("{} ways do not make {sets} sets", given.len()), "one for each set")),
    };
    let lines: u64 = all.iter().map(|&w| u64::from(w)).sum();
    if lines > MOST_LINES {
        return Err((format!("{lines} lines are too many"), "at most 16777216 can be simulated"));
    }
    Ok(all)
}

fn mapping(document: &SpecDocument, ways: &[u32], seed: u64) -> Result<SetMapping, Refusal> {
    match document.mapping.as_deref().unwrap_or("bits") {
        "bits" => Ok(SetMapping::Bits),
        "spatial" => {
            let run = u64::try_from(document.run.unwrap_or(4)).ok().filter(|&r| r > 0);
            run.map(SetMapping::Spatial).ok_or(("run is at least 1".to_owned(), "for example run: 4"))
        }
        "xor" => {
            let mask = |m: &String| u64::from_str_radix(m.trim().trim_start_matches("0x"), 16).ok();
            let masks: Option<Vec<u64>> = document.masks.iter().flatten().map(mask).collect();
            let masks = masks.filter(|m| m.len() < 25 && 1 << m.len() == ways.len());
            let help = "for 4 sets: masks: [\"0x5\", \"0xa\"], bits of the line's number";
            masks.map(SetMapping::Xor).ok_or((format!("{} sets need masks, one a bit", ways.len()), help))
        }
        "table" => {
            let Some(table) = &document.table else { return Ok(SetMapping::Table(shuffled(ways, seed))) };
            let known = |s: &i64| u32::try_from(*s).ok().filter(|&s| (s as usize) < ways.len());
            let table: Option<Vec<u32>> = table.iter().map(known).collect();
            let table = table.filter(|t| !t.is_empty());
            let help = "or leave it out for a random table";
            table.map(SetMapping::Table).ok_or((format!("a table holds sets below {}", ways.len()), help))
        }
        other => Err((format!("`{other}` is no mapping"), "known: bits, spatial, xor, table")),
    }
}

/// A table in which each set has its share of lines, at random places.
fn shuffled(ways: &[u32], seed: u64) -> Vec<u32> {
    let mut table: Vec<u32> =
        (0_u32..).zip(ways).flat_map(|(set, &w)| std::iter::repeat_n(set, w as usize)).collect();
    let mut random = Random::new(seed ^ 0x7ab1e);
    for i in (1..table.len()).rev() {
        table.swap(i, random.below(i + 1));
    }
    table
}

fn policy(document: &SpecDocument, ways: &[u32]) -> Result<ReplacementRule, Refusal> {
    match document.replacement.as_deref().unwrap_or("lru") {
        "lru" => Ok(ReplacementRule::Lru),
        "fifo" => Ok(ReplacementRule::Fifo),
        "random" => Ok(ReplacementRule::Random),
        "nru" => Ok(ReplacementRule::Nru),
        "srrip" => Ok(ReplacementRule::Srrip),
        "plru" if ways.iter().all(|w| w.is_power_of_two() && *w <= 64) => Ok(ReplacementRule::TreePlru),
        "plru" => Err(("plru needs a power of two of ways, up to 64".to_owned(), "or take lru")),
        "weighted" => {
            let weight = |w: &i64| u32::try_from(*w).ok().filter(|&w| w > 0 && w < 1 << 20);
            let weights: Option<Vec<u32>> = document.weights.iter().flatten().map(weight).collect();
            let most = ways.iter().copied().max().unwrap_or(0) as usize;
            let weights = weights.filter(|w| w.len() >= most);
            let help = "for 4 ways: weights: [1, 3, 1, 1]";
            weights.map(ReplacementRule::Weighted).ok_or((format!("{most} ways need weights above 0"), help))
        }
        other => {
            let help = "known: lru, fifo, random, plru, weighted, nru, srrip";
            Err((format!("`{other}` is no replacement"), help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_is_read_and_refused_with_its_place() {
        let spec = read_spec("x", "{line: 2 MiB, ways: [17, 8, 8], mapping: table, hit: 300, miss: 650}");
        let level = &spec.unwrap().levels[0];
        assert_eq!((level.line, level.lines(), level.ways.len()), (2 << 20, 33, 3));
        let on = |set: u32| (0..33).filter(|&l| level.set(l) == set).count();
        assert_eq!([on(0), on(1), on(2)], [17, 8, 8]);
        for bad in [
            "{line: 48, ways: 4, hit: 1, miss: 2}",
            "{line: 32, ways: 4, sets: 0, hit: 10, miss: 20}",
            "{line: 32, ways: 4, mapping: xor, sets: 3, masks: [\"0x1\"], hit: 10, miss: 20}",
            "{line: 32, ways: 3, replacement: plru, hit: 10, miss: 20}",
            "{line: 32, ways: 3, hit: 10}",
            "{line: 32, ways: 3, hit: 30, miss: 20}",
            "{line: 128, sector: 48, ways: 3, hit: 20, miss: 30}",
            "{line: 128, sector: 256, ways: 3, hit: 20, miss: 30}",
            "{line: 128, sector: 4, ways: 3, hit: 20, miss: 30}",
            "{line: 128, sector: 32, ways: 3, prefetch: 1, hit: 20, miss: 30}",
            "{line: 128, ways: 3, hit: 20, miss: 30, step: -1}",
            "[]",
            "{line: 32, wayz: 3, hit: 30, miss: 20}",
        ] {
            let fault = read_spec("x", bad).unwrap_err();
            assert!(fault.diagnostics.iter().all(|d| d.span.is_some()), "{bad}: {fault}");
        }
    }
}
