//! Whether the threads of a launch do the domain: no more of it and no less, but for the last block along
//! each dimension, which may be filled in part.

use num_rational::Ratio;

use super::candidate::Candidate;
use super::infeasible::Infeasible;
use crate::expr::{Dim, LaunchSizes};
use crate::kernel::Kernel;

/// Where products are compared as floating-point numbers, they are the same within this.
const ROUNDING: f64 = 1e-12;

/// Refuses a launch whose threads do another number of work items than the domain has.
pub(super) fn check(kernel: &Kernel, candidate: Candidate, sizes: &LaunchSizes) -> Result<(), Infeasible> {
    match units(kernel, sizes)? {
        // Work items that follow the fold are counted by those that accesses reach, where they go by work item.
        Some(given) if !(kernel.launch.by_item && follows(candidate, given)) => {
            product(kernel, candidate, sizes, given)
        }
        _ if kernel.launch.grid.is_some() && kernel.launch.by_item => reach(kernel, candidate, sizes),
        _ => Ok(()),
    }
}

/// Whether threads have as many work items as their fold says. `true` where the document says nothing.
pub(super) fn follows_fold(kernel: &Kernel, candidate: Candidate, sizes: &LaunchSizes) -> bool {
    units(kernel, sizes).ok().flatten().is_none_or(|given| follows(candidate, given))
}

fn follows(candidate: Candidate, units: Ratio<i64>) -> bool {
    units.is_integer()
        && i128::from(*units.numer()) == candidate.fold().iter().map(|&n| i128::from(n)).product()
}

/// Work items of a thread as the document gives them.
fn units(kernel: &Kernel, sizes: &LaunchSizes) -> Result<Option<Ratio<i64>>, Infeasible> {
    let Some(fraction) = &kernel.launch.units_per_thread else { return Ok(None) };
    let Some(units) = fraction.at(sizes) else { return Err(Infeasible::NoUnits) };
    if *units.numer() > 0 { Ok(Some(units)) } else { Err(Infeasible::UnitsNotPositive { units }) }
}

/// Accesses by work item reach one item of the domain for each of the grid.
fn reach(kernel: &Kernel, candidate: Candidate, sizes: &LaunchSizes) -> Result<(), Infeasible> {
    for (d, extent) in Dim::ALL.into_iter().zip(kernel.extents()) {
        let (i, blocks) = (d.index(), sizes.grid[d.index()]);
        let reached =
            [candidate.block()[i], candidate.fold()[i]].into_iter().fold(blocks, i64::saturating_mul);
        if reached < extent {
            let thread = ["tidx", "tidy", "tidz"][i];
            return Err(Infeasible::GridTooSmall { axis: d.letter(), blocks, reached, extent, thread });
        }
    }
    Ok(())
}

/// Grid x threads x units has to be the domain.
fn product(
    kernel: &Kernel,
    candidate: Candidate,
    sizes: &LaunchSizes,
    units: Ratio<i64>,
) -> Result<(), Infeasible> {
    let (blocks, threads): (i64, i64) = (sizes.grid.iter().product(), candidate.block().iter().product());
    let domain: i64 = kernel.extents().iter().product();
    let all = i128::from(blocks) * i128::from(threads);
    let wide = |r: Ratio<i64>| Ratio::new(i128::from(*r.numer()), i128::from(*r.denom()));
    let product = Ratio::from_integer(all) * wide(units);
    if product == Ratio::from_integer(i128::from(domain)) || is_rounded(kernel, candidate, sizes, product) {
        return Ok(());
    }
    let needed = Ratio::new(i128::from(domain), all);
    let narrow = |n: &i128| i64::try_from(*n).unwrap_or(i64::MAX);
    let needed = Ratio::new(narrow(needed.numer()), narrow(needed.denom()));
    Err(Infeasible::NotTheDomain { blocks, threads, units, product, domain, needed })
}

/// Whether a product differs from the domain by no more than what rounding the grid up or down along each
/// dimension brings.
fn is_rounded(kernel: &Kernel, candidate: Candidate, sizes: &LaunchSizes, product: Ratio<i128>) -> bool {
    let extents = kernel.extents();
    let domain: f64 = extents.iter().map(|&n| n as f64).product();
    let ratio = *product.numer() as f64 / *product.denom() as f64 / domain;
    let (mut most, mut least) = (1.0, 1.0);
    for (d, extent) in extents.into_iter().enumerate() {
        let blocks = sizes.grid[d] as f64;
        if sizes.grid[d] > 1 {
            most *= blocks / (blocks - 1.0);
            least *= blocks / (blocks + 1.0);
        } else {
            most *= (candidate.block()[d] as f64 * candidate.fold()[d] as f64 / extent as f64).max(1.0);
        }
    }
    if sizes.grid == [1; 3] {
        // A single block may be as empty as it is larger than the domain, and half empty in any case.
        let is_larger = ratio <= most * (1.0 + ROUNDING);
        return ratio >= 0.5 && (is_larger || ratio < 2.0 * (1.0 - ROUNDING));
    }
    ratio > least * (1.0 + ROUNDING) && ratio < most * (1.0 - ROUNDING)
}
