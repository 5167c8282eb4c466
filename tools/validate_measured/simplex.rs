//! The downhill simplex of Nelder and Mead (1965), over logarithms: all coefficients are positive.

/// Runs before the result counts: a simplex that has shrunk too early starts again.
const RUNS: usize = 3;
/// First step of each logarithm.
const STEP: f64 = 0.3;

/// The values near `start` that make `loss` smallest, after at most `tries` losses.
pub fn minimise(start: &[f64], tries: usize, mut loss: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut best: Vec<f64> = start.iter().map(|v| v.ln()).collect();
    let mut of = |logs: &[f64]| loss(&logs.iter().map(|l| l.exp()).collect::<Vec<_>>());
    for _ in 0..RUNS {
        best = run(best, tries / RUNS, &mut of);
    }
    best.iter().map(|l| l.exp()).collect()
}

fn run(start: Vec<f64>, tries: usize, of: &mut impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut corners = vec![(of(&start), start.clone())];
    for i in 0..start.len() {
        let mut corner = start.clone();
        corner[i] += STEP;
        corners.push((of(&corner), corner));
    }
    let mut left = tries.saturating_sub(corners.len());
    while left > 0 {
        corners.sort_by(|a, b| a.0.total_cmp(&b.0));
        let last = corners.len() - 1;
        if corners[last].0 - corners[0].0 < 1e-7 * corners[0].0 {
            break;
        }
        let centre: Vec<f64> = (0..start.len())
            .map(|d| corners[..last].iter().map(|c| c.1[d]).sum::<f64>() / last as f64)
            .collect();
        let along = |by: f64| -> Vec<f64> {
            centre.iter().zip(&corners[last].1).map(|(c, w)| c + by * (w - c)).collect()
        };
        let mut trial = |by: f64| {
            let place = along(by);
            (of(&place), place)
        };
        let mirrored = trial(-1.0);
        left -= 1;
        let (found, used) = if mirrored.0 < corners[0].0 {
            let further = trial(-2.0);
            (if further.0 < mirrored.0 { further } else { mirrored }, 1)
        } else if mirrored.0 < corners[last - 1].0 {
            (mirrored, 0)
        } else {
            (trial(if mirrored.0 < corners[last].0 { -0.5 } else { 0.5 }), 1)
        };
        left = left.saturating_sub(used);
        if found.0 < corners[last].0 {
            corners[last] = found;
        } else {
            let first = corners[0].1.clone();
            for corner in &mut corners[1..] {
                let nearer: Vec<f64> = first.iter().zip(&corner.1).map(|(f, c)| f + 0.5 * (c - f)).collect();
                *corner = (of(&nearer), nearer);
            }
            left = left.saturating_sub(start.len());
        }
    }
    corners.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(start, |c| c.1)
}
