//! The 25-point star on the A100, beside the two rates that the paper gives.

use super::measured::Group;
use wavecast::device::find;
use wavecast::launch::Candidate;
use wavecast::predict::Estimator;

/// Blocks of 1024 threads with two cells per thread along z, and their rates (Ernst et al., section 5.8).
const RATES: [([i64; 3], f64, &str); 2] =
    [([64, 4, 4], 53.0, "the best measured"), ([16, 2, 32], 50.7, "the paper's first choice")];

/// Prints the table.
pub fn print(star: &Group) -> Result<(), String> {
    println!("\n## The 25-point star on the A100\n");
    println!(
        "Two of 168 configurations, all that the paper gives as numbers; each thread does two cells along z."
    );
    println!("Nothing was fitted to them.\n");
    println!("| block | in the paper | measured, 10^9 cells/s | predicted | error |");
    println!("| --- | --- | ---: | ---: | ---: |");
    let device = find("a100-40gb", &[]).map_err(|e| e.to_string())?;
    let estimator = Estimator::new(&star.kernel, &device);
    for (block, measured, what) in RATES {
        let candidate = Candidate::new(block, [1, 1, 2]).unwrap();
        let rate = estimator.predict(candidate).map_err(|e| e.to_string())?.rate().get() / 1e9;
        let ([x, y, z], error) = (block, 100.0 * (rate / measured - 1.0));
        println!("| ({x},{y},{z}) | {what} | {measured} | {rate:.1} | {error:+.1} % |");
    }
    Ok(())
}
