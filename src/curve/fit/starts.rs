//! Where fits start: curves that rise somewhere among the points, gently or steeply.

use super::points::Points;
use super::shape::CurveShape;
use super::solver::ParameterBounds;

/// Shares of the oversubscriptions below the places where a start has half of its rate.
const PLACES: [f64; 7] = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95];
/// Width of the rise over its place.
const WIDTHS: [f64; 5] = [0.08, 0.25, 0.6, 1.2, 3.0];
/// Shares of the values below the level that a start reaches.
const LEVELS: [f64; 2] = [0.7, 0.95];

/// Logarithms of the parameters from which a fit may start.
pub(super) fn starts(points: &Points, shape: CurveShape, bounds: &ParameterBounds) -> Vec<Vec<f64>> {
    let mut places: Vec<f64> = points.oversubscriptions().filter(|o| *o > 0.0).collect();
    let mut levels: Vec<f64> = points.values().iter().copied().filter(|v| *v > 0.0).collect();
    places.sort_by(f64::total_cmp);
    levels.sort_by(f64::total_cmp);
    let mut found = Vec::new();
    for place in PLACES {
        let place = quantile(&places, place).unwrap_or(1.0);
        for width in WIDTHS {
            if shape == CurveShape::Hill {
                // (o0 / O)^k falls from 3 to 1/3 over a width of ln 9 / k of the logarithm.
                found.push(vec![place.ln(), (9_f64.ln() / width).ln()]);
                continue;
            }
            for level in LEVELS {
                let level = quantile(&levels, level).unwrap_or(1.0);
                // exp(-b exp(-c O)) is 1/2 where b exp(-c O) = ln 2; it rises from 1/4 to 3/4 within
                // ln(ln 4 / ln(4/3)) = 1.57 of c O.
                let c = 1.57 / (width * place);
                let sign = if shape == CurveShape::Falling { -1.0 } else { 1.0 };
                found.push(vec![level.ln(), 2_f64.ln().ln() + sign * c * place, c.ln()]);
            }
        }
    }
    for start in &mut found {
        for ((value, low), high) in start.iter_mut().zip(&bounds.low).zip(&bounds.high) {
            // Not onto a bound: where nothing changes any more there are no slopes.
            let inset = 1e-3 * (high - low);
            *value = value.max(low + inset).min(high - inset);
        }
    }
    found
}

/// The value below which a share of sorted values lies.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position")]
    let at = (share.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(at).copied()
}
