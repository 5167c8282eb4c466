//! The coefficients of curve files that are plain numbers: one row for each, which says all that there is to
//! know of it beside its value. `docs/model.md` has the table.

use super::document::{CoefficientValue, Fit, GoesWith, TimeFit};
use crate::device::{Device, Sourced};
use crate::named::named;

named! {
    /// What a coefficient can be fitted to.
    pub enum FittedOn {
        /// Measured times of launches.
        Times = "times",
        /// Measured volumes of stores.
        Stores = "stored volumes",
        /// Nothing that is measured yet: forms and thresholds, set by hand.
        Nothing = "nothing",
    }
}

/// The place of a coefficient in a curve file.
enum Place<'f> {
    Required(&'f mut CoefficientValue),
    Optional(&'f mut Option<CoefficientValue>),
}

/// What stands for a coefficient that a curve file leaves out.
type FromDevice = fn(&TimeFit, &Device) -> f64;

/// A coefficient.
#[derive(Debug)]
pub struct Known {
    /// Its key in a curve file.
    pub name: &'static str,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// What it is, in a line.
    pub meaning: &'static str,
    /// What it can be fitted to.
    pub fitted_on: FittedOn,
    from_device: Option<FromDevice>,
    get: fn(&Fit) -> Option<&CoefficientValue>,
    place: fn(&mut Fit) -> Place<'_>,
}

/// The source of what follows from the device, while a fit runs.
const DEVICE: &str = "device";

impl Known {
    /// Whether a curve file may leave it to the device.
    pub fn is_optional(&self) -> bool {
        self.from_device.is_some()
    }

    /// Its value in a curve file, if it is there.
    pub fn value(&self, fit: &Fit) -> Option<f64> {
        (self.get)(fit).map(|coefficient| coefficient.value)
    }

    /// Changes its value; one that was left out is no longer.
    pub fn set(&self, fit: &mut Fit, value: f64) {
        let absent = || CoefficientValue::new(value, "");
        match (self.place)(fit) {
            Place::Required(coefficient) => coefficient.value = value,
            Place::Optional(coefficient) => coefficient.get_or_insert_with(absent).value = value,
        }
    }

    /// Names its source, where it is there.
    pub fn name_source(&self, fit: &mut Fit, source: &str) {
        if let Some(coefficient) = self.present(fit) {
            source.clone_into(&mut coefficient.source);
        }
    }

    /// Keeps five digits of what can be fitted: more would claim what no measurement tells.
    fn round(&self, fit: &mut Fit) {
        if self.fitted_on != FittedOn::Nothing
            && let Some(coefficient) = self.present(fit)
        {
            coefficient.value = rounded(coefficient.value);
        }
    }

    fn present<'f>(&self, fit: &'f mut Fit) -> Option<&'f mut CoefficientValue> {
        match (self.place)(fit) {
            Place::Required(coefficient) => Some(coefficient),
            Place::Optional(coefficient) => coefficient.as_mut(),
        }
    }
}

/// Five digits.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// The coefficient with a name.
pub fn coefficient(name: &str) -> Option<&'static Known> {
    COEFFICIENTS.iter().find(|known| known.name == name)
}

impl Fit {
    /// Puts what follows from the device where the file leaves a coefficient out.
    pub fn complete(&mut self, device: &Device) {
        let time = self.time.clone();
        for known in &COEFFICIENTS {
            if let (Some(from_device), Place::Optional(place)) = (known.from_device, (known.place)(self)) {
                let value = || CoefficientValue::new(from_device(&time, device), DEVICE);
                place.get_or_insert_with(value);
            }
        }
    }

    /// Leaves out what follows from the device and was not fitted: who changes the device asks for the change.
    pub fn leave_to_device(&mut self) {
        self.leave_out(|coefficient| coefficient.source == DEVICE);
    }

