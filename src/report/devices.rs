//! Devices as a list and as the YAML that one could save and edit.

use serde::Serialize;

use super::table::{Align, Table};
use crate::device::{Device, Quantity};

/// One line per device.
pub fn device_list(devices: &[Device]) -> Table {
    let columns = ["id", "alias", "name", "SMs", "clock", "L1", "L2", "effective", "DRAM", "bandwidth"];
    let align = |name: &str| if matches!(name, "id" | "alias" | "name") { Align::Left } else { Align::Right };
    let mut table = Table::new(columns.map(|c| (c, align(c))));
    for d in devices {
        table.row([
            d.id.clone(),
            d.aliases.join(" "),
            d.name.clone(),
            show(&d.sm.count.value),
            show(&d.clock.value),
            show(&d.l1.capacity.value),
            instances(d, show(&d.l2.capacity.value)),
            instances(d, show(&d.l2.effective.value)),
            show(&d.dram.capacity.value),
            show(&d.dram.bandwidth.value),
        ]);
    }
    table
}

fn show(quantity: &impl Quantity) -> String {
    quantity.to_string()
}

fn instances(device: &Device, size: String) -> String {
    match device.l2.instances.value.0 {
        1 => size,
        n => format!("{n} x {size}"),
    }
}

/// Every number of a device with its source.
pub fn device_numbers(device: &Device) -> Table {
    let columns = ["number", "value", "kind", "source", "note", "inherited"];
    let mut table = Table::new(columns.map(|c| (c, Align::Left)));
    for entry in device.numbers() {
        let source = device.sources.get(entry.source);
        table.row([
            entry.path,
            entry.value,
            source.map(|s| s.kind.word().to_owned()).unwrap_or_default(),
            source.map_or_else(|| entry.source.to_owned(), |s| s.text.clone()),
            entry.note.unwrap_or_default().to_owned(),
            entry.inherited.unwrap_or_default().to_owned(),
        ]);
    }
    table
}

/// A device as a file that reads back as the same device.
#[derive(Debug, Serialize)]
pub struct DeviceFile<'d> {
    #[serde(rename = "wavecast-device")]
    version: u8,
    #[serde(flatten)]
    device: &'d Device,
}

impl<'d> DeviceFile<'d> {
    /// The file of a device.
    pub fn new(device: &'d Device) -> Self {
        Self { version: 1, device }
    }
}
