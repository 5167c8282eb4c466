//! What a document says of accesses that data decide.

use super::reading::{Reading, Said};
use super::statement::Status;

/// Lines that a note lists at most.
const LINES: usize = 24;

/// Accesses that data decide for reasons that differ in nothing but lines.
struct Alike<'r> {
    /// The reason without numbers.
    reason: String,
    first: &'r str,
    why: &'r str,
    more: usize,
    /// Lines of other reasons, where each ends.
    lines: Vec<&'r str>,
}

/// A note for each reason, with the first of the accesses that it holds for.
pub(super) fn flagged(reading: &Reading) -> Vec<String> {
    let mut all: Vec<Alike<'_>> = Vec::new();
    for Said { address, why, .. } in reading.accesses.iter().filter(|a| a.status == Status::Data) {
        let (Some(address), Some(why)) = (address, why) else { continue };
        let reason: String =
            why.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
        match all.iter_mut().find(|alike| alike.reason == reason) {
            Some(alike) => alike.add(why),
            None => all.push(Alike { reason, first: address, why, more: 0, lines: Vec::new() }),
        }
    }
    all.iter().map(Alike::note).collect()
}

impl<'r> Alike<'r> {
    fn add(&mut self, why: &'r str) {
        self.more += 1;
        if why == self.why {
            return;
        }
        let line = why.rsplit("line").find_map(|behind| {
            let behind = behind.strip_prefix("s ").or(behind.strip_prefix(' '))?;
            let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
            (end > 0).then(|| &behind[..end])
        });
        self.lines.extend(line.filter(|line| !self.lines.contains(line)));
    }

    fn note(&self) -> String {
        let Self { first, why, more, lines, .. } = self;
        let others = match more {
            0 => String::new(),
            1 => " and 1 other access".to_owned(),
            n => format!(" and {n} other accesses"),
        };
        let likewise = match lines.len() {
            0 => String::new(),
            n if n > LINES => {
                format!("; likewise in {n} more lines, {} to {}", lines[0], lines[n - 1])
            }
            1 => format!("; likewise in line {}", lines[0]),
            _ => format!("; likewise in lines {}", lines.join(", ")),
        };
        format!("{first}{others}: {why}{likewise}")
    }
}
