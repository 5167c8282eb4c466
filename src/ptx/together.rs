//! One reading for many launches.
//!
//! A kernel that asks for threads and blocks only to number the threads of the grid does the same whichever way the grid
//! is cut into blocks. It is read for blocks of one thread and as many blocks as any launch has threads; what was proved
//! for these many holds for fewer. In the words for a launch, the number of a block times the size of the block stands in
//! the place of the number of the thread.

use super::document::{Reading, Size, Status, Understood};
use super::flow::{Place, places};
use super::syntax::Function;
use super::value::BlockAndGrid;
use crate::space::{Block, Grid};

/// Threads along a dimension at most, so that no register of 32 bits wraps that holds one's number.
const MOST: i64 = 1 << 31;

/// Launches that are read at once.
pub(super) struct Together<'l> {
    launches: &'l [BlockAndGrid],
    places: [Place; 3],
    /// The launch that stands for all of them.
    pub whole: BlockAndGrid,
}

impl<'l> Together<'l> {
    /// These launches, if the kernel does the same in all of them.
    pub fn new(function: &Function, launches: &'l [BlockAndGrid]) -> Option<Self> {
        let places = places(function)?;
        let along = |l: &BlockAndGrid, d: usize| match places[d] {
            Place::Block => Some(l.grid[d]),
            Place::Numbered | Place::Unused => l.block[d].checked_mul(l.grid[d]),
        };
        let mut grid = [1; 3];
        for (d, most) in grid.iter_mut().enumerate() {
            for launch in launches {
                *most = along(launch, d).filter(|n| *n <= MOST)?.max(*most);
            }
        }
        Some(Self { launches, places, whole: BlockAndGrid { block: Block::ONE, grid: Grid::known(grid) } })
    }

    /// The grids that follow from bounds of threads, for each launch; none where they do not.
    pub fn grids(&self, domain: [Option<i64>; 3], used: [bool; 3]) -> Option<Vec<BlockAndGrid>> {
        let grid = |d: usize, block: i64| match (used[d], domain[d]) {
            (false, _) => Some(1),
            (true, Some(size)) if self.places[d] == Place::Numbered => Some((size + block - 1) / block),
            (true, _) => None,
        };
        let launch = |l: &BlockAndGrid| {
            let [x, y, z] = *l.block;
            let grid = Grid::new([grid(0, x)?, grid(1, y)?, grid(2, z)?]);
            Some(BlockAndGrid { block: l.block, grid: grid.ok()? })
        };
        self.launches.iter().map(launch).collect()
    }

    /// The reading for each launch; none where something was not read, or where it would not be what readings for some
    /// of the launches alone are, of which `alone` gives one.
    pub fn readings(
        &self,
        understood: &Understood<'_, '_>,
        alone: impl Fn(BlockAndGrid) -> Option<Reading>,
    ) -> Option<Vec<Reading>> {
        // Instructions are counted for threads at random, out of as many as there are.
        let threads = |l: &BlockAndGrid, d: usize| l.block[d] * l.grid[d] == self.whole.grid[d];
        let even = |d: usize| understood.domain()[d].is_some() || self.launches.iter().all(|l| threads(l, d));
        if !(0..3).all(even) {
            return None;
        }
        let mix = understood.mix();
        let sizes = |size: [Size; 3]| {
            let one = |d: usize| if self.places[d] == Place::Numbered { size[d] } else { Size::Number(1) };
            [one(0), one(1), one(2)]
        };
        let (first, last) = (self.launches.first()?, self.launches.last()?);
        let own = |launch: &BlockAndGrid| {
            let own = alone(*launch)?;
            let said = understood.said_for(*launch, sizes(launch.block.map(Size::Number)), &mix);
            same(&said, &own).then_some(own)
        };
        let (own, _) = (own(first)?, own(last)?);
        let general = understood.said_for(*first, sizes([Size::Word; 3]), &mix);
        if general.accesses.iter().any(|a| a.status == Status::Refused) {
            return None;
        }
        // Accesses are shown in the numbers of the first launch.
        let said = |launch: &BlockAndGrid| Reading {
            launch: *launch,
            accesses: own.accesses.clone(),
            ..general.clone()
        };
        Some(self.launches.iter().map(said).collect())
    }
}

