//! Writing measurements.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};

use super::builder::written_per;
use super::quantity::MeasuredQuantity;
use super::row::{MeasuredRow, MeasuredSubject, Measurements, Per};
use super::unit::written;
use crate::text::csv_cell;
use crate::traffic::Caches;

/// Writes comma-separated values in base units: the columns that some row needs.
pub fn write_csv(measurements: &Measurements, to: &mut impl Write) -> io::Result<()> {
    let columns = Columns::found(measurements);
    writeln!(to, "{}", columns.head())?;
    for row in &measurements.rows {
        columns.row(measurements.subject_of(row), row, to)?;
    }
    to.flush()
}

/// Writes a JSON object a line, with the same names and units.
pub fn write_json_lines(measurements: &Measurements, to: &mut impl Write) -> io::Result<()> {
    for row in &measurements.rows {
        let subject = measurements.subject_of(row);
        let mut object = Map::new();
        object.insert("kernel".to_owned(), json!(subject.kernel));
        for (name, text) in [("variant", &subject.variant), ("device", &subject.device)] {
            if let Some(text) = text {
                object.insert(name.to_owned(), json!(text));
            }
        }
        if !subject.params.is_empty() {
            object.insert("params".to_owned(), json!(subject.params));
        }
        if let Some(caches) = subject.caches {
            object.insert("caches".to_owned(), json!(caches.word()));
        }
        if let Some(clock) = subject.clock {
            object.insert("clock".to_owned(), json!(clock.to_string()));
        }
        object.insert("block".to_owned(), json!(row.block));
        object.insert("fold".to_owned(), json!(row.fold));
        for value in &row.values {
            let unit = written(value.quantity, written_per(value));
            object.insert(format!("{} [{unit}]", value.quantity.name()), json!(value.amount));
        }
        writeln!(to, "{}", Json::Object(object))?;
    }
    to.flush()
}

/// The columns that some row needs.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
struct Columns {
    variant: bool,
    device: bool,
    params: Vec<String>,
    caches: bool,
    clock: bool,
    measured: Vec<(MeasuredQuantity, Per)>,
}

impl Columns {
    fn found(measurements: &Measurements) -> Self {
        let subjects = &measurements.subjects;
        let params: BTreeSet<&String> = subjects.iter().flat_map(|s| s.params.keys()).collect();
        let mut measured = BTreeSet::new();
        for value in measurements.rows.iter().flat_map(|r| &r.values) {
            measured.insert((value.quantity, written_per(value)));
        }
        Self {
            variant: subjects.iter().any(|s| s.variant.is_some()),
            device: subjects.iter().any(|s| s.device.is_some()),
            params: params.into_iter().cloned().collect(),
            caches: subjects.iter().any(|s| s.caches.is_some()),
            clock: subjects.iter().any(|s| s.clock.is_some()),
            measured: measured.into_iter().collect(),
        }
    }

    fn head(&self) -> String {
        let mut names = vec!["kernel".to_owned()];
        names.extend(self.variant.then(|| "variant".to_owned()));
        names.extend(self.device.then(|| "device".to_owned()));
        names.extend(self.params.iter().map(|p| csv_cell(&format!("param.{p}")).into_owned()));
        names.extend(self.caches.then(|| "caches".to_owned()));
        names.extend(self.clock.then(|| "clock".to_owned()));
        names.extend(["block".to_owned(), "fold".to_owned()]);
        names.extend(self.measured.iter().map(|&(q, per)| format!("{} [{}]", q.name(), written(q, per))));
        names.join(",")
    }

    fn row(&self, subject: &MeasuredSubject, row: &MeasuredRow, to: &mut impl Write) -> io::Result<()> {
        write!(to, "{}", csv_cell(&subject.kernel))?;
        if self.variant {
            write!(to, ",{}", csv_cell(subject.variant.as_deref().unwrap_or_default()))?;
        }
        if self.device {
            write!(to, ",{}", csv_cell(subject.device.as_deref().unwrap_or_default()))?;
        }
        for param in &self.params {
            match subject.params.get(param) {
                Some(value) => write!(to, ",{value}")?,
                None => write!(to, ",")?,
            }
        }
        if self.caches {
            write!(to, ",{}", subject.caches.map(Caches::word).unwrap_or_default())?;
        }
        if self.clock {
            write!(to, ",{}", subject.clock.map(|c| c.to_string()).unwrap_or_default())?;
        }
        write!(to, ",{},{}", row.block, row.fold)?;
        for &(quantity, per) in &self.measured {
            match row.value(quantity).filter(|v| written_per(v) == per) {
                Some(value) => write!(to, ",{}", value.amount)?,
                None => write!(to, ",")?,
            }
        }
        writeln!(to)
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[test]
    fn what_is_written_reads_the_same() {
        let text = "kernel,variant,device,param.NX,param.NY,block,fold,dram_load [MB],l2_load [B/item],rate [GLUP/s],caches,clock [MHz]\n\
                    k,,v100,64,,32x4x1,,1.5,,,cold,1410\n\"void k<float, \"\"x\"\">(int)\",a,,,3,\"(1, 2, 3)\",2,,8.25,0.1,warm,1230.0000001\n\
                    k,,v100,64,,32x4x1,,,9,1e-3,cold,1410.000001\n\"#k\",,,,,1,,,,1,,\n";
        let first = read("t", text.as_bytes()).unwrap();
        let strip = |mut m: Measurements| {
            m.rows.iter_mut().for_each(|r| r.line = 0);
            m
        };
        let mut csv = Vec::new();
        write_csv(&first, &mut csv).unwrap();
        assert_eq!(
            strip(read("t", &csv[..]).unwrap()),
            strip(first.clone()),
            "{}",
            String::from_utf8_lossy(&csv)
        );
        let mut lines = Vec::new();
        write_json_lines(&first, &mut lines).unwrap();
        assert_eq!(strip(read("t", &lines[..]).unwrap()), strip(first));
    }
}
