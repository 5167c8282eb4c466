//! A kernel that has been understood: every name resolved, every address a quasi-affine form.

use std::sync::Arc;

use super::code::Code;
use super::identity::Identity;
use super::leaf::{DType, Precision, Space};
use super::work::Instructions;
use crate::expr::{Cond, Form, Fraction, LoopId, Names, Scale};
use crate::readable::readable;
use crate::space::{Block, Domain, Fold};
use crate::text::{Diagnostic, Span};

readable! {
    /// A kernel. Made by [`load`](super::load) only, so that its parts fit together: ids are valid,
    /// extents positive, sizes below 2^62 bytes.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub struct Kernel {
        /// Its name.
        name: String,
        /// One line on what it is and where it comes from.
        about: Option<String>,
        /// Number of its document in the stream, from 0.
        document: usize,
        /// Which variant of the document it is, if there are variants.
        variant: Option<String>,
        /// The parameters and their values, in document order.
        params: Vec<(String, i64)>,
        /// The axes of the domain in launch order, one to three.
        axes: Vec<Axis>,
        /// The arrays.
        fields: Vec<Field>,
        /// What a thread does, in program order, before folding.
        body: Vec<Statement>,
        /// The loops by id.
        loops: Vec<Loop>,
        /// Under which condition a work item or thread works at all.
        guard: Option<Cond<Scale>>,
        /// What one work item computes.
        work: Work,
        /// The launches to consider.
        launch: LaunchRules,
        /// Elementary steps that counting for one launch may take.
        steps: u64,
        /// Where its accesses were read, if its document has code.
        code: Option<Code>,
        /// What deserves a look, though the kernel is usable.
        warnings: Vec<Diagnostic>,
        /// Accesses by numbers of threads and blocks, which are certainly made: launches say whether they leave their field.
        by_threads: Vec<Access>,
        /// What tells it from all others.
        identity: Identity,
    }
}

impl Kernel {
    /// Puts one number of registers in the place of what the document says.
    pub(crate) fn set_registers(&mut self, value: i64) {
        self.set_register_rules(vec![RegisterRule { fold: None, threads: None, value }]);
    }

    /// Puts numbers of registers in the place of what the document says.
    pub(crate) fn set_register_rules(&mut self, rules: Vec<RegisterRule>) {
        self.launch.registers = rules;
        self.warnings.retain(|warning| warning.code != "registers-assumed");
    }

    /// Extents of the domain along x, y, z in work items; 1 where there is no axis.
    pub fn extents(&self) -> Domain {
        let mut extents = [1; 3];
        for (extent, axis) in extents.iter_mut().zip(&self.axes) {
            *extent = axis.extent;
        }
        Domain::known(extents)
    }

    /// What the coordinates are called in messages.
    pub fn names(&self) -> Names {
        Names {
            axes: self.axes.iter().map(|a| a.name.clone()).collect(),
            loops: self.loops.iter().map(|l| l.name.clone()).collect(),
        }
    }

    /// Whether it says what blocks of this shape do: code says it of those that it was read for.
    pub fn covers(&self, block: Block) -> bool {
        self.code.as_ref().is_none_or(|code| code.blocks.contains(&block))
    }

    /// The field of an id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[usize::from(id.0)]
    }
}

readable! {
    /// An axis of the domain.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Axis {
        /// Its name.
        name: String,
        /// Work items along it; at least 1.
        extent: i64,
    }
}

/// A field by its position in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u16);

readable! {
    /// An array. Shapes of shared fields may depend on the block, those of global ones are numbers.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub struct Field {
        /// Its name.
        name: String,
        /// Element type.
        dtype: DType,
        /// Elements along each index, halo included.
        shape: Vec<Scale>,
        /// Elements between neighbours along each index.
        strides: Vec<Scale>,
        /// Elements before the first interior one along each index.
        halo: Vec<i64>,
        /// Elements from the first to the last one, both included.
        elements: Scale,
        /// Alignment of the allocation in bytes.
        align: i64,
        /// Elements added to every linear address.
        offset: i64,
        /// Where it lives.
        space: Space,
        /// Number of identical arrays.
        multiplicity: i64,
    }
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes in L2.
    Atomic,
}

impl AccessKind {
    /// As a statement begins.
    pub fn verb(self) -> &'static str {
        match self {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        }
    }
}