/// Whether two readings of a launch are the same in a document: what bounds say that hold for all threads may be left out
/// of one.
fn same(one: &Reading, other: &Reading) -> bool {
    let threads = |r: &Reading, d: usize| r.domain[d].unwrap_or(r.launch.block[d] * r.launch.grid[d]);
    (0..3).all(|d| threads(one, d) == threads(other, d))
        && (one.domain != other.domain || one.guard == other.guard)
        && one.inner_guard == other.inner_guard
        && one.body == other.body
        && one.fields == other.fields
        && one.accesses == other.accesses
        && one.mix == other.mix
        && one.registers == other.registers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::document::understand;
    use crate::ptx::read::{Arguments, Reader, Told};
    use crate::ptx::syntax::{Module, parse};

    /// A kernel with the number of its thread along x in `%r4` and along y in `%r8`.
    fn module(body: &str) -> Module {
        let text = format!(
            ".version 8.0 .target sm_80 .address_size 64
            .visible .entry k(.param .u64 x, .param .u64 y) {{
            .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<9>;
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
            mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
            mov.u32 %r5, %ntid.y; mul.lo.s32 %r6, %r5, %ctaid.y; mov.u32 %r7, %tid.y; add.s32 %r8, %r6, %r7;
            {body}
            $END: ret; }}"
        );
        parse(&text, Default::default()).unwrap()
    }

    const GUARD: &str =
        "setp.gt.s32 %p1, %r4, 630; setp.gt.s32 %p2, %r8, 99; or.pred %p3, %p1, %p2; @%p3 bra $END;";
    const ACCESS: &str = "mad.lo.s32 %r9, %r8, 640, %r4; mul.wide.s32 %rd3, %r9, 4; add.s64 %rd4, %rd1, %rd3;
        ld.global.f32 %f1, [%rd4+2564]; sub.s32 %r20, 700, %r4; min.s32 %r21, %r8, 50;
        mad.lo.s32 %r22, %r20, 51, %r21; mul.wide.u32 %rd5, %r22, 4; add.s64 %rd6, %rd2, %rd5;
        setp.gt.s32 %p4, %r4, 100; @%p4 st.global.f32 [%rd6], %f1;";

    fn launches() -> Vec<BlockAndGrid> {
        let blocks = [[32, 1, 1], [64, 2, 1], [1, 64, 1], [16, 16, 1], [96, 3, 1], [8, 100, 1], [1024, 1, 1]];
        let launch = |[x, y, z]: [i64; 3]| BlockAndGrid {
            block: Block::known([x, y, z]),
            grid: Grid::known([(631 + x - 1) / x, (100 + y - 1) / y, 1]),
        };
        blocks.map(launch).to_vec()
    }

    #[test]
    fn one_reading_is_that_of_each_launch() {
        let module = module(&(GUARD.to_owned() + ACCESS));
        let function = module.entries().next().unwrap();
        let (values, trips, launches) = (Arguments::default(), Told::default(), launches());
        let alone = |launch: BlockAndGrid| {
            let mut reader = Reader::new(&module, function, launch, &values, &trips);
            Some(understand(&mut reader).ok()?.said())
        };
        let together = Together::new(function, &launches).unwrap();
        let mut reader = Reader::new(&module, function, together.whole, &values, &trips);
        let found = understand(&mut reader).ok().unwrap();
        let readings = together.readings(&found, alone).unwrap();
        assert_eq!((readings.len(), readings[0].body.len()), (launches.len(), 2));
        assert!(readings.iter().all(|r| r.general && r.body == readings[0].body));
        assert!(readings[0].body[0].contains("640*tidy"), "{:?}", readings[0].body);
        let mix = found.mix();
        // Of threads that all do the same, the mean is what each of them does.
        assert!(mix.by_class().all(|(_, n)| n.to_bits() == n.round().to_bits()), "{mix:?}");
        for launch in &launches {
            let sizes = launch.block.map(Size::Number);
            let (said, own) = (found.said_for(*launch, sizes, &mix), alone(*launch).unwrap());
            assert!(same(&said, &own), "{said:?}\n{own:?}");
        }
    }

    #[test]
    fn quotients_that_blocks_make_simpler_are_read_for_each_launch() {
        let module = module(&format!(
            "{GUARD} {ACCESS} shr.u32 %r30, %r4, 5; mul.wide.u32 %rd8, %r30, 4;
            add.s64 %rd9, %rd2, %rd8; st.global.u32 [%rd9], %r30;"
        ));
        let function = module.entries().next().unwrap();
        let (values, trips, launches) = (Arguments::default(), Told::default(), launches());
        let together = Together::new(function, &launches).unwrap();
        let mut reader = Reader::new(&module, function, together.whole, &values, &trips);
        let found = understand(&mut reader).ok().unwrap();
        let alone = |launch: BlockAndGrid| {
            let mut reader = Reader::new(&module, function, launch, &values, &trips);
            Some(understand(&mut reader).ok()?.said())
        };
        assert!(together.readings(&found, alone).is_none());
    }

    #[test]
    fn what_asks_for_more_than_numbers_is_read_for_each_launch() {
        let accepted = |more: &str| {
            let module = module(&format!("{GUARD} {ACCESS} {more}"));
            let function = module.entries().next().unwrap();
            Together::new(function, &launches()).is_some()
        };
        assert!(accepted(""));
        assert!(accepted("mov.u32 %r30, %ctaid.z; add.s32 %r31, %r30, 1;"));
        assert!(accepted("cvt.s64.s32 %rd9, %r3;"));
        for more in [
            "mov.u32 %r30, %nctaid.x;",
            "mov.u32 %r30, %laneid;",
            "mov.u32 %r30, %lanemask_lt;",
            "add.s32 %r30, %r3, 1;",
            "add.s32 %r30, %r2, %r2;",
            "setp.eq.s32 %p5, %r2, 64;",
            "and.b32 %r30, %tid.x, 31;",
            "mov.u32 %r30, %ctaid.x; add.s32 %r31, %r30, 1;",
            "mul.lo.s32 %r30, %r1, %r5;",
            "mad.lo.s32 %r30, %r1, %r2, %r7;",
            "mul.hi.s32 %r30, %r1, %r2;",
            "mov.u32 %r30, %tid.z; mad.lo.s32 %r31, %r30, 5, 1;",
            "mov.u32 %r30, %tid.x; mov.u32 %r30, 5;",
            "@%p1 mov.u32 %r30, %tid.x;",
            "st.global.u32 [%rd6], %r3;",
            "mov.b64 %rd9, {%r3, %r4};",
            "cvt.u16.u32 %r30, %r3;",
            "mov.u32 %r30, %ctaid.z; mov.u32 %r31, %ntid.z; add.s32 %r32, %r30, 1; add.s32 %r33, %r31, 1;",
        ] {
            assert!(!accepted(more), "{more}");
        }
    }
}
