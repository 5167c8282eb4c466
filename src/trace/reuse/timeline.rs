//! The worked examples of N's tables 2 to 5: one request at each time, in a given order, on a small cache.
//!
//! It shares nothing with the machine but the rules: each is a check of the other.

use super::config::{EffectOrder, RefusalCheck, Release, ReuseRules, Visible};

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// Found.
    Hit,
    /// Not found.
    Miss,
    /// Not found, though an earlier request to the line is in flight.
    LatencyMiss,
    /// Put off, as all MSHRs are in use.
    Cancel,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineRow {
    /// Stack distance; none is infinite.
    pub distance: Option<usize>,
    /// What became of it.
    pub outcome: RequestOutcome,
    /// When it takes effect; none if it was put off.
    pub effect_at: Option<u64>,
    /// MSHRs in use before and after.
    pub mshrs: (usize, usize),
}

/// The example's cache: one set.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Lines.
    pub size: usize,
    /// Latency of a hit.
    pub hit: u64,
    /// Latency of a miss.
    pub miss: u64,
    /// MSHRs.
    pub mshrs: usize,
    /// By which rules.
    pub rules: ReuseRules,
}

#[derive(Debug, Clone, Copy)]
struct Flight {
    at: u64,
    line: u64,
    miss: bool,
}

/// One request at each time from 0 on. Rows, and the lines that take effect at each time.
pub fn timeline(example: Example, lines: &[u64]) -> (Vec<TimelineRow>, Vec<(u64, Vec<u64>)>) {
    let mut rows = Vec::new();
    let mut effects = Vec::new();
    let mut stack: Vec<u64> = Vec::new();
    let mut flights: Vec<Flight> = Vec::new();
    let mut entries: Vec<u64> = Vec::new();
    let mut now = 0;
    while now < lines.len() as u64 || !flights.is_empty() {
        let before = example.rules.visible == Visible::Before;
        if before {
            take_effect(example, now, &mut flights, &mut stack, &mut entries, &mut effects);
        }
        if let Some(&line) = usize::try_from(now).ok().and_then(|n| lines.get(n)) {
            rows.push(request(example, now, line, &stack, &mut flights, &mut entries));
        }
        take_effect(example, now, &mut flights, &mut stack, &mut entries, &mut effects);
        now += 1;
    }
    (rows, effects)
}

fn request(
    example: Example,
    now: u64,
    line: u64,
    stack: &[u64],
    flights: &mut Vec<Flight>,
    entries: &mut Vec<u64>,
) -> TimelineRow {
    let distance = stack.iter().rev().position(|&l| l == line);
    let used = entries.len();
    if distance.is_some_and(|d| d < example.size) {
        let at = now + example.hit;
        flights.push(Flight { at, line, miss: false });
        return TimelineRow {
            distance,
            outcome: RequestOutcome::Hit,
            effect_at: Some(at),
            mshrs: (used, used),
        };
    }
    let in_flight = entries.contains(&line);
    if used >= example.mshrs && !(example.rules.merge && in_flight) {
        return TimelineRow {
            distance,
            outcome: RequestOutcome::Cancel,
            effect_at: None,
            mshrs: (used, used),
        };
    }
    let mut at = now + example.miss;
    if example.rules.clip {
        let first = flights.iter().filter(|f| f.miss && f.line == line).map(|f| f.at).min();
        at = first.map_or(at, |f| f.min(at));
    }
    flights.push(Flight { at, line, miss: true });
    if !in_flight {
        entries.push(line);
    }
    let outcome = if in_flight { RequestOutcome::LatencyMiss } else { RequestOutcome::Miss };
    TimelineRow { distance, outcome, effect_at: Some(at), mshrs: (used, entries.len()) }
}

fn take_effect(
    example: Example,
    now: u64,
    flights: &mut Vec<Flight>,
    stack: &mut Vec<u64>,
    entries: &mut Vec<u64>,
    effects: &mut Vec<(u64, Vec<u64>)>,
) {
    let (mut due, rest): (Vec<Flight>, Vec<Flight>) = flights.iter().partition(|f| f.at == now);
    *flights = rest;
    if due.is_empty() {
        return;
    }
    if example.rules.order == EffectOrder::HitsFirst {
        due.sort_by_key(|f| f.miss);
    }
    for &Flight { line, miss, .. } in &due {
        stack.retain(|&l| l != line);
        stack.push(line);
        let more = flights.iter().any(|f| f.miss && f.line == line);
        if miss && (example.rules.release == Release::First || !more) {
            entries.retain(|&l| l != line);
        }
    }
    let lines = due.iter().map(|f| f.line);
    match effects.last_mut().filter(|e| e.0 == now) {
        Some(last) => last.1.extend(lines),
        None => effects.push((now, lines.collect())),
    }
}

impl Example {
    /// The rules of the tables: no clipping, otherwise the text's.
    pub fn of_tables(size: usize, hit: u64, miss: u64) -> Self {
        let rules = ReuseRules { clip: false, check: RefusalCheck::Warp, ..ReuseRules::PAPER };
        Self { size, hit, miss, mshrs: usize::MAX, rules }
    }
}
