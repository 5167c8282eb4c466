//! Which blocks of a grid have work: a grid may be larger than the domain, and a guard may leave out whole
//! blocks, which end at once.

mod search;

use std::cell::OnceCell;

use super::geometry::Launch;
use super::program::Program;
use super::wave::BlockBox;
use crate::kernel::Kernel;
use crate::quantity::Share;
use crate::random::spread;
use crate::space::BlockIndex;
use search::Search;

/// Most boxes of blocks that are looked at to find the first or last one with work.
const MOST_LOOKS: u32 = 1 << 10;
/// Most blocks of which each is looked at; of more, so many.
const MOST_BLOCKS: i64 = 1 << 10;
/// The same where they may have work again and again, of which runs tell.
const MOST_IN_RUNS: i64 = 1 << 12;

/// Places at which several blocks that follow each other are looked at.
const FEWEST_RUNS: i64 = 128;
/// Turns in which a block with work is looked for in a part of the box.
const MOST_TRIES: i64 = 8;
/// Most boxes of blocks that are decided to find out how many have work.
const MOST_DECISIONS: u32 = 2048;
/// Most blocks beside one along each dimension that are looked at for one with work.
const MOST_STEPS: i64 = 64;
/// Fewer than so many blocks with work say little about all of them.
const FEW: usize = 4;

/// The blocks of a launch that have work, as far as intervals can tell.
#[derive(Debug, Clone)]
pub struct Working<'a> {
    /// The smallest box that holds all of them; that of the domain if there are none.
    pub blocks: BlockBox,
    /// Which share of the box has work, and whether that was found of some blocks alone, once somebody asked.
    share: OnceCell<(Share, bool)>,
    search: Option<Search<'a>>,
}

impl<'a> Working<'a> {
    /// Those of a launch.
    #[expect(clippy::missing_panics_doc, reason = "a quotient is below what is divided")]
    pub fn new(kernel: &Kernel, launch: &'a Launch, program: &'a Program<i64>) -> Self {
        let mut blocks = BlockBox::whole(launch.sizes.grid);
        let clipped = program.instructions.iter().all(|i| i.clipped);
        if clipped {
            for (d, extent) in kernel.extents().into_iter().enumerate() {
                let size = i128::from(launch.candidate.block()[d]) * i128::from(launch.candidate.fold()[d]);
                let last = i64::try_from(i128::from(extent - 1) / size).expect("it is below the extent");
                blocks.to[d] = blocks.to[d].min(last.saturating_add(1)).max(1);
            }
        }
        let threads =
            clipped.then(|| [0, 1, 2].map(|d| (kernel.extents()[d] - 1) / program.fold[d].max(1) + 1));
        let search = Search::new(launch, program, threads);
        let Some(some) = search.filter(|s| s.may_work(&blocks)) else {
            return Self { blocks, share: OnceCell::from((Share::ALL, false)), search: None };
        };
        for d in 0..3 {
            let mut left = MOST_LOOKS;
            blocks.from[d] = some.edge(blocks, d, false, &mut left).unwrap_or(blocks.from[d]);
            blocks.to[d] = some.edge(blocks, d, true, &mut left).map_or(blocks.to[d], |last| last + 1);
        }
        Self { blocks, share: OnceCell::new(), search: Some(some) }
    }

    /// Which share of the box has work: about, where conditions do not tell of many blocks at once.
    pub fn share(&self) -> Share {
        self.found_share().0
    }

    /// Whether that was found of some blocks alone.
    pub fn share_is_sampled(&self) -> bool {
        self.found_share().1
    }

    fn found_share(&self) -> (Share, bool) {
        *self.share.get_or_init(|| match &self.search {
            Some(search) => {
                if let Some(working) = search.count(self.blocks, &mut { MOST_DECISIONS }) {
                    return (Share::new(working.max(1) as f64 / self.blocks.count() as f64), false);
                }
                let mut sample =
                    if search.may_repeat() { self.runs(MOST_IN_RUNS) } else { self.sample(MOST_BLOCKS, 0) };
                let (number, all) = (sample.len().max(1), self.blocks.count());
                let working = search.with_work(self.blocks, &mut sample).max(1);
                (Share::new(working as f64 / number as f64), (number as u64) < all.unsigned_abs())
            }
            None => (Share::ALL, false),
        })
    }

    /// Whether every block of the box has the same work: no condition chooses among them.
    pub fn is_even(&self) -> bool {
        self.search.as_ref().is_none_or(|s| s.all_work(&self.blocks))
    }

    /// Whether a block has work.
    pub fn works(&self, block: BlockIndex) -> bool {
        let block = BlockBox::one(block);
        self.search.as_ref().is_none_or(|s| s.may_work(&block))
    }

