//! Logs of pointer chases.

/// A timed load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// The element that was loaded.
    pub index: u32,
    /// Its latency in cycles.
    pub latency: f32,
}

/// In which order a chase goes through its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChaseOrder {
    /// By a stride, from the beginning; a negative stride goes backwards.
    Stride,
    /// Every line twice in a round, in two random orders.
    Shuffled,
    /// One element of each stride, at a random place in it; a negative stride goes backwards. Lines longer than
    /// what a miss brings show in it, because which part of them is loaded makes no difference.
    Scattered,
    /// The third stage of N 5.1: the array again, after one element beside it was loaded.
    Evict {
        /// The element beside it.
        extra: u32,
    },
}

/// A pointer chase through an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The file it comes from.
    pub name: String,
    /// Elements of the array.
    pub n: u64,
    /// Elements from one load to the next.
    pub stride: i64,
    /// Bytes of an element.
    pub element: u32,
    /// The order.
    pub order: ChaseOrder,
    /// Whether the first loads were timed too, with nothing in the cache.
    pub cold: bool,
    /// The loads.
    pub loads: Vec<Load>,
}

impl Run {
    /// Bytes of the array.
    pub fn bytes(&self) -> u64 {
        self.n.saturating_mul(u64::from(self.element))
    }

    /// Bytes from one load to the next.
    pub fn step(&self) -> u64 {
        self.stride.unsigned_abs().saturating_mul(u64::from(self.element))
    }

    /// Whether it is a warm chase by a stride.
    pub fn is_warm_stride(&self) -> bool {
        !self.cold && self.order == ChaseOrder::Stride
    }
}
