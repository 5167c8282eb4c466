//! Blocks of a grid told apart by what they decide, where that does not follow from one dimension and a multiple: conditions
//! on remainders and quotients of blocks. Many are looked at, and a few of each kind stand for as many as there are.

use super::blocks::Standing;
use super::inside::Inside;
use super::uniform;
use crate::effort::spend_on;
use crate::expr::{Cond, Coord, PartedCond, PartedForm};
use crate::kernel::Kernel;
use crate::launch::{Launch, Program, ProgramLoop, Working};
use crate::random::{Digest, spread};
use crate::space::{BlockIndex, Extents};

/// So many blocks are looked at, fewer where each takes more.
const MOST_LOOKED_AT: usize = 2048;
const FEWEST_LOOKED_AT: usize = 32;
/// Most decisions in all.
const MOST_DECISIONS: usize = 1 << 12;
/// No more conditions are looked at.
const MOST_CONDITIONS: usize = 256;
/// Steps for a part of a condition.
const STEPS_OF_PART: u64 = 3;

/// Who says how a condition is decided in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Intervals in which forms lie, of many blocks.
    Intervals,
    /// Threads, where intervals do not tell, of few blocks: what is decided must not depend on how it is written.
    Threads,
}

/// Blocks that decide the same, of those that were looked at.
#[derive(Debug)]
pub(super) struct AlikeBlocks {
    pub(super) blocks: Vec<BlockIndex>,
    /// Whether the domain does not cut them.
    pub(super) whole: bool,
    decided: Vec<Decided>,
}

/// From where to where lies what is decided: 0 where a condition holds for no thread, 1 where it holds for all; or how far a
/// loop runs.
type Decided = (i64, i64);

impl AlikeBlocks {
    /// Whether all threads do something else than in blocks of another kind.
    pub(super) fn is_unlike(&self, other: &Self) -> bool {
        let mut both = self.decided.iter().zip(&other.decided);
        both.any(|(one, other)| one.1 < other.0 || other.1 < one.0)
    }
}

/// The kinds of blocks with work, of which at most `most` are told apart; `None` if there are more, or if it takes too much.
pub(super) fn kinds(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    working: &Working<'_>,
    (asked, most): (Asked, usize),
) -> Option<Vec<AlikeBlocks>> {
    let deciding = Deciding::new(kernel, launch, program, asked)?;
    let number = match asked {
        Asked::Intervals => MOST_DECISIONS / deciding.number().max(1),
        Asked::Threads => FEWEST_LOOKED_AT,
    };
    let number = number.clamp(FEWEST_LOOKED_AT, MOST_LOOKED_AT);
    let mut found: Vec<(u64, AlikeBlocks)> = Vec::new();
    let mut decisions = Decisions::default();
    let number = i64::try_from(number).ok()?;
    let blocks = match asked {
        Asked::Intervals if deciding.may_repeat() => working.in_runs(number),
        Asked::Intervals | Asked::Threads => working.evenly(number),
    };
    for block in blocks {
        spend_on(deciding.size, STEPS_OF_PART).ok()?;
        deciding.decide(block, &mut decisions);
        let key = decisions.digest();
        if let Some(kind) = found.iter_mut().find(|kind| kind.0 == key) {
            kind.1.blocks.push(block);
        } else if found.len() == most {
            return None;
        } else {
            let Decisions { decided, whole, .. } = &decisions;
            found.push((key, AlikeBlocks { blocks: vec![block], whole: *whole, decided: decided.clone() }));
        }
    }
    Some(found.into_iter().map(|kind| kind.1).collect())
}

/// About `most` blocks, of each kind at least one, and for how many of those looked at each stands. They lie at no regular
/// distance, as what they touch might come again after some blocks.
pub(super) fn standing(kinds: &[AlikeBlocks], most: usize) -> Vec<Standing> {
    let all: usize = kinds.iter().map(|kind| kind.blocks.len()).sum();
    let of_kind = |kind: &AlikeBlocks| {
        let number = kind.blocks.len();
        let some = ((2 * most * number + all) / (2 * all)).clamp(1, number);
        let each = number as f64 / some as f64;
        let of_part = move |i: usize| {
            let [from, next] = [i, i + 1].map(|i| i * number / some);
            let offset = spread((next - from) as u64, i as u64 + 1);
            (kind.blocks[from + usize::try_from(offset).expect("it is below a number of blocks")], each)
        };
        (0..some).map(of_part).collect::<Vec<_>>()
    };
    kinds.iter().flat_map(of_kind).collect()
}

/// What blocks decide.
struct Deciding<'a> {
    launch: &'a Launch,
    program: &'a Program<i64>,
    inside: Inside,
    conditions: Vec<(&'a Cond<i64>, PartedCond)>,
    /// First and last values of loops, and how far they lie from each other.
    loops: Vec<[PartedForm; 3]>,
    /// How much that is to look at.
    size: usize,
    asked: Asked,
    clipped: Clipped,
}

/// How many of the accesses are done inside the domain alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clipped {
    None,
    Some,
    All,
}