readable! {
    /// One memory instruction of a work item or thread.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub struct Access {
        /// What it does.
        kind: AccessKind,
        /// To which field.
        field: FieldId,
        /// Elements from the field's base, before the field's `offset`.
        element: Form<Scale>,
        /// The indices as written, for array form: the grid addressing of the paper's section 4.4.1.
        indices: Option<Arc<[Form<Scale>]>>,
        /// Bytes touched from there on.
        width: i64,
        /// Only where this holds.
        when: Option<Cond<Scale>>,
        /// Whether it is written with work items, though they may cancel: it needs one inside the domain.
        by_item: bool,
        /// Whether its address differs between work items, so that a thread makes it once for each of its own.
        per_item_address: bool,
        /// Where it was written.
        span: Span,
    }
}

impl Access {
    /// Number of parts of its forms.
    pub fn size(&self) -> usize {
        let indices = self.indices.iter().flat_map(|i| i.iter()).map(Form::size).sum::<usize>();
        self.element.size() + indices + self.when.as_ref().map_or(0, Cond::size)
    }
}

/// A step of a thread's program.
#[derive(Debug, Clone)]
pub enum Statement {
    /// A memory instruction.
    Access(Access),
    /// A barrier of the block.
    Sync,
    /// A serial loop.
    Loop(LoopId, Vec<Statement>),
}

readable! {
    /// A serial loop in the thread: its variable takes `from`, `from + step`, ... up to `to`.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub struct Loop {
        /// Name of the variable.
        name: String,
        /// First value.
        from: Form<Scale>,
        /// Last value that may occur.
        to: Form<Scale>,
        /// Distance.
        step: Scale,
        /// How many iterations the document says are enough to look at. Counting looks at all of them, so that
        /// nothing depends on it.
        sample: Option<i64>,
    }
}

readable! {
    /// What one work item computes.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub struct Work {
        /// What a work item is called.
        unit: String,
        /// Floating-point operations; `None` if the document does not say.
        flops: Option<f64>,
        /// Their precision.
        precision: Precision,
        /// Instructions that a thread issues for it, as far as the document says.
        instructions: Instructions,
        /// Instructions that stand in the code of a thread; `None` if the document does not say.
        code_length: Option<f64>,
    }
}

impl Work {
    /// The floating-point operations that count: a document that says none is warned about, and none are counted.
    pub(crate) fn counted_flops(&self) -> f64 {
        self.flops.unwrap_or(0.0)
    }
}

readable! {
    /// The launches to consider.
    #[derive(Debug, Clone)]
    pub struct LaunchRules {
        /// Block shapes.
        blocks: BlockRule,
        /// Work items per thread along x, y, z.
        folds: Vec<Fold>,
        /// Register counts; empty if the document does not say.
        registers: Vec<RegisterRule>,
        /// Bytes of shared memory of a block.
        shared: Scale,
        /// The grid, where it does not follow.
        grid: Option<[Scale; 3]>,
        /// Work items of a thread, where they do not follow from the fold or from domain and grid.
        units_per_thread: Option<Fraction>,
        /// Whether an access is written with work items, so that the grid has to reach all of them.
        by_item: bool,
    }
}

/// Which block shapes are candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockRule {
    /// These.
    List(Vec<Block>),
    /// All combinations along x, y, z, with one of these totals if any are given.
    Product {
        /// Values along x, y, z.
        along: [Vec<i64>; 3],
        /// Threads in all, in ascending order; empty means any.
        threads: Vec<i64>,
    },
}

impl BlockRule {
    /// The shapes, in the order of the document.
    pub fn blocks(&self) -> Box<dyn Iterator<Item = Block> + '_> {
        match self {
            BlockRule::List(shapes) => Box::new(shapes.iter().copied()),
            BlockRule::Product { along: [xs, ys, zs], threads } => Box::new(zs.iter().flat_map(move |&z| {
                ys.iter().flat_map(move |&y| {
                    let shapes = xs.iter().map(move |&x| Block::known([x, y, z]));
                    shapes.filter(move |s| threads.is_empty() || threads.binary_search(&s.volume()).is_ok())
                })
            })),
        }
    }
}

readable! {
    /// A register count and where it holds.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RegisterRule {
        /// Only for this fold.
        fold: Option<Fold>,
        /// Only for blocks of so many threads.
        threads: Option<i64>,
        /// Registers of a thread.
        value: i64,
    }
}
