//! Statements of a thread, in a kernel and in the loop that checks it.

use super::element::Element;
use super::expression::Writer;
use super::language::Place;
use super::plan::{Node, Plan, Use};
use super::refuse::Unemitted;
use super::text::Text;
use crate::expr::{Dim, Scale};
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::Instruction;

/// Writes what threads of a fold do.
pub(super) struct Statements<'p> {
    pub(super) kernel: &'p Kernel,
    pub(super) plan: &'p Plan,
    pub(super) writer: Writer<'p>,
    /// The type of sums.
    pub(super) real: &'static str,
    /// Whether threads without a first work item have gone.
    pub(super) returned: bool,
}

impl Statements<'_> {
    /// The sum of a work item: a variable of the kernel; on the processor the place of a thread among all.
    pub(super) fn sum(&self, item: usize) -> String {
        if self.writer.place == Place::Host { format!("sum[{item}]") } else { format!("sum{item}") }
    }

    fn last(&self, item: usize) -> String {
        if self.writer.place == Place::Host { format!("last[{item}]") } else { format!("last{item}") }
    }

    /// Whether the latest value of a work item is needed.
    pub(super) fn is_latest(&self, item: usize) -> bool {
        self.plan.latest[item]
    }

    /// The condition under which a work item lies in the domain and its guard holds. A thread whose first
    /// work item lies inside has all of them inside where the fold divides the domain.
    pub(super) fn working(&self, item: usize) -> Vec<String> {
        let known = &self.plan.program.items[item];
        let fold = self.plan.program.fold;
        let mut parts: Vec<String> = (0..self.kernel.axes.len().min(3))
            .map(|d| {
                let coord = format!("tid{}", Dim::ALL[d].letter());
                let scaled = if fold[d] > 1 { format!("{}*{coord}", fold[d]) } else { coord };
                let shifted =
                    if known.offset[d] > 0 { format!("{scaled} + {}", known.offset[d]) } else { scaled };
                format!("{shifted} < {}", self.kernel.extents()[d])
            })
            .collect();
        parts.extend(known.guard.as_ref().map(|g| self.writer.cond(g)));
        parts
    }

    /// The work item that stands for one: the first, where all are inside with it.
    pub(super) fn like(&self, item: usize) -> usize {
        let (fold, extents) = (self.plan.program.fold, self.kernel.extents());
        let divides = (0..3).all(|d| fold[d] > 0 && extents[d] % fold[d] == 0);
        if divides && self.kernel.guard.is_none() { 0 } else { item }
    }

    /// Under which condition an instruction is done; nothing if it always is.
    fn condition(&self, instruction: &Instruction<Scale>) -> String {
        let mut all = Vec::new();
        if instruction.clipped {
            let mut items: Vec<usize> = instruction.items.iter().map(|i| self.like(usize::from(i))).collect();
            items.dedup();
            if !(self.returned && items.contains(&0)) {
                let any: Vec<String> = items.iter().map(|i| format!("in{i}")).collect();
                all.push(if any.len() > 1 { format!("({})", any.join(" || ")) } else { any.concat() });
            }
        } else if self.kernel.guard.is_some() {
            let guards = instruction.items.iter().filter_map(|i| {
                self.plan.program.items[usize::from(i)].guard.as_ref().map(|g| self.writer.cond(g))
            });
            all.push(format!("({})", guards.collect::<Vec<_>>().join(" || ")));
        }
        all.extend(instruction.when.as_ref().map(|w| self.writer.cond(w)));
        all.join(" && ")
    }

    /// Statements.
    pub(super) fn nodes(&self, nodes: &[Node], text: &mut Text) -> Result<(), Unemitted> {
        for node in nodes {
            match node {
                Node::Use(u) => self.access(*u, text)?,
                Node::Sync if self.writer.place == Place::OpenCl => {
                    text.line("barrier(CLK_LOCAL_MEM_FENCE);");
                }
                Node::Sync => text.line("__syncthreads();"),
                Node::Loop(id, body) => {
                    text.open(&self.loop_head(usize::from(id.0)));
                    self.nodes(body, text)?;
                    text.close("}");
                }
            }
        }
        Ok(())
    }

    /// The head of a loop.
    pub(super) fn loop_head(&self, id: usize) -> String {
        let range = &self.plan.program.loops[id];
        let name = &self.writer.words.loops[id];
        let (from, to) = (self.writer.form(&range.from), self.writer.form(&range.to));
        let (compare, advance) = match crate::expr::Coefficient::as_int(&range.step) {
            Some(1) => ("<=", format!("{name}++")),
            Some(-1) => (">=", format!("{name}--")),
            Some(n) if n < 0 => (">=", format!("{name} -= {}", n.unsigned_abs())),
            _ => ("<=", format!("{name} += {}", self.writer.sum(&range.step))),
        };
        format!("for (index_t {name} = {from}; {name} {compare} {to}; {advance}) {{")
    }

    fn access(&self, u: Use, text: &mut Text) -> Result<(), Unemitted> {
        let instruction = &self.plan.program.instructions[u.position];
        let condition = self.condition(instruction);
        let field = self.kernel.field(instruction.field);
        let element = Element::new(field, instruction.width)?;
        let names = self.writer.arrays(self.kernel, instruction.field);
        let done = &self.writer.words.fields[usize::from(instruction.field.0)];
        for (copy, name) in names.iter().enumerate() {
            let place = self.place_of(instruction, name, element)?;
            let done = format!("done_{}", done[copy]);
            match instruction.kind {
                AccessKind::Load => self.load(u, copy, &place, element, &condition, text),
                AccessKind::Store => {
                    let item = u.sum();
                    let shared = matches!(field.space, Space::Shared);
                    let value = if shared { self.last(item) } else { self.sum(item) };
                    let statement = format!("{} = {};", place.target, self.converted(&value, element));
                    text.line(&guarded(&condition, &self.marked(&statement, &done, shared, &place)));
                }
                AccessKind::Atomic => {
                    let statement = self.atomic(&place, element, &field.name)?;
                    let shared = matches!(field.space, Space::Shared);
                    text.line(&guarded(&condition, &self.marked(&statement, &done, shared, &place)));
                }
            }
        }
        Ok(())
    }

    /// On the processor, what was stored is marked: the rest is not compared.
    fn marked(&self, statement: &str, done: &str, shared: bool, place: &Accessed) -> String {
        if self.writer.place != Place::Host || shared {
            return statement.to_owned();
        }
        format!("{{ {statement} {done}[{}] = 1; }}", place.index)
    }

    /// A load for a work item: into its sum, or into a register that others need, too.
    fn load(
        &self,
        u: Use,
        copy: usize,
        place: &Accessed,
        element: Element,
        condition: &str,
        text: &mut Text,
    ) {
        let value = self.value(&place.target, element);
        let kept = self.plan.kept[u.position];
        let items: Vec<usize> = u.item.map_or_else(|| (0..self.plan.sums).collect(), |i| vec![i]);
        let several = kept || items.len() > 1 || items.iter().any(|&i| self.is_latest(i));
        if !several {
            let sum = self.sum(items[0]);
            return text.line(&guarded(condition, &format!("{sum} += {value};")));
        }
        let register =
            format!("v{}{}", u.position, if copy > 0 { format!("_{copy}") } else { String::new() });
        if u.first && condition.is_empty() {
            text.line(&format!("const real {register} = {value};"));
        } else if u.first {
            text.line(&format!("real {register} = 0;"));
            text.line(&guarded(condition, &format!("{register} = {value};")));
        }
        for item in items {
            text.line(&format!("{} += {register};", self.sum(item)));
            if self.is_latest(item) {
                text.line(&guarded(condition, &format!("{} = {register};", self.last(item))));
            }
        }
    }

    /// What an instruction accesses.
    fn place_of(
        &self,
        instruction: &Instruction<Scale>,
        name: &str,
        element: Element,
    ) -> Result<Accessed, Unemitted> {
        let field = self.kernel.field(instruction.field);
        let shift = crate::expr::Form::int(field.offset);
        let index = self.writer.form(&instruction.element.plus(&shift)?);
        let whole = Element::whole(field);
        let space = if matches!(field.space, Space::Shared) {
            self.writer.place.shared()
        } else {
            self.writer.place.global()
        };
        let target = if whole == element {
            format!("{name}[{index}]")
        } else {
            let scaled = if whole.bytes == field.dtype.bytes {
                index.clone()
            } else {
                format!("({index})*{}", field.dtype.bytes)
            };
            format!("*({space}{} *)&{name}[{scaled}]", element.name)
        };
        Ok(Accessed { target, index })
    }

    /// A value that was loaded, as a number.
    fn value(&self, target: &str, element: Element) -> String {
        match element {
            e if !e.is_scalar() => format!("{}total_{}({target})", self.writer.prefix, e.name),
            e if e.scalar == self.real => target.to_owned(),
            _ => format!("(real){target}"),
        }
    }

    /// A sum as what is stored.
    fn converted(&self, value: &str, element: Element) -> String {
        match element {
            e if !e.is_scalar() => format!("{}all_{}({value})", self.writer.prefix, e.name),
            e if e.scalar == self.real => value.to_owned(),
            e if e.is_real() => format!("({}){value}", e.scalar),
            e => format!("({})(int64){value}", e.scalar),
        }
    }

    /// Adds one to the bits of an element.
    fn atomic(&self, place: &Accessed, element: Element, field: &str) -> Result<String, Unemitted> {
        let target = &place.target;
        Ok(match (self.writer.place, element.bytes) {
            (Place::Gpu, 4) => format!("atomicAdd((unsigned int *)&{target}, 1u);"),
            (Place::Gpu, 8) => format!("atomicAdd((unsigned long long *)&{target}, 1ull);"),
            (Place::OpenCl, 4) => format!("atomic_add((volatile __global unsigned int *)&{target}, 1u);"),
            (Place::OpenCl, 8) => format!("atom_add((volatile __global unsigned long *)&{target}, 1ul);"),
            (Place::Host, 4) => format!("++*(unsigned int *)&{target};"),
            (Place::Host, 8) => format!("++*(uint64 *)&{target};"),
            (_, bytes) => return Err(Unemitted::Atomic { field: field.to_owned(), bytes }),
        })
    }
}

/// An element in memory.
struct Accessed {
    /// As an expression that can stand on either side.
    target: String,
    /// Its index.
    index: String,
}

fn guarded(condition: &str, statement: &str) -> String {
    if condition.is_empty() { statement.to_owned() } else { format!("if ({condition}) {statement}") }
}
