//! Sentences on what is moved and why.

use std::fmt::Write;

use super::{Facts, listed, percent};
use crate::predict::{Halo, Layer};
use crate::quantity::{Bytes, Cycles, PerItem, Ratio, Share};
use crate::report::explanation::document::AccessDocument;
use crate::report::units::{counted, size, two};

/// A part of a volume below this share is not mentioned.
const SMALL: f64 = 0.05;

/// What the L1 pipe is busy with.
pub(super) fn l1_cycles(facts: &Facts<'_>) -> Option<String> {
    let l1 = &facts.document.result.volumes.l1;
    if !facts.matters("l1") {
        return None;
    }
    let accesses = &facts.document.accesses;
    let costliest = accesses.iter().max_by(|a, b| a.cost.cycles.total_cmp(&b.cost.cycles))?;
    let text = format!(
        "The L1 pipe is busy for {} cycles per {} with {} data and {} tag wavefronts",
        two(l1.wavefront_cycles),
        facts.unit(),
        two(l1.data_wavefronts),
        two(l1.tag_wavefronts)
    );
    let share = costliest.cost.cycles / l1.wavefront_cycles.max(Cycles::new(1e-9));
    let percent = percent(Share::new(share));
    let requests = requests(facts).unwrap_or_default();
    Some(if share > 2.0 / accesses.len() as f64 {
        format!("{text}; the {} {} alone takes {} of it.{requests}", costliest.kind, costliest.at, percent)
    } else if share < 0.01 {
        format!("{text}; no access takes as much as 1 % of it.{requests}")
    } else {
        format!("{text}; no access takes more than {percent} of it.{requests}")
    })
}

/// That requests to the L2 come piece by piece, where they are as many as may keep the L1 busy.
fn requests(facts: &Facts<'_>) -> Option<String> {
    /// Cycles that a request takes at least.
    const EACH: f64 = 2.0;
    let volumes = &facts.document.result.volumes;
    let of = &volumes.requests;
    let busy = EACH * (of.load.get() + of.store.get());
    (busy > volumes.l1.wavefront_cycles.get()).then(|| {
        format!(
            " It sends {} requests to load and {} to store per {} to the L2, each for one line only, which take their time however \
             little they are for.",
            two(of.load),
            two(of.store),
            facts.unit()
        )
    })
}

/// That warps use a part of the sectors that they ask for.
pub(super) fn l1_sectors(facts: &Facts<'_>) -> Option<String> {
    /// Below this it is worth a sentence.
    const POOR: f64 = 0.6;
    let sectors =
        |a: &AccessDocument| a.cost.sectors_per_request.map_or(0.0, |n| n.get() * a.cost.issues.get());
    let accesses = &facts.document.accesses;
    let all: f64 = accesses.iter().map(sectors).sum();
    let used: f64 = accesses.iter().map(|a| sectors(a) * a.cost.efficiency.map_or(0.0, Share::get)).sum();
    let asking = accesses.iter().filter(|a| a.cost.sectors_per_request.is_some());
    let issues: f64 = asking.map(|a| a.cost.issues.get()).sum();
    let applies = all > 0.0 && used / all < POOR && (facts.matters("l1") || facts.matters("l2"));
    applies.then(|| {
        format!(
            "Warps ask for {:.1} sectors per access and use {} of their bytes.",
            all / issues,
            percent(Share::new(used / all))
        )
    })
}

/// That lanes wait for each other at banks of shared memory.
pub(super) fn banks(facts: &Facts<'_>) -> Option<String> {
    /// Below this, conflicts are not worth a sentence.
    const MANY: f64 = 1.5;
    if !facts.matters("l1") {
        return None;
    }
    let all = facts.document.result.volumes.l1.wavefront_cycles;
    let conflicts = |a: &AccessDocument| a.cost.bank_conflicts.map_or(1.0, Ratio::get);
    let lost = |a: &AccessDocument| a.cost.cycles * (1.0 - 1.0 / conflicts(a));
    let found: Vec<&AccessDocument> =
        facts.document.accesses.iter().filter(|a| conflicts(a) >= MANY).collect();
    let worst = found.iter().max_by(|a, b| lost(a).total_cmp(&lost(b)))?;
    if found.iter().map(|a| lost(a)).sum::<Cycles<PerItem>>() < all * SMALL {
        return None;
    }
    let others = match found.len() - 1 {
        0 => String::new(),
        1 => "; another access has conflicts, too".to_owned(),
        several => format!("; {several} others have conflicts, too"),
    };
    Some(format!(
        "The {} {} takes {:.1} times the wavefronts that its bytes need, as its threads fall on the same banks of shared \
         memory{others}: padded rows may spread them.",
        worst.kind,
        worst.at,
        conflicts(worst)
    ))
}

/// What is loaded from L2.
pub(super) fn l2_load(facts: &Facts<'_>) -> Option<String> {
    let level = facts.level("l2")?;
    let (parts, cache) = (level.loads?, level.cache?);
    if !facts.matters("l2") || level.load_bytes <= Bytes::ZERO {
        return None;
    }
    let mut text = format!(
        "L2 delivers {} B/{}, of which a block needs {} at least",
        two(level.load_bytes),
        facts.unit(),
        two(parts.unavoidable)
    );
    if parts.lost_within > level.load_bytes * SMALL {
        let _ = write!(
            text,
            "; {} are loaded again, as the resident blocks need {:.2} times the {} of the L1 and {} of repeated loads miss",
            two(parts.lost_within),
            cache.oversubscription,
            size(cache.capacity_bytes),
            percent(cache.miss)
        );
    }
    if parts.shared > level.load_bytes * SMALL {
        let _ = write!(
            text,
            "; {} more would be loaded if the L1 did not have it from other blocks of the SM",
            two(parts.shared)
        );
    }
    Some(text + ".")
}