    /// The same for a device that inherits from the one these curves ship for: what stands for a number of a device is
    /// that of this one, and goes with it alone.
    #[must_use]
    pub fn for_heir(&self, device: &Device) -> Self {
        let mut own = self.clone();
        own.time.goes_with = GoesWith::TheDevice;
        if device.relative.is_none() || self.time.goes_with == GoesWith::TheDevice {
            return own;
        }
        for known in &COEFFICIENTS {
            if let (Some(from_device), Some(_)) = (known.from_device, known.value(self)) {
                known.set(&mut own, 1.0);
                let times = from_device(&own.time, device);
                known.set(&mut own, from_device(&self.time, device) / times);
            }
        }
        own
    }

    /// Leaves out what holds for one device alone.
    pub(super) fn forget_device(&mut self) {
        self.leave_out(|_| true);
    }

    fn leave_out(&mut self, which: impl Fn(&CoefficientValue) -> bool) {
        for known in &COEFFICIENTS {
            if let Place::Optional(place) = (known.place)(self)
                && place.as_ref().is_some_and(&which)
            {
                *place = None;
            }
        }
    }

    /// Keeps five digits of everything that can be fitted.
    pub fn round(&mut self) {
        for known in &COEFFICIENTS {
            known.round(self);
        }
    }
}

impl TimeFit {
    /// How many times as large a number of the device is as the one that was there when the coefficients were fitted.
    fn times<T>(&self, number: &Sourced<T>, of: impl Fn(&T) -> f64) -> f64 {
        match self.goes_with {
            GoesWith::TheDevice => number.times_as_large(of),
            GoesWith::TheShippedOne => number.times_the_shipped(of),
        }
    }

    /// Bytes per second of one-way traffic. A device file gives what a kernel with as many loads as stores
    /// reaches, which turns between them have cost already. Who changes the device's changes the fitted one as much, by a
    /// question or in a file that inherits the device.
    pub fn one_way(&self, device: &Device) -> f64 {
        let from_device = || device.dram.bandwidth.value.0 * (1.0 + 0.25 * self.turnaround.value);
        let times = || self.times(&device.dram.bandwidth, |b| b.0);
        self.dram_one_way.as_ref().map_or_else(from_device, |c| c.value * times())
    }

    /// Cycles from a thread's first load to its end when nothing is in its way: to memory and back, twice.
    pub fn cycles_of_thread(&self, device: &Device) -> f64 {
        let times = || self.times(&device.dram.latency, |cycles| cycles.0);
        self.thread_cycles.as_ref().map_or_else(|| 2.0 * device.dram.latency.value.0, |c| c.value * times())
    }

    /// Cycles that the device takes to start a block, with all its dispatchers at work.
    pub fn cycles_of_dispatch(&self, device: &Device) -> f64 {
        let of_device = || {
            let dispatchers = (device.dispatch.dispatchers.value.0 as f64).max(1.0);
            device.dispatch.block_cycles.value.0 / dispatchers
        };
        let times = || self.times(&device.dispatch.block_cycles, |cycles| cycles.0);
        self.dispatch_cycles.as_ref().map_or_else(of_device, |c| c.value * times())
    }

    /// Seconds that every launch takes by itself. What a device file says is the time from one launch of a short kernel
    /// to the next, in which its one wave of threads has its latency: 0.73 of 2.6 us on the A100, 0.56 of 2.2 us on the
    /// V100. A slower clock makes that longer, but not the launch.
    pub fn seconds_of_launch(&self, device: &Device) -> f64 {
        let of_device = || device.launch_overhead.value.0 * WITHOUT_A_WAVE;
        let times = || self.times(&device.launch_overhead, |seconds| seconds.0);
        self.launch_seconds.as_ref().map_or_else(of_device, |c| c.value * times())
    }
}

/// Part of the time between launches of a short kernel that is not the latency of its threads.
const WITHOUT_A_WAVE: f64 = 0.73;

