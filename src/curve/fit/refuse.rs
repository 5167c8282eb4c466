//! When a fit would say nothing.

/// Why there is no fit.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum FitRefusal {
    /// Hardly more points than parameters.
    #[error("{points} points are too few, {least} are needed")]
    TooFew {
        /// There are.
        points: usize,
        /// There should be.
        least: usize,
    },
    /// All at about the same oversubscription.
    #[error("all oversubscriptions lie between {low:.3} and {high:.3}: there is no transition to see")]
    NoSpread {
        /// 5 % lie below.
        low: f64,
        /// 5 % lie above.
        high: f64,
    },
    /// The points do not tell its parameters.
    #[error("the points do not determine a curve: {0}")]
    Degenerate(&'static str),
}

/// Points that a fit needs for each parameter, and beyond.
const PER_PARAMETER: usize = 3;
const BEYOND: usize = 2;
/// Oversubscriptions that differ by less than this factor say nothing of a transition.
const SPREAD: f64 = 1.3;

/// Whether there are enough points in enough places; `o` are sorted.
pub(super) fn check(o: &[f64], points: usize, parameters: usize) -> Result<(), FitRefusal> {
    let least = PER_PARAMETER * parameters + BEYOND;
    if points < least {
        return Err(FitRefusal::TooFew { points, least });
    }
    let at = |share: f64| super::starts::quantile(o, share).expect("there are points");
    let (low, high) = (at(0.05), at(0.95));
    if high <= 0.0 || high < SPREAD * low {
        return Err(FitRefusal::NoSpread { low, high });
    }
    Ok(())
}