/// What is loaded from memory.
pub(super) fn dram_load(facts: &Facts<'_>) -> Option<String> {
    let level = facts.level("dram")?;
    let parts = level.loads?;
    if !facts.matters("dram") || level.load_bytes <= Bytes::ZERO {
        return None;
    }
    let lost = [
        (parts.lost_x, "were touched by earlier blocks of the row"),
        (parts.lost_y, "were touched by the row of blocks before"),
        (parts.lost_z, "were touched by the plane of blocks before"),
        (parts.lost_within, "are loaded again by blocks of the same wave"),
        (parts.fill, "complete sectors written in part"),
    ];
    let lost: Vec<String> = lost
        .into_iter()
        .filter(|l| l.0 > level.load_bytes * SMALL)
        .map(|(bytes, why)| format!("{} {why}", two(bytes)))
        .collect();
    let text = format!(
        "DRAM delivers {} B/{}, of which {} are unavoidable",
        two(level.load_bytes),
        facts.unit(),
        two(parts.unavoidable)
    );
    Some(if lost.is_empty() { text + "." } else { format!("{text}; {}.", listed(&lost)) })
}

/// The layer at which most is lost.
fn worst(facts: &Facts<'_>) -> Option<Layer> {
    // Where there is a further cache, what the L2 loses need not come from memory.
    if facts.level("llc").is_some() {
        return None;
    }
    let level = facts.level("dram")?;
    let layers = facts.document.layers.iter().filter(|l| l.lost_bytes > level.load_bytes * SMALL);
    layers.copied().max_by(|a, b| a.lost_bytes.total_cmp(&b.lost_bytes))
}

/// Which layer condition fails (section 4.4.2 of the paper).
pub(super) fn layer(facts: &Facts<'_>) -> Option<String> {
    let worst = worst(facts).filter(|_| facts.matters("dram"))?;
    let what = match worst.along {
        "wave" => "Two uses within a wave".to_owned(),
        axis => format!("Reuse along {axis}"),
    };
    let verb = if worst.along == "wave" { "lie" } else { "lies" };
    Some(format!(
        "{what} {verb} {} apart, {:.2} times the {} of the L2: {} of it misses.",
        size(worst.distance_bytes),
        worst.oversubscription,
        size(worst.capacity_bytes),
        percent(worst.miss)
    ))
}

/// How much more than its own place a block needs along the axis of that layer.
pub(super) fn halo(facts: &Facts<'_>) -> Option<String> {
    let worst = worst(facts).filter(|_| facts.matters("dram"))?;
    let d = ["x", "y", "z"].iter().position(|axis| *axis == worst.along)?;
    let reach = |h: &Halo| h.reach[d].filter(|r| *r > 0);
    let halo = facts.document.halos.iter().filter(|h| reach(h).is_some()).max_by_key(|h| reach(h))?;
    let (reach, own) = (reach(halo)?, facts.document.wave_extent[d]);
    Some(format!(
        "A wave is {own} deep along {} and its loads of {} reach {reach} beyond: it needs {} layers for {own}.",
        worst.along,
        halo.field,
        own.saturating_add(reach)
    ))
}

/// That warps write sectors in part.
pub(super) fn partial_stores(facts: &Facts<'_>) -> Option<String> {
    let store = &facts.document.result.volumes.dram.store;
    let applies =
        facts.matters("dram") && store.redundant > store.total * SMALL && two(store.redundant) != "0.00";
    applies.then(|| {
        format!(
            "Sectors are written in part and written again: {} of {} B/{} stored to DRAM.",
            two(store.redundant),
            two(store.total),
            facts.unit()
        )
    })
}

/// The load on which most depends at the level that limits.
pub(super) fn alone(facts: &Facts<'_>) -> Option<String> {
    let (bytes, level): (fn(&AccessDocument) -> Bytes<PerItem>, _) = match facts.document.result.limiter {
        "dram" => (|a| a.cost.alone.map_or(Bytes::ZERO, |n| n.dram_bytes), "DRAM"),
        "l2" => (|a| a.cost.alone.map_or(Bytes::ZERO, |n| n.l2_bytes), "L2"),
        _ => return None,
    };
    let of_level = facts.level(facts.document.result.limiter)?;
    let loads: Vec<&AccessDocument> = facts.document.accesses.iter().filter(|a| a.kind == "load").collect();
    let most = loads.iter().max_by(|a, b| bytes(a).total_cmp(&bytes(b)))?;
    // A lone load is all there is.
    if loads.len() < 2 || bytes(most) <= (of_level.load_bytes + of_level.store_bytes) * SMALL {
        return None;
    }
    let alike = loads.iter().filter(|a| bytes(a) >= bytes(most) * 0.99).count();
    let which = if alike > 1 {
        format!("any one of {} such as {}", counted(alike, "load"), most.at)
    } else {
        format!("the load {}", most.at)
    };
    Some(format!("Without {which} {level} would move {} B/{} less.", two(bytes(most)), facts.unit()))
}
