//! The shapes of rates over the oversubscription O, with derivatives. Parameters are fitted as
//! logarithms: all are positive.

use crate::curve::Curve;
use crate::named::named;

named! {
    /// A shape.
    pub enum CurveShape {
        /// 1 / (1 + (o0 / O)^k): misses that rise from 0 to 1; o0, k.
        Hill = "hill",
        /// a exp(-b exp(-c O)): misses that rise to a, the paper's sigmoid (section 4.5); a, b, c.
        Rising = "sigmoid-miss",
        /// a exp(-b exp(c O)): hits that fall from a; the same with a negative c; a, b, c.
        Falling = "sigmoid-hit",
    }
}

/// Derivatives by the logarithms of the parameters; of a shape with two the third is 0.
pub(super) type Slope = [f64; 3];

impl CurveShape {
    /// Names of its parameters.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            CurveShape::Hill => &["o0", "k"],
            CurveShape::Rising | CurveShape::Falling => &["a", "b", "c"],
        }
    }

    /// Whether it gives hits, not misses.
    pub fn is_hits(self) -> bool {
        self == CurveShape::Falling
    }

    /// The rate at an oversubscription.
    pub fn rate(self, values: &[f64], o: f64) -> f64 {
        let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        self.with_slope(&logs, o.max(0.0)).0
    }

    /// The curve of a curve file.
    pub fn curve(self, values: &[f64], source: &str) -> Option<Curve> {
        let source = source.to_owned();
        match (self, values) {
            (CurveShape::Hill, &[o0, k]) => Some(Curve::Hill { o0, k, source }),
            (CurveShape::Rising, &[a, b, c]) => Some(Curve::SigmoidMiss { a, b, c, source }),
            (CurveShape::Falling, &[a, b, c]) => Some(Curve::SigmoidHit { a, b, c, source }),
            _ => None,
        }
    }

    /// The rate and its derivatives by the logarithms.
    pub(super) fn with_slope(self, logs: &[f64], o: f64) -> (f64, Slope) {
        self.at(logs).with_slope(o)
    }

    /// With these parameters: what does not depend on O is computed once.
    pub(super) fn at(self, logs: &[f64]) -> Placed {
        match (self, logs) {
            (CurveShape::Hill, &[o0, k]) => Placed::Hill { log_o0: o0, k: k.exp() },
            (CurveShape::Rising, &[a, b, c]) => Placed::Sigmoid { log_a: a, log_b: b, growth: -c.exp() },
            (CurveShape::Falling, &[a, b, c]) => Placed::Sigmoid { log_a: a, log_b: b, growth: c.exp() },
            _ => Placed::Sigmoid { log_a: f64::NAN, log_b: 0.0, growth: 0.0 },
        }
    }
}

/// A shape with its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Placed {
    Hill { log_o0: f64, k: f64 },
    Sigmoid { log_a: f64, log_b: f64, growth: f64 },
}

impl Placed {
    pub(super) fn with_slope(self, o: f64) -> (f64, Slope) {
        self.with_slope_at(o, o.ln())
    }

    /// The same where the logarithm of O is known.
    pub(super) fn with_slope_at(self, o: f64, log: f64) -> (f64, Slope) {
        match self {
            Placed::Hill { log_o0, k } => hill(log_o0, k, o, log),
            Placed::Sigmoid { log_a, log_b, growth } => sigmoid(log_a, log_b, growth, o),
        }
    }
}

fn hill(log_o0: f64, k: f64, o: f64, log: f64) -> (f64, Slope) {
    if o <= 0.0 {
        return (0.0, [0.0; 3]);
    }
    let t = k * (log_o0 - log);
    // exp(t) leaves what can be held long after the rate is 0.
    let rate = if t > 700.0 { 0.0 } else { 1.0 / (1.0 + t.exp()) };
    let fall = -rate * (1.0 - rate);
    (rate, [fall * k, if fall == 0.0 { 0.0 } else { fall * t }, 0.0])
}

/// a exp(-b exp(g O)) with the growth g = -c or c.
fn sigmoid(log_a: f64, log_b: f64, growth: f64, o: f64) -> (f64, Slope) {
    let exponent = (log_b + growth * o).exp();
    if exponent > 700.0 {
        return (0.0, [0.0; 3]);
    }
    let rate = (log_a - exponent).exp();
    (rate, [rate, -rate * exponent, -rate * exponent * growth * o])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_rate() {
        for (shape, values) in [
            (CurveShape::Hill, vec![2.66, 3.2]),
            (CurveShape::Rising, vec![0.73, 4.6, 0.34]),
            (CurveShape::Rising, vec![1.0, 37.1, 3.2]),
            (CurveShape::Falling, vec![1.0, 0.0036, 3.97]),
        ] {
            let logs: Vec<f64> = values.iter().map(|v: &f64| v.ln()).collect();
            for o in [0.0, 0.3, 1.0, 2.5, 9.0] {
                let (rate, slope) = shape.with_slope(&logs, o);
                assert!((shape.rate(&values, o) - rate).abs() < 1e-12);
                for i in 0..logs.len() {
                    let moved = |by: f64| {
                        let mut logs = logs.clone();
                        logs[i] += by;
                        shape.with_slope(&logs, o).0
                    };
                    let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                    assert!((numeric - slope[i]).abs() < 1e-7, "{shape:?} {o} {i}: {numeric} {slope:?}");
                }
            }
        }
    }

    #[test]
    fn curves_are_the_shapes() {
        for (shape, values) in [
            (CurveShape::Hill, vec![2.66, 3.2]),
            (CurveShape::Rising, vec![0.73, 4.6, 0.34]),
            (CurveShape::Falling, vec![0.9, 0.0036, 3.97]),
        ] {
            let curve = shape.curve(&values, "s").unwrap();
            for o in [0.0, 0.5, 1.5, 4.0] {
                let rate = shape.rate(&values, o);
                let miss = if shape.is_hits() { 1.0 - rate } else { rate };
                assert!((curve.miss(o) - miss).abs() < 1e-12, "{shape:?} {o}");
            }
        }
        assert_eq!(CurveShape::Hill.curve(&[1.0], "s"), None);
    }
}
