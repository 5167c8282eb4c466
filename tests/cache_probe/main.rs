//! Structures of caches found again from simulated latencies: those of the papers, and random ones; and the
//! command as scripts meet it. `tests/probe_specs.yaml` says which structures; it was written before the
//! inference.

mod command;
mod figures;
mod specs;
mod truth;

use rayon::prelude::*;
use wavecast::trace::probe::simulate::{Lines, ProbeSpec, explore};
use wavecast::trace::probe::{Confidence, infer};

/// What is wrong or missing of a structure.
fn differences(spec: &ProbeSpec) -> Vec<(&'static str, Confidence)> {
    let lines = if spec.levels[0].line > 4096 { Lines::TLB } else { Lines::CACHE };
    truth::differences(spec, &infer(&explore(spec, lines)))
}

#[test]
fn named_structures_are_found_whole() {
    specs::named().par_iter().for_each(|spec| {
        let wrong = differences(spec);
        assert!(wrong.is_empty(), "{}: {wrong:?}", spec.name);
    });
}

/// How many structures are found whole; none may be wrong with high confidence.
fn whole(specs: &[ProbeSpec]) -> usize {
    let all: Vec<Vec<(&str, Confidence)>> = specs.par_iter().map(differences).collect();
    for (spec, wrong) in specs.iter().zip(&all).filter(|a| !a.1.is_empty()) {
        println!("{}: {wrong:?} of {:?}", spec.name, spec.levels[0]);
        assert!(
            wrong.iter().all(|w| w.1 < Confidence::High),
            "{}: wrong and sure of it: {wrong:?}",
            spec.name
        );
    }
    all.iter().filter(|w| w.is_empty()).count()
}

#[test]
fn small_random_structures_are_found_whole() {
    // A prefetch that throws out what is being loaded takes millions of loads to be given up, and is mostly not
    // found: the test of all 200 has these too.
    let drowned = |s: &ProbeSpec| {
        let ways = s.levels[0].ways.iter().min().copied().unwrap_or(0);
        s.levels[0].prefetch.is_some_and(|p| p.distance >= ways)
    };
    let small = |s: &ProbeSpec| s.levels[0].lines() <= 40 && !drowned(s);
    let specs: Vec<ProbeSpec> = specs::random(None).into_iter().filter(small).take(16).collect();
    let found = whole(&specs);
    assert!(found * 100 >= specs.len() * 85, "{found} of {}", specs.len());
}

/// All 200, minutes with `cargo test --release --test cache_probe -- --ignored`. At least 95 % are wanted, and
/// 94.5 % were reached last: this fails by one structure; docs/cache-probe.md says which are missing.
#[test]
#[ignore = "takes minutes without optimisation"]
fn random_structures_are_found_whole() {
    let seed = std::env::var("WAVECAST_PROBE_SEED").ok().map(|s| s.parse().unwrap());
    let specs = specs::random(seed);
    let found = whole(&specs);
    println!("{found} of {} are found whole", specs.len());
    assert!(found * 100 >= specs.len() * 95, "{found} of {}", specs.len());
}

#[test]
#[ignore = "scratch"]
fn scratch() {
    let seed = std::env::var("WAVECAST_PROBE_SEED").ok().map(|s| s.parse().unwrap());
    let only: Option<Vec<usize>> =
        std::env::var("ONLY").ok().map(|s| s.split(',').map(|x| x.parse().unwrap()).collect());
    let verbose = std::env::var("VERBOSE").is_ok();
    let specs = specs::random(seed);
    let out = std::sync::Mutex::new((0, 0, 0.0));
    specs.par_iter().enumerate().filter(|(i, _)| only.as_ref().is_none_or(|o| o.contains(i))).for_each(|(i, spec)| {
        let from = std::time::Instant::now();
        let runs = explore(spec, Lines::CACHE);
        let t1 = from.elapsed().as_secs_f64();
        let found = infer(&runs);
        let wrong = truth::differences(spec, &found);
        let t = from.elapsed().as_secs_f64();
        let loads: usize = runs.iter().map(|r| r.loads.len()).sum();
        let detail = if wrong.is_empty() { String::new() } else { detail(spec, &found) };
        let mut o = out.lock().unwrap();
        o.0 += 1;
        o.1 += usize::from(wrong.is_empty());
        o.2 += t;
        if !wrong.is_empty() || t > 3.0 || verbose {
            println!("{i}: {wrong:?} {t1:.1}+{:.1} s, {loads} loads, {} runs", t - t1, runs.len());
        }
        if verbose {
            println!("  {:?}\n", spec.levels[0]);
            let mut f = found;
            f.clusters.all.truncate(4);
            println!("  {f:?}");
        } else if !wrong.is_empty() {
            let c = &spec.levels[0];
            println!("   {:?} {} lines, {} sets, ways {}..{} {:?} {:?}", c.policy, c.lines(), c.ways.len(), c.ways.iter().min().unwrap(), c.ways.iter().max().unwrap(), c.prefetch, format!("{:?}", c.mapping).chars().take(40).collect::<String>());
            println!("   {detail}");
        }
    });
    println!("{:?}", out.lock().unwrap());
}

fn detail(spec: &ProbeSpec, found: &wavecast::trace::probe::Structure) -> String {
    use std::collections::HashMap;
    let c = &spec.levels[0];
    let most = c.lines() * 3;
    // When sets overflow.
    let mut counts = vec![0; c.ways.len()];
    let mut starts = Vec::new();
    for l in 0..most {
        let s = c.set(l) as usize;
        counts[s] += 1;
        if counts[s] == c.ways[s] + 1 {
            starts.push((l + 1, s, c.ways[s]));
        }
    }
    let mut out = format!(
        "line {:?} (true {}) edge {:?} prefetch {:?} repl {:?} true first overflow {:?}",
        found.line.value,
        c.line,
        (found.edge.0.map(|e| e / c.line), found.edge.1.map(|e| e / c.line)),
        found.prefetch.value,
        found.replacement.value,
        &starts[..starts.len().min(5)]
    );
    let (Some(m), Some(ways)) = (&found.mapping.value, &found.ways.value) else { return out };
    out += &format!(" found {} sets ways {:?} {}; ", ways.len(), &ways[..ways.len().min(24)], m.word());
    let mut votes: HashMap<u32, HashMap<u32, usize>> = HashMap::new();
    for l in 0..c.lines() {
        if let Some(s) = m.set(l) {
            *votes.entry(s).or_default().entry(c.set(l)).or_default() += 1;
        }
    }
    let major: HashMap<u32, u32> =
        votes.iter().map(|(s, v)| (*s, *v.iter().max_by_key(|x| x.1).unwrap().0)).collect();
    let bad: Vec<_> = (0..c.lines())
        .filter_map(|l| {
            let t = c.set(l);
            let f = m.set(l).map(|s| major[&s]);
            (f != Some(t)).then(|| {
                let at = |s: u32| starts.iter().find(|x| x.1 == s as usize).map(|x| x.0);
                (l, at(t), f.map(at))
            })
        })
        .collect();
    out += &format!("{} bad lines (line, true start, found start) {:?}", bad.len(), &bad[..bad.len().min(12)]);
    out
}
