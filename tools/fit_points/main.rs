//! Fits a curve to points and prints parameters and cost, to be held against other programs:
//! `compare_scipy.py` in this folder does so.
//!
//! `fit_points FILE SHAPE LOSS [SCALE]`: FILE has a line `O rate` for each point, SHAPE is hill,
//! sigmoid-miss or sigmoid-hit, LOSS is linear, soft-l1, huber or cauchy. With a scale the cost is
//! 1/2 C^2 sum rho((r / C)^2), as in `SciPy`.

use std::error::Error;

use wavecast::curve::fit::{CurveShape, FitOptions, Loss, Noise, ParameterBounds, Points, fit};
use wavecast::quantity::Residual;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, shape, loss, rest @ ..] = &arguments[..] else {
        return Err("fit_points FILE SHAPE LOSS [SCALE]".into());
    };
    let shape =
        [CurveShape::Hill, CurveShape::Rising, CurveShape::Falling].into_iter().find(|s| s.word() == shape);
    let loss = Loss::ALL.into_iter().find(|l| l.word() == loss);
    let (shape, loss) = (shape.ok_or("no such shape")?, loss.ok_or("no such loss")?);
    let scale = rest.first().map(|s| s.parse()).transpose()?.map(Residual::new);
    let text = std::fs::read_to_string(file)?;
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for line in text.lines() {
        let (o, rate) = line.split_once(' ').ok_or("a line is `O rate`")?;
        rows.push((o.parse()?, rate.parse()?));
    }
    // Wide enough to be none: others have no bounds either.
    let n = shape.parameters().len();
    let bounds = Some(ParameterBounds::new(vec![(1e-12, 1e12); n]));
    let options = FitOptions { loss, scale, noise: Noise::Absolute, bounds };
    let found = fit(&Points::of_rates(rows), shape, &options)?;
    println!("{:?} {:e}", found.values(), found.cost());
    Ok(())
}
