//! What somebody says about lines of the PTX where data decide.

use std::collections::BTreeMap;

use super::document::{Reading, Status};
use super::given::{Given, trips, wrong};
use super::read::{Assumed, Share, Told};
use super::syntax::Function;
use crate::expr::{Kind, parse_expression};
use crate::text::{Diagnostic, Origin, Sources, Span};

/// How often loops run, how probable branches are, where accesses go.
pub(super) fn told(given: &Given, sources: &mut Sources) -> Result<Told, Diagnostic> {
    let shares = given.branch.iter().map(|text| share(text)).collect::<Result<_, _>>()?;
    let assumed = given.assume.iter().map(|text| assumed(text, sources));
    let assumed = assumed.collect::<Result<BTreeMap<_, _>, _>>()?;
    Ok(Told { trips: trips(&given.trips)?, shares, assumed })
}

/// `44=0.3`, or `44=0.3/warp` for whole warps.
fn share(text: &str) -> Result<(u32, Share), Diagnostic> {
    let said = || {
        let (line, share) = text.split_once('=')?;
        let (probability, warps) = match share.split_once('/') {
            Some((probability, unit)) if unit.trim() == "warp" => (probability, true),
            Some(_) => return None,
            None => (share, false),
        };
        let probability: f64 = probability.trim().parse().ok()?;
        let line = line.trim().parse().ok()?;
        (0.0..=1.0).contains(&probability).then(|| (line, Share::new(probability, warps)))
    };
    said().ok_or_else(|| {
        let help = "write LINE=P, a line of the PTX and a number from 0 to 1, or LINE=P/warp for whole warps";
        wrong(format!("`{text}` does not say how probable a branch is"), help)
    })
}

/// `44: x[4*i0 + threadIdx.x]`.
fn assumed(text: &str, sources: &mut Sources) -> Result<(u32, Assumed), Diagnostic> {
    let help = "write LINE: FIELD[INDEX], as in --assume '44: x[4*i0 + threadIdx.x]'";
    let none = || wrong(format!("`{text}` is no address for a line of the PTX"), help);
    let (line, address) = text.split_once(':').ok_or_else(none)?;
    let line = line.trim().parse().map_err(|_| none())?;
    let address = address.trim().to_owned();
    let file = sources.add("--assume", address.clone());
    let expr = parse_expression(&address, Origin::verbatim(Span::new(file, 0..address.len())))?;
    match expr.kind {
        Kind::Index(base, mut indices) if indices.len() == 1 => match base.kind {
            Kind::Name(array) => Ok((line, Assumed { array, element: indices.remove(0) })),
            _ => Err(none()),
        },
        _ => Err(none()),
    }
}

/// What was told of lines in which it says nothing is a mistake.
pub(super) fn unused(function: &Function, told: &Told, readings: &[Reading]) -> Result<(), Diagnostic> {
    let idle = |line: &&u32| !readings.iter().any(|r| r.heeded.0.contains(line));
    let list = |lines: &[u32]| match lines {
        [] => "there is none".to_owned(),
        all => format!(
            "there are such in lines {}",
            all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        ),
    };
    if let Some(line) = told.shares.keys().find(idle) {
        let lines: Vec<u32> = readings[0].heeded.1.iter().copied().collect();
        let message = format!("data decide no branch and no predicate in line {line}");
        return Err(
            Diagnostic::global("ptx-argument", message).help(format!("for --branch {}", list(&lines)))
        );
    }
    if let Some(line) = told.assumed.keys().find(idle) {
        let refused = readings[0].accesses.iter().filter(|a| a.status == Status::Refused);
        let mut lines: Vec<u32> = refused.map(|a| function.instructions[a.instruction].line).collect();
        lines.dedup();
        let message = format!("there is no access in line {line} whose address is not known");
        return Err(
            Diagnostic::global("ptx-argument", message).help(format!("for --assume {}", list(&lines)))
        );
    }
    Ok(())
}
