//! How much of a trace is held and unpacked.

/// What protects the machine from traces that are larger than they look. Each can be changed with `--limit NAME=N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceLimits {
    /// Bytes of memory for what has to be held of a trace at a time.
    pub memory: u64,
    /// Bytes that a packed file may unpack to.
    pub unpacked: u64,
}

impl Default for TraceLimits {
    fn default() -> Self {
        Self { memory: 2 << 30, unpacked: 1 << 30 }
    }
}

impl TraceLimits {
    /// The names that [`TraceLimits::set`] knows.
    pub const NAMES: [&'static str; 2] = ["trace-memory", "unpacked-bytes"];

    /// The most bytes of memory that can be allowed: requests, the smallest things that are held, take 16 each, and
    /// have numbers of 32 bits.
    pub const MOST_MEMORY: u64 = 1 << 36;

    /// Changes one limit by name; `false` if there is none of that name. More memory than
    /// [`MOST_MEMORY`](Self::MOST_MEMORY) is as much as that.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        match name {
            "trace-memory" => self.memory = value.min(Self::MOST_MEMORY),
            "unpacked-bytes" => self.unpacked = value,
            _ => return false,
        }
        true
    }
}
