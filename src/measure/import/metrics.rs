//! Metrics of profilers by name, and what each counts.

use crate::measure::measurements::MeasuredQuantity;

/// A counter that something follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counter {
    /// A quantity of the whole launch by itself; a lower number is preferred where several are there.
    Direct(MeasuredQuantity, u8),
    /// Bytes between L2 and memory, loads and stores in one.
    DramTotal,
    /// Read requests of AMD's vector L1 to its L2.
    L1Read,
    /// Requests of AMD's L2 to memory, all and by size.
    Read,
    Read32,
    Read64,
    Read128,
    /// Read requests of 128 bytes of the MI300 series; something else elsewhere.
    Bubble,
    Write,
    Write64,
    /// Extent of the block along an axis.
    Block(u8),
    /// Nanoseconds of start and end.
    Start,
    End,
}

/// What a metric says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Meaning {
    pub counter: Counter,
    /// What one of it is worth in base units.
    pub(crate) factor: f64,
    /// Whether it is of one of several channels, whose sum counts.
    pub is_channel: bool,
}

impl Meaning {
    /// What it becomes by itself.
    pub(super) fn quantity(&self) -> Option<MeasuredQuantity> {
        match self.counter {
            Counter::Direct(quantity, _) => Some(quantity),
            Counter::L1Read => Some(L2Load),
            Counter::Read | Counter::Read32 | Counter::Read64 | Counter::Read128 | Counter::Bubble => {
                Some(DramLoad)
            }
            Counter::Write | Counter::Write64 => Some(DramStore),
            Counter::Start | Counter::End => Some(Time),
            Counter::DramTotal | Counter::Block(_) => None,
        }
    }
}

/// Bytes of a sector of NVIDIA's L2 (MODEL section 4; the counters count sectors).
const SECTOR: f64 = 32.0;
/// Bytes of a write request of AMD's vector L1 to its L2.
const WRITE_REQUEST: f64 = 64.0;

use MeasuredQuantity::{Cycles, DramLoad, DramStore, L1TagWavefronts, L1Wavefronts, L2Load, L2Store, Time};

