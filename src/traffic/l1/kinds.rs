//! Which blocks stand for all of a grid, and for how many each does, where what a block does follows from its place: the
//! domain cuts those at its ends, and conditions hold in some.

use super::blocks::Standing;
use super::by_place::{ByPlace, SamePlaces};
use super::prepared::Prepared;
use super::told_apart::{self, Asked};
use crate::kernel::Kernel;
use crate::launch::{Launch, Program, Working};
use crate::random::Random;
use crate::space::BlockIndex;

/// About `most` blocks with work, of each kind at least one. Where kinds cannot be told apart, each stands for as many.
pub(super) fn blocks(
    kernel: &Kernel,
    launch: &Launch,
    working: &Working,
    (program, prepared): (&Program<i64>, &Prepared),
    most: i64,
) -> Vec<Standing> {
    let alike = || working.some(most).into_iter().map(|block| (block, 1.0)).collect();
    if working.blocks.count() <= most {
        return alike();
    }
    let found = ByPlace::new(kernel, launch, program, prepared)
        .ok()
        .and_then(|deciding| deciding.kinds(&working.blocks))
        .map(|kinds| standing(&kinds, working, most));
    found.filter(|found| !found.is_empty()).unwrap_or_else(|| {
        let most = usize::try_from(most).expect("it is a small number");
        let kinds = told_apart::kinds(kernel, launch, program, working, (Asked::Intervals, most));
        kinds.filter(|kinds| kinds.len() > 1).map_or_else(alike, |kinds| told_apart::standing(&kinds, most))
    })
}

/// Some of the blocks of each kind, more of those of which there are more.
fn standing(kinds: &[Vec<SamePlaces>; 3], working: &Working, most: i64) -> Vec<Standing> {
    let all = working.blocks.count() as f64;
    let mut found = Vec::new();
    for z in &kinds[2] {
        for y in &kinds[1] {
            for x in &kinds[0] {
                let along = [x, y, z];
                let number = along.iter().map(|alike| alike.count()).product::<i64>();
                #[expect(clippy::cast_possible_truncation, reason = "no more than there may be")]
                let some = (most as f64 * number as f64 / all).round() as i64;
                let some = (1 << (2 * some.max(1) - 1).ilog2()).min(number);
                let blocks = spread(along, some, working);
                let each = number as f64 / blocks.len().max(1) as f64;
                found.extend(blocks.into_iter().map(|block| (block, each)));
            }
        }
    }
    found
}

/// Blocks of a kind with work: along each dimension one of each of equal parts, in an order of its own, so that their places
/// leave all remainders by powers of two alike, which is what alignments follow from.
fn spread(along: [&SamePlaces; 3], some: i64, working: &Working) -> Vec<BlockIndex> {
    let mut random = Random::new(0);
    let mut order = || {
        let mut order: Vec<i64> = (0..some).collect();
        random.shuffle(&mut order);
        order
    };
    let orders = [(); 3].map(|()| [order(), order()]);
    let mut blocks: Vec<BlockIndex> = Vec::new();
    for turn in 0..orders[0][0].len() {
        let block = BlockIndex::along(|d| {
            let count = along[d].count();
            let start = |part: i64| {
                let before = i128::from(count) * i128::from(part) / i128::from(some);
                i64::try_from(before).expect("it is no larger than the number of places")
            };
            let [part, remainder] = [&orders[d][0], &orders[d][1]].map(|order| order[turn]);
            let (first, next) = (start(part), start(part + 1));
            let within = (next - first).clamp(1, some);
            let modulus = 1 << within.ilog2();
            along[d].at(first + (remainder - first).rem_euclid(modulus))
        });
        if working.works(block) && !blocks.contains(&block) {
            blocks.push(block);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;
    use crate::launch::Candidate;
    use crate::space::Thread;

    /// How many threads of a block a condition holds for.
    fn lanes(holds: &dyn Fn(i64, i64) -> bool, block: BlockIndex, shape: [i64; 3]) -> i64 {
        let threads = (0..shape[1]).flat_map(|y| (0..shape[0]).map(move |x| Thread::from([x, y, 0])));
        let place = |t: &Thread| (block[0] * shape[0] + t[0], block[1] * shape[1] + t[1]);
        threads.filter(|thread| holds(place(thread).0, place(thread).1)).count().try_into().unwrap()
    }

    #[test]
    fn blocks_stand_for_all_of_their_kind() {
        type Holds = fn(i64, i64) -> bool;
        let conditions: [(&str, Holds); 4] = [
            ("x >= 3 && y >= 3 && x < 995 && y < 700", |x, y| x >= 3 && y >= 3 && x < 995 && y < 700),
            ("x < 40", |x, _| x < 40),
            ("x > 500 || y < 17", |x, y| x > 500 || y < 17),
            ("y == 333", |_, y| y == 333),
        ];
        for (condition, holds) in conditions {
            for shape in [[32, 8, 1], [64, 1, 1], [7, 5, 1], [100, 3, 1]] {
                let text = format!(
                    "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f32, shape: [720, 1000]}}}}\ndomain: {{x: 1000, y: 720}}\n\
                     body: ['store a[y, x]', {{when: '{condition}', at: 'load a[y, x]'}}]\n"
                );
                let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
                let candidate = Candidate::new(shape, [1; 3]).unwrap();
                let launch = Launch::new(&kernel, candidate).unwrap();
                let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
                let working = Working::new(&kernel, &launch, &program);
                let prepared = Prepared::new(&program);
                let found = blocks(&kernel, &launch, &working, (&program, &prepared), 16);
                let what = format!("{condition} {shape:?}");
                assert!(found.len() < 80, "{what}: {}", found.len());

                // As many blocks as there are, and in them as many threads in the domain, and of these for which the
                // condition holds.
                let in_domain = |x: i64, y: i64| x < 1000 && y < 720;
                let both = |x: i64, y: i64| in_domain(x, y) && holds(x, y);
                let sum = |of: &dyn Fn(i64, i64) -> bool| -> f64 {
                    found.iter().map(|&(block, weight)| lanes(of, block, shape) as f64 * weight).sum()
                };
                let all = |of: &dyn Fn(i64, i64) -> bool| -> i64 {
                    let places = (0..720).flat_map(|y| (0..1000).map(move |x| (x, y)));
                    places.filter(|&(x, y)| of(x, y)).count().try_into().unwrap()
                };
                let is_near = |found: f64, expected: i64| (found - expected as f64).abs() < 1e-6;
                assert!(is_near(found.iter().map(|f| f.1).sum(), working.blocks.count()), "{what}");
                assert!(is_near(sum(&in_domain), all(&in_domain)), "{what}: {}", sum(&in_domain));
                assert!(is_near(sum(&both), all(&both)), "{what}: {} for {}", sum(&both), all(&both));
            }
        }
    }
}
