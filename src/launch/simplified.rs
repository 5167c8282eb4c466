//! The same kernel, said more simply: two ways to say the same become one program, so that neither the way
//! that something is counted nor what is looked at depends on the words.

use std::borrow::Cow;

use super::actions::Actions;
use crate::expr::{Alike, Coefficient, Cond, Coord, Excess, Form, LoopId, Scale};
use crate::kernel::{Access, Kernel, Loop, Statement};
use crate::recent::Recent;

/// Most threads of a block along one dimension.
const MOST_THREADS: i64 = 1 << 16;
/// Most blocks of a grid along one dimension.
const MOST_BLOCKS: i64 = 1 << 31;

impl<'k> Actions<'k> {
    /// What a kernel does without conditions that hold for all work items, without accesses that no work item makes,
    /// without loops of a single iteration, with quotients, minima and maxima put in where they are the same
    /// everywhere, and with threads named by their place in the grid where they were put together from block and
    /// thread. Along dimensions that are `unfolded`, where a thread has one work item, work items are threads.
    pub fn simplified(kernel: &'k Kernel, unfolded: [bool; 3]) -> Result<Self, Excess> {
        let simple = |s: &Statement| is_simple(s, kernel);
        if kernel.guard.is_none() && kernel.loops.is_empty() && kernel.body.iter().all(simple) {
            return Ok(Self::written(kernel));
        }
        // A thread of a grid of its own may have work items anywhere.
        let one_item = if kernel.launch.grid.is_none() { unfolded } else { [false; 3] };
        let mut simplifying = Simplifying {
            kernel,
            one_item,
            guard: None,
            loops: Vec::new(),
            bounds: Vec::new(),
            indices: Alike::new(),
            elements: Alike::new(),
            conditions: Recent::default(),
        };
        for of_loop in &kernel.loops {
            simplifying.add(of_loop)?;
        }
        let guard =
            kernel.guard.as_ref().map(|g| simplifying.cond(g, kernel.launch.grid.is_none())).transpose()?;
        simplifying.guard = guard.filter(|g| *g != Cond::Const(true));
        let body = simplifying.body(&kernel.body)?;
        let guard = if body.is_empty() { None } else { simplifying.guard.take() };
        let only = |(l, bounds): (&Loop, &Bounds)| match bounds.clone() {
            // What remains of a loop with one iteration has no meaning.
            Bounds::Once(_) => Loop { from: Form::int(0), to: Form::int(0), sample: None, ..l.clone() },
            Bounds::Range { from, to } => Loop { from, to, ..l.clone() },
        };
        let loops: Vec<Loop> = kernel.loops.iter().zip(&simplifying.bounds).map(only).collect();
        Ok(Self { kernel, body: Cow::Owned(body), loops: Cow::Owned(loops), guard: guard.map(Cow::Owned) })
    }
}

/// Whether an access can be left as it is.
fn is_simple(statement: &Statement, kernel: &Kernel) -> bool {
    match statement {
        Statement::Sync => true,
        Statement::Access(a) => {
            let extents = kernel.extents();
            // Where there is one work item, its coordinate is a number.
            let raw = |c: Coord| match c {
                Coord::BlockIdx(_) => true,
                Coord::Axis(d) | Coord::Thread(d) | Coord::ThreadIdx(d) => extents[d.index()] == 1,
                Coord::Loop(_) => false,
            };
            a.when.is_none() && a.element.is_affine() && !a.element.mentions(&raw)
        }
        Statement::Loop(..) => false,
    }
}

struct Simplifying<'k> {
    kernel: &'k Kernel,
    /// Along which dimensions the work item of a thread is the thread.
    one_item: [bool; 3],
    /// What holds wherever anything is done.
    guard: Option<Cond<Scale>>,
    /// Intervals of loop variables, of those that are known.
    loops: Vec<Option<(i64, i64)>>,
    /// What the bounds of loops come to.
    bounds: Vec<Bounds>,
    /// What indices and addresses come to, once all loops are known.
    indices: Alike<Scale>,
    elements: Alike<Scale>,
    /// What conditions of accesses come to.
    conditions: Recent<Cond<Scale>, Condition>,
}

/// What the bounds of a loop come to.
#[derive(Clone)]
enum Bounds {
    /// There is one iteration, with this value.
    Once(Form<Scale>),
    Range {
        from: Form<Scale>,
        to: Form<Scale>,
    },
}

/// What the condition of an access comes to.
#[derive(Clone)]
struct Condition {
    when: Option<Cond<Scale>>,
    /// No work item makes the access.
    never: bool,
    /// Whether it differs between work items.
    per_item: bool,
}