    /// The first block with work from one on, along x, then y, then z; the block itself if it is far.
    pub fn near(&self, block: BlockIndex) -> BlockIndex {
        let along = |d: usize, step: i64| {
            let mut there = block;
            let (from, to) = (self.blocks.from[d], self.blocks.to[d]);
            there[d] = from + (block[d] - from + step).rem_euclid(to - from);
            there
        };
        let mut places = (0..3).flat_map(|d| (0..MOST_STEPS).map(move |step| (d, step)));
        places.find_map(|(d, step)| Some(along(d, step)).filter(|b| self.works(*b))).unwrap_or(block)
    }

    /// How many there are, about.
    pub fn count(&self) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "at most the blocks of the box")]
        let shared = (self.blocks.count() as f64 * self.share().get()).round() as i64;
        shared.clamp(1, self.blocks.count())
    }

    /// At most `most` blocks with work, spread over all of them; one that may have none, if none is found.
    pub fn some(&self, most: i64) -> Vec<BlockIndex> {
        let tries =
            (0..if self.search.is_some() { MOST_TRIES } else { 1 }).map(|turn| self.sample(most, turn));
        let tries: Vec<Vec<BlockIndex>> = tries.collect();
        let parts = tries.first().map_or(0, Vec::len);
        let of_part = |i: usize| tries.iter().filter_map(|t| t.get(i)).find(|b| self.works(**b)).copied();
        let mut found: Vec<BlockIndex> = (0..parts).filter_map(of_part).collect();
        if found.is_empty() {
            found.push(self.near(self.blocks.from));
        }
        found
    }

    /// Those with work among so many blocks that are spread over the box, so that each stands for as many: of a part with few
    /// there are few. If hardly one is among them, as [`some`](Self::some).
    pub fn evenly(&self, most: i64) -> Vec<BlockIndex> {
        self.with_work(self.sample(most, 0), most)
    }

    /// As [`evenly`](Self::evenly), but several at a time that follow each other: what comes again after a few blocks is among
    /// them as often as among all.
    pub fn in_runs(&self, most: i64) -> Vec<BlockIndex> {
        self.with_work(self.runs(most), most)
    }

    /// Those of some blocks that have work; others, if they are too few.
    fn with_work(&self, mut found: Vec<BlockIndex>, most: i64) -> Vec<BlockIndex> {
        found.retain(|&block| self.works(block));
        if found.len() < FEW { self.some(most) } else { found }
    }

    /// Blocks of the box: all, or one from each of equal parts, at no regular distance and in each turn
    /// another.
    fn sample(&self, most: i64, turn: i64) -> Vec<BlockIndex> {
        let parts = self.blocks.count().min(most);
        let one = |([from, next], i): ([i64; 2], i64)| {
            let key = turn.wrapping_mul(parts).wrapping_add(i);
            self.block(from + part_of((next - from).max(1), key))
        };
        self.parts(most).zip(1..).map(one).collect()
    }

    /// Blocks of the box: all, or from each of equal parts some that follow each other.
    fn runs(&self, most: i64) -> Vec<BlockIndex> {
        if self.blocks.count() <= most {
            return self.sample(most, 0);
        }
        let run = (most / FEWEST_RUNS).max(1);
        let of_part = |[from, next]: [i64; 2], turn: i64| {
            let run = run.min(next - from);
            let first = from + part_of(next - from - run + 1, turn);
            (first..first + run).map(|number| self.block(number))
        };
        self.parts(most / run).zip(1..).flat_map(|(part, turn)| of_part(part, turn)).collect()
    }

    /// From where to where so many equal parts of the box go, or fewer if it has fewer blocks.
    fn parts(&self, most: i64) -> impl Iterator<Item = [i64; 2]> + use<> {
        let all = self.blocks.count();
        let parts = all.min(most);
        let start = move |i: i64| {
            let before = i128::from(all) * i128::from(i) / i128::from(parts);
            i64::try_from(before).expect("no block is beyond the last")
        };
        (0..parts).map(move |i| [start(i), start(i + 1)])
    }

    /// A block of the box, by its number in it.
    fn block(&self, number: i64) -> BlockIndex {
        let ([x, y, z], to) = (*self.blocks.from, self.blocks.to);
        let (nx, ny) = (to[0] - x, to[1] - y);
        [x + number % nx, y + number / nx % ny, z + number / nx / ny].into()
    }
}

