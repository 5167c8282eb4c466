//! Reasons to doubt a prediction, and the interval that follows.

use super::reason::{Reason, ReasonKind};
use crate::curve::widths;
use crate::quantity::{Ratio, Seconds, Share};

/// How sure a prediction is.
///
/// ```
/// use wavecast::predict::{Judge, ReasonKind};
/// use wavecast::{Candidate, Estimator, device, kernel};
///
/// let text = "{wavecast: 1, kernel: copy, fields: {a: {dtype: f64, shape: [4096, 4096]}, b: {like: a}},
///              domain: {x: 4096, y: 4096}, loads: ['a[x, y]'], stores: ['b[x, y]']}";
/// let kernel = kernel::load("copy.yaml", text, &kernel::Options::default())?.kernels.remove(0);
/// let device = device::find("v100", &[])?;
/// let estimator = Estimator::new(&kernel, &device);
/// let found = estimator.predict(Candidate::new([256, 1, 1], [1, 1, 1])?)?;
/// let confidence = Judge::new(&estimator).confidence(&found);
/// let [low, high] = confidence.interval().unwrap();
/// assert!(low < found.time.seconds && found.time.seconds < high);
/// assert!(confidence.reasons().iter().any(|r| r.kind() == ReasonKind::Registers));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    reasons: Vec<Reason>,
    time: Seconds,
    ends: Option<[Ratio; 2]>,
}

impl Confidence {
    /// Of a time that is doubted for some reasons, which are put in the order of what they add.
    pub(super) fn new(time: Seconds, mut reasons: Vec<Reason>) -> Self {
        let widths = widths();
        let weight = |r: &Reason| widths.weight(r.kind().word());
        reasons.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.kind().cmp(&b.kind())));
        let calibrated = reasons.iter().all(|r| r.kind() != ReasonKind::Roofline);
        let width = widths.of_reasons(reasons.iter().map(|r| r.kind().word())).filter(|_| calibrated);
        let ends = width.map(|w| [(-w.shorter).exp(), w.longer.exp()].map(Ratio::new));
        Self { reasons, time, ends }
    }

    /// Why it is not surer; what adds most comes first.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// Both, to take them apart.
    pub fn into_reasons(self) -> Vec<Reason> {
        self.reasons
    }

    /// The time of a launch lies in here as often as the level says, judged by sets of measurements that nothing was
    /// fitted to; `None` where no measurement tells.
    pub fn interval(&self) -> Option<[Seconds; 2]> {
        self.ends.map(|ends| ends.map(|end| self.time * end.get()))
    }

    /// The ends of the interval over the predicted time.
    pub fn ends(&self) -> Option<[Ratio; 2]> {
        self.ends
    }

    /// The part of measured times that lies in the interval; `None` where there is none.
    pub fn level(&self) -> Option<Share> {
        self.ends.map(|_| widths().level())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Seconds = Seconds::new(0.001);

    fn all() -> Vec<Reason> {
        let kinds = ReasonKind::NAMED.into_iter().map(|(_, kind)| kind);
        kinds.filter(|&k| k != ReasonKind::Roofline).map(Reason::new).collect()
    }

    #[test]
    fn every_reason_has_a_width_and_no_width_is_of_nothing() {
        let known = &widths().reasons;
        for (code, _) in ReasonKind::NAMED.iter().filter(|n| n.1 != ReasonKind::Roofline) {
            assert!(known.contains_key(*code), "fits/confidence.yaml has no `{code}`");
        }
        for code in known.keys() {
            assert!(
                ReasonKind::NAMED.iter().any(|n| n.0 == code),
                "`{code}` of fits/confidence.yaml is no reason"
            );
        }
    }

    #[test]
    fn reasons_never_narrow_the_interval_and_it_holds_the_prediction() {
        let all = all();
        let mut random = crate::random::Random::new(1);
        for _ in 0..200 {
            let mut some: Vec<Reason> = all.iter().filter(|_| random.below(4) == 0).cloned().collect();
            let [low, high] = Confidence::new(TIME, some.clone()).interval().unwrap();
            assert!(low < TIME && TIME < high && low > Seconds::ZERO);
            some.push(all[random.below(all.len())].clone());
            let [lower, higher] = Confidence::new(TIME, some).interval().unwrap();
            assert!(lower <= low && high <= higher);
        }
    }

    #[test]
    fn what_adds_most_comes_first() {
        let found = Confidence::new(TIME, all());
        let weights: Vec<f64> = found.reasons().iter().map(|r| widths().weight(r.kind().word())).collect();
        assert!(weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
        assert_eq!(found.level(), Some(Share::new(0.8)));
    }

    #[test]
    fn the_roofline_has_no_interval() {
        let found = Confidence::new(TIME, vec![Reason::new(ReasonKind::Roofline)]);
        assert_eq!((found.interval(), found.level(), found.reasons().len()), (None, None, 1));
    }
}
