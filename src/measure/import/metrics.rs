//! Counters of profilers, and the quantities that follow from them.

use crate::measure::measurements::{Per, Quantity, Value};

/// A counter that something follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counter {
    /// A quantity of the whole launch by itself; a lower number is preferred where several are there.
    Direct(Quantity, u8),
    /// Requests of the L2 of AMD to memory, all and by size.
    Read,
    Read32,
    Read128,
    Write,
    Write64,
    /// Extent of the block along an axis.
    Block(u8),
    /// Nanoseconds of start and end.
    Start,
    End,
}

/// Bytes of a sector of NVIDIA's L2 (MODEL section 4; the counters count sectors).
const SECTOR: f64 = 32.0;
/// Bytes of a request of AMD's vector L1 to its L2.
const REQUEST: f64 = 64.0;

use Quantity::{Cycles, DramLoad, DramStore, L1TagWavefronts, L1Wavefronts, L2Load, L2Store, Time};

/// Counters by name, with what one of them is worth in base units.
const KNOWN: [(&str, Counter, f64); 30] = [
    ("dram__bytes_read.sum", Counter::Direct(DramLoad, 0), 1.0),
    ("dram__bytes_write.sum", Counter::Direct(DramStore, 0), 1.0),
    ("dram__sectors_read.sum", Counter::Direct(DramLoad, 1), SECTOR),
    ("dram__sectors_write.sum", Counter::Direct(DramStore, 1), SECTOR),
    ("lts__t_sectors_srcunit_tex_op_read.sum", Counter::Direct(L2Load, 0), SECTOR),
    ("lts__t_sectors_srcunit_tex_op_write.sum", Counter::Direct(L2Store, 0), SECTOR),
    ("lts__t_sectors_op_read.sum", Counter::Direct(L2Load, 1), SECTOR),
    ("lts__t_sectors_op_write.sum", Counter::Direct(L2Store, 1), SECTOR),
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
    ("TCP_TCC_READ_REQ_sum", Counter::Direct(L2Load, 2), REQUEST),
    ("TCP_TCC_WRITE_REQ_sum", Counter::Direct(L2Store, 2), REQUEST),
    ("TCC_EA_RDREQ_sum", Counter::Read, 1.0),
    ("TCC_EA_RDREQ_32B_sum", Counter::Read32, 1.0),
    // Reads of 128 bytes of the MI300 series.
    ("TCC_BUBBLE_sum", Counter::Read128, 1.0),
    ("TCC_EA_WRREQ_sum", Counter::Write, 1.0),
    ("TCC_EA_WRREQ_64B_sum", Counter::Write64, 1.0),
    ("Start_Timestamp", Counter::Start, 1.0),
    ("End_Timestamp", Counter::End, 1.0),
    ("DurationNs", Counter::Direct(Time, 1), 1e-9),
];

/// A counter by its name; a number in brackets at the end is that of a channel. Of both generations of
/// names (`TCC_EA_` and `TCC_EA0_`).
pub(super) fn counter(name: &str) -> Option<(Counter, f64)> {
    let find = |name: &str| KNOWN.iter().find(|k| k.0 == name).map(|k| (k.1, k.2));
    if let Some(found) = find(name) {
        return Some(found);
    }
    let plain = name.split_once("_EA0_").map(|(a, b)| format!("{a}_EA_{b}"));
    let plain = plain.as_deref().unwrap_or(name);
    let summed = plain.split_once('[').map(|(base, _)| format!("{base}_sum"));
    find(summed.as_deref().unwrap_or(plain))
}

/// What a unit is worth in bytes, seconds or of a count: `Kbyte`, `Msector`, `usecond`, `ns`.
pub(super) fn unit(text: &str, counter: Counter) -> Option<f64> {
    let text = text.trim();
    if counter == Counter::Direct(Time, 0) || matches!(counter, Counter::Direct(Time, _)) {
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

/// The quantities that follow from the counters of a launch. Counters that come several times are those
/// of channels and are added.
pub(super) fn quantities(counters: &mut Vec<(Counter, f64)>) -> Vec<Value> {
    counters.sort_by_key(|c| c.0);
    counters.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    let of = |counter: Counter| counters.iter().find(|c| c.0 == counter).map(|c| c.1);
    let mut values: Vec<Value> = Vec::new();
    let add = |values: &mut Vec<Value>, quantity: Quantity, amount: f64| {
        let possible = amount.is_finite() && (amount > 0.0 || (amount >= 0.0 && !quantity.is_speed()));
        if possible && !values.iter().any(|v| v.quantity == quantity) {
            values.push(Value { quantity, per: Per::Launch, amount });
        }
    };
    // Sorted, so that of several the preferred one comes first.
    for (counter, amount) in counters.iter() {
        if let Counter::Direct(quantity, _) = counter {
            add(&mut values, *quantity, *amount);
        }
    }
    if let Some(all) = of(Counter::Read) {
        let (small, large) = (of(Counter::Read32).unwrap_or(0.0), of(Counter::Read128).unwrap_or(0.0));
        add(&mut values, DramLoad, 32.0 * small + 128.0 * large + 64.0 * (all - small - large));
    }
    if let Some(all) = of(Counter::Write) {
        let whole = of(Counter::Write64).unwrap_or(all);
        add(&mut values, DramStore, 64.0 * whole + 32.0 * (all - whole));
    }
    if let (Some(start), Some(end)) = (of(Counter::Start), of(Counter::End)) {
        add(&mut values, Time, (end - start) * 1e-9);
    }
    values
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
    fn requests_become_bytes() {
        let named = |name: &str, n: f64| {
            let (counter, factor) = counter(name).unwrap();
            (counter, n * factor)
        };
        let mut counters = vec![
            named("TCC_EA0_RDREQ_sum", 100.0),
            named("TCC_EA0_RDREQ_32B_sum", 10.0),
            named("TCC_BUBBLE_sum", 5.0),
            named("TCC_EA_WRREQ[0]", 6.0),
            named("TCC_EA_WRREQ[1]", 4.0),
            named("TCC_EA_WRREQ_64B_sum", 8.0),
            named("TCP_TCC_READ_REQ_sum", 3.0),
        ];
        let found = quantities(&mut counters);
        let of = |q: Quantity| found.iter().find(|v| v.quantity == q).unwrap().amount;
        assert!((of(DramLoad) - (320.0 + 640.0 + 85.0 * 64.0)).abs() < 1e-9);
        assert!((of(DramStore) - (512.0 + 64.0)).abs() < 1e-9);
        assert!((of(L2Load) - 192.0).abs() < 1e-9);
        let mut both = vec![
            named("lts__t_sectors_op_read.sum", 9.0),
            named("lts__t_sectors_srcunit_tex_op_read.sum", 5.0),
        ];
        assert!(
            (quantities(&mut both)[0].amount - 160.0).abs() < 1e-9,
            "that of the texture unit is preferred"
        );
    }
}