fn part_of(length: i64, key: i64) -> i64 {
    let part = spread(length.cast_unsigned(), key.cast_unsigned());
    i64::try_from(part).expect("it is below the length")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;
    use crate::launch::Candidate;

    type Corners = ([i64; 3], [i64; 3]);

    fn working(domain: &str, guard: &str, more: &str, block: [i64; 3]) -> (Corners, f64) {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 1000000}}}}\ndomain: {domain}\n\
             loads: ['a[x]']\nguard: '{guard}'\n{more}"
        );
        let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate::new(block, [1; 3]).unwrap();
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
        let found = Working::new(&kernel, &launch, &program);
        let middle = found.near(found.blocks.middle());
        assert!(guard == "x < 0" || found.works(middle), "{guard}: {middle:?}");
        ((*found.blocks.from, *found.blocks.to), found.share().get())
    }

    /// Deciding boxes at a time is deciding each block: of all of them if that takes few decisions, of some elsewhere.
    #[test]
    fn the_share_is_that_of_the_blocks_one_by_one() {
        let square = "{x: 1000, y: 1000}";
        for guard in [
            "x + 2*y < 700",
            "x >= y",
            "x % 50 == 3",
            "x > 0 && x < 999 && y > 0 && y < 999",
            "(x - 500)*2 < y || x < 20",
            "x % 7 == 3 && y < 500",
            "x >= 0",
            "x + y > 900 && x + y < 950",
            "blockIdx.x % 2 == 0 || y < 10",
        ] {
            for block in [[10, 10, 1], [3, 7, 1], [1, 1, 1], [500, 500, 1], [32, 1, 1]] {
                let text = format!(
                    "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 1000000}}}}\ndomain: {square}\n\
                     loads: ['a[x]']\nguard: '{guard}'\n"
                );
                let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
                let candidate = Candidate::new(block, [1; 3]).unwrap();
                let launch = Launch::new(&kernel, candidate).unwrap();
                let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
                let found = Working::new(&kernel, &launch, &program);
                let Some(search) = &found.search else { continue };
                let is_counted = search.count(found.blocks, &mut { MOST_DECISIONS }).is_some();
                let sample = if is_counted {
                    found.sample(i64::MAX, 0)
                } else if search.may_repeat() {
                    found.runs(MOST_IN_RUNS)
                } else {
                    found.sample(MOST_BLOCKS, 0)
                };
                assert!(!found.share_is_sampled() || !is_counted, "{guard} {block:?}");
                if sample.len() > 20_000 {
                    continue;
                }
                let with_work = sample.iter().filter(|b| found.works(**b)).count();
                let share = with_work.max(1) as f64 / sample.len() as f64;
                assert_eq!(found.share().get().to_bits(), share.to_bits(), "{guard} {block:?}");
            }
        }
    }

    /// All blocks at the border of a large domain have work, which is not found block by block.
    #[test]
    fn borders_are_decided_at_once() {
        let [width, height] = [100_000, 30_000];
        for border in [1, 4, 40] {
            for block in [[32, 8, 1], [10, 10, 1], [33, 7, 1], [64, 1, 1]] {
                let text = format!(
                    "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 1000000}}}}\n\
                     domain: {{x: {width}, y: {height}}}\nloads: ['a[x]']\n\
                     guard: 'x >= {border} && x < {width} - {border} && y >= {border} && y < {height} - {border}'\n"
                );
                let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
                let candidate = Candidate::new(block, [1; 3]).unwrap();
                let launch = Launch::new(&kernel, candidate).unwrap();
                let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
                let found = Working::new(&kernel, &launch, &program);
                let mut left = MOST_DECISIONS;
                let counted = found.search.as_ref().unwrap().count(found.blocks, &mut left).unwrap();
                // From the block with the first such place to the one with the last.
                let along = |extent: i64, size: i64| (extent - border - 1) / size - border / size + 1;
                let expected = along(width, block[0]) * along(height, block[1]);
                assert_eq!(counted, expected, "{border} {block:?}");
                assert!(left > MOST_DECISIONS - 100, "{border} {block:?}: {left}");
            }
        }
    }

    #[test]
    fn guards_and_the_domain_leave_a_box() {
        let line = "{x: 1000}";
        let is = |found: (Corners, f64), from, to, share: f64| {
            assert_eq!(found.0, (from, to));
            assert!((found.1 - share).abs() < 0.02, "{found:?}");
        };
        is(working(line, "x >= 0", "", [10, 1, 1]), [0; 3], [100, 1, 1], 1.0);
        is(working(line, "x < 495 && x > 9", "", [10, 1, 1]), [1, 0, 0], [50, 1, 1], 1.0);
        is(working(line, "x % 100 == 99", "", [10, 1, 1]), [9, 0, 0], [100, 1, 1], 10.0 / 91.0);
        is(working(line, "x < 0", "", [10, 1, 1]), [0; 3], [100, 1, 1], 1.0);
        is(working("{x: 1000000}", "blockIdx.x % 2 == 0", "", [10, 1, 1]), [0; 3], [99999, 1, 1], 0.5);
        let square = "{x: 100, y: 100}";
        is(working(square, "x + 2*y < 50", "", [10, 10, 1]), [0; 3], [5, 3, 1], 9.0 / 15.0);
        is(working("{x: 1000, y: 1000}", "x >= y", "", [10, 10, 1]), [0; 3], [100, 100, 1], 0.505);
        let larger = "launch: {grid: [1 << 40]}";
        is(working(line, "x >= 500", larger, [10, 1, 1]), [50, 0, 0], [100, 1, 1], 1.0);
    }
}
