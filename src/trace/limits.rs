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

    /// Changes one limit by name; `false` if there is none of that name.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        match name {
            "trace-memory" => self.memory = value,
            "unpacked-bytes" => self.unpacked = value,
            _ => return false,
        }
        true
    }
}
