//! Levenberg and Marquardt's method within bounds, as a solver of argmin: the normal equations come from
//! one pass over the points, and parameters that a bound holds are left out of a step.
//!
//! Moré, "The Levenberg-Marquardt algorithm: implementation and theory" (1978), with diagonal scaling;
//! bounds by projection as in Kanzow, Yamashita and Fukushima, "Levenberg-Marquardt methods with strong
//! local convergence properties for solving nonlinear equations with convex constraints" (2004).

use argmin::core::{Error, Executor, IterState, KV, Problem, Solver, TerminationReason, TerminationStatus};

/// Sums of squares, or of what a loss makes of them.
pub(crate) trait LeastSquares {
    /// Cost, gradient and normal matrix at some parameters.
    fn normal(&self, parameters: &[f64]) -> Normal;

    /// The same if the cost is below another one; who needs slopes that take long can find the cost first.
    fn improved(&self, parameters: &[f64], cost: f64) -> Option<Normal> {
        Some(self.normal(parameters)).filter(|normal| normal.cost < cost)
    }
}

/// Cost with gradient and normal matrix (the Hessian without second derivatives of residuals).
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Normal {
    /// Cost.
    pub(crate) cost: f64,
    /// Gradient.
    pub(crate) gradient: Vec<f64>,
    /// Normal matrix, row by row.
    pub(crate) matrix: Vec<Vec<f64>>,
}

impl Normal {
    /// Of nothing, with so many parameters.
    pub(crate) fn new(n: usize) -> Self {
        Self { cost: 0.0, gradient: vec![0.0; n], matrix: vec![vec![0.0; n]; n] }
    }

    /// Adds a residual with its slope; the weight is the first derivative of rho. The cost is left alone.
    pub(crate) fn add(&mut self, residual: f64, slope: &[f64], weight: f64) {
        for ((row, gradient), &by) in self.matrix.iter_mut().zip(&mut self.gradient).zip(slope) {
            let weighted = weight * by;
            *gradient += weighted * residual;
            for (cell, &other) in row.iter_mut().zip(slope) {
                *cell += weighted * other;
            }
        }
    }
}

/// The least and the largest value of each parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParameterBounds {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

impl ParameterBounds {
    /// The least and the largest value of each parameter.
    pub fn new(of_each: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (low, high) = of_each.into_iter().unzip();
        Self { low, high }
    }

    /// The same for the logarithms of parameters.
    pub(super) fn logs(&self) -> Self {
        Self::new(self.low.iter().zip(&self.high).map(|(low, high)| (low.ln(), high.ln())))
    }

    fn held(&self, at: &[f64]) -> Vec<f64> {
        at.iter().zip(&self.low).zip(&self.high).map(|((v, low), high)| v.max(*low).min(*high)).collect()
    }

    /// Whether the gradient pushes a parameter out of its bounds.
    fn blocks(&self, i: usize, value: f64, gradient: f64) -> bool {
        (value <= self.low[i] && gradient > 0.0) || (value >= self.high[i] && gradient < 0.0)
    }
}

/// Most steps.
const ITERATIONS: u64 = 100;
/// A step that leads nowhere is tried shorter and shorter up to this damping.
const MOST_DAMPING: f64 = 1e14;

/// Where a search ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Enough {
    /// A step that would change no parameter by more is not made.
    pub(crate) step: f64,
    /// Two steps, one after the other, that each lower the cost by less are the last ones: across an edge of the cost, steps
    /// from side to side become smaller only slowly.
    pub(crate) gain: f64,
}

/// Parameters with the least cost from a start, and their normal equations.
pub(crate) fn minimise(
    problem: &impl LeastSquares,
    start: &[f64],
    bounds: &ParameterBounds,
    enough: Enough,
) -> (Vec<f64>, Normal) {
    let normal = Normal::default();
    let solver = Marquardt { bounds, normal, damping: 1e-3, step: f64::INFINITY, enough, small_gains: 0 };
    let start = bounds.held(start);
    let configured = Executor::new(Borrowed(problem), solver)
        .configure(|state: Values| state.param(start.clone()).max_iters(ITERATIONS))
        .timer(false)
        .run();
    // Nothing in this problem can fail; a start that is kept would be seen in the cost.
    let Ok(mut done) = configured else { return (start.clone(), problem.normal(&start)) };
    let best = done.state.take_best_param().unwrap_or(start);
    (best, done.solver.normal)
}

type Values = IterState<Vec<f64>, (), (), (), (), f64>;

struct Borrowed<'a, P>(&'a P);

struct Marquardt<'a> {
    bounds: &'a ParameterBounds,
    normal: Normal,
    damping: f64,
    step: f64,
    enough: Enough,
    /// Last steps that gained less than enough.
    small_gains: u32,
}