/// What one block decides.
#[derive(Debug, Default)]
struct Decisions {
    /// How each condition and loop is decided.
    decided: Vec<Decided>,
    /// The threads that the domain leaves for each work item, as one number.
    inside: Digest,
    /// Between which values loops lie.
    variables: Vec<Option<(i64, i64)>>,
    /// Whether the domain does not cut it.
    whole: bool,
}

impl Decisions {
    fn digest(&self) -> u64 {
        let mut digest = self.inside;
        for &(from, to) in &self.decided {
            digest.add_signed(from);
            digest.add_signed(to);
        }
        digest.get()
    }
}

impl<'a> Deciding<'a> {
    fn new(kernel: &Kernel, launch: &'a Launch, program: &'a Program<i64>, asked: Asked) -> Option<Self> {
        let mut parts = Vec::new();
        let guards = program.items.iter().filter_map(|item| item.guard.as_ref());
        for cond in guards.chain(program.instructions.iter().filter_map(|i| i.when.as_ref())) {
            add_parts(cond, &mut parts)?;
        }
        let of_loop = |range: &ProgramLoop<i64>| {
            let distance = range.to.minus(&range.from).ok()?;
            Some([PartedForm::new(&range.from)?, PartedForm::new(&range.to)?, PartedForm::new(&distance)?])
        };
        let of_loops = program.loops.iter().map(|range| 2 * (range.from.size() + range.to.size()));
        let size = 1 + parts.iter().map(|part| part.size()).chain(of_loops).sum::<usize>();
        Some(Self {
            launch,
            program,
            inside: Inside::new(kernel, launch, program),
            conditions: parts
                .into_iter()
                .map(|part| Some((part, PartedCond::new(part)?)))
                .collect::<Option<_>>()?,
            loops: program.loops.iter().map(of_loop).collect::<Option<_>>()?,
            size,
            asked,
            clipped: match program.instructions.iter().filter(|i| i.clipped).count() {
                0 => Clipped::None,
                some if some < program.instructions.len() => Clipped::Some,
                _ => Clipped::All,
            },
        })
    }

    /// Whether something may come again and again, as what follows from remainders does.
    fn may_repeat(&self) -> bool {
        let ends = self.program.loops.iter().flat_map(|range| [&range.from, &range.to]);
        self.conditions.iter().any(|(cond, _)| !cond.is_affine())
            || ends.into_iter().any(|end| !end.is_affine())
    }

    /// How many decisions a block takes.
    fn number(&self) -> usize {
        self.conditions.len() + 3 * self.loops.len()
    }

    fn decide(&self, block: BlockIndex, found: &mut Decisions) {
        let Decisions { decided, inside, variables, whole } = found;
        *inside = Digest::default();
        decided.clear();
        variables.clear();
        for [from, to, distance] in &self.loops {
            let of = |form: &PartedForm| form.interval(&|c| self.within(variables, block, c));
            // How far it runs in the threads in which it runs shortest and longest.
            decided.push(of(distance).unwrap_or((i64::MIN, i64::MAX)));
            let values = of(from).zip(of(to));
            variables.push(values.map(|(from, to)| (from.0.min(to.0), from.1.max(to.1))));
        }
        let shape = Extents::from(*self.launch.candidate.block());
        for (cond, parted) in &self.conditions {
            let by_intervals = parted.decided(&|c| self.within(variables, block, c));
            let ask = || (self.asked == Asked::Threads).then(|| uniform::held(cond, shape, &[block]));
            let held = by_intervals.or_else(|| ask().flatten());
            decided.push(held.map_or((0, 1), |held| (held.into(), held.into())));
        }
        *whole = true;
        if self.clipped == Clipped::None {
            return;
        }
        for item in &self.program.items {
            let threads = self.inside.threads(item.offset, block);
            threads.iter().for_each(|&along| inside.add_signed(along));
            *whole &= threads == shape || self.clipped == Clipped::Some;
        }
    }

    /// Where a coordinate lies in a block; `variables` are those of loops.
    fn within(
        &self,
        variables: &[Option<(i64, i64)>],
        block: BlockIndex,
        coord: Coord,
    ) -> Option<(i64, i64)> {
        match coord {
            Coord::ThreadIdx(d) => Some((0, self.launch.candidate.block()[d.index()] - 1)),
            Coord::BlockIdx(d) => Some((block[d.index()], block[d.index()])),
            // Loops come after those around them.
            Coord::Loop(id) => *variables.get(usize::from(id.0))?,
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }
}

/// Adds the parts of a condition that follow from blocks, each once; `None` if they are too many.
fn add_parts<'c>(cond: &'c Cond<i64>, found: &mut Vec<&'c Cond<i64>>) -> Option<()> {
    match cond {
        Cond::Const(_) => Some(()),
        Cond::NonNegative(_) | Cond::Zero(_) => {
            let follows = cond.mentions(&|c| matches!(c, Coord::BlockIdx(_) | Coord::Loop(_)));
            if follows && !found.contains(&cond) {
                found.push(cond);
            }
            (found.len() <= MOST_CONDITIONS).then_some(())
        }
        Cond::All(parts) | Cond::Any(parts) => parts.iter().try_for_each(|part| add_parts(part, found)),
    }
}
