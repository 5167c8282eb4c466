//! Structures of caches found again from simulated latencies: those of the papers, and random ones.
//! `tests/probe_specs.yaml` says which; it was written before the inference.

mod figures;
mod specs;
mod truth;

use wavecast::trace::probe::infer;
use wavecast::trace::probe::simulate::{Lines, explore};

#[test]
fn named_structures_are_found_whole() {
    for spec in specs::named() {
        let lines = if spec.levels[0].line > 4096 { Lines::TLB } else { Lines::CACHE };
        let found = infer(&explore(&spec, lines));
        let wrong = truth::differences(&spec, &found);
        assert!(wrong.is_empty(), "{}: {wrong:?}\n{found:#?}", spec.name);
    }
}
