//! Grid addressing (the paper's section 4.4.1) by embedding: index tuples are laid into a line of
//! bytes, so that the engines for linear addresses count them.

use std::sync::Arc;

use super::query::{Piece, Refusal};
use super::region::Region;
use crate::expr::Form;

/// Lays index tuples into a line of bytes so wide that no tuples meet which are not equal, and rows
/// begin on lines.
pub(super) fn embed(regions: &[Region], array: usize, size: i64, line: i64) -> Result<Vec<Piece>, Refusal> {
    let rank = regions.iter().map(|r| r.addresses.len()).max().unwrap_or(0);
    let mut lows = vec![i64::MAX; rank];
    let mut highs = vec![i64::MIN; rank];
    for region in regions {
        for (i, form) in region.addresses.iter().enumerate() {
            let (low, high) = region.points.interval(form).ok_or(Refusal::Overflow)?;
            lows[i] = lows[i].min(low);
            highs[i] = highs[i].max(high);
        }
    }
    let widest = regions.iter().map(|r| r.width).max().unwrap_or(0);
    let mut factors = vec![size];
    for i in 1..rank {
        let extent =
            highs[i - 1].checked_sub(lows[i - 1]).and_then(|n| n.checked_add(2)).ok_or(Refusal::Overflow)?;
        let bytes = extent.checked_mul(factors[i - 1]).ok_or(Refusal::Overflow)?;
        let room = if i == 1 {
            line.checked_mul(2).and_then(|n| n.checked_add(widest)).ok_or(Refusal::Overflow)?
        } else {
            0
        };
        let bytes = bytes.checked_add(room).ok_or(Refusal::Overflow)?;
        let step = if i == 1 { line } else { factors[i - 1] };
        factors.push(bytes.checked_add(step - 1).ok_or(Refusal::Overflow)? / step * step);
    }
    regions
        .iter()
        .map(|region| {
            let mut address = Form::int(0);
            for (i, form) in region.addresses.iter().enumerate() {
                let bytes = form.times(&factors[i])?;
                // Along the first index only whole lines may be shifted away.
                let start = lows[i].checked_mul(factors[i]).ok_or(Refusal::Overflow)?;
                let shift = if i == 0 { start.div_euclid(line) * line } else { start };
                address = address.plus(&bytes.plus(&Form::int(-shift))?)?;
            }
            Ok(region.points.clone().piece(array, Arc::new(address), region.width))
        })
        .collect()
}
