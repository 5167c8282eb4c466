//! What deserves a look about a prediction or a ranking.

use super::gaps::missing;
use crate::device::signed;
use crate::expr::Coefficient;
use crate::kernel::Field;
use crate::launch::{ASSUMED_REGISTERS, outside};
use crate::predict::{Estimator, Summary};
use crate::quantity::{PerAddress, Times};
use crate::report::check::Warning;
use crate::report::units::{bytes, shape};

/// Code of the warning that rates of variants are not of the same job.
pub(in crate::report) const DOMAINS_DIFFER: &str = "domains-differ";

pub(super) fn domains_differ(estimators: &[Estimator<'_>]) -> Option<Warning> {
    let items = |e: &Estimator<'_>| e.kernel.extents().iter().product::<i64>();
    let (least, most) = (estimators.iter().map(items).min()?, estimators.iter().map(items).max()?);
    (least < most).then(|| Warning {
        code: DOMAINS_DIFFER,
        message: format!(
            "the domains of the variants have {least} to {most} work items: they are ranked by their time, and each rate \
             counts the work items of its own variant"
        ),
        place: Some("domain".to_owned()),
    })
}

/// With the warning that registers were assumed if they were, and without it if not: a document is checked for its own
/// launches, and others may be asked about.
pub(super) fn about_registers(mut warnings: Vec<Warning>, assumed: bool) -> Vec<Warning> {
    let code = "registers-assumed";
    if !assumed {
        warnings.retain(|w| w.code != code);
    } else if warnings.iter().all(|w| w.code != code) {
        let message = format!(
            "no entry of `launch.registers` matches all launches; {ASSUMED_REGISTERS} are assumed where none does"
        );
        warnings.push(Warning { code, message, place: Some("launch.registers".to_owned()) });
    }
    warnings
}

/// More atomics on one address than one warp can have: warps wait for each other.
const MANY_ATOMICS: Times<PerAddress> = Times::new(64.0);

pub(super) fn warnings(estimator: &Estimator<'_>, p: &Summary) -> Vec<Warning> {
    let mut out = Vec::new();
    let mut add = |code, message: String, place: &str| {
        out.push(Warning { code, message, place: Some(place.to_owned()) });
    };
    if p.launch.registers_assumed {
        let message = format!("no register count given; {ASSUMED_REGISTERS} assumed");
        add("registers-assumed", message, "launch.registers");
    }
    if p.counting.estimated.lines {
        add("lines-sampled", "distinct lines are an estimate from samples".to_owned(), "volumes");
    }
    if p.counting.estimated.blocks {
        let message =
            "blocks differ in what they do or touch: some blocks and waves are counted and stand for the others".to_owned();
        add("blocks-sampled", message, "volumes");
    }
    let (counts, verified) = (p.counting.counts, p.counting.verified);
    if estimator.counting.counter.verifies() && verified < counts {
        let message = format!("no second engine could confirm {} of {counts} counts", counts - verified);
        add("counts-unverified", message, "counting");
    }
    if p.volumes.atomics_per_address > MANY_ATOMICS {
        let message = format!(
            "{:.0} atomics of a wave change the same address on average; that they wait for each other is \
             not modelled, so that this is too fast",
            p.volumes.atomics_per_address
        );
        add("atomics-contended", message, "time_s");
    }
    if p.counting.warps_sampled {
        add(
            "wavefronts-sampled",
            "the wavefronts of the L1 are counted for some warps, which stand for the others".to_owned(),
            "volumes.l1",
        );
    }
    out.extend(missing(estimator, p));
    out.extend(leaving(estimator, p));
    out.extend(idle(estimator, p));
    out.extend(memory(estimator, p));
    out
}

/// Warns of accesses by numbers of threads and blocks that leave their field in this launch.
fn leaving(estimator: &Estimator<'_>, p: &Summary) -> Option<Warning> {
    let outside = outside(estimator.kernel, &p.launch)?;
    let message = format!(
        "in blocks of {}, {}: give the field more elements, or take other blocks",
        shape(p.launch.candidate.block()),
        outside.told(estimator.kernel)
    );
    let place = Some(format!("fields.{}", outside.field.name));
    Some(Warning { code: "launch-out-of-bounds", message, place })
}

/// A last wave that leaves more than half of the SMs without work, where that costs more than this share of
/// the time of all waves.
const IDLE: f64 = 0.1;

/// Warns of SMs that have nothing to do.
fn idle(estimator: &Estimator<'_>, p: &Summary) -> Option<Warning> {
    let sms = signed(estimator.device.sm.count.value.0);
    let (blocks, wave) = (p.working_blocks, p.occupancy.wave_blocks.max(1));
    let (whole, last) = (blocks / wave, blocks % wave);
    if last.saturating_mul(2) >= sms || last == 0 {
        return None;
    }
    let place = Some("occupancy.waves".to_owned());
    if whole == 0 {
        let message = format!(
            "the launch has {last} blocks with work for {sms} SMs, so that {} SMs have none: give it smaller or more \
             blocks (launch.block, launch.fold, launch.grid)",
            sms - last
        );
        return Some(Warning { code: "few-blocks", message, place });
    }
    let share = 1.0 / (whole as f64 + 1.0);
    if share <= IDLE {
        return None;
    }
    let message = format!(
        "after {whole} whole {} of {wave} blocks the last one has {last} blocks for {sms} SMs, so that {} SMs wait: other \
         blocks, folds or sizes may fill it",
        if whole == 1 { "wave" } else { "waves" },
        sms - last
    );
    Some(Warning { code: "partial-wave", message, place })
}

/// Warns of arrays that do not fit into the memory of the device together.
fn memory(estimator: &Estimator<'_>, p: &Summary) -> Option<Warning> {
    let capacity = signed(estimator.device.dram.capacity.value.0);
    let fits = |f: &Field| f.elements.as_int()?.checked_mul(f.dtype.bytes)?.checked_mul(f.multiplicity);
    let size = |f: &Field| fits(f).unwrap_or(i64::MAX);
    let fields = || p.volumes.fields.iter().map(|f| estimator.kernel.field(f.field));
    let all = fields().map(size).fold(0, i64::saturating_add);
    if all <= capacity {
        return None;
    }
    let largest = fields().max_by_key(|f| size(f))?;
    let message = format!(
        "the arrays have {} together, `{}` alone {}, and the device has {} of memory (dram.capacity): take smaller sizes \
         or a device with more",
        bytes(all),
        largest.name,
        bytes(size(largest)),
        bytes(capacity)
    );
    let place = Some(format!("fields.{}", largest.name));
    Some(Warning { code: "memory-exceeded", message, place })
}
