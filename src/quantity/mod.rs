//! Numbers that know what they count and for what: bytes per work item are no bytes per wave, and cannot be added
//! to them. They cost no more than the number alone.
//!
//! ```
//! use wavecast::quantity::{Bytes, ItemCount, PerWave};
//!
//! let (loaded, items) = (Bytes::<PerWave>::new(4096.0), ItemCount::<PerWave>::new(512.0));
//! assert_eq!(loaded.per_item(items).get(), 8.0);
//! ```
//!
//! ```compile_fail
//! # use wavecast::quantity::{Bytes, PerItem, PerWave};
//! let sum = Bytes::<PerWave>::new(4096.0) + Bytes::<PerItem>::new(8.0);
//! ```

#[cfg(test)]
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// So many of `Unit`, for each one of `Per`.
#[must_use]
#[repr(transparent)]
pub struct Amount<Unit, Per>(f64, PhantomData<fn() -> (Unit, Per)>);

/// Declares what is counted, and what for.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* #[derive(Debug, Clone, Copy, PartialEq, Eq)] pub enum $name {})*
    };
}

words! {
    /// A byte.
    Byte
    /// A cycle of the clock.
    Cycle
    /// A pass through a stage of the L1's pipe.
    Wavefront
    /// A sector of a cache line.
    Sector
    /// A page of the address space.
    Page
    /// Something that happens, or is there, so many times.
    Occurrence
    /// A second.
    Second
    /// A part of a whole.
    Portion
    /// So many times as much.
    Multiple
    /// What a formula misses by.
    Misfit
    /// How well two orders agree.
    OrderAgreement
    /// One, where a number has no unit.
    One
    /// A work item, as it is counted.
    WorkItem
    /// For each whole, of which there are parts.
    PerWhole
    /// For each work item.
    PerItem
    /// For each thread.
    PerThread
    /// For each block of threads.
    PerBlock
    /// For all blocks that run at the same time.
    PerWave
    /// For each launch, with all its blocks.
    PerLaunch
    /// For each cache, which has room for so much.
    PerCache
    /// For each address.
    PerAddress
}

/// Bytes.
pub type Bytes<Per> = Amount<Byte, Per>;
/// Cycles of the clock.
pub type Cycles<Per> = Amount<Cycle, Per>;
/// Passes through a stage of the L1's pipe.
pub type Wavefronts<Per> = Amount<Wavefront, Per>;
/// Sectors of cache lines.
pub type Sectors<Per> = Amount<Sector, Per>;
/// Pages of the address space.
pub type Pages<Per> = Amount<Page, Per>;
/// How often something happens or is there, such as instructions, lanes and runs.
pub type Times<Per> = Amount<Occurrence, Per>;
/// Work items.
pub type ItemCount<Per> = Amount<WorkItem, Per>;
/// Seconds that a launch takes.
pub type Seconds = Amount<Second, PerLaunch>;
/// Work items per second.
pub type ItemsPerSecond = Amount<WorkItem, Second>;
/// A share, mostly from 0 to 1.
pub type Share = Amount<Portion, PerWhole>;
/// How many times as much as there is room for.
pub type Ratio = Amount<Multiple, PerWhole>;
/// By how much a formula misses what was measured, in the unit of that.
pub type Residual = Amount<Misfit, PerWhole>;
/// How well two orders agree: 1 where they are the same, -1 where one is the other backwards.
pub type Correlation = Amount<OrderAgreement, PerWhole>;
/// A number without a unit, such as an exponent.
pub type Plain = Amount<One, PerWhole>;

impl<U, P> Amount<U, P> {
    /// None.
    pub const ZERO: Self = Self::new(0.0);

    /// So many.
    pub const fn new(number: f64) -> Self {
        Self(number, PhantomData)
    }

    /// How many.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The same without a sign.
    pub fn abs(self) -> Self {
        Self::new(self.0.abs())
    }

    /// The larger of both.
    pub fn max(self, other: Self) -> Self {
        Self::new(self.0.max(other.0))
    }

    /// The smaller of both.
    pub fn min(self, other: Self) -> Self {
        Self::new(self.0.min(other.0))
    }

    /// Itself, or none where it is below 0.
    pub fn or_none(self) -> Self {
        self.max(Self::ZERO)
    }

    /// Which of both is larger.
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }

    /// For each work item, where so many share it.
    pub fn per_item(self, items: ItemCount<P>) -> Amount<U, PerItem> {
        Amount::new(self.0 / items.0)
    }

    /// How many times as much as there is room for.
    pub fn over(self, capacity: Amount<U, PerCache>) -> Ratio {
        Ratio::new(self.0 / capacity.0)
    }
}

