//! The fit: several starts, a scale of residuals that outliers do not change, the kind of noise.

use super::covariance::{covariance, intervals};
use super::loss::Loss;
use super::noise::{Noise, relative, scale, unlikely};
use super::points::{Points, Residuals};
use super::refuse::{FitRefusal, check};
use super::shape::CurveShape;
use super::solver::{Enough, ParameterBounds, minimise};
use super::starts::{quantile, starts};
use crate::curve::interval::Interval;
use crate::quantity::Residual;
use crate::readable::readable;

/// How to fit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FitOptions {
    /// What residuals cost.
    pub loss: Loss,
    /// Where the loss turns from squares to less; found from the residuals if left out.
    pub scale: Option<Residual>,
    /// How measurements spread.
    pub noise: Noise,
    /// Bounds of the parameters; those of rates if left out.
    pub bounds: Option<ParameterBounds>,
}

readable! {
    /// A fitted curve.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FittedCurve {
        /// The shape.
        shape: CurveShape,
        /// Its parameters.
        values: Vec<f64>,
        /// Covariance of the logarithms of the parameters.
        covariance: Vec<Vec<f64>>,
        /// 95 % intervals that follow from it.
        intervals: Vec<Interval>,
        /// Which kind of noise was taken.
        noise: Noise,
        /// Standard deviation of the residuals without the outliers; a share of the value if the noise is
        /// relative.
        deviation: Residual,
        /// 1/2 C^2 sum rho((r / C)^2) with the loss rho and its scale C.
        cost: f64,
        /// That scale.
        scale: Residual,
        /// Points further than three standard deviations away.
        outliers: usize,
        /// All points.
        points: usize,
    }
}

impl FittedCurve {
    /// The rate at an oversubscription.
    pub fn rate(&self, o: f64) -> f64 {
        self.shape.rate(&self.values, o)
    }
}

/// Points that starts are tried on, and the kinds of noise.
const FEW: usize = 512;
/// Starts of which fits are made.
const TRIED: usize = 6;
/// A step of the logarithms of parameters that is tolerated while the scale still changes.
const COARSE: f64 = 1e-4;
/// One that is tolerated in the end.
const FINE: f64 = 1e-10;
/// Times that the scale is found anew. It shrinks about tenfold a time where there is no noise at all.
const ROUNDS: usize = 40;
/// Residuals below this share of the largest value are rounding errors.
const EXACT: f64 = 1e-13;
const BEYOND_CACHES: &str = "it would be flatter or further away than that of any cache";
/// A logarithm this near the end of its range would go beyond.
const AT_END: f64 = 1e-3;
/// Largest standard deviation of the logarithm of a parameter.
const UNSURE: f64 = 1.1;

/// The bounds of parameters of rates, as logarithms: a rate is at most 1, and transitions lie where
/// caches are.
fn bounds_of(shape: CurveShape) -> ParameterBounds {
    let logs = |pairs: &[(f64, f64)]| ParameterBounds::new(pairs.iter().copied()).logs();
    match shape {
        CurveShape::Hill => logs(&[(1e-4, 1e4), (0.05, 60.0)]),
        CurveShape::Rising => logs(&[(1e-4, 1.0), (1e-4, 1e8), (1e-4, 200.0)]),
        CurveShape::Falling => logs(&[(1e-4, 1.0), (1e-12, 1e2), (1e-4, 200.0)]),
    }
}

/// Fits a shape to points.
pub fn fit(points: &Points, shape: CurveShape, options: &FitOptions) -> Result<FittedCurve, FitRefusal> {
    let mut o: Vec<f64> = points.oversubscriptions().collect();
    o.sort_by(f64::total_cmp);
    check(&o, points.len(), shape.parameters().len())?;
    let bounds = options.bounds.as_ref().map_or_else(|| bounds_of(shape), ParameterBounds::logs);
    let every = points.len().div_ceil(FEW).max(1);
    let few = points.some((0..points.len()).step_by(every));
    let of_few = Setting { points: &few, shape, options, bounds: bounds.clone() };
    let start = of_few.chosen();
    let problem = Setting { points, shape, options, bounds };
    let best = problem.finished(&start);
    problem.found(&best, &o)
}

/// From parameters that are near: for resampled points.
pub(super) fn refit(points: &Points, options: &FitOptions, near: &FittedCurve) -> Vec<f64> {
    let shape = near.shape;
    let problem = Setting { points, shape, options, bounds: bounds_of(shape) };
    let logs: Vec<f64> = near.values.iter().map(|v| v.ln()).collect();
    let noise = near.noise;
    let spread =
        if noise == Noise::Relative { relative(points, shape, &logs) } else { vec![1.0; points.len()] };
    let start = Fitted { logs, noise, spread, deviation: near.deviation.get() };
    problem.settled(start, 3, COARSE).logs.iter().map(|l| l.exp()).collect()
}

