//! From numbers to places, and the numbers that stand beside an axis.

/// Numbers from `low` to `high` along pixels from `start` to `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) start: f64,
    pub(super) end: f64,
    /// Equal factors are equally far apart.
    pub(super) logarithmic: bool,
}

impl Axis {
    /// From zero to a round number above `most`.
    pub(super) fn from_zero(most: f64, start: f64, end: f64) -> Self {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let step = step(most * 1.02, 5);
        let high = (most * 1.02 / step).ceil() * step;
        Self { low: 0.0, high, start, end, logarithmic: false }
    }

    /// The place of a number.
    pub(super) fn at(&self, n: f64) -> f64 {
        let scaled = |n: f64| if self.logarithmic { n.max(f64::MIN_POSITIVE).ln() } else { n };
        let (low, high) = (scaled(self.low), scaled(self.high));
        let share = if high > low { (scaled(n) - low) / (high - low) } else { 0.5 };
        self.start + (self.end - self.start) * share
    }

    /// About `count` round numbers along the axis.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        let step = step(self.high - self.low, count);
        let first = (self.low / step - 1e-9).ceil();
        let last = (self.high / step + 1e-9).floor();
        (0..1000_u32).map(|i| first + f64::from(i)).take_while(|&i| i <= last).map(|i| i * step).collect()
    }
}

/// A round distance that cuts a span in about `count` parts.
fn step(span: f64, count: usize) -> f64 {
    let rough = span / count.max(1) as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * power >= rough * 0.999);
    factor.unwrap_or(10.0) * power
}

/// A number beside an axis, without needless digits.
pub(super) fn label(n: f64) -> String {
    let rounded: f64 = format!("{n:.6e}").parse().unwrap_or(n);
    if rounded != 0.0 && !(1e-3..1e7).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn numbers_beside_an_axis_are_round() {
        let labels = |axis: Axis| axis.ticks(5).into_iter().map(label).collect::<Vec<_>>().join(" ");
        let axis = Axis::from_zero(72.4, 0.0, 100.0);
        assert_eq!(labels(axis), "0 20 40 60 80");
        assert!(near(axis.at(20.0), 25.0));
        assert_eq!(labels(Axis::from_zero(0.07, 0.0, 1.0)), "0 0.02 0.04 0.06 0.08");
        assert_eq!(labels(Axis::from_zero(f64::NAN, 0.0, 1.0)), "0 0.25 0.5 0.75 1 1.25");
    }

    #[test]
    fn equal_factors_are_equally_far_apart() {
        let axis = Axis { low: 1.0, high: 1024.0, start: 0.0, end: 10.0, logarithmic: true };
        assert!(near(axis.at(32.0), 5.0));
        let point = Axis { low: 3.0, high: 3.0, start: 0.0, end: 10.0, logarithmic: true };
        assert!(near(point.at(3.0), 5.0), "a single value stands in the middle");
    }
}