impl<U> Amount<U, PerItem> {
    /// For all of so many work items.
    pub fn in_all<P>(self, items: ItemCount<P>) -> Amount<U, P> {
        Amount::new(self.0 * items.0)
    }
}

impl<P> Sectors<P> {
    /// Their bytes, `size` in each.
    pub fn bytes(self, size: f64) -> Bytes<P> {
        Bytes::new(self.0 * size)
    }
}

impl Share {
    /// Everything.
    pub const ALL: Self = Self::new(1.0);

    /// What is left of the whole.
    pub fn rest(self) -> Self {
        Self::new(1.0 - self.0)
    }
}

impl<U, P> Clone for Amount<U, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<U, P> Copy for Amount<U, P> {}

impl<U, P> PartialEq for Amount<U, P> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<U, P> PartialOrd for Amount<U, P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.partial_cmp(&other.0)
    }
}

impl<U, P> Default for Amount<U, P> {
    fn default() -> Self {
        Self::ZERO
    }
}

/// Amounts are written as their numbers are.
macro_rules! written {
    ($($trait:ident)*) => {
        $(impl<U, P> fmt::$trait for Amount<U, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::$trait::fmt(&self.0, f)
            }
        })*
    };
}

written! { Debug Display LowerExp }

/// What operators make of an amount and something else: an amount of the same.
macro_rules! operators {
    ($($trait:ident $name:ident $other:ty, |$n:ident| $number:expr;)*) => {
        $(impl<U, P> $trait<$other> for Amount<U, P> {
            type Output = Self;

            fn $name(self, $n: $other) -> Self {
                Self::new(self.0.$name($number))
            }
        })*
    };
}

operators! {
    Add add Self, |other| other.0;
    Sub sub Self, |other| other.0;
    Mul mul f64, |times| times;
    Mul mul Share, |share| share.0;
    Div div f64, |parts| parts;
}

impl<U, P> AddAssign for Amount<U, P> {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl<U, P> Neg for Amount<U, P> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.0)
    }
}

impl<U, P> Mul<Amount<U, P>> for f64 {
    type Output = Amount<U, P>;

    fn mul(self, amount: Amount<U, P>) -> Amount<U, P> {
        amount * self
    }
}

impl<U, P> MulAssign<f64> for Amount<U, P> {
    fn mul_assign(&mut self, times: f64) {
        self.0 *= times;
    }
}

/// How many times as much.
impl<U, P> Div for Amount<U, P> {
    type Output = f64;

    fn div(self, other: Self) -> f64 {
        self.0 / other.0
    }
}

/// How fast work items are done.
impl Div<Seconds> for ItemCount<PerLaunch> {
    type Output = ItemsPerSecond;

    fn div(self, time: Seconds) -> ItemsPerSecond {
        ItemsPerSecond::new(self.0 / time.0)
    }
}

impl<U, P> Sum for Amount<U, P> {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        // The sum of no floats is a negative zero.
        Self::new(all.map(Self::get).fold(0.0, |sum, one| sum + one))
    }
}

impl<'a, U: 'a, P: 'a> Sum<&'a Self> for Amount<U, P> {
    fn sum<I: Iterator<Item = &'a Self>>(all: I) -> Self {
        all.copied().sum()
    }
}

/// As the number alone; units stand in the names and descriptions of fields.
impl<U, P> Serialize for Amount<U, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

#[cfg(test)]
impl<U, P> JsonSchema for Amount<U, P> {
    fn schema_name() -> Cow<'static, str> {
        f64::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        f64::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_numbers() {
        let bytes = Bytes::<PerBlock>::new(96.0);
        assert_eq!(bytes.per_item(ItemCount::new(32.0)), Bytes::<PerItem>::new(3.0));
        assert_eq!(Ratio::new(bytes / Bytes::new(32.0)), Ratio::new(3.0));
        assert_eq!(format!("{bytes:.1} {bytes:?}"), "96.0 96.0");
        assert_eq!(serde_json::to_string(&bytes).unwrap(), "96.0");
        assert_eq!(bytes * Share::new(0.25).rest(), Bytes::new(72.0));
        assert_eq!(bytes.over(Bytes::new(48.0)), Ratio::new(2.0));
        assert_eq!([bytes, bytes].iter().sum::<Bytes<_>>(), bytes * 2.0);
        assert_eq!(ItemCount::<PerLaunch>::new(10.0) / Seconds::new(2.0), ItemsPerSecond::new(5.0));
    }
}
