//! AMD: rocprofv3's `counter_collection.csv`, one counter a line, and rocprofiler-compute's
//! `pmc_perf.csv`, one dispatch a line.

use std::io::BufRead;

use super::launches::Launches;
use super::metrics::{Counter, counter};
use super::ncu::is_missing;
use super::number::{Decimal, number};
use super::run::{Problem, Problems};
use crate::measure::measurements::parse_shape;
use crate::measure::records::{Record, Records, Unreadable};

/// A column by one of its names: they differ between versions.
fn column(head: &Record, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| (0..head.len()).find(|&i| head.cell(i).eq_ignore_ascii_case(name)))
}

/// Where the columns stand that both forms have.
struct Columns {
    process: Option<usize>,
    dispatch: Option<usize>,
    kernel: Option<usize>,
    /// Threads of a block: of all axes in one number, or one column each.
    group: Option<usize>,
    extents: [Option<usize>; 3],
    start: Option<usize>,
    end: Option<usize>,
}

impl Columns {
    fn of(head: &Record) -> Self {
        let at = |names: &[&str]| column(head, names);
        Self {
            process: at(&["Process_Id", "PID"]),
            dispatch: at(&["Dispatch_Id", "Dispatch_ID", "Index"]),
            kernel: at(&["Kernel_Name", "KernelName"]),
            group: at(&["Workgroup_Size", "wgr"]),
            extents: [at(&["Workgroup_Size_X"]), at(&["Workgroup_Size_Y"]), at(&["Workgroup_Size_Z"])],
            start: at(&["Start_Timestamp", "BeginNs"]),
            end: at(&["End_Timestamp", "EndNs"]),
        }
    }

    fn block(&self, record: &Record) -> Option<[i64; 3]> {
        if self.extents.iter().any(Option::is_some) {
            let extents = self.extents.map(|e| e.map_or("1", |i| record.cell(i)));
            return parse_shape(&extents.join("x"));
        }
        parse_shape(record.cell(self.group?))
    }

    /// Nanoseconds between start and end. Both are too large for the fraction of a number to be exact.
    fn seconds(&self, record: &Record) -> Option<f64> {
        let at = |i: Option<usize>| record.cell(i?).trim().parse::<i64>().ok();
        let (start, end) = (at(self.start)?, at(self.end)?);
        let nanoseconds = end.checked_sub(start).filter(|n| *n > 0)?;
        Some(nanoseconds as f64 * 1e-9)
    }
}

const DURATION: Counter = Counter::Direct(crate::measure::measurements::Quantity::Time, 0);

/// Reads the long form behind its head.
pub(super) fn long(
    head: &Record,
    records: &mut Records<impl BufRead>,
    problems: &mut Problems,
) -> Result<Launches, Unreadable> {
    let columns = Columns::of(head);
    let mut launches = Launches::default();
    let (Some(counters), Some(values)) = (column(head, &["Counter_Name"]), column(head, &["Counter_Value"]))
    else {
        return Ok(launches);
    };
    let mut id = String::new();
    while let Some(record) = records.read()? {
        let Some((counter, factor)) = counter(record.cell(counters)) else { continue };
        let text = record.cell(values);
        if is_missing(text) {
            continue;
        }
        let Some(value) = number(text, Decimal::Point) else {
            problems.add(record, values, Problem::Number(text));
            continue;
        };
        id.clear();
        id.push_str(columns.process.map_or("", |i| record.cell(i)));
        id.push('/');
        id.push_str(columns.dispatch.map_or("", |i| record.cell(i)));
        let name = launches.name(columns.kernel.map_or("", |i| record.cell(i)));
        let launch = launches.of_id(&id, record.line);
        launch.set_name(name);
        if let Some(block) = columns.block(record) {
            launch.set_block(block);
        }
        if let Some(seconds) = columns.seconds(record).filter(|_| !launch.has(DURATION)) {
            launch.count(DURATION, seconds);
        }
        launch.count(counter, value * factor);
    }
    Ok(launches)
}

/// Reads the wide form behind its head.
pub(super) fn wide(
    head: &Record,
    records: &mut Records<impl BufRead>,
    problems: &mut Problems,
) -> Result<Launches, Unreadable> {
    let columns = Columns::of(head);
    let mut counters: Vec<(usize, Counter, f64)> = Vec::new();
    for i in 0..head.len() {
        match counter(head.cell(i)) {
            // Start and end are read as integers.
            Some((Counter::Start | Counter::End, _)) | None => {}
            Some((counter, factor)) => counters.push((i, counter, factor)),
        }
    }
    let mut launches = Launches::default();
    while let Some(record) = records.read()? {
        let name = launches.name(columns.kernel.map_or("", |i| record.cell(i)));
        let launch = launches.another(record.line);
        launch.set_name(name);
        if let Some(block) = columns.block(record) {
            launch.set_block(block);
        }
        if let Some(seconds) = columns.seconds(record) {
            launch.count(DURATION, seconds);
        }
        for &(i, counter, factor) in &counters {
            let text = record.cell(i);
            if is_missing(text) {
                continue;
            }
            match number(text, Decimal::Point) {
                Some(value) => launch.count(counter, value * factor),
                None => problems.add(record, i, Problem::Number(text)),
            }
        }
    }
    Ok(launches)
}