impl<P: LeastSquares> Solver<Borrowed<'_, P>, Values> for Marquardt<'_> {
    fn name(&self) -> &'static str {
        "Levenberg-Marquardt within bounds"
    }

    fn init(
        &mut self,
        problem: &mut Problem<Borrowed<'_, P>>,
        mut state: Values,
    ) -> Result<(Values, Option<KV>), Error> {
        let at = state.take_param().expect("every step leaves its parameters");
        self.normal = problem.problem("normal", |p| Ok(p.0.normal(&at)))?;
        let cost = self.normal.cost;
        Ok((state.param(at).cost(cost), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<Borrowed<'_, P>>,
        mut state: Values,
    ) -> Result<(Values, Option<KV>), Error> {
        let mut at = state.take_param().expect("every step leaves its parameters");
        loop {
            let next = self.bounds.held(&self.step_from(&at));
            self.step = next.iter().zip(&at).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if self.step < self.enough.step || self.damping > MOST_DAMPING {
                break;
            }
            let improved = problem.problem("normal", |p| Ok(p.0.improved(&next, self.normal.cost)))?;
            if let Some(normal) = improved {
                self.damping = (self.damping / 9.0).max(1e-15);
                let gained = self.normal.cost - normal.cost;
                self.small_gains = if gained < self.enough.gain { self.small_gains + 1 } else { 0 };
                self.normal = normal;
                at = next;
                break;
            }
            self.damping *= 5.0;
        }
        let cost = self.normal.cost;
        Ok((state.param(at).cost(cost), None))
    }

    fn terminate(&mut self, state: &Values) -> TerminationStatus {
        let stuck = self.step < self.enough.step || self.damping > MOST_DAMPING || self.small_gains > 1;
        if stuck || state.get_cost() <= 0.0 || !state.get_cost().is_finite() {
            return TerminationStatus::Terminated(TerminationReason::SolverConverged);
        }
        TerminationStatus::NotTerminated
    }
}

impl Marquardt<'_> {
    /// Where the damped normal equations lead, without what a bound blocks.
    fn step_from(&self, at: &[f64]) -> Vec<f64> {
        let n = at.len();
        let gradient = &self.normal.gradient;
        let free: Vec<usize> = (0..n).filter(|&i| !self.bounds.blocks(i, at[i], gradient[i])).collect();
        let cell = |i: usize, j: usize| {
            let cell = self.normal.matrix[i][j];
            if i == j { cell * (1.0 + self.damping) + f64::MIN_POSITIVE } else { cell }
        };
        let matrix: Vec<Vec<f64>> =
            free.iter().map(|&i| free.iter().map(|&j| cell(i, j)).collect()).collect();
        let right: Vec<f64> = free.iter().map(|&i| -gradient[i]).collect();
        let mut next = at.to_vec();
        let Some(step) = solved(matrix, right) else { return next };
        for (&i, by) in free.iter().zip(step) {
            // A step of more than a factor of 20 is no longer what the slopes tell of.
            next[i] += by.clamp(-3.0, 3.0);
        }
        next
    }
}

/// Solves a small symmetric positive system by elimination with pivots; none if it is singular.
pub(super) fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| matrix[a][i].abs().total_cmp(&matrix[b][i].abs()))?;
        matrix.swap(i, pivot);
        right.swap(i, pivot);
        let (row, value) = (matrix[i].clone(), right[i]);
        let head = row[i];
        if head.abs() < 1e-300 || !head.is_finite() {
            return None;
        }
        for k in i + 1..n {
            let below = &mut matrix[k];
            let factor = below[i] / head;
            for (cell, above) in below.iter_mut().zip(&row) {
                *cell -= factor * above;
            }
            right[k] -= factor * value;
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Enough = Enough { step: 1e-11, gain: 0.0 };

    /// Rosenbrock's valley: residuals 10 (y - x^2) and 1 - x.
    struct Valley;

    impl LeastSquares for Valley {
        fn normal(&self, p: &[f64]) -> Normal {
            let mut normal = Normal::new(2);
            for (r, slope) in [(10.0 * (p[1] - p[0] * p[0]), [-20.0 * p[0], 10.0]), (1.0 - p[0], [-1.0, 0.0])]
            {
                normal.cost += 0.5 * r * r;
                normal.add(r, &slope, 1.0);
            }
            normal
        }
    }

    #[test]
    fn finds_the_lowest_place_within_bounds() {
        let wide = ParameterBounds::new([(-9.0, 9.0); 2]);
        let (best, normal) = minimise(&Valley, &[-1.2, 1.0], &wide, FINE);
        assert!((best[0] - 1.0).abs() < 1e-9 && (best[1] - 1.0).abs() < 1e-9 && normal.cost < 1e-18);
        // With x held at 0.5 the best y is 0.25.
        let narrow = ParameterBounds::new([(-9.0, 0.5), (-9.0, 9.0)]);
        let (best, _) = minimise(&Valley, &[-1.2, 1.0], &narrow, FINE);
        assert!((best[0] - 0.5).abs() < 1e-12 && (best[1] - 0.25).abs() < 1e-9, "{best:?}");
    }

    #[test]
    fn small_systems_are_solved() {
        let x = solved(vec![vec![0.0, 2.0], vec![3.0, 1.0]], vec![4.0, 5.0]).unwrap();
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12);
        assert_eq!(solved(vec![vec![1.0, 1.0], vec![1.0, 1.0]], vec![1.0, 1.0]), None);
    }
}
