//! Fits find the coefficients that data were made with: noise, outliers, intervals, speed.

use std::time::Instant;

use wavecast::curve::fit::{CurveShape, FitOptions, FitRefusal, Loss, Noise, Points, bootstrap, fit};
use wavecast::quantity::Residual;

/// Coefficients that others published: of the paper's estimator program (its hit rates for the V100 and
/// the A100, then and now).
const PUBLISHED: [(&str, CurveShape, [f64; 3]); 9] = [
    ("L1", CurveShape::Rising, [0.66, 6.77, 1.45]),
    ("L2 overlap", CurveShape::Rising, [1.0, 37.1, 3.2]),
    ("L2 loads", CurveShape::Rising, [0.2, 7.56, 0.67]),
    ("L2 stores", CurveShape::Rising, [0.38, 3.79, 0.55]),
    ("L1 then", CurveShape::Rising, [0.73, 4.6, 0.34]),
    ("L2 loads then", CurveShape::Rising, [0.5, 13.0, 1.8]),
    // exp(-0.078 exp(1.03 (O - 0.2)))
    ("overlap y then", CurveShape::Falling, [1.0, 0.063_48, 1.03]),
    ("overlap z then", CurveShape::Falling, [1.0, 0.0036, 3.97]),
    ("stores then", CurveShape::Falling, [1.0, 0.044, 0.61]),
];

/// Splitmix64 and the method of Box and Muller.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// Oversubscriptions across the transition: where the rate is between 1 % and 99 % of a.
fn transition(shape: CurveShape, [_, b, c]: [f64; 3]) -> (f64, f64) {
    let (most, least) = (100_f64.ln(), (1.0 / 0.99_f64).ln());
    let (from, to) = match shape {
        CurveShape::Falling => ((least / b).ln() / c, (most / b).ln() / c),
        _ => ((b / most).ln() / c, (b / least).ln() / c),
    };
    (from.max(0.0), to)
}

/// Points across the transition, every tenth an outlier between 0 and 1.5 a.
fn points(shape: CurveShape, p: [f64; 3], n: usize, seed: u64, noise: impl Fn(f64, f64) -> f64) -> Points {
    let mut random = Random(seed.wrapping_mul(7919));
    let (from, to) = transition(shape, p);
    Points::of_rates((0..n).map(|i| {
        let o = from + (to - from) * (i as f64 + random.uniform()) / n as f64;
        let rate = noise(shape.rate(&p, o), random.normal());
        let outlier = 1.5 * p[0] * random.uniform();
        (o, if i % 10 == 7 { outlier } else { rate })
    }))
}

#[test]
fn five_percent_of_noise_leave_five_percent() {
    for (name, shape, p) in PUBLISHED {
        let mut met = 0;
        for seed in 1..=100 {
            let points = points(shape, p, 200, seed, |rate, normal| rate * (1.0 + 0.05 * normal));
            let found = fit(&points, shape, &FitOptions::default()).unwrap();
            // Where hits fall, b stands far outside the data: with a known exactly, 5 % of noise leave it a
            // standard deviation of 1.8 to 3.7 % and with a free of 3.4 to 5.2 % (bound of Cramer and
            // Rao). No fit can bring it within 5 % in 95 of 100 cases.
            let of_b = if shape == CurveShape::Falling { 0.25 } else { 0.05 };
            let most = [0.05, of_b, 0.05];
            met += i32::from((0..3).all(|i| (found.values()[i] / p[i] - 1.0).abs() <= most[i]));
        }
        println!("{name}: {met} of 100");
        assert!(met >= 95, "{name}: {met} of 100");
    }
}

#[test]
fn intervals_hold_what_the_data_were_made_with() {
    for (name, shape, p) in PUBLISHED {
        let (mut held, mut exact) = ([0; 3], 0);
        for seed in 1..=100 {
            let points = points(shape, p, 200, seed, |rate, normal| rate + 0.05 * p[0] * normal);
            let found = fit(&points, shape, &FitOptions::default()).unwrap();
            for (count, (interval, p)) in held.iter_mut().zip(found.intervals().iter().zip(p)) {
                *count += i32::from(interval.holds(p));
            }
            let (from, to) = transition(shape, p);
            let squares: f64 = (0..=200)
                .map(|i| from + (to - from) * f64::from(i) / 200.0)
                .map(|o| (found.rate(o) - shape.rate(&p, o)).powi(2))
                .sum();
            exact += i32::from((squares / 201.0).sqrt() <= 0.02 * p[0]);
        }
        println!("{name}: {held:?}, curve {exact} of 100");
        assert!(held.iter().all(|&count| count >= 90), "{name}: {held:?}");
        assert!(exact == 100, "{name}: {exact}");
    }
}

#[test]
fn bootstrapped_intervals_hold_it_too() {
    let (_, shape, p) = PUBLISHED[0];
    let mut held = [0; 3];
    for seed in 1..=40 {
        let points = points(shape, p, 200, seed, |rate, normal| rate + 0.05 * p[0] * normal);
        let found = fit(&points, shape, &FitOptions::default()).unwrap();
        let intervals = bootstrap(&points, &FitOptions::default(), &found, 200, seed);
        for (count, (interval, p)) in held.iter_mut().zip(intervals.iter().zip(p)) {
            *count += i32::from(interval.holds(p));
        }
    }
    println!("{held:?} of 40");
    assert!(held.iter().all(|&count| count >= 35), "{held:?} of 40");
}

