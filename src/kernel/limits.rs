//! Limits that protect the tool from documents that would expand without end.

/// Most work items of a thread along one dimension.
pub const MAX_FOLD: i64 = 4096;

/// Elementary steps for a launch where nobody asks for more or fewer: about a second of processor time.
pub const STEPS: usize = 200_000_000;

/// How much one call may read and expand. Generous; each can be raised with `--limit NAME=N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one input text.
    pub document_bytes: usize,
    /// Values and keys of one input text.
    pub nodes: usize,
    /// Accesses after unrolling, over all documents and variants of one text.
    pub accesses: usize,
    /// Launch candidates of one kernel or variant.
    pub candidates: usize,
    /// Documents and variants of one text.
    pub variants: usize,
    /// Elementary steps that counting for one launch may take.
    pub steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            document_bytes: 64 << 20,
            nodes: 1_000_000,
            accesses: 250_000,
            candidates: 1_000_000,
            variants: 100_000,
            steps: STEPS,
        }
    }
}

impl Limits {
    /// The names that [`Limits::set`] knows.
    pub const NAMES: [&'static str; 6] =
        ["document-bytes", "nodes", "accesses", "candidates", "variants", "steps"];

    /// Changes one limit by name; `false` if there is none of that name.
    pub fn set(&mut self, name: &str, value: usize) -> bool {
        match name {
            "document-bytes" => self.document_bytes = value,
            "nodes" => self.nodes = value,
            "accesses" => self.accesses = value,
            "candidates" => self.candidates = value,
            "variants" => self.variants = value,
            "steps" => self.steps = value,
            _ => return false,
        }
        true
    }
}
