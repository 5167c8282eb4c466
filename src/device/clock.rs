//! The clock that a run had, where that is not the one of the device file.

use std::fmt;
use std::str::FromStr;

use super::document::{Device, SourceKind, SourceText};
use super::overrides;
use super::quantity::{Frequency, Quantity, is_zero};

/// Key of the source that numbers get which follow from the clock of a run. No file has to have another word for it.
const SOURCE: &str = "--clock";
/// Clocks that a GPU can have.
const POSSIBLE: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000_000;

/// The clock of the SMs during a run, in whole cycles per second.
///
/// ```
/// let clock: wavecast::device::RunClock = "1.41GHz".parse().unwrap();
/// assert_eq!((clock.hertz(), clock.to_string()), (1_410_000_000, "1.41 GHz".to_owned()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunClock(u64);

/// Why a text is no clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAClock(String);

impl NotAClock {
    /// What to write instead.
    pub const HELP: &'static str = "write a number and its unit, for example 1.41GHz or 765MHz";

    /// What is wrong, without what to write instead.
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NotAClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.0, Self::HELP)
    }
}

impl std::error::Error for NotAClock {}

impl RunClock {
    /// Cycles per second.
    pub fn hertz(self) -> u64 {
        self.0
    }

    /// A clock of so many cycles per second, of which somebody has seen that a GPU can have it.
    pub(crate) fn of_hertz(hertz: u64) -> Self {
        Self(hertz)
    }

    /// The whole number of cycles per second that is next to a frequency.
    fn near(frequency: Frequency) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive; `as` saturates"
        )]
        Self(frequency.0.round() as u64)
    }
}

impl FromStr for RunClock {
    type Err = NotAClock;

    fn from_str(text: &str) -> Result<Self, NotAClock> {
        let shown = crate::text::shorten(text.trim());
        let wrong = |what: &str| Err(NotAClock(format!("`{shown}` {what}")));
        let Some(frequency) = Frequency::parse(text) else {
            let number = text.trim().parse().is_ok_and(|n: f64| n.is_finite() && n > 0.0);
            return match () {
                () if is_zero(text) => wrong("is no clock: it must be more than 0"),
                () if number => wrong("has no unit"),
                () => wrong("is no clock"),
            };
        };
        let clock = Self::near(frequency);
        if POSSIBLE.contains(&clock.0) {
            return Ok(clock);
        }
        wrong("is no clock of a GPU, which can have 1 MHz to 100 GHz")
    }
}

impl fmt::Display for RunClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Frequency(self.0 as f64).fmt(f)
    }
}

impl Device {
    /// The device as it was in a run at another clock: what counts cycles takes longer or shorter, and the bandwidth of
    /// the L2, which runs with the SMs, is in proportion. That of the memory does not change, nor do the nanoseconds
    /// that it takes beyond the L2, nor does a number that was set beside the file's.
    #[must_use]
    pub fn at_clock(mut self, clock: RunClock) -> Self {
        let own = self.clock.value;
        if RunClock::near(own) == clock {
            return self;
        }
        let run = Frequency(clock.0 as f64);
        self.clock.value = run;
        self.clock.note = Some(format!("the device file has {own}"));
        let mut follow = vec![(&mut self.clock.source, &mut self.clock.inherited)];
        let l2 = &mut self.l2.bandwidth;
        if l2.source != overrides::SOURCE {
            l2.note = Some(format!("{} of the device file in proportion to the clock", l2.value));
            l2.value.0 *= run.0 / own.0;
            follow.push((&mut l2.source, &mut l2.inherited));
        }
        let of_l2 = self.l2.latency.value.0;
        let beyond = [self.llc.as_mut().map(|llc| &mut llc.latency), Some(&mut self.dram.latency)];
        for latency in beyond.into_iter().flatten().filter(|l| l.source != overrides::SOURCE) {
            let was = latency.value;
            let in_memory = (was.0 - of_l2).max(0.0);
            latency.note = Some(format!(
                "{was} of the device file, of which those beyond the L2 take as long as at its clock"
            ));
            latency.value.0 += in_memory * (run.0 / own.0 - 1.0);
            latency.was.get_or_insert(was);
            follow.push((&mut latency.source, &mut latency.inherited));
        }
        for (source, inherited) in follow {
            SOURCE.clone_into(source);
            *inherited = None;
        }
        let text = "the clock that the run had".to_owned();
        self.sources.insert(SOURCE.to_owned(), SourceText { kind: SourceKind::Assumed, text });
        self
    }

    /// The clock of a run that the device is at, if it is not its own.
    pub fn run_clock(&self) -> Option<RunClock> {
        (self.clock.source == SOURCE).then(|| RunClock::near(self.clock.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::find;

    #[test]
    fn clocks_are_numbers_with_a_unit() {
        let read = |text: &str| text.parse::<RunClock>().map(|c| c.to_string());
        for (text, shown) in [
            ("1.41GHz", "1.41 GHz"),
            (" 1410 MHz ", "1.41 GHz"),
            ("765e6 Hz", "765 MHz"),
            ("1410000001 Hz", "1.410000001 GHz"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(shown), "{text}");
            assert_eq!(read(shown), read(text));
        }
        for (text, why) in [
            ("0", "more than 0"),
            ("0.0 GHz", "more than 0"),
            ("fast", "`fast` is no clock;"),
            ("", "`` is no clock;"),
            ("1.41", "`1.41` has no unit;"),
            ("-1 GHz", "is no clock;"),
            ("nan", "is no clock;"),
            ("1.41 GB/s", "is no clock;"),
            ("1.41 kHz", "1 MHz to 100 GHz"),
            ("1410 GHz", "1 MHz to 100 GHz"),
            ("1e200 GHz", "1 MHz to 100 GHz"),
        ] {
            let said = text.parse::<RunClock>().unwrap_err().to_string();
            assert!(said.contains(why) && said.ends_with("for example 1.41GHz or 765MHz"), "{text}: {said}");
        }
    }

    #[test]
    fn the_l2_runs_with_the_clock_and_the_memory_does_not() {
        let own = find("a100", &[]).unwrap();
        let slow = own.clone().at_clock("705 MHz".parse().unwrap());
        assert_eq!((own.clock.value, slow.clock.value), (Frequency(1.41e9), Frequency(705e6)));
        assert!((slow.l2.bandwidth.value.0 * 2.0 / own.l2.bandwidth.value.0 - 1.0).abs() < 1e-12);
        let mut dram = slow.dram.clone();
        dram.latency = own.dram.latency.clone();
        assert_eq!(dram, own.dram, "nothing but the latency");
        // Twice as many nanoseconds in the L2, as many beyond it.
        let [l2, memory] = [own.l2.latency.value.0, own.dram.latency.value.0];
        assert!((slow.dram.latency.value.0 - (l2 + (memory - l2) / 2.0)).abs() < 1e-9);
        assert_eq!(slow.l2.latency, own.l2.latency);
        assert_eq!((slow.run_clock().unwrap().to_string(), own.run_clock()), ("705 MHz".to_owned(), None));
        // Sources of all numbers are there, as after reading.
        assert!(slow.numbers().iter().all(|n| slow.sources.contains_key(n.source)));
        assert_eq!(own.clone().at_clock("1.41 GHz".parse().unwrap()), own, "its own clock");
    }

    #[test]
    fn what_was_set_stays() {
        let set = ["l2.bandwidth=3000 GB/s".to_owned()];
        let device = find("a100", &set).unwrap().at_clock("705 MHz".parse().unwrap());
        assert_eq!(device.l2.bandwidth.value.to_string(), "3000 GB/s");
    }
}
