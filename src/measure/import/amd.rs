//! AMD: rocprofv3's `counter_collection.csv`, one counter a line, and rocprofiler-compute's
//! `pmc_perf.csv`, one dispatch a line.

use std::io::BufRead;

use super::launches::Launches;
use super::metrics::{Counter, Meaning, is_counter};
use super::ncu::is_missing;
use super::number::{Decimal, number};
use super::problems::{Problem, Problems};
use crate::measure::measurements::parse_shape;
use crate::measure::records::{Record, Records, Unreadable};
use crate::space::Block;

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
    fn found(head: &Record) -> Self {
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

    fn block(&self, record: &Record) -> Option<Block> {
        if self.extents.iter().any(Option::is_some) {
            let extents = self.extents.map(|e| e.map_or("1", |i| record.cell(i)));
            return parse_shape(&extents.join("x"));
        }
        parse_shape(record.cell(self.group?))
    }

    /// Remembers that the time is told.
    fn met(&self, launches: &mut Launches) {
        if self.start.is_some() && self.end.is_some() {
            launches.meaning("Start_Timestamp");
            launches.meaning("End_Timestamp");
        }
    }

    /// Nanoseconds between start and end. Both are too large for the fraction of a number to be exact.
    fn seconds(&self, record: &Record) -> Option<f64> {
        let at = |i: Option<usize>| record.cell(i?).trim().parse::<i64>().ok();
        let (start, end) = (at(self.start)?, at(self.end)?);
        let nanoseconds = end.checked_sub(start).filter(|n| *n > 0)?;
        Some(nanoseconds as f64 * 1e-9)
    }
}

const DURATION: Meaning = Meaning {
    counter: Counter::Direct(crate::measure::measurements::MeasuredQuantity::Time, 0),
    factor: 1.0,
    is_channel: false,
};

/// Reads the long form behind its head.
pub(super) fn long(
    head: &Record,
    records: &mut Records<impl BufRead>,
    problems: &mut Problems,
) -> Result<Launches, Unreadable> {
    let columns = Columns::found(head);
    let mut launches = Launches::default();
    let (Some(counters), Some(values)) = (column(head, &["Counter_Name"]), column(head, &["Counter_Value"]))
    else {
        return Ok(launches);
    };
    columns.met(&mut launches);
    let mut id = String::new();
    while let Some(record) = records.read()? {
        let Some(meaning) = launches.meaning(record.cell(counters)) else { continue };
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
        if let Some(seconds) = columns.seconds(record).filter(|_| !launch.has(DURATION.counter)) {
            launch.count(DURATION, seconds);
        }
        launch.count(meaning, value);
    }
    Ok(launches)
}

/// Reads the wide form behind its head.
pub(super) fn wide(
    head: &Record,
    records: &mut Records<impl BufRead>,
    problems: &mut Problems,
) -> Result<Launches, Unreadable> {
    let columns = Columns::found(head);
    let mut launches = Launches::default();
    let mut counters: Vec<(usize, Meaning)> = Vec::new();
    for i in 0..head.len() {
        // Start and end are read as integers, as columns of the launch.
        let name = head.cell(i);
        let meaning = is_counter(name).then(|| launches.meaning(name)).flatten();
        counters.extend(meaning.map(|m| (i, m)));
    }
    columns.met(&mut launches);
    if columns.start.is_none() || columns.end.is_none() {
        let named = (0..head.len()).find(|&i| head.cell(i).eq_ignore_ascii_case("DurationNs"));
        counters.extend(named.and_then(|i| Some((i, launches.meaning("DurationNs")?))));
    }
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
        for &(i, meaning) in &counters {
            let text = record.cell(i);
            if is_missing(text) {
                continue;
            }
            match number(text, Decimal::Point) {
                Some(value) => launch.count(meaning, value),
                None => problems.add(record, i, Problem::Number(text)),
            }
        }
    }
    Ok(launches)
}