struct Setting<'a> {
    points: &'a Points,
    shape: CurveShape,
    options: &'a FitOptions,
    bounds: ParameterBounds,
}

/// Parameters as logarithms, with what was taken as the spread of the points.
#[derive(Debug, Clone)]
struct Fitted {
    logs: Vec<f64>,
    noise: Noise,
    spread: Vec<f64>,
    deviation: f64,
}

impl Setting<'_> {
    fn residuals<'a>(&'a self, of: &'a Fitted) -> Residuals<'a> {
        self.residuals_with(&of.spread, of.deviation)
    }

    fn residuals_with<'a>(&'a self, spread: &'a [f64], deviation: f64) -> Residuals<'a> {
        let found = (self.options.loss.tuning() * deviation).max(self.exact());
        let scale = self.options.scale.map_or(found, Residual::get);
        Residuals { points: self.points, shape: self.shape, loss: self.options.loss, scale, spread }
    }

    /// Below this residuals are rounding errors.
    fn exact(&self) -> f64 {
        let most = self.points.values().iter().map(|v| v.abs()).fold(0.0, f64::max);
        EXACT * most.max(f64::MIN_POSITIVE)
    }

    /// The best fit with the kind of noise that was asked for, or that is likelier.
    fn chosen(&self) -> Fitted {
        let absolute = self.absolute();
        match self.options.noise {
            Noise::Absolute => absolute,
            Noise::Relative => self.relative(&absolute),
            // With a given scale, or squares, the cost is meant as it is.
            Noise::Auto if self.is_fixed() => absolute,
            Noise::Auto => {
                let relative = self.relative(&absolute);
                let of = |f: &Fitted| unlikely(&self.residuals(f), &f.logs, f.deviation);
                if of(&relative) < of(&absolute) { relative } else { absolute }
            }
        }
    }

    /// The best fit with the same spread everywhere, of several starts.
    fn absolute(&self) -> Fitted {
        let mut tried: Vec<(f64, Fitted)> = self.screened();
        tried.truncate(TRIED);
        let settled = tried.into_iter().map(|(_, start)| self.valued(self.settled(start, 4, COARSE)));
        let best = settled.min_by(|a, b| a.0.total_cmp(&b.0)).map(|b| b.1);
        let spread = vec![1.0; self.points.len()];
        let none = Fitted { logs: self.bounds.low.clone(), noise: Noise::Absolute, spread, deviation: 0.0 };
        self.settled(best.unwrap_or(none), ROUNDS, COARSE)
    }

    /// Goes on with all points from a fit to some of them.
    fn finished(&self, start: &Fitted) -> Fitted {
        let spread = vec![1.0; self.points.len()];
        let start = Fitted { spread, ..start.clone() };
        if start.noise == Noise::Relative {
            return self.settled(self.relative(&start), 2, FINE);
        }
        let coarse = self.settled(start, ROUNDS, COARSE);
        self.settled(coarse, 2, FINE)
    }

    /// Whether the cost is the same whatever the residuals are.
    fn is_fixed(&self) -> bool {
        self.options.scale.is_some() || self.options.loss == Loss::Linear
    }

    /// Starts in the order of what they leave.
    fn screened(&self) -> Vec<(f64, Fitted)> {
        let ones = vec![1.0; self.points.len()];
        let mut all: Vec<(f64, Fitted)> = starts(self.points, self.shape, &self.bounds)
            .into_iter()
            .map(|logs| {
                let rest = self.residuals_with(&ones, 1.0).all(&logs);
                let deviation = scale(&rest, logs.len());
                self.valued(Fitted { logs, noise: Noise::Absolute, spread: ones.clone(), deviation })
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    /// A fit with its value for comparing it with others: the cost where its scale is fixed, otherwise
    /// the sum of the amounts of residuals, which needs no scale.
    fn valued(&self, fitted: Fitted) -> (f64, Fitted) {
        let residuals = self.residuals(&fitted);
        let value: f64 = if self.is_fixed() {
            let per = residuals.scale.powi(-2);
            residuals.all(&fitted.logs).iter().map(|r| self.options.loss.rho(r * r * per).value).sum()
        } else {
            residuals.all(&fitted.logs).iter().map(|r| r.abs()).sum()
        };
        (value, fitted)
    }

    /// Minimises, finds the scale anew, and again until neither changes.
    fn settled(&self, mut fitted: Fitted, rounds: usize, small: f64) -> Fitted {
        for _ in 0..rounds {
            let residuals = self.residuals(&fitted);
            let (logs, _) =
                minimise(&residuals, &fitted.logs, &self.bounds, Enough { step: small, gain: 0.0 });
            let deviation = scale(&residuals.all(&logs), logs.len());
            let same = (deviation - fitted.deviation).abs() <= 1e-3 * fitted.deviation;
            let moved = logs.iter().zip(&fitted.logs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            fitted.logs = logs;
            fitted.deviation = deviation;
            if self.is_fixed() || deviation <= self.exact() || (same && moved < 10.0 * COARSE) {
                break;
            }
        }
        fitted
    }

    /// From a fit with the same spread everywhere to one with a spread that is a share of the value.
    fn relative(&self, from: &Fitted) -> Fitted {
        let mut fitted = Fitted { noise: Noise::Relative, ..from.clone() };
        for _ in 0..6 {
            fitted.spread = relative(self.points, self.shape, &fitted.logs);
            fitted.deviation = scale(&self.residuals(&fitted).all(&fitted.logs), fitted.logs.len());
            let before = fitted.logs.clone();
            fitted = self.settled(fitted, 4, COARSE);
            let moved = fitted.logs.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if moved < 10.0 * COARSE {
                break;
            }
        }
        fitted
    }

    /// Whether the transition is as flat or as far away as it may be. One that is as sharp as it may be is well known.
    fn at_an_end(&self, logs: &[f64]) -> bool {
        let ends = self.bounds.low.iter().zip(&self.bounds.high);
        let mut all = logs.iter().zip(ends).zip(self.shape.parameters());
        all.any(|((log, (low, high)), &name)| match name {
            "o0" => log - low < AT_END || high - log < AT_END,
            "k" | "c" => log - low < AT_END,
            _ => false,
        })
    }

    /// What is known of the best fit, unless it says nothing; `o` are the sorted oversubscriptions.
    fn found(&self, best: &Fitted, o: &[f64]) -> Result<FittedCurve, FitRefusal> {
        let residuals = self.residuals(best);
        let values: Vec<f64> = best.logs.iter().map(|l| l.exp()).collect();
        let all = residuals.all(&best.logs);
        let cost = super::solver::LeastSquares::normal(&residuals, &best.logs).cost;
        let covariance = covariance(&residuals, &best.logs)
            .ok_or(FitRefusal::Degenerate("some of its parameters change nothing"))?;
        let unsure = |i: usize| covariance[i][i] > UNSURE * UNSURE;
        if (0..values.len()).any(unsure) {
            return Err(FitRefusal::Degenerate("it would leave a parameter unsure by a factor of 3"));
        }
        if self.options.bounds.is_none() && self.at_an_end(&best.logs) {
            return Err(FitRefusal::Degenerate(BEYOND_CACHES));
        }
        let at = |share: f64| self.shape.rate(&values, quantile(o, share).expect("there are points"));
        let (low, high) = (at(0.02), at(0.98));
        let rise = (high - low).abs();
        if rise < 0.02 * low.max(high).max(f64::MIN_POSITIVE) {
            return Err(FitRefusal::Degenerate("it is flat where the points are"));
        }
        let free = self.points.len() as f64 - values.len() as f64;
        let intervals = intervals(&best.logs, &covariance, free);
        let far = 3.0 * best.deviation + self.exact();
        Ok(FittedCurve {
            shape: self.shape,
            intervals,
            covariance,
            noise: best.noise,
            deviation: Residual::new(best.deviation),
            cost,
            scale: Residual::new(residuals.scale),
            outliers: all.iter().filter(|r| r.abs() > far).count(),
            points: self.points.len(),
            values,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_the_same_everywhere_is_no_transition() {
        let nearly = |i: i32| (0.1 * 1.15_f64.powi(i), 0.375 + 0.0006 * f64::from(i));
        let refused = fit(&Points::of_rates((0..40).map(nearly)), CurveShape::Hill, &FitOptions::default());
        assert_eq!(refused, Err(FitRefusal::Degenerate(BEYOND_CACHES)));
    }

    #[test]
    fn a_step_is_a_transition() {
        let step = |i: i32| (0.1 * 1.15_f64.powi(i), f64::from(u8::from(i >= 16)));
        let found =
            fit(&Points::of_rates((0..40).map(step)), CurveShape::Hill, &FitOptions::default()).unwrap();
        // One point is from 0.87 to 0.94, and the next at 1.08.
        assert!((0.87..1.08).contains(&found.values()[0]), "{found:?}");
    }
}