#[test]
fn without_noise_coefficients_are_found_exactly() {
    for (name, shape, p) in PUBLISHED {
        let found = fit(&points(shape, p, 200, 1, |rate, _| rate), shape, &FitOptions::default()).unwrap();
        for (value, p) in found.values().iter().zip(p) {
            assert!((value / p - 1.0).abs() < 1e-6, "{name}: {:?}", found.values());
        }
        assert!(*found.outliers() >= 15, "{name}: {}", found.outliers());
    }
    let hill = Points::of_rates(
        (1..60).map(|i| f64::from(i) * 0.1).map(|o| (o, CurveShape::Hill.rate(&[2.66, 3.2], o))),
    );
    let found = fit(&hill, CurveShape::Hill, &FitOptions::default()).unwrap();
    assert!((found.values()[0] - 2.66).abs() < 1e-6 && (found.values()[1] - 3.2).abs() < 1e-6);
}

#[test]
fn volumes_of_several_parts_are_fitted_as_sums() {
    let shape = CurveShape::Hill;
    let mut random = Random(5);
    let mut points = Points::new();
    for _ in 0..200 {
        let parts: Vec<(f64, f64)> =
            (0..3).map(|d| (f64::powi(4.0, d) * random.uniform(), 8.0 * random.uniform())).collect();
        let volume: f64 = parts.iter().map(|&(o, share)| share * shape.rate(&[1.3, 5.0], o)).sum();
        points.push(&parts, volume * (1.0 + 0.01 * random.normal()), 1.0);
    }
    let found = fit(&points, shape, &FitOptions::default()).unwrap();
    assert!((found.values()[0] / 1.3 - 1.0).abs() < 0.01, "{:?}", found.values());
    assert!((found.values()[1] / 5.0 - 1.0).abs() < 0.03, "{:?}", found.values());
}

#[test]
fn ten_thousand_points_are_fitted_in_time() {
    for (name, shape, p) in PUBLISHED {
        let points = points(shape, p, 10_000, 3, |rate, normal| rate + 0.05 * p[0] * normal);
        let least = (0..5)
            .map(|_| {
                let started = Instant::now();
                fit(&points, shape, &FitOptions::default()).unwrap();
                started.elapsed()
            })
            .min()
            .unwrap();
        println!("{name}: {least:.1?}");
        // The bar is 50 ms in a release build on a machine that does nothing else; machines that run tests
        // are busy.
        let most = if cfg!(debug_assertions) { 4000 } else { 250 };
        assert!(least.as_millis() <= most, "{name}: {least:?}");
    }
}

#[test]
fn data_that_say_nothing_are_refused() {
    let of = |rates: &[(f64, f64)]| {
        fit(&Points::of_rates(rates.iter().copied()), CurveShape::Rising, &FitOptions::default())
    };
    let rows =
        |rate: fn(f64) -> f64| (0..30).map(|i| f64::from(i) / 10.0).map(|o| (o, rate(o))).collect::<Vec<_>>();
    assert!(matches!(of(&rows(|o| o)[..7]), Err(FitRefusal::TooFew { points: 7, least: 11 })));
    let narrow: Vec<(f64, f64)> = (0..30).map(|i| (1.0 + f64::from(i) / 1000.0, 0.5)).collect();
    assert!(matches!(of(&narrow), Err(FitRefusal::NoSpread { .. })));
    assert!(matches!(of(&rows(|_| 0.4)), Err(FitRefusal::Degenerate(_))));
    assert!(of(&rows(|_| f64::NAN)).is_err());
    assert!(of(&rows(|_| 0.0)).is_err());
}

#[test]
fn squares_and_a_given_scale_mean_what_they_say() {
    let (_, shape, p) = PUBLISHED[4];
    let points = points(shape, p, 200, 11, |rate, normal| rate + 0.02 * normal);
    for loss in Loss::ALL {
        let options =
            FitOptions { loss, scale: Some(Residual::new(0.05)), noise: Noise::Absolute, bounds: None };
        let found = fit(&points, shape, &options).unwrap();
        assert!((found.scale().get() - 0.05).abs() < 1e-15 && *found.noise() == Noise::Absolute);
        // No step leads further down.
        for (i, by) in (0..3).flat_map(|i| [(i, 0.999), (i, 1.001)]) {
            let mut near = found.values().clone();
            near[i] *= by;
            let cost: f64 = (0..points.len())
                .map(|k| points.parts_of(k)[0].0)
                .zip(points.values())
                .map(|(o, y)| ((shape.rate(&near, o) - y) / 0.05).powi(2))
                .map(|z| match loss {
                    Loss::Linear => z,
                    Loss::SoftL1 => 2.0 * ((1.0 + z).sqrt() - 1.0),
                    Loss::Huber => {
                        if z <= 1.0 {
                            z
                        } else {
                            2.0 * z.sqrt() - 1.0
                        }
                    }
                    Loss::Cauchy => z.ln_1p(),
                })
                .sum();
            assert!(0.5 * 0.05 * 0.05 * cost >= found.cost() * (1.0 - 1e-12), "{loss:?} {i} {by}");
        }
    }
}
