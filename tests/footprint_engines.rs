//! Every engine counts what a naive set of lines counts: random boxes, accesses, pitches, strides,
//! element and line sizes. The naive count is written here, independently of the engines.
//!
//! `WAVECAST_FOOTPRINT_CASES` and `WAVECAST_FOOTPRINT_SEED` choose how many and which.

use std::collections::HashSet;

use wavecast::expr::{Cond, Coord, Dim, Form};
use wavecast::footprint::{Engine, Piece, Query, Refusal, count_with};

/// A small deterministic generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both included.
    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next() % (high - low + 1).unsigned_abs()).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.next() % from.len() as u64).unwrap()]
    }
}

const COORDS: [Coord; 3] = [Coord::Thread(Dim::X), Coord::Thread(Dim::Y), Coord::Thread(Dim::Z)];

/// Most points of a case, so that the naive count stays quick.
const POINTS: i64 = 3000;

fn random_query(random: &mut Random) -> Query {
    let dimensions = usize::try_from(random.within(1, 3)).unwrap();
    let element = random.pick(&[1, 2, 4, 8, 8, 16, 3, 12]);
    let width = if random.within(0, 4) == 0 { random.within(1, 40) } else { element };
    let step = if random.within(0, 2) == 0 { random.within(1, 64) } else { 1 };
    let pitch = random.within(1, 70);
    let height = random.within(1, 20);
    let mut strides = [element * step, element * pitch, element * pitch * height];
    if random.within(0, 9) == 0 {
        // Strides that do not nest, as no array has them.
        strides = [0; 3].map(|_| random.within(0, 300));
    }
    for stride in &mut strides {
        if random.within(0, 7) == 0 {
            *stride = -*stride;
        }
    }
    let many = if random.within(0, 3) == 0 { 30 } else { 6 };
    let accesses = random.within(1, many);
    let boxes: Vec<Vec<(Coord, i64, i64)>> =
        (0..random.within(1, 5)).map(|_| random_box(random, dimensions)).collect();
    let cells: i64 = boxes.iter().map(|b| b.iter().map(|r| r.2 - r.1 + 1).product::<i64>()).sum();
    let accesses = accesses.min(POINTS * 4 / cells.max(1)).max(1);
    let base = random.within(-200, 200);
    let mut pieces = Vec::new();
    for _ in 0..accesses {
        let shift = (0..dimensions).map(|d| strides[d] * random.within(-3, 3)).sum::<i64>();
        let odd = if random.within(0, 9) == 0 { random.within(-50, 50) } else { 0 };
        let mut address = Form::int(base + shift + odd);
        for d in 0..dimensions {
            address = address.plus(&Form::coord(COORDS[d]).times(&strides[d]).unwrap()).unwrap();
        }
        for ranges in &boxes {
            let piece = Piece {
                array: 0,
                ranges: ranges.clone().into(),
                when: None,
                address: address.clone().into(),
                width,
            };
            pieces.push(piece);
        }
    }
    Query { pieces, line: random.pick(&[32, 64, 128]) }
}

fn random_box(random: &mut Random, dimensions: usize) -> Vec<(Coord, i64, i64)> {
    let mut left = random.within(1, POINTS / 5);
    (0..dimensions)
        .map(|d| {
            let extent = random.within(1, left.clamp(1, 64));
            left /= extent;
            let from = random.within(-20, 40);
            (COORDS[d], from, from + extent - 1)
        })
        .collect()
}

