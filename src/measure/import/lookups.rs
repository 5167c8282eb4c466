//! Hits and misses of loads in L1, as profilers count them: what the trace-based models are held against
//! (N section 6.1, figures 10 and 11).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::number::{Decimal, Evidence, number};
use super::source::{Source, text};
use crate::measure::records::{Record, Records, Unreadable};
use crate::text::{Diagnostic, Fault, Sources};

/// Counters of hits and of misses: Nsight Compute's, in sectors, and nvprof's, in requests.
const COUNTERS: [(&str, &str); 2] = [
    (
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum",
    ),
    ("l1_global_load_hit", "l1_global_load_miss"),
];

/// Of all launches of a kernel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lookups {
    /// The kernel as the profile calls it.
    pub kernel: String,
    /// Loads that hit.
    pub(crate) hits: f64,
    /// Loads that missed.
    pub(crate) misses: f64,
}

/// Where counters stand in a table.
enum Columns {
    /// One counter a line: `Metric Name` and `Metric Value` of Nsight Compute, `Event Name` and `Avg` of nvprof.
    Long { kernel: Option<usize>, name: usize, value: usize },
    /// One launch a line: Nsight Compute's raw page, and nvprof's trace of launches.
    Wide { kernel: Option<usize>, hits: usize, misses: usize },
}

impl Columns {
    fn found(head: &Record) -> Option<Self> {
        let at = |names: &[&str]| names.iter().find_map(|n| head.cells().position(|c| c == *n));
        let kernel = at(&["Kernel Name", "Kernel", "Name"]);
        if let (Some(name), Some(value)) =
            (at(&["Metric Name", "Event Name"]), at(&["Metric Value", "Avg", "Value"]))
        {
            return Some(Self::Long { kernel, name, value });
        }
        COUNTERS
            .iter()
            .find_map(|(hit, miss)| Some(Self::Wide { kernel, hits: at(&[hit])?, misses: at(&[miss])? }))
    }

    /// The counts of a line: how many hits and misses each.
    fn counts<'r>(&self, record: &'r Record) -> [Option<&'r str>; 2] {
        match *self {
            Self::Long { name, value, .. } => {
                let counter = record.cell(name);
                let of = |is: bool| is.then(|| record.cell(value));
                [of(COUNTERS.iter().any(|c| c.0 == counter)), of(COUNTERS.iter().any(|c| c.1 == counter))]
            }
            Self::Wide { hits, misses, .. } => [Some(record.cell(hits)), Some(record.cell(misses))],
        }
    }

    fn kernel<'r>(&self, record: &'r Record) -> &'r str {
        match *self {
            Self::Long { kernel, .. } | Self::Wide { kernel, .. } => kernel.map_or("", |i| record.cell(i)),
        }
    }
}

/// Reads what a profiler counted, of each kernel all launches together.
pub fn lookups(source: &dyn Source) -> Result<Vec<Lookups>, Fault> {
    let refuse = |code, message: String, help: &str| {
        let diagnostic = Diagnostic::global(code, format!("{}: {message}", source.name())).help(help);
        Fault::new(vec![diagnostic], Arc::new(Sources::new()))
    };
    let found = read(source).map_err(|e| refuse("cannot-read", e.to_string(), "check the path"))?;
    if found.is_empty() {
        let help = format!(
            "it needs {} and {}, or {} and {}",
            COUNTERS[0].0, COUNTERS[0].1, COUNTERS[1].0, COUNTERS[1].1
        );
        return Err(refuse("empty", "no hits and misses of loads in L1 are counted here".to_owned(), &help));
    }
    Ok(found)
}

fn read(source: &dyn Source) -> Result<Vec<Lookups>, Unreadable> {
    let mut records = Records::new(text(source)?);
    let mut columns = None;
    let mut found: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    while let Some(record) = records.read()? {
        // Each program that is profiled writes a head of its own.
        if let Some(head) = Columns::found(record) {
            columns = Some(head);
            continue;
        }
        let Some(columns) = &columns else { continue };
        for (i, text) in columns.counts(record).into_iter().enumerate() {
            let Some(n) = text.and_then(whole) else { continue };
            let kernel = columns.kernel(record);
            if let Some(counts) = found.get_mut(kernel) {
                counts[i] += n;
            } else {
                let mut counts = [0.0; 2];
                counts[i] = n;
                found.insert(kernel.to_owned(), counts);
            }
        }
    }
    let all = found.into_iter().map(|(kernel, [hits, misses])| Lookups { kernel, hits, misses });
    Ok(all.filter(|l| l.hits + l.misses > 0.0).collect())
}

/// A count: a separator that could be either is one of thousands.
fn whole(text: &str) -> Option<f64> {
    let mut evidence = Evidence::default();
    evidence.add(text);
    let guess = if text.contains(',') { Decimal::Point } else { Decimal::Comma };
    number(text, evidence.decide().unwrap_or(guess)).filter(|&n| n >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::import::TextSource;

    fn rows(text: &str) -> Vec<(String, f64, f64)> {
        let found = lookups(&TextSource { name: "a.csv", bytes: text.as_bytes() }).unwrap();
        found.into_iter().map(|l| (l.kernel, l.hits, l.misses)).collect()
    }

    #[test]
    fn both_profilers_are_read() {
        let ncu = "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
            \"0\",\"mm\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum\",\"sector\",\"1,200\"\n\
            \"0\",\"mm\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum\",\"sector\",\"340\"\n\
            \"0\",\"mm\",\"gpu__time_duration.sum\",\"usecond\",\"12.5\"\n\
            \"1\",\"mm\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum\",\"sector\",\"1,000,000\"\n";
        assert_eq!(rows(ncu), [("mm".to_owned(), 1_001_200.0, 340.0)]);
        let raw = "\"ID\",\"Kernel Name\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum\",\
            \"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum\"\n\
            \"\",\"\",\"sector\",\"sector\"\n\"0\",\"a\",\"7\",\"3\"\n\"1\",\"b\",\"1.234\",\"1\"\n";
        assert_eq!(rows(raw), [("a".to_owned(), 7.0, 3.0), ("b".to_owned(), 1234.0, 1.0)]);
        let nvprof = "==7== Profiling result:\n\
            \"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\",\"Total\"\n\
            \"GeForce GTX 470 (0)\",\"mm\",1,\"l1_global_load_hit\",96,96,96,96\n\
            \"GeForce GTX 470 (0)\",\"mm\",1,\"l1_global_load_miss\",32,32,32,32\n";
        assert_eq!(rows(nvprof), [("mm".to_owned(), 96.0, 32.0)]);
    }

    #[test]
    fn a_file_without_the_counters_says_which_it_needs() {
        let text =
            "\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n\"a\",\"gpu__time_duration.sum\",\"1\"\n";
        let fault = lookups(&TextSource { name: "a.csv", bytes: text.as_bytes() }).unwrap_err();
        assert!(fault.to_string().contains("l1_global_load_hit"), "{fault}");
    }
}
