//! How far parameters may be off.

use super::points::Residuals;
use super::solver::solved;
use crate::curve::interval::Interval;

/// Covariance of the logarithms of parameters of a robust fit (Huber, "Robust Statistics", 1981, section
/// 7.6): the inverse normal matrix of the residuals without loss, times mean psi^2 / (mean psi')^2. None
/// if the points do not tell the parameters apart.
pub(super) fn covariance(residuals: &Residuals<'_>, logs: &[f64]) -> Option<Vec<Vec<f64>>> {
    let n = logs.len();
    let mut matrix = vec![vec![0.0; n]; n];
    let (mut psi, mut slope_of_psi) = (0.0, 0.0);
    let per = 1.0 / (residuals.scale * residuals.scale);
    let count = residuals.points.len();
    let placed = residuals.shape.at(logs);
    for i in 0..count {
        let (r, slope) = residuals.at(placed, i);
        let z = r * r * per;
        let rho = residuals.loss.rho(z);
        psi += (rho.first * r).powi(2);
        slope_of_psi += rho.first + 2.0 * z * rho.second;
        for (row, a) in matrix.iter_mut().zip(slope) {
            for (cell, b) in row.iter_mut().zip(slope) {
                *cell += a * b;
            }
        }
    }
    let (count, free) = (count as f64, count as f64 - n as f64);
    if free < 1.0 || slope_of_psi <= 0.0 {
        return None;
    }
    let factor = (psi / count) / (slope_of_psi / count).powi(2) * count / free;
    let mut inverse = inverse(&matrix)?;
    inverse.iter_mut().flatten().for_each(|cell| *cell *= factor);
    Some(inverse)
}

/// The inverse of a small symmetric matrix; none if it is singular as far as can be told.
pub(crate) fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    // Scaled so that its diagonal is 1: parameters differ by orders of magnitude.
    let roots: Vec<f64> = matrix.iter().enumerate().map(|(i, r)| r[i].sqrt()).collect();
    if roots.iter().any(|r| r.is_nan() || *r <= 0.0) {
        return None;
    }
    let scaled: Vec<Vec<f64>> = matrix
        .iter()
        .zip(&roots)
        .map(|(row, a)| row.iter().zip(&roots).map(|(cell, b)| cell / (a * b)).collect())
        .collect();
    let mut columns = Vec::with_capacity(n);
    for j in 0..n {
        let unit = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
        let column = solved(scaled.clone(), unit)?;
        // A variance grown by more than this is that of a direction the points say nothing of.
        if !(0.0..1e12).contains(&column[j]) {
            return None;
        }
        columns.push(column);
    }
    let unscaled = |j: usize, column: Vec<f64>| {
        column.into_iter().zip(&roots).map(|(cell, root)| cell / (root * roots[j])).collect()
    };
    Some(columns.into_iter().enumerate().map(|(j, column)| unscaled(j, column)).collect())
}

/// Intervals of the parameters from the covariance of their logarithms: they stay positive.
pub(super) fn intervals(logs: &[f64], covariance: &[Vec<f64>], free: f64) -> Vec<Interval> {
    let t = student_95(free);
    logs.iter()
        .enumerate()
        .map(|(i, log)| {
            let variance = covariance[i][i];
            let by = t * variance.max(0.0).sqrt();
            Interval::around(*log, by)
        })
        .collect()
}

/// The 97.5 % point of Student's t distribution, by its expansion around the normal one (Cornish and
/// Fisher, 1937): within 0.8 % at three degrees of freedom, 0.2 % from five on.
pub(crate) fn student_95(free: f64) -> f64 {
    let z = 1.959_964_f64;
    let v = free.max(3.0);
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_matrices_are_inverted() {
        let inverse = inverse(&[vec![4e6, 1e3], vec![1e3, 2.0]]).unwrap();
        let determinant = 4e6 * 2.0 - 1e6;
        assert!((inverse[0][0] - 2.0 / determinant).abs() < 1e-15);
        assert!((inverse[0][1] + 1e3 / determinant).abs() < 1e-12);
        assert_eq!(super::inverse(&[vec![1.0, 1.0], vec![1.0, 1.0]]), None);
        assert_eq!(super::inverse(&[vec![0.0]]), None);
    }

    #[test]
    fn quantiles_of_student() {
        // From a table of the distribution.
        for (free, t) in [(5.0, 2.5706), (10.0, 2.2281), (30.0, 2.0423), (1e6, 1.95996)] {
            assert!((student_95(free) / t - 1.0).abs() < 2e-3, "{free}: {}", student_95(free));
        }
    }
}
