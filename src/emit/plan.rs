//! What a thread does, as statements: which access loads anew, which finds its value in a register.

use crate::expr::{Coord, Excess, LoopId, Scale};
use crate::kernel::{Access, AccessKind, FieldId, Kernel, Space, Statement};
use crate::launch::Program;
use crate::space::Fold;

/// A statement of a thread.
#[derive(Debug)]
pub(super) enum Node {
    /// An access for a work item of the thread, or for all where it names none.
    Use(Use),
    /// A barrier of the block.
    Sync,
    /// A loop.
    Loop(LoopId, Vec<Node>),
}

impl Node {
    /// Whether there is a barrier in it.
    pub(super) fn syncs(&self) -> bool {
        match self {
            Node::Use(_) => false,
            Node::Sync => true,
            Node::Loop(_, body) => body.iter().any(Node::syncs),
        }
    }
}

/// An access for a work item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    /// The instruction.
    pub(super) position: usize,
    /// Whether it is done here; otherwise its value is in a register.
    pub(super) first: bool,
    /// The work item by its place in the thread.
    pub(super) item: Option<usize>,
}

impl Use {
    /// The sum that a store writes: the first, where it stands for all work items at once.
    pub(super) fn sum(&self) -> usize {
        self.item.unwrap_or(0)
    }
}

/// A thread of a fold.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) program: Program<Scale>,
    pub(super) nodes: Vec<Node>,
    /// Loads whose value is needed again, by position.
    pub(super) kept: Vec<bool>,
    /// Work items whose last loads no store depends on.
    pub(super) unused: Vec<bool>,
    /// Work items of which the latest value is needed: it is what goes to shared memory.
    pub(super) latest: Vec<bool>,
    /// Sums of a thread: one for each work item, or one where no access names a work item.
    pub(super) sums: usize,
    /// Whether there are barriers.
    pub(super) syncs: bool,
}

impl Plan {
    pub(super) fn new(kernel: &Kernel, fold: Fold) -> Result<Self, Excess> {
        let (program, uses) = Program::folded_with_uses(kernel, fold)?;
        let mut making = Making {
            items: program.items.len(),
            uses: uses.into_iter(),
            met: vec![false; program.instructions.len()],
            kept: vec![false; program.instructions.len()],
        };
        let nodes = making.nodes(&kernel.body);
        let kept = making.kept;
        let shared = |id: FieldId| matches!(kernel.field(id).space, Space::Shared);
        let mut unused = vec![false; program.items.len()];
        let ends = |u: &Use| {
            let i = &program.instructions[u.position];
            // A store under a condition need not be done, and an atomic adds one, whatever was loaded.
            i.kind == AccessKind::Store && i.when.is_none() && !shared(i.field)
        };
        walk(&nodes, &mut |u| {
            let instruction = &program.instructions[u.position];
            let of = |i: usize| u.item.is_none_or(|item| item == i);
            let stores = ends(u);
            for (i, open) in unused.iter_mut().enumerate() {
                if instruction.kind == AccessKind::Load && of(i) {
                    *open = true;
                } else if stores && u.sum() == i {
                    *open = false;
                }
            }
        });
        let mut sums = 1;
        let mut latest = vec![false; program.items.len()];
        walk(&nodes, &mut |u| {
            if u.item.is_some() {
                sums = program.items.len();
            }
            let instruction = &program.instructions[u.position];
            if instruction.kind == AccessKind::Store && shared(instruction.field) {
                latest[u.sum()] = true;
            }
        });
        unused.truncate(sums);
        let syncs = nodes.iter().any(Node::syncs);
        Ok(Self { program, nodes, kept, unused, latest, sums, syncs })
    }
}

/// Calls for every access in order.
pub(super) fn walk(nodes: &[Node], visit: &mut dyn FnMut(&Use)) {
    for node in nodes {
        match node {
            Node::Use(u) => visit(u),
            Node::Sync => {}
            Node::Loop(_, body) => walk(body, visit),
        }
    }
}

/// Whether an access is done for each work item: it names one.
pub(super) fn names_item(access: &Access) -> bool {
    let is_axis = |c: Coord| matches!(c, Coord::Axis(_));
    access.element.mentions(&is_axis) || access.when.as_ref().is_some_and(|w| w.mentions(&is_axis))
}

struct Making {
    items: usize,
    uses: std::vec::IntoIter<usize>,
    met: Vec<bool>,
    kept: Vec<bool>,
}

impl Making {
    fn nodes(&mut self, body: &[Statement]) -> Vec<Node> {
        let mut nodes = Vec::new();
        for statement in body {
            match statement {
                Statement::Access(access) if names_item(access) => {
                    nodes.extend((0..self.items).map(|item| self.next(Some(item))));
                }
                Statement::Access(_) => nodes.push(self.next(None)),
                Statement::Sync => nodes.push(Node::Sync),
                Statement::Loop(id, inner) => {
                    let inner = self.nodes(inner);
                    nodes.push(Node::Loop(*id, inner));
                }
            }
        }
        nodes
    }

    fn next(&mut self, item: Option<usize>) -> Node {
        let position = self.uses.next().expect("folding names an instruction for every access");
        let first = !std::mem::replace(&mut self.met[position], true);
        self.kept[position] |= !first;
        Node::Use(Use { position, first, item })
    }
}

/// Whether work items are all that a kernel knows: no blocks, no threads, nothing shared. Then its results do
/// not depend on the launch, and a loop over work items computes them.
pub(super) fn is_plain(kernel: &Kernel) -> bool {
    let thread = |c: Coord| matches!(c, Coord::Thread(_) | Coord::ThreadIdx(_) | Coord::BlockIdx(_));
    let fixed = |form: &crate::expr::Form<Scale>| form.is_fixed() && !form.mentions(&thread);
    let accesses = accesses(&kernel.body);
    let access = |a: &&Access| {
        let conditioned = a.when.as_ref().is_some_and(|w| w.mentions(&thread) || !is_fixed_condition(w));
        // What all work items store to one place, the last one leaves there.
        fixed(&a.element) && !conditioned && (a.kind == AccessKind::Load || names_item(a))
    };
    let guard = kernel.guard.as_ref().is_none_or(|g| !g.mentions(&thread) && is_fixed_condition(g));
    let loops = kernel.loops.iter().all(|l| fixed(&l.from) && fixed(&l.to) && l.step.products().is_empty());
    let shared = kernel.fields.iter().any(|f| matches!(f.space, Space::Shared));
    guard
        && loops
        && !shared
        && kernel.launch.grid.is_none()
        && accesses.iter().all(access)
        && !syncs(&kernel.body)
}

fn is_fixed_condition(cond: &crate::expr::Cond<Scale>) -> bool {
    use crate::expr::Cond;
    match cond {
        Cond::Const(_) => true,
        Cond::NonNegative(form) | Cond::Zero(form) => form.is_fixed(),
        Cond::All(parts) | Cond::Any(parts) => parts.iter().all(is_fixed_condition),
    }
}

fn syncs(body: &[Statement]) -> bool {
    body.iter().any(|s| match s {
        Statement::Access(_) => false,
        Statement::Sync => true,
        Statement::Loop(_, inner) => syncs(inner),
    })
}

/// All accesses of a body.
pub(super) fn accesses(body: &[Statement]) -> Vec<&Access> {
    let mut all = Vec::new();
    for statement in body {
        match statement {
            Statement::Access(access) => all.push(access),
            Statement::Sync => {}
            Statement::Loop(_, inner) => all.extend(accesses(inner)),
        }
    }
    all
}
