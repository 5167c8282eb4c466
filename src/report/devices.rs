//! Devices as a list and as the YAML that one could save and edit.

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

/// A device as a file that reads back as the same device.
pub fn device_yaml(device: &Device) -> Result<String, serde_yaml::Error> {
    #[derive(serde::Serialize)]
    struct File<'d> {
        #[serde(rename = "wavecast-device")]
        version: u8,
        #[serde(flatten)]
        device: &'d Device,
    }
    serde_yaml::to_string(&File { version: 1, device })
}
