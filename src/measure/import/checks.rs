//! Measurements that cannot be right, or hardly: counted twice, in another unit, of another device.

use std::collections::BTreeMap;

use crate::device::Device;
use crate::measure::measurements::{MeasuredQuantity, MeasuredRow, Measurements, Per};

/// Loads over stores of a copy that are still taken for equal: a few bytes stay in caches.
const EQUAL: f64 = 1.5;
/// Bytes from memory over bytes from L2 that sectors and lines explain.
const FILLED: f64 = 2.1;
/// Bandwidth over that of the device which clocks and rounded times explain.
const FASTER: f64 = 1.1;

/// What is strange, each kind with the first launch that shows it and how many do.
pub(super) fn warnings(measurements: &Measurements, device: Option<&Device>) -> Vec<String> {
    let mut found: BTreeMap<(u8, String), (String, usize)> = BTreeMap::new();
    for row in &measurements.rows {
        let kernel = &measurements.subject_of(row).kernel;
        for (kind, text) in of_row(row, kernel, device).into_iter().flatten() {
            found.entry((kind, kernel.to_owned())).or_insert((text, 0)).1 += 1;
        }
    }
    let line = |((_, kernel), (text, count)): ((u8, String), (String, usize))| {
        let more = if count > 1 { format!(" ({count} launches)") } else { String::new() };
        format!("{}: {text}{more}", crate::text::shorten(&kernel))
    };
    found.into_iter().map(line).collect()
}

type Strange = Option<(u8, String)>;

fn of_row(row: &MeasuredRow, kernel: &str, device: Option<&Device>) -> [Strange; 4] {
    let of = |quantity| row.value(quantity).filter(|v| v.per == Per::Launch).map(|v| v.amount);
    let (load, store) = (of(MeasuredQuantity::DramLoad), of(MeasuredQuantity::DramStore));
    let is_copy = kernel.to_lowercase().contains("copy");
    let uneven = |kind: u8, level: &str, load: Option<f64>, store: Option<f64>| -> Strange {
        let times = load? / store.filter(|s| *s > 0.0)?;
        let strange = is_copy && !(1.0 / EQUAL..=EQUAL).contains(&times);
        strange.then(|| {
            (kind, format!("a copy loads what it stores, but here {times:.2} times as much from {level}"))
        })
    };
    let more_than_l2 = || -> Strange {
        let times = load? / of(MeasuredQuantity::L2Load).filter(|l| *l > 0.0)?;
        let text = format!("{times:.2} times as much is loaded from memory as from L2");
        (times > FILLED).then_some((2, text))
    };
    let too_fast = || -> Strange {
        let rate = (load? + store.unwrap_or(0.0)) / of(MeasuredQuantity::Time)?;
        let device = device?;
        let times = rate / device.dram.theoretical.value.0;
        let text = format!(
            "{:.0} GB/s between L2 and memory are {times:.2} times what the memory of {} can do",
            rate / 1e9,
            device.id
        );
        (times > FASTER).then_some((3, text))
    };
    [
        uneven(0, "memory", load, store),
        uneven(1, "L2", of(MeasuredQuantity::L2Load), of(MeasuredQuantity::L2Store)),
        more_than_l2(),
        too_fast(),
    ]
}