impl Simplifying<'_> {
    /// Takes the next loop; loops around it have come before.
    fn add(&mut self, of_loop: &Loop) -> Result<(), Excess> {
        let (from, to) = (self.form(&of_loop.from)?, self.form(&of_loop.to)?);
        let within = |c| self.interval(c, true);
        let interval = (|| {
            let (from, to) = (from.interval(&within)?, to.interval(&within)?);
            let (low, high) = if of_loop.step.as_int()? > 0 { (from.0, to.1) } else { (to.0, from.1) };
            (low <= high).then_some((low, high))
        })();
        self.loops.push(interval);
        self.bounds.push(if from == to { Bounds::Once(from) } else { Bounds::Range { from, to } });
        Ok(())
    }

    fn body(&self, body: &[Statement]) -> Result<Vec<Statement>, Excess> {
        let mut out = Vec::with_capacity(body.len());
        for statement in body {
            match statement {
                Statement::Sync => out.push(Statement::Sync),
                Statement::Access(access) => out.extend(self.access(access)?.map(Statement::Access)),
                Statement::Loop(id, inner) => {
                    let inner = self.body(inner)?;
                    if self.single(*id).is_some() {
                        out.extend(inner);
                    } else if !inner.is_empty() {
                        out.push(Statement::Loop(*id, inner));
                    }
                }
            }
        }
        Ok(out)
    }

    /// `None` if no work item makes it.
    fn access(&self, access: &Access) -> Result<Option<Access>, Excess> {
        let Condition { when, never, per_item } = match &access.when {
            Some(when) => self.condition(when)?,
            None => Condition { when: None, never: self.never(None), per_item: false },
        };
        if never {
            return Ok(None);
        }
        let indices = match &access.indices {
            Some(indices) if self.bounds.iter().any(|bounds| matches!(bounds, Bounds::Once(_))) => {
                let put_in = |i| self.indices.change(i, |i| self.put_in(i));
                Some(indices.iter().map(put_in).collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        };
        let element = self.elements.change(&access.element, |element| self.form(element))?;
        // An address that is the same for all work items only where the domain is short stays one of work items.
        let per_item_address = access.per_item_address || per_item;
        let &Access { kind, field, width, by_item, span, .. } = access;
        Ok(Some(Access { kind, field, element, indices, width, when, by_item, per_item_address, span }))
    }

    /// What the condition of an access comes to; many accesses in turn have the same.
    fn condition(&self, when: &Cond<Scale>) -> Result<Condition, Excess> {
        if let Some(known) = self.conditions.find(|known| known == when) {
            return Ok(known);
        }
        let simple = self.beside_guard(self.cond(when, true)?);
        let simple = Some(simple).filter(|w| *w != Cond::Const(true));
        let found = Condition {
            never: self.never(simple.as_ref()),
            per_item: simple.as_ref().is_some_and(|w| w.mentions(&|c| matches!(c, Coord::Axis(_)))),
            when: simple,
        };
        self.conditions.keep(when.clone(), found.clone());
        Ok(found)
    }

    /// A condition without parts that hold everywhere, as the guard says the same.
    fn beside_guard(&self, when: Cond<Scale>) -> Cond<Scale> {
        fn parts(cond: &Cond<Scale>) -> &[Cond<Scale>] {
            if let Cond::All(parts) = cond { parts } else { std::slice::from_ref(cond) }
        }
        match &self.guard {
            Some(guard) => {
                let left = parts(&when).iter().filter(|part| !parts(guard).contains(part));
                Cond::all(left.cloned().collect())
            }
            None => when,
        }
    }

    /// Whether what holds everywhere and this condition never hold together.
    fn never(&self, when: Option<&Cond<Scale>>) -> bool {
        let Some(when) = when else { return self.guard == Some(Cond::Const(false)) };
        let both = Cond::all(self.guard.iter().chain([when]).cloned().collect());
        // Threads of a grid of their own may lie outside the domain. Without both it is known already.
        let items = self.kernel.launch.grid.is_none();
        both == Cond::Const(false) || (self.guard.is_some() && both.never(&|c| self.interval(c, items)))
    }

    fn single(&self, id: LoopId) -> Option<&Form<Scale>> {
        match self.bounds.get(usize::from(id.0))? {
            Bounds::Once(value) => Some(value),
            Bounds::Range { .. } => None,
        }
    }

    /// With the variables of loops that have a single iteration put in, and threads for work items.
    fn put_in(&self, form: &Form<Scale>) -> Result<Form<Scale>, Excess> {
        let value = |c| match c {
            Coord::Loop(id) => self.single(id).cloned(),
            Coord::Axis(d) if self.one_item[d.index()] => Some(Form::coord(Coord::Thread(d))),
            _ => None,
        };
        if form.mentions(&|c| value(c).is_some()) { form.substitute(&value) } else { Ok(form.clone()) }
    }

    fn form(&self, form: &Form<Scale>) -> Result<Form<Scale>, Excess> {
        self.put_in(form)?.with_threads()?.within(&|c| self.interval(c, true))
    }

    /// A condition; `items` says whether work items outside the domain are never asked.
    fn cond(&self, cond: &Cond<Scale>, items: bool) -> Result<Cond<Scale>, Excess> {
        cond.changed(&|form| self.put_in(form)?.with_threads())?.within(&|c| self.interval(c, items))
    }

    /// Where a coordinate lies in whatever launch, as far as anything is done there.
    fn interval(&self, coord: Coord, items: bool) -> Option<(i64, i64)> {
        let extents = self.kernel.extents();
        // Without a grid of its own, a thread works only if its first work item is inside the domain.
        let follows = self.kernel.launch.grid.is_none();
        match coord {
            Coord::Axis(d) => items.then(|| (0, extents[d.index()] - 1)),
            Coord::Thread(d) => follows.then(|| (0, extents[d.index()] - 1)),
            Coord::ThreadIdx(d) if follows => Some((0, (extents[d.index()] - 1).min(MOST_THREADS - 1))),
            Coord::BlockIdx(d) if follows => Some((0, extents[d.index()] - 1)),
            Coord::ThreadIdx(_) => Some((0, MOST_THREADS - 1)),
            Coord::BlockIdx(_) => Some((0, MOST_BLOCKS - 1)),
            Coord::Loop(id) => *self.loops.get(usize::from(id.0))?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;
    use crate::launch::Program;
    use crate::space::Fold;

    fn program(guard: &str, body: &str, more: &str) -> Program<Scale> {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 1000}}, b: {{like: a}}}}\ndomain: {{x: 100}}\n\
             {guard}\nbody: {body}\n{more}"
        );
        let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
        let mut program = Program::folded(&kernel, Fold::ONE).unwrap();
        // Loops that are gone keep their number.
        program.loops.clear();
        program
    }

    #[test]
    fn other_words_are_the_same_program() {
        let plain = program("", "['load a[x]', 'load a[x + 3]', 'store b[x]']", "");
        let one = "{loop: {k: 3..3}, body: ['load a[x + k]']}";
        let when = "{at: 'load a[x + 3]', when: 'x < 100 && x + 5 > 4'}";
        for (guard, body) in [
            ("guard: x >= 0 && x <= 99", "['load a[x]', 'load a[x + 3]', 'store b[x]']"),
            ("guard: x < 9 || x > 7", "['load a[x]', 'load a[x + 3]', 'store b[x]']"),
            ("guard: x/7 + x % 5 <= 2*x", "['load a[x]', 'load a[x + 3]', 'store b[x]']"),
            ("", &format!("['load a[x]', {when}, 'store b[x]']")),
            ("", &format!("['load a[x]', {one}, 'store b[x]']")),
            ("", &format!("['load a[x]', {one}, 'load a[x + 3]', 'store b[x]']")),
            ("", "['load a[x % 100]', 'load a[min(x + 3, 102)]', 'store b[max(x, 0)]']"),
        ] {
            // Indices stay as they are written; addresses are those of the element.
            let found = program(guard, body, "");
            assert_eq!((&found.items, &found.steps), (&plain.items, &plain.steps), "{guard} {body}");
            let same = |p: &Program<Scale>| -> Vec<_> {
                p.instructions.iter().map(|i| (i.kind, i.field, i.element.clone(), i.when.clone())).collect()
            };
            assert_eq!(same(&found), same(&plain), "{guard} {body}");
        }
        let threads = program("", "['load a[tidx]', 'load a[threadIdx.x + blockIdx.x*blockDim.x]']", "");
        assert_eq!(threads.instructions.len(), 1);
    }

    #[test]
    fn what_is_never_done_is_left_out() {
        let half = "['load a[x]', {at: 'store b[x]', when: 'x > 50'}]";
        for (guard, left) in [("guard: x < 40", 1), ("guard: x < 52", 2), ("guard: x < 40 && x > 40", 0)] {
            assert_eq!(program(guard, half, "").instructions.len(), left, "{guard}");
        }
        let again = program("guard: x < 40", "['load a[x]', {at: 'load a[x]', when: 'x < 40'}]", "");
        assert_eq!(again.instructions.len(), 1);
    }

    #[test]
    fn what_does_not_always_hold_stays() {
        let guarded = program("guard: x > 0 && x >= 0", "['load a[x]']", "");
        assert!(matches!(guarded.items[0].guard, Some(Cond::NonNegative(_))));
        // Threads of a grid of its own may lie outside the domain.
        let outside = program("guard: x < 100", "['load a[tidx]']", "launch: {grid: [9]}");
        assert!(outside.items[0].guard.is_some());
        let both = "['load a[x]', {at: 'load b[tidx]', when: 'x > 200'}]";
        assert_eq!(program("guard: x > 150", both, "launch: {grid: [9]}").instructions.len(), 1);
        let min = program("", "['load a[min(tidx, 99)]']", "launch: {grid: [9]}");
        assert!(!min.instructions[0].element.is_affine());
    }
}