fn naive(query: &Query) -> u128 {
    let mut lines = HashSet::new();
    for piece in &query.pieces {
        let mut points = vec![Vec::new()];
        for &(_, from, to) in piece.ranges.iter() {
            points = points
                .iter()
                .flat_map(|p: &Vec<i64>| (from..=to).map(move |v| [p.as_slice(), &[v]].concat()))
                .collect();
        }
        for point in points {
            let value = |c: Coord| piece.ranges.iter().position(|r| r.0 == c).map(|i| point[i]);
            if piece.when.as_ref().is_some_and(|w| !w.evaluate(&value).unwrap()) {
                continue;
            }
            let first = piece.address.evaluate(&value).unwrap();
            for byte in first..first + piece.width {
                lines.insert((piece.array, byte.div_euclid(query.line)));
            }
        }
    }
    lines.len() as u128
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Puts quotients and remainders into the addresses of a query, and sometimes a condition.
fn make_quasi_affine(query: &mut Query, random: &mut Random) {
    let dimensions = query.pieces[0].ranges.len();
    let coord = |random: &mut Random| {
        Form::coord(
            COORDS[usize::try_from(random.within(0, i64::try_from(dimensions).unwrap() - 1)).unwrap()],
        )
    };
    let mut extra = Form::int(0);
    for _ in 0..random.within(1, 2) {
        let mut inner = coord(random).times(&random.within(1, 3)).unwrap();
        if random.within(0, 2) == 0 {
            inner = inner.plus(&coord(random)).unwrap();
        }
        let inner = inner.plus(&Form::int(random.within(-5, 40))).unwrap();
        let modulus = random.within(2, 20);
        let term =
            if random.within(0, 1) == 0 { inner.floor_div(&modulus) } else { inner.remainder(&modulus) };
        extra = extra.plus(&term.unwrap().times(&random.within(-80, 80)).unwrap()).unwrap();
    }
    let condition = (random.within(0, 2) == 0).then(|| {
        let difference = coord(random).minus(&coord(random).times(&random.within(0, 2)).unwrap()).unwrap();
        Cond::non_negative(difference.plus(&Form::int(random.within(-10, 30))).unwrap())
    });
    for piece in &mut query.pieces {
        piece.address = piece.address.plus(&extra).unwrap().into();
        piece.when.clone_from(&condition);
    }
}

#[test]
fn quasi_affine_addresses_too() {
    let cases =
        from_environment("WAVECAST_FOOTPRINT_CASES", if cfg!(debug_assertions) { 1_000 } else { 10_000 });
    let seed = from_environment("WAVECAST_FOOTPRINT_SEED", 2);
    let mut answered = 0;
    for case in 0..cases {
        let mut random = Random(seed.wrapping_mul(0x1_0000_0000).wrapping_add(case));
        let mut query = random_query(&mut random);
        make_quasi_affine(&mut query, &mut random);
        let expected = naive(&query);
        for engine in [Engine::Linear, Engine::Runs, Engine::Enumeration] {
            if let Ok(found) = count_with(&query, engine) {
                answered += u64::from(engine == Engine::Runs);
                assert_eq!(found, expected, "{engine:?}, seed {seed}, case {case}: {query:#?}");
            }
        }
    }
    assert!(answered * 10 >= cases * 9, "runs answered {answered} of {cases} only");
}

/// isl is slow, so that fewer and smaller cases are put to it.
#[cfg(feature = "isl")]
#[test]
fn isl_counts_the_same() {
    let cases = from_environment("WAVECAST_FOOTPRINT_ISL_CASES", 12);
    let seed = from_environment("WAVECAST_FOOTPRINT_SEED", 3);
    let mut decided = 0;
    for case in 0..cases {
        let mut random = Random(seed.wrapping_mul(0x1_0000_0000).wrapping_add(case));
        let mut query = random_query(&mut random);
        query.pieces.truncate(3);
        if case % 2 == 1 {
            make_quasi_affine(&mut query, &mut random);
        }
        if let Ok(found) = count_with(&query, Engine::Isl) {
            decided += 1;
            assert_eq!(found, naive(&query), "seed {seed}, case {case}: {query:#?}");
        }
    }
    println!("isl decided {decided} of {cases}");
    assert!(decided * 10 >= cases * 9, "isl decided {decided} of {cases} only");
}

#[test]
fn engines_count_what_a_set_of_lines_counts() {
    let cases =
        from_environment("WAVECAST_FOOTPRINT_CASES", if cfg!(debug_assertions) { 2_000 } else { 50_000 });
    let seed = from_environment("WAVECAST_FOOTPRINT_SEED", 1);
    let mut answered = 0;
    for case in 0..cases {
        let mut random = Random(seed.wrapping_mul(0x1_0000_0000).wrapping_add(case));
        let query = random_query(&mut random);
        let expected = naive(&query);
        for engine in [Engine::Linear, Engine::Runs, Engine::Enumeration] {
            match count_with(&query, engine) {
                Ok(found) => {
                    answered += u64::from(engine == Engine::Linear);
                    assert_eq!(found, expected, "{engine:?}, seed {seed}, case {case}: {query:#?}");
                }
                Err(refusal) => {
                    assert_eq!((engine, refusal), (Engine::Linear, Refusal::Strides), "case {case}");
                }
            }
        }
    }
    assert!(answered * 10 >= cases * 8, "the closed form answered {answered} of {cases} only");
}
