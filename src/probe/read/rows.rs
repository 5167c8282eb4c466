//! The rows of logs, and the runs that they make.

use super::error::LogError;
use super::glued;
use super::header::{self, Columns, Shape};
use super::logs::{Figure, LogDefaults, Logs, MOST_LOADS, MshrPoint, SizePoint};
use super::name::{self, Hints};
use super::number::{integer, real};
use crate::probe::{ChaseOrder, Load, Run};

/// Reads line by line.
pub(super) struct Reader<'a> {
    hints: Hints,
    name: &'a str,
    logs: &'a mut Logs,
    columns: Option<Columns>,
    run: Option<Open>,
    number: usize,
    /// Whether the line that was read last is a load of a chase.
    load: bool,
    /// Loads of all runs that are finished.
    loads: usize,
    /// Rows of the supplement without a blank between their numbers, and where they belong.
    glued: Vec<(usize, String)>,
}

/// A run that is being read.
struct Open {
    hints: Hints,
    order: ChaseOrder,
    /// Whether indices are those of the next load.
    next: bool,
    loads: Vec<Load>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(name: &'a str, given: LogDefaults, logs: &'a mut Logs) -> Self {
        let loads = logs.runs.iter().map(|r| r.loads.len()).sum();
        let hints = Hints::from_name(name, given);
        Self { hints, name, logs, columns: None, run: None, number: 0, load: false, loads, glued: Vec::new() }
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Result<(), LogError> {
        self.number += 1;
        self.load = false;
        // The rows of a chase are most of a log: they are tried first.
        if let (Some(Columns { shape: Shape::Loads, .. }), Some(run)) = (&self.columns, &mut self.run)
            && let Some((index, rest)) = integer(line)
            && let Some(latency) = rest.strip_prefix(b",").and_then(real)
        {
            #[expect(clippy::cast_possible_truncation, reason = "cycles need no more digits")]
            let latency = latency as f32;
            run.loads.push(Load { index, latency });
            let (n, many) = (run.hints.n.filter(|_| !run.next), self.loads + run.loads.len());
            return self.loaded(index, n, many);
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        if let Some(comment) = text.strip_prefix('#') {
            return self.comment(comment.trim());
        }
        if text.starts_with(|c: char| c.is_ascii_alphabetic())
            && !matches!(&self.columns, Some(c) if c.takes_words())
        {
            return self.head(text);
        }
        self.row(text)
    }

    /// `run n=3073 s=1 element=4 order=stride cold=0` begins a run.
    fn comment(&mut self, text: &str) -> Result<(), LogError> {
        let mut words = text.split_whitespace();
        if words.next() != Some("run") {
            return Ok(());
        }
        self.close()?;
        let (mut hints, mut order, mut extra) = (self.hints, ChaseOrder::Stride, 0);
        for word in words {
            let Some((key, value)) = word.split_once('=') else { continue };
            let read = match key {
                "n" => value.parse().map(|n| hints.n = Some(n)).is_ok(),
                "s" => value.parse().map(|s| hints.stride = Some(s)).is_ok(),
                "element" => value.parse().map(|e: u32| hints.element = e.max(1)).is_ok(),
                "cold" => value.parse().map(|c: u8| hints.cold = c != 0).is_ok(),
                "extra" => value.parse().map(|e| extra = e).is_ok(),
                "order" => match value {
                    "stride" => true,
                    "shuffled" => {
                        order = ChaseOrder::Shuffled;
                        true
                    }
                    "scattered" => {
                        order = ChaseOrder::Scattered;
                        true
                    }
                    "evict" => {
                        order = ChaseOrder::Evict { extra: 0 };
                        true
                    }
                    _ => false,
                },
                _ => true,
            };
            if !read {
                return Err(self.malformed("a value such as n=3073, s=1, order=stride, cold=0", word));
            }
        }
        if matches!(order, ChaseOrder::Evict { .. }) {
            order = ChaseOrder::Evict { extra };
        }
        self.columns = Some(Columns::loads());
        self.run = Some(Open { hints, order, next: false, loads: Vec::new() });
        Ok(())
    }

    fn head(&mut self, text: &str) -> Result<(), LogError> {
        let Some(columns) = Columns::found(text) else {
            return Err(self.malformed(header::EXPECTED, text));
        };
        if columns.shape == Shape::Loads && self.run.as_ref().is_some_and(|r| r.loads.is_empty()) {
            // The head of a run that a comment began.
            if let Some(run) = &mut self.run {
                run.next = columns.next;
            }
            self.columns = Some(columns);
            return Ok(());
        }
        self.close()?;
        if columns.shape == Shape::Loads {
            self.run = Some(Open {
                hints: self.hints,
                order: ChaseOrder::Stride,
                next: columns.next,
                loads: Vec::new(),
            });
        }
        self.columns = Some(columns);
        Ok(())
    }

    fn row(&mut self, text: &str) -> Result<(), LogError> {
        let Some(columns) = self.columns.clone() else {
            // Two columns without a head are the supplement's.
            self.head("Next_id Latency")?;
            return self.row(text);
        };
        let cells: Vec<&str> = columns.cells(text);
        let at = |column: Option<usize>| column.and_then(|c| cells.get(c)).copied();
        let number = |cell: Option<&str>| {
            cell.and_then(|c| c.parse::<f64>().ok()).filter(|v| v.is_finite() && *v >= 0.0)
        };
        match columns.shape {
            Shape::Loads => self.load(text, &columns, &cells),
            Shape::Sizes => {
                let size = number(at(columns.size)).map(|s| s * columns.kib);
                let (Some(kib), Some(cycles)) = (size, number(at(columns.latency))) else {
                    return Err(self.malformed("a size and a latency", text));
                };
                self.logs.sizes.push(SizePoint { kib, cycles });
                Ok(())
            }
            Shape::Mshrs => {
                let whole = |c: Option<usize>| at(c).and_then(|c| c.parse().ok()).filter(|&n: &u32| n > 0);
                let (Some(warps), Some(loads), Some(cycles)) =
                    (whole(columns.warps), whole(columns.loads), number(at(columns.latency)))
                else {
                    return Err(self.malformed("numbers of warps and loads, and cycles", text));
                };
                self.logs.mshrs.push(MshrPoint { warps, loads, cycles });
                Ok(())
            }
            Shape::Figures => {
                let Some(value) = number(at(columns.latency)) else {
                    return Err(self.malformed("a number in the last column", text));
                };
                let names = columns.names.iter().zip(&cells).enumerate();
                let at = names
                    .filter(|(i, _)| Some(*i) != columns.latency)
                    .map(|(_, (name, cell))| (name.clone(), (*cell).to_owned()))
                    .collect();
                let what = columns.latency.and_then(|c| columns.names.get(c)).cloned().unwrap_or_default();
                self.logs.figures.push(Figure { what, at, value });
                Ok(())
            }
        }
    }

    fn load(&mut self, text: &str, columns: &Columns, cells: &[&str]) -> Result<(), LogError> {
        self.switch(columns, cells)?;
        let Some(run) = &mut self.run else { return Ok(()) };
        let cell = |c: Option<usize>| c.and_then(|c| cells.get(c)).copied();
        let index = cell(columns.index).and_then(|c| c.parse::<u32>().ok());
        let latency = cell(columns.latency).and_then(|c| c.parse::<f32>().ok());
        match (index, latency.filter(|l| l.is_finite() && *l >= 0.0)) {
            (Some(index), Some(latency)) => {
                run.loads.push(Load { index, latency });
                // The index of the next load may be that of the end.
                let (n, many) = (run.hints.n.filter(|_| !run.next), self.loads + run.loads.len());
                self.loaded(index, n, many)
            }
            // `1025488.000000`: the index took all the places that it had.
            (None, _) if cells.len() == 1 && run.next && glued::is_row(text) => {
                self.glued.push((run.loads.len(), text.to_owned()));
                run.loads.push(Load { index: 0, latency: -1.0 });
                self.load = true;
                Ok(())
            }
            _ => Err(self.malformed("an index and a latency", text)),
        }
    }

    /// A load was read, of an array of `n` elements and after so many others.
    fn loaded(&mut self, index: u32, n: Option<u64>, many: usize) -> Result<(), LogError> {
        self.load = true;
        if n.is_some_and(|n| u64::from(index) >= n) {
            return Err(self.malformed("an index below n, the elements of the array", &index.to_string()));
        }
        if many > MOST_LOADS {
            return Err(LogError::TooLarge { most: MOST_LOADS as u64, what: "loads" });
        }
        Ok(())
    }

    /// The line that was read last has no end: the latency of a load may lack digits.
    pub(super) fn distrust_last(&mut self) {
        if let Some(run) = self.run.as_mut().filter(|_| self.load) {
            run.loads.pop();
            self.glued.retain(|g| g.0 < run.loads.len());
            self.forget_line();
        }
    }

    /// Says that the line that was read last is left out.
    pub(super) fn forget_line(&mut self) {
        let (name, line) = (self.name, self.number);
        self.logs.warnings.push(format!("{name}: the log was cut in line {line}, which is left out"));
    }

    /// Begins a new run where the columns n, s or cold say another one.
    fn switch(&mut self, columns: &Columns, cells: &[&str]) -> Result<(), LogError> {
        let Some(run) = &self.run else { return Ok(()) };
        let mut hints = run.hints;
        let cell = |c: Option<usize>| c.and_then(|c| cells.get(c)).copied();
        if let Some(n) = cell(columns.n).and_then(|c| c.parse().ok()) {
            hints.n = Some(n);
        }
        if let Some(stride) = cell(columns.stride).and_then(|c| c.parse().ok()) {
            hints.stride = Some(stride);
        }
        if hints != run.hints {
            let (next, order) = (run.next, run.order);
            self.close()?;
            self.run = Some(Open { hints, order, next, loads: Vec::new() });
        }
        Ok(())
    }

    /// Ends the open run.
    fn close(&mut self) -> Result<(), LogError> {
        let Some(mut open) = self.run.take() else { return Ok(()) };
        let glued = std::mem::take(&mut self.glued);
        if open.loads.is_empty() {
            return Ok(());
        }
        let stride = open.hints.stride.or_else(|| name::stride_of(&open.loads));
        let stride = stride.filter(|&s| s != 0).ok_or(LogError::Unsaid { what: "the stride" })?;
        glued::repair(&mut open.loads, &glued, stride)?;
        let n = open.hints.n.or_else(|| name::size_of(&open.loads, stride));
        let n = n.filter(|&n| n > 0).ok_or(LogError::Unsaid { what: "the size of the array" })?;
        let (loads, places) = (open.loads.len(), n.div_ceil(stride.unsigned_abs()));
        if places > crate::probe::marks::most_places(loads) {
            return Err(LogError::Sparse { line: self.number, loads, places, n, stride });
        }
        self.loads += loads;
        if open.next {
            let too_large = || LogError::TooLarge { most: 1 << 32, what: "elements in its array" };
            // The latency beside `Next_id` is that of the load before it (S 4.3).
            for load in &mut open.loads {
                let element =
                    (i64::from(load.index) - stride).rem_euclid(i64::try_from(n).unwrap_or(i64::MAX));
                load.index = u32::try_from(element).map_err(|_| too_large())?;
            }
        }
        self.logs.runs.push(Run {
            name: self.name.to_owned(),
            n,
            stride,
            element: open.hints.element,
            order: open.order,
            cold: open.hints.cold,
            loads: open.loads,
        });
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<(), LogError> {
        self.close()
    }

    fn malformed(&self, expected: &'static str, found: &str) -> LogError {
        LogError::Malformed { line: self.number, expected, found: crate::text::shorten(found) }
    }
}
