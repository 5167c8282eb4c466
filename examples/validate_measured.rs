//! Predictions beside measurements of real GPUs: the tables of `docs/accuracy.md`.
//!
//! `cargo run --release --example validate_measured -- FOLDER`, where FOLDER holds `stencil_v100`.

use std::path::Path;
use std::process::ExitCode;

use wavecast::device::{Device, find};
use wavecast::kernel::{Kernel, Options, load};
use wavecast::launch::Candidate;
use wavecast::predict::{Estimator, Prediction};

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("give the folder with the measurements: validate_measured FOLDER");
        return ExitCode::from(2);
    };
    let folder = Path::new(&folder);
    let star = folder.join("stencil_v100/star3d25.csv");
    if !star.is_file() {
        eprintln!("{} is absent: nothing to validate against", star.display());
        return ExitCode::from(2);
    }
    let device = find("v100", &[]).expect("the V100 ships");
    star3d25(&star, &device);
    laplap(&folder.join("stencil_v100/laplap.csv"), &device);
    ExitCode::SUCCESS
}

fn rows(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .skip(1)
        .map(|l| l.split(',').map(|c| c.trim().parse().unwrap_or(f64::NAN)).collect())
        .collect()
}

fn kernel(name: &str, set: &[String]) -> Kernel {
    let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the kernel ships");
    let options = Options { set: set.to_vec(), ..Options::default() };
    load(name, &text, &options).expect("the kernel is good").kernels.remove(0)
}

fn star3d25(path: &Path, device: &Device) {
    let kernel = kernel("star3d25", &[]);
    let estimator = Estimator::new(&kernel, device);
    println!("# star3d25 on V100\n");
    println!(
        "| block | L2 load | meas | L2 store | meas | DRAM load | meas | DRAM store | meas | GLUP/s | meas | limiter |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let mut errors = [0.0; 5];
    let rows = rows(path);
    let mut pairs = Vec::new();
    for r in &rows {
        let block = [r[0] as i64, r[1] as i64, r[2] as i64];
        let p = estimator.predict(Candidate { block, fold: [1; 3] }).expect("it can run");
        let ours = of(&p);
        let measured = [r[14], r[15], r[12], r[13], r[16]];
        for (e, (a, b)) in errors.iter_mut().zip(ours.iter().zip(measured)) {
            *e += (a / b - 1.0).abs() / rows.len() as f64;
        }
        pairs.push((ours[4], measured[4], block));
        println!(
            "| {block:?} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
            ours[0],
            measured[0],
            ours[1],
            measured[1],
            ours[2],
            measured[2],
            ours[3],
            measured[3],
            ours[4],
            measured[4],
            p.time.limiter.word()
        );
    }
    println!(
        "\nmean absolute error, %: L2 load {:.2}, L2 store {:.2}, DRAM load {:.2}, DRAM store {:.2}, rate {:.2}",
        errors[0] * 100.0,
        errors[1] * 100.0,
        errors[2] * 100.0,
        errors[3] * 100.0,
        errors[4] * 100.0
    );
    summary(&mut pairs);
}

fn of(p: &Prediction) -> [f64; 5] {
    let v = &p.volumes;
    [v.l2.load(), v.l2.store, v.dram.load(), v.dram.store(), p.rate() / 1e9]
}

/// Rank correlation, first choice and best of five: (predicted, measured rate).
fn summary(pairs: &mut [(f64, f64, [i64; 3])]) -> (f64, f64, f64) {
    let s = spearman(pairs);
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = pairs.iter().map(|p| p.1).fold(0.0, f64::max);
    let first = pairs[0].1 / best;
    let five = pairs.iter().take(5).map(|p| p.1).fold(0.0, f64::max) / best;
    println!(
        "Spearman {s:.3}, first choice {:?} at {:.3} of the best, best of 5 at {five:.3}",
        pairs[0].2, first
    );
    (s, first, five)
}

fn spearman(pairs: &[(f64, f64, [i64; 3])]) -> f64 {
    let ranks = |value: &dyn Fn(usize) -> f64| {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
        let mut rank = vec![0.0; pairs.len()];
        let mut i = 0;
        while i < order.len() {
            let mut j = i;
            while j + 1 < order.len() && value(order[j + 1]) == value(order[i]) {
                j += 1;
            }
            for &o in &order[i..=j] {
                rank[o] = (i + j) as f64 / 2.0;
            }
            i = j + 1;
        }
        rank
    };
    let (a, b) = (ranks(&|i| pairs[i].0), ranks(&|i| pairs[i].1));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let cov: f64 = a.iter().zip(&b).map(|(x, y)| (x - mean) * (y - mean)).sum();
    let var = |r: &[f64]| r.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    cov / (var(&a) * var(&b)).sqrt()
}

fn laplap(path: &Path, device: &Device) {
    let rows = rows(path);
    println!("\n# laplap on V100\n");
    let mut sizes: Vec<[i64; 3]> = Vec::new();
    let (mut s, mut f, mut v, mut n, mut error, mut count) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for r in &rows {
        let size = [r[0] as i64, r[1] as i64, r[2] as i64];
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    for size in sizes {
        let set = ["NX", "NY", "NZ"].iter().zip(size).map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>();
        let kernel = kernel("laplap2d", &set);
        let estimator = Estimator::new(&kernel, device);
        let mut pairs = Vec::new();
        let mut this = 0.0;
        for r in rows.iter().filter(|r| (0..3).all(|d| r[d] as i64 == size[d])) {
            let block = [r[3] as i64, r[4] as i64, r[5] as i64];
            let p = estimator.predict(Candidate { block, fold: [1; 3] }).expect("it can run");
            this += (p.time.seconds * 1e6 / r[6] - 1.0).abs();
            pairs.push((1.0 / p.time.seconds, 1.0 / r[6], block));
        }
        print!("{size:?}: {} shapes, time error {:.1} %, ", pairs.len(), this / pairs.len() as f64 * 100.0);
        error += this;
        count += pairs.len() as f64;
        let (a, b, c) = summary(&mut pairs);
        if pairs.len() >= 20 {
            (s, f, v, n) = (s + a, f + b, v + c, n + 1.0);
        }
    }
    println!(
        "\nmean over sizes with 20 shapes: Spearman {:.3}, first {:.4}, best of 5 {:.4}; time error {:.2} %",
        s / n,
        f / n,
        v / n,
        error / count * 100.0
    );
}