/// A coefficient that every curve file has.
macro_rules! required {
    ($part:ident . $name:ident, $unit:literal, $fitted_on:ident, $meaning:literal) => {
        Known {
            name: stringify!($name),
            unit: $unit,
            meaning: $meaning,
            fitted_on: FittedOn::$fitted_on,
            from_device: None,
            get: |fit| Some(&fit.$part.$name),
            place: |fit| Place::Required(&mut fit.$part.$name),
        }
    };
}

/// A coefficient that follows from the device where it is left out.
macro_rules! optional {
    ($part:ident . $name:ident, $unit:literal, $fitted_on:ident, $from_device:expr, $meaning:literal) => {
        Known {
            name: stringify!($name),
            unit: $unit,
            meaning: $meaning,
            fitted_on: FittedOn::$fitted_on,
            from_device: Some($from_device),
            get: |fit| fit.$part.$name.as_ref(),
            place: |fit| Place::Optional(&mut fit.$part.$name),
        }
    };
}

/// All coefficients, in the order in which fits report them.
pub static COEFFICIENTS: [Known; 43] = [
    optional!(time.dram_one_way, "B/s", Times, TimeFit::one_way, "one-way bandwidth of the memory"),
    optional!(
        time.thread_cycles,
        "cycles",
        Times,
        TimeFit::cycles_of_thread,
        "from a thread's first load to its end when nothing is in its way"
    ),
    required!(time.l1_pipe, "", Times, "cycles of the L1 pipe over the cycles that its rules count"),
    optional!(
        time.launch_seconds,
        "s",
        Times,
        TimeFit::seconds_of_launch,
        "what every launch takes by itself"
    ),
    required!(time.fill_bytes, "B/cycle", Times, "bytes from and to the L2 that take a cycle of the L1 pipe"),
    required!(time.load_request, "cycles", Times, "what a request of an L1 for sectors of a line takes"),
    required!(
        time.store_request,
        "cycles",
        Times,
        "what a request of an L1 that stores sectors of a line takes"
    ),
    optional!(
        time.dispatch_cycles,
        "cycles/block",
        Times,
        TimeFit::cycles_of_dispatch,
        "what the device takes to start a block"
    ),
    required!(
        time.update_cycles,
        "cycles",
        Times,
        "from a load from shared memory to a store there of what follows from it, in a loop"
    ),
    required!(time.store_only, "", Times, "part of a thread's cycles that one takes which loads nothing"),
    required!(time.memory_wait, "", Times, "part of the memory's latency that an iteration waits for"),
    required!(
        time.load_wait,
        "",
        Times,
        "part of its latency that a load waits for in a loop that only loads"
    ),
    required!(
        time.address_instructions,
        "",
        Times,
        "instructions for the address of a load from global memory"
    ),
    required!(time.thread_instructions, "", Times, "instructions of a thread beside its work"),
    required!(
        time.far_instructions,
        "",
        Times,
        "instructions for an address too far from others for a constant in the instruction"
    ),
    required!(
        time.entry_instructions,
        "",
        Times,
        "instructions to enter a loop whose bounds depend on the thread"
    ),
    required!(
        time.iteration_instructions,
        "",
        Times,
        "instructions for each iteration of such a loop beside its body"
    ),
    required!(time.condition_instructions, "", Times, "instructions for a condition of accesses"),
    required!(time.issue_overhead, "", Times, "instructions over those that compute and access memory"),
    required!(time.turnaround, "", Times, "loss of memory bandwidth to turns between reads and writes"),
    required!(time.scatter_loss, "", Times, "loss of memory bandwidth when a wave is scattered over memory"),
    required!(time.scatter_half, "", Times, "scatter at which half of that is lost"),
    required!(time.refetch_loss, "", Times, "loss of memory bandwidth by data that is fetched again"),
    required!(time.run_bytes, "B", Times, "what each further run of sectors of a warp-wide store costs"),
    required!(
        time.incomplete_bytes,
        "",
        Times,
        "what a byte costs memory whose sector was written out incomplete"
    ),
    required!(
        time.piece_bytes,
        "B",
        Times,
        "what a piece of 256 bytes costs memory at least of which something is written"
    ),
    required!(time.translation_cycles, "cycles/page", Times, "address translation, per page of a block"),
    required!(
        time.first_wave,
        "",
        Times,
        "part of what the first wave of blocks loads, or the last one computes, that nothing hides"
    ),
    required!(
        time.block_ways,
        "",
        Times,
        "ways to memory and back that a block takes beside its own work, where others share its SM"
    ),
    required!(time.synced_block_ways, "", Times, "the same for kernels whose threads wait for each other"),
    required!(time.few_blocks, "", Times, "cost of few resident blocks, per block"),
    required!(volumes.partial_store, "", Stores, "sectors written in part that leave before the rest comes"),
    required!(volumes.partial_store_l2, "", Stores, "further writes to L2 for each of them"),
    required!(volumes.wave_share, "", Nothing, "part of a wave's bytes between two uses by its blocks"),
    required!(time.store_cycles, "", Nothing, "how much longer a thread takes per store"),
    required!(time.scatter_bytes, "B", Nothing, "bytes of a wave for each page of it at which scatter is 1"),
    required!(time.core_norm, "", Nothing, "exponent that joins what warps of an SM do"),
    required!(time.latency_norm, "", Nothing, "exponent that joins memory bandwidth and latency"),
    required!(time.limiter_norm, "", Nothing, "exponent that joins the limiters"),
    required!(time.barrier_norm, "", Nothing, "the same for kernels whose threads wait for each other"),
    required!(time.translation_pages, "pages", Nothing, "pages of a block beyond which they are paid"),
    required!(time.translation_power, "", Nothing, "how sharp that is"),
    required!(time.side_norm, "", Nothing, "exponent that joins dispatch and translation with the rest"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::curve::for_device;
    use crate::device::find;

    fn fit() -> Fit {
        for_device(&find("v100", &[]).unwrap()).fit.clone()
    }

    /// Every plain number of a curve file has its row.
    #[test]
    fn every_coefficient_is_in_the_table() {
        let file = serde_json::to_value(fit()).unwrap();
        let is_number = |v: &serde_json::Value| v.get("value").is_some();
        let parts = ["volumes", "time"].map(|part| file[part].as_object().unwrap().clone());
        let keys = parts.iter().flatten().filter(|(_, v)| is_number(v)).map(|(key, _)| key.as_str());
        let rows: BTreeSet<&str> = COEFFICIENTS.iter().map(|known| known.name).collect();
        assert_eq!(keys.collect::<BTreeSet<_>>(), rows);
        assert_eq!(rows.len(), COEFFICIENTS.len());
    }

    #[test]
    fn rows_read_and_write_their_own_key() {
        for (i, known) in COEFFICIENTS.iter().enumerate() {
            let mut changed = fit();
            known.set(&mut changed, 1e6 + i as f64);
            assert_eq!(known.value(&changed), Some(1e6 + i as f64), "{}", known.name);
            known.name_source(&mut changed, "here");
            let file = serde_json::to_string(&changed).unwrap();
            let key = format!("\"{}\":{{\"value\":{:?},\"source\":\"here\"}}", known.name, 1e6 + i as f64);
            assert!(file.contains(&key), "{key} in {file}");
        }
    }

    #[test]
    fn what_follows_from_the_device_can_be_left_to_it() {
        let device = find("gh200", &[]).unwrap();
        let mut other = for_device(&device).fit.clone();
        let before = other.clone();
        other.complete(&device);
        assert!(COEFFICIENTS.iter().all(|known| known.value(&other).is_some()));
        let cycles = other.time.thread_cycles.as_ref().unwrap().value;
        assert!((cycles - before.time.cycles_of_thread(&device)).abs() < 1e-9);
        other.leave_to_device();
        assert_eq!(other, before);
        // What was fitted stays.
        let mut own = fit();
        own.leave_to_device();
        assert_eq!(own, fit());
    }
}
