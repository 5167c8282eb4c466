//! How a value of a record compares with ours.

/// Two values this close are equal.
const TOLERANCE: f64 = 1e-9;

/// A field of a record and how it compares.
#[derive(Debug, Clone)]
pub struct Compared {
    pub field: String,
    pub verdict: Verdict,
}

/// How a value compares.
#[derive(Debug, Clone)]
pub enum Verdict {
    Equal,
    /// Equal to one of several values, because the program's own depends on hashing order.
    OneOf,
    Differs {
        ours: f64,
        theirs: f64,
    },
    /// Not comparable, and why.
    Listed(String),
}

/// Whether one of our values is theirs; if not, the nearest.
pub fn judge(ours: &[f64], theirs: f64) -> Verdict {
    let distance = |v: &f64| (v - theirs).abs();
    let Some(&nearest) = ours.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return Verdict::Listed("nothing to count".to_owned());
    };
    if distance(&nearest) > TOLERANCE * nearest.abs().max(theirs.abs()) {
        return Verdict::Differs { ours: nearest, theirs };
    }
    let mut different = ours.to_vec();
    different.sort_by(f64::total_cmp);
    different.dedup();
    if different.len() == 1 { Verdict::Equal } else { Verdict::OneOf }
}
