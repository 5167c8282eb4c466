//! No input makes the library panic, hang or eat memory: texts of every format are changed at random and read, and
//! with whatever can be read is done what a command would do.
//!
//! Every case follows from a seed and a number alone. `WAVECAST_FUZZ_SEED`, `WAVECAST_FUZZ_FIRST`,
//! `WAVECAST_FUZZ_CASES` and `WAVECAST_FUZZ_FORMAT` choose them; a failure prints the values that repeat it. By hand:
//! `WAVECAST_FUZZ_CASES=1000000 cargo test --release --test mutants -- --nocapture`.

mod allocator;
mod expression;
mod formats;
mod kernel;
mod mutate;
mod random;
mod run;
mod words;

/// One test only: others beside it would be measured, too.
#[test]
fn nothing_panics_hangs_or_eats_memory() {
    let plan = run::Plan::of_environment(if cfg!(debug_assertions) { 4_000 } else { 20_000 });
    let tallies = run::all(&plan);
    eprintln!("{}", run::table(&plan, &tallies));
    let failures: Vec<&String> = tallies.iter().flat_map(|t| &t.failures).collect();
    assert!(failures.is_empty(), "{} cases failed:\n{}", failures.len(), failures[0]);
    for tally in tallies.iter().filter(|t| t.cases >= 200) {
        assert!(tally.read > tally.cases / 50, "hardly a mutant of {} can be read", tally.format);
    }
}
