//! What the columns of a table are.

/// What heads a table has.
pub(super) const EXPECTED: &str =
    "a head such as `index,latency`, `Next_id Latency`, `buffer_kB,cycles_per_load` or `warps,loads,cycles`";

/// What the rows of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Loads of a chase.
    Loads,
    /// Latency over size.
    Sizes,
    /// Time over warps and loads.
    Mshrs,
    /// Other figures: throughputs, latencies of patterns, bank conflicts.
    Figures,
}

/// Where things stand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Columns {
    pub(super) shape: Shape,
    pub(super) names: Vec<String>,
    comma: bool,
    pub(super) index: Option<usize>,
    /// Whether the index is that of the next load.
    pub(super) next: bool,
    /// The figure of a row.
    pub(super) latency: Option<usize>,
    pub(super) n: Option<usize>,
    pub(super) stride: Option<usize>,
    pub(super) size: Option<usize>,
    /// KiB of a unit of size.
    pub(super) kib: f64,
    pub(super) warps: Option<usize>,
    pub(super) loads: Option<usize>,
}

/// Names of sizes and what one of them is in KiB. The tables that say kB mean 1024 bytes: they step
/// through powers of 1.1 of that.
const SIZES: [(&str, f64); 7] = [
    ("buffer_kb", 1.0),
    ("kb", 1.0),
    ("kib", 1.0),
    ("size_kib", 1.0),
    ("bytes", 1.0 / 1024.0),
    ("size", 1.0 / 1024.0),
    ("mib", 1024.0),
];

const LATENCIES: [&str; 5] = ["latency", "cycles_per_load", "cycles", "latency_cycles", "time"];

/// Columns that can hold what was measured, beside latencies.
const FIGURES: [&str; 5] = ["gb_per_s", "bytes_per_cycle", "b_per_cycle", "gbps", "cycles_per_access"];

impl Columns {
    /// Index and latency with a comma.
    pub(super) fn loads() -> Self {
        Self {
            shape: Shape::Loads,
            names: vec!["index".to_owned(), "latency".to_owned()],
            comma: true,
            index: Some(0),
            next: false,
            latency: Some(1),
            n: None,
            stride: None,
            size: None,
            kib: 1.0,
            warps: None,
            loads: None,
        }
    }

    /// Of a head.
    pub(super) fn found(text: &str) -> Option<Self> {
        let comma = text.contains(',');
        let names: Vec<String> = split(text, comma).into_iter().map(str::to_lowercase).collect();
        let find = |wanted: &[&str]| names.iter().position(|n| wanted.contains(&n.as_str()));
        let index = find(&["index", "next_id", "nextid", "element"]);
        let next = index.and_then(|i| names.get(i)).is_some_and(|n| n.starts_with("next"));
        let latency = find(&LATENCIES).or_else(|| find(&FIGURES))?;
        let size = find(&SIZES.map(|s| s.0));
        let kib = size.and_then(|s| SIZES.iter().find(|k| names.get(s).is_some_and(|n| n == k.0)));
        let (warps, loads) = (find(&["warps"]), find(&["loads"]));
        let shape = match (index, size, warps, loads) {
            (Some(_), ..) => Shape::Loads,
            (None, Some(_), ..) => Shape::Sizes,
            (None, None, Some(_), Some(_)) => Shape::Mshrs,
            _ if names.len() > 1 => Shape::Figures,
            _ => return None,
        };
        // The size of an array has a name of its own in a chase.
        let (n, stride) = (find(&["n"]), find(&["s", "stride"]));
        Some(Self {
            shape,
            comma,
            index,
            next,
            latency: Some(latency),
            n,
            stride,
            size,
            kib: kib.map_or(1.0, |k| k.1),
            warps,
            loads,
            names,
        })
    }

    /// Whether a row can begin with a word.
    pub(super) fn takes_words(&self) -> bool {
        self.shape == Shape::Figures
    }

    pub(super) fn cells<'t>(&self, text: &'t str) -> Vec<&'t str> {
        split(text, self.comma)
    }
}

fn split(text: &str, comma: bool) -> Vec<&str> {
    if comma { text.split(',').map(str::trim).collect() } else { text.split_whitespace().collect() }
}
