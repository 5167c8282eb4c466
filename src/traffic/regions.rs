//! Launches whose blocks hold the same work items have the same footprints: they are counted once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::counts::Counting;
use super::fields::{TouchedField, touched_fields};
use super::footprints::Footprints;
use super::of_launch::of_fields;
use crate::device::Device;
use crate::expr::{Coord, Form, Scale};
use crate::footprint::{Engine, Threads, Uncounted};
use crate::kernel::Kernel;
use crate::launch::{Actions, Launch, Program};
use crate::space::{Block, Grid};

/// Bytes from the beginning of an array up to which addresses, with blocks and folds put in, are surely small.
const FARTHEST: i64 = 1 << 40;

/// Most accesses that are not joined to others, of all fields, whose lines are soon counted.
const MOST_ARMS: usize = 48;

/// What the work items of a kernel touch, in whatever launch.
#[derive(Debug)]
pub struct WorkItems {
    program: Program<i64>,
    /// Where there are conditions, and loops that threads bound, what blocks do follows from the program of a launch.
    conditional: Option<Program<Scale>>,
    fields: Vec<TouchedField>,
    /// Copies of them, as many as threads have counted at the same time: what a launch changes of them is set anew for
    /// the next one.
    spare: Mutex<Vec<Vec<TouchedField>>>,
}

/// Launches with equal regions have equal footprints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    block: Block,
    grid: Grid,
    resident: i64,
}

impl Region {
    /// The region of a launch with `resident` blocks at a time.
    pub fn new(launch: &Launch, resident: i64) -> Self {
        let unfolded = launch.unfolded();
        Self { block: unfolded.candidate.block(), grid: unfolded.sizes.grid, resident }
    }
}

impl WorkItems {
    /// What the work items of a kernel touch in any of its launches; `None` if that depends on the launch.
    pub fn new(kernel: &Kernel, counting: &Counting) -> Option<Self> {
        Self::unfolded(&Actions::simplified(kernel, [false; 3]).ok()?, [false; 3], counting)
    }

    /// What they touch, of a kernel said simply, in launches whose threads have one work item along some dimensions; `None` if that
    /// depends on more of the launch.
    pub(crate) fn unfolded(simple: &Actions<'_>, along: [bool; 3], counting: &Counting) -> Option<Self> {
        let kernel = simple.kernel();
        let (launch, of_any) = Program::of_item(simple, along)?;
        let program = of_any.at(&launch).ok()?;
        let threads = Threads { kernel, launch: &launch, program: &program };
        let fields = touched_fields(kernel, &threads, counting.addressing).ok()?;
        let by_thread = |bound: &Form<i64>| bound.mentions(&|c| !matches!(c, Coord::Loop(_)));
        let conditional = program.items.iter().any(|i| i.guard.is_some())
            || program.instructions.iter().any(|i| i.when.is_some())
            || program.loops.iter().any(|of_loop| by_thread(&of_loop.from) || by_thread(&of_loop.to));
        let conditional = conditional.then_some(of_any);
        Some(Self { program, conditional, fields, spare: Mutex::default() })
    }

    /// Where work items do nothing but access memory at multiples of their places, near enough that no address of any
    /// launch leaves 64 bits: how many different multiples there are.
    pub fn patterns(&self, kernel: &Kernel) -> Option<usize> {
        let mut patterns = 0;
        for field in &self.fields {
            let (of_field, last) = field.all.reach(kernel.extents())?;
            patterns += of_field;
            if self.conditional.is_some() || last > FARTHEST {
                return None;
            }
        }
        Some(patterns)
    }

    /// Whether what is touched of each field are few rectangles in rows and planes, wherever blocks lie.
    pub(crate) fn are_soon_counted(&self) -> bool {
        let arms = self.fields.iter().map(|field| field.all.arms_in_planes());
        arms.sum::<Option<usize>>().is_some_and(|arms| arms <= MOST_ARMS)
    }

    /// The footprints of a launch, as [`footprints`](super::footprints()) counts them.
    pub fn footprints(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        device: &Device,
        resident: i64,
        counting: &Counting,
    ) -> Result<Footprints, Uncounted> {
        let launch = launch.unfolded();
        let mut fields = self.lent();
        for field in &mut fields {
            field.set_blocks(launch.candidate.block());
        }
        let placed = self.conditional.as_ref().map(|p| p.at(&launch)).transpose();
        let placed = placed.map_err(|why| Uncounted::Refused(vec![(Engine::Linear, why.into())]))?;
        let program = placed.as_ref().unwrap_or(&self.program);
        let threads = Threads { kernel, launch: &launch, program };
        let found = of_fields(&threads, &fields, device, resident, counting);
        self.spare().push(fields);
        found
    }

    /// Fields whose blocks may be changed: those of a launch that is done, or new ones.
    fn lent(&self) -> Vec<TouchedField> {
        let spare = self.spare().pop();
        spare.unwrap_or_else(|| self.fields.clone())
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Vec<TouchedField>>> {
        // Whoever panicked while it was locked has put in whole fields or none.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