/// Metrics by name, with what one of them is worth in base units.
const KNOWN: [(&str, Counter, f64); 41] = [
    ("dram__bytes_read.sum", Counter::Direct(DramLoad, 0), 1.0),
    ("dram__bytes_write.sum", Counter::Direct(DramStore, 0), 1.0),
    ("dram__bytes_op_read.sum", Counter::Direct(DramLoad, 1), 1.0),
    ("dram__bytes_op_write.sum", Counter::Direct(DramStore, 1), 1.0),
    ("dram__sectors_read.sum", Counter::Direct(DramLoad, 2), SECTOR),
    ("dram__sectors_write.sum", Counter::Direct(DramStore, 2), SECTOR),
    ("dram__sectors_op_read.sum", Counter::Direct(DramLoad, 3), SECTOR),
    ("dram__sectors_op_write.sum", Counter::Direct(DramStore, 3), SECTOR),
    ("dram__bytes.sum", Counter::DramTotal, 1.0),
    ("dram__sectors.sum", Counter::DramTotal, SECTOR),
    ("lts__t_sectors_srcunit_tex_op_read.sum", Counter::Direct(L2Load, 0), SECTOR),
    ("lts__t_sectors_srcunit_tex_op_write.sum", Counter::Direct(L2Store, 0), SECTOR),
    ("l1tex__m_xbar2l1tex_read_bytes.sum", Counter::Direct(L2Load, 1), 1.0),
    ("l1tex__m_l1tex2xbar_write_bytes.sum", Counter::Direct(L2Store, 1), 1.0),
    ("lts__t_sectors_op_read.sum", Counter::Direct(L2Load, 2), SECTOR),
    ("lts__t_sectors_op_write.sum", Counter::Direct(L2Store, 2), SECTOR),
    ("l1tex__data_pipe_lsu_wavefronts.sum", Counter::Direct(L1Wavefronts, 0), 1.0),
    ("l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum", Counter::Direct(L1TagWavefronts, 0), 1.0),
    ("gpu__time_duration.sum", Counter::Direct(Time, 0), 1.0),
    ("gpu__time_duration.avg", Counter::Direct(Time, 1), 1.0),
    ("Duration", Counter::Direct(Time, 2), 1.0),
    ("sm__cycles_elapsed.max", Counter::Direct(Cycles, 0), 1.0),
    ("Elapsed Cycles", Counter::Direct(Cycles, 1), 1.0),
    ("launch__block_dim_x", Counter::Block(0), 1.0),
    ("launch__block_dim_y", Counter::Block(1), 1.0),
    ("launch__block_dim_z", Counter::Block(2), 1.0),
    // AMD gives FETCH_SIZE and WRITE_SIZE in units of 1024 bytes.
    ("FETCH_SIZE", Counter::Direct(DramLoad, 2), 1024.0),
    ("WRITE_SIZE", Counter::Direct(DramStore, 2), 1024.0),
    ("TCP_TCC_READ_REQ_sum", Counter::L1Read, 1.0),
    ("TCP_TCC_WRITE_REQ_sum", Counter::Direct(L2Store, 2), WRITE_REQUEST),
    ("TCC_EA_RDREQ_sum", Counter::Read, 1.0),
    ("TCC_EA_RDREQ_32B_sum", Counter::Read32, 1.0),
    ("TCC_EA_RDREQ_64B_sum", Counter::Read64, 1.0),
    ("TCC_EA_RDREQ_128B_sum", Counter::Read128, 1.0),
    ("TCC_BUBBLE_sum", Counter::Bubble, 1.0),
    ("TCC_EA_WRREQ_sum", Counter::Write, 1.0),
    ("TCC_EA_WRREQ_64B_sum", Counter::Write64, 1.0),
    ("Start_Timestamp", Counter::Start, 1.0),
    ("End_Timestamp", Counter::End, 1.0),
    ("DurationNs", Counter::Direct(Time, 1), 1e-9),
    ("DURATION_NS", Counter::Direct(Time, 1), 1e-9),
];

/// Metrics that look as if something followed from them, and why nothing does.
const EXPLAINED: [(&str, &str); 6] = [
    ("dram__bytes.sum", "loads and stores in one; measure dram__bytes_read.sum and dram__bytes_write.sum"),
    ("dram__sectors.sum", "loads and stores in one; measure dram__bytes_read.sum and dram__bytes_write.sum"),
    (
        "lts__t_bytes.sum",
        "loads and stores of all units in one; measure lts__t_sectors_srcunit_tex_op_read.sum and ..._write.sum",
    ),
    (
        "lts__t_sectors.sum",
        "loads and stores of all units in one; measure lts__t_sectors_srcunit_tex_op_read.sum and ..._write.sum",
    ),
    (
        "l1tex__t_bytes.sum",
        "sectors that were looked up, for whatever; measure l1tex__data_pipe_lsu_wavefronts.sum",
    ),
    (
        "l1tex__t_sectors.sum",
        "sectors that were looked up, for whatever; measure l1tex__data_pipe_lsu_wavefronts.sum",
    ),
];

/// What a metric says, by its name; a number in brackets at the end is that of a channel. Of both
/// generations of names (`TCC_EA_` and `TCC_EA0_`).
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let find = |name: &str, is_channel: bool| {
        let known = KNOWN.iter().find(|k| k.0 == name)?;
        Some(Meaning { counter: known.1, factor: known.2, is_channel })
    };
    if let Some(found) = find(name, false) {
        return Some(found);
    }
    let plain = name.split_once("_EA0_").map(|(a, b)| format!("{a}_EA_{b}"));
    let plain = plain.as_deref().unwrap_or(name);
    match plain.split_once('[') {
        Some((base, _)) => find(&format!("{base}_sum"), true),
        None => find(plain, false),
    }
}

