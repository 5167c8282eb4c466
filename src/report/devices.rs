//! Devices as a list and as the YAML that one could save and edit.

use std::collections::BTreeMap;

use serde::Serialize;

use super::table::{Align, Table};
use crate::device::{Device, DeviceNumber};

/// One line per device.
pub fn device_list(devices: &[Device]) -> Table {
    use Align::{Left, Right};
    Table::filled(
        devices,
        &[
            ("id", Left, &|d| d.id.clone()),
            ("alias", Left, &|d| d.aliases.join(" ")),
            ("name", Left, &|d| d.name.clone()),
            ("SMs", Right, &|d| d.sm.count.value.to_string()),
            ("clock", Right, &|d| d.clock.value.to_string()),
            ("L1", Right, &|d| d.l1.capacity.value.to_string()),
            ("L2", Right, &|d| instances(d, d.l2.capacity.value.to_string())),
            ("effective", Right, &|d| instances(d, d.l2.effective.value.to_string())),
            ("DRAM", Right, &|d| d.dram.capacity.value.to_string()),
            ("bandwidth", Right, &|d| d.dram.bandwidth.value.to_string()),
        ],
    )
    .with_minor(&["effective", "L1", "clock", "alias", "L2", "DRAM", "SMs"])
}

fn instances(device: &Device, size: String) -> String {
    match device.l2.instances.value.0 {
        1 => size,
        n => format!("{n} x {size}"),
    }
}

/// Every number of a device with its source.
pub fn device_numbers(device: &Device) -> Table {
    use Align::Left;
    let source = |number: &DeviceNumber<'_>| device.sources.get(number.source);
    Table::filled(
        device.numbers(),
        &[
            ("number", Left, &|n| n.path.clone()),
            ("value", Left, &|n| n.value.clone()),
            ("kind", Left, &|n| source(n).map(|s| s.kind.word().to_owned()).unwrap_or_default()),
            ("source", Left, &|n| source(n).map_or_else(|| n.source.to_owned(), |s| s.text.clone())),
            ("note", Left, &|n| n.note.unwrap_or_default().to_owned()),
            ("inherited", Left, &|n| n.inherited.unwrap_or_default().to_owned()),
        ],
    )
}

/// Devices for programs: `wavecast/devices/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DevicesDocument {
    /// `wavecast/devices/1`.
    pub schema: &'static str,
    /// The devices.
    pub devices: Vec<ListedDevice>,
}

/// A device.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedDevice {
    /// What requests call it.
    pub id: String,
    /// What its vendor calls it.
    pub name: String,
    /// Other words for its id.
    pub aliases: Vec<String>,
    /// Its numbers by their paths, such as `l2.capacity`, as `device_set` takes them; left out of lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<BTreeMap<String, String>>,
}

impl DevicesDocument {
    /// A list of devices, without their numbers.
    pub fn list<'d>(devices: impl IntoIterator<Item = &'d Device>) -> Self {
        Self::new(devices.into_iter().map(|device| summary(device, None)).collect())
    }

    /// One device with its numbers.
    pub fn one(device: &Device) -> Self {
        let numbers = device.numbers().into_iter().map(|n| (n.path, n.value)).collect();
        Self::new(vec![summary(device, Some(numbers))])
    }

    fn new(devices: Vec<ListedDevice>) -> Self {
        Self { schema: "wavecast/devices/1", devices }
    }
}

fn summary(device: &Device, numbers: Option<BTreeMap<String, String>>) -> ListedDevice {
    let (id, name, aliases) = (device.id.clone(), device.name.clone(), device.aliases.clone());
    ListedDevice { id, name, aliases, numbers }
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
