//! How many loads can be on their way (N 5.2 and figure 9): time hardly rises with independent loads until
//! one must wait for another.

use std::collections::BTreeMap;

use serde::Serialize;

use super::confidence::{Finding, FindingConfidence};
use super::read::MshrPoint;

/// A load that waits adds the time of one more trip; a load that does not, some cycles of issue.
const JUMP: f64 = 1.35;

/// Miss-status holding registers of a core.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "MshrDocument"))]
pub struct MshrsFound {
    /// Of a core.
    pub total: Finding<u32>,
    /// The least and the most that the figures leave.
    pub range: Option<[u32; 2]>,
    /// Those that one warp can use.
    pub per_warp: Finding<u32>,
    /// Numbers of warps, each with the most loads of each warp that do not wait.
    pub free: Vec<[u32; 2]>,
}

/// From times over warps and loads.
pub fn mshrs(points: &[MshrPoint]) -> MshrsFound {
    let mut by_warps: BTreeMap<u32, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
    for p in points.iter().filter(|p| p.cycles > 0.0) {
        by_warps.entry(p.warps).or_default().entry(p.loads).or_default().push(p.cycles);
    }
    let free: Vec<[u32; 2]> = by_warps.iter().filter_map(|(&w, loads)| Some([w, free(loads)?])).collect();
    let Some(most) = free.iter().map(|f| f[1]).max() else {
        let more = || "1 to 24 warps with 1 to 16 loads each".to_owned();
        let open = || Finding::open("no number of loads makes a wait").next(more());
        return MshrsFound { total: open(), range: None, per_warp: open(), free };
    };
    let mut range = [0, u32::MAX];
    for &[warps, loads] in &free {
        range[0] = range[0].max(warps.saturating_mul(loads));
        if loads < most {
            range[1] = range[1].min(warps.saturating_mul(loads + 1).saturating_sub(1));
        }
    }
    let few: Vec<u32> = free.iter().filter(|f| f[1] == most).map(|f| f[0]).collect();
    let same = few.len() > 1 && few.contains(&free[0][0]);
    let why = format!(
        "up to {most} loads of each warp do not wait with 1 to {} warps",
        few.iter().max().unwrap_or(&1)
    );
    let limited = free.iter().any(|f| f[1] < most);
    let per_warp = Finding::new(
        most,
        if same && limited { FindingConfidence::High } else { FindingConfidence::Medium },
        why,
    );
    let total = total(&free, range, limited);
    MshrsFound { total, range: (range[1] < u32::MAX).then_some(range), per_warp, free }
}

fn total(free: &[[u32; 2]], [low, high]: [u32; 2], limited: bool) -> Finding<u32> {
    let product = |f: &&[u32; 2]| f[0].saturating_mul(f[1]) == low;
    let at = free.iter().find(product).map_or(String::new(), |f| format!("{} warps of {} loads", f[0], f[1]));
    if !limited || low > high {
        let why = if limited {
            "numbers of warps contradict each other"
        } else {
            "no number of warps was too many"
        };
        return Finding::open(why).next("more warps, and each point several times");
    }
    let mut found = Finding::new(low, FindingConfidence::High, format!("{at} do not wait: at least {low}"));
    found.because(format!("one load more with fewer warps waits: at most {high}"));
    if high > low {
        found.confidence = FindingConfidence::Medium;
        found.next.push(format!("numbers of warps of which a multiple lies between {low} and {}", high + 1));
    }
    found
}

/// Most loads before the first jump that stays.
fn free(loads: &BTreeMap<u32, Vec<f64>>) -> Option<u32> {
    let median = |all: &Vec<f64>| {
        let mut all = all.clone();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let times: Vec<(u32, f64)> = loads.iter().map(|(&l, all)| (l, median(all))).collect();
    times.windows(2).enumerate().find_map(|(i, pair)| {
        let after = times.get(i + 2).is_none_or(|t| t.1 > JUMP * pair[0].1);
        (pair[0].0 + 1 == pair[1].0 && pair[1].1 > JUMP * pair[0].1 && after).then_some(pair[0].0)
    })
}