/// Why nothing follows from a metric that is known.
pub(super) fn explanation(name: &str) -> Option<&'static str> {
    EXPLAINED.iter().find(|e| e.0 == name).map(|e| e.1)
}

/// Units of AMD's hardware, which names of its counters start with.
const BLOCKS: [&str; 18] = [
    "SQ_", "SQC_", "TA_", "TD_", "TCP_", "TCC_", "TCA_", "SPI_", "CPC_", "CPF_", "GRBM_", "GDS_", "GL1",
    "GL2", "FETCH_", "WRITE_", "Mem", "L2Cache",
];

/// Whether a column has the name of a counter of AMD's.
pub(super) fn is_counter(name: &str) -> bool {
    BLOCKS.iter().any(|block| name.starts_with(block))
}

/// Every metric that is read, with the quantity that it becomes.
pub fn known_metrics() -> impl Iterator<Item = (&'static str, MeasuredQuantity)> {
    let quantity = |&(name, counter, factor): &(&'static str, Counter, f64)| {
        let meaning = Meaning { counter, factor, is_channel: false };
        Some((name, meaning.quantity()?))
    };
    KNOWN.iter().filter_map(quantity)
}

/// What a unit is worth in bytes, seconds or of a count: `Kbyte`, `Msector`, `usecond`, `ns`.
pub(super) fn unit(text: &str, counter: Counter) -> Option<f64> {
    let text = text.trim();
    if matches!(counter, Counter::Direct(Time, _)) {
        return Some(match text {
            "second" | "s" | "sec" => 1.0,
            "msecond" | "ms" | "msec" => 1e-3,
            "usecond" | "us" | "usec" | "µs" => 1e-6,
            "nsecond" | "ns" | "nsec" => 1e-9,
            _ => return None,
        });
    }
    let nouns = ["byte", "bytes", "sector", "cycle", "request", "inst", "wavefront", "block", "thread", "B"];
    if text.is_empty() || nouns.contains(&text) {
        return Some(1.0);
    }
    let factor: f64 = match text.chars().next()? {
        'K' | 'k' => 1e3,
        'M' => 1e6,
        'G' => 1e9,
        'T' => 1e12,
        _ => return None,
    };
    let noun = text.get(1..)?;
    let binary = noun.strip_prefix('i').map(|noun| (noun, 1.024_f64.powf(factor.log10() / 3.0)));
    let (noun, more) = binary.unwrap_or((noun, 1.0));
    (noun.is_empty() || nouns.contains(&noun)).then_some(factor * more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_prefixes() {
        let bytes = Counter::Direct(DramLoad, 0);
        let time = Counter::Direct(Time, 0);
        for (text, of, expected) in [
            ("byte", bytes, 1.0),
            ("Kbyte", bytes, 1e3),
            ("Mbyte", bytes, 1e6),
            ("MiB", bytes, 1_048_576.0),
            ("Gsector", bytes, 1e9),
            ("", bytes, 1.0),
            ("usecond", time, 1e-6),
            ("ns", time, 1e-9),
        ] {
            let found = unit(text, of).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{text}: {found}");
        }
        assert_eq!(unit("byte/second", bytes), None);
        assert_eq!(unit("byte", time), None);
        assert_eq!(unit("", time), None);
    }

    #[test]
    fn channels_and_both_spellings_are_known() {
        let of = |name: &str| meaning(name).map(|m| (m.counter, m.is_channel));
        assert_eq!(of("TCC_EA_RDREQ_sum"), Some((Counter::Read, false)));
        assert_eq!(of("TCC_EA0_RDREQ_sum"), Some((Counter::Read, false)));
        assert_eq!(of("TCC_EA0_RDREQ_32B[127]"), Some((Counter::Read32, true)));
        assert_eq!(of("TCC_BUBBLE[3]"), Some((Counter::Bubble, true)));
        assert_eq!(of("TCC_EA_RDREQ_LEVEL[0]"), None);
        assert!(explanation("lts__t_bytes.sum").is_some() && of("lts__t_bytes.sum").is_none());
    }
}
