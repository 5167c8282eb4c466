//! All that was understood of a kernel for one launch.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::counters::{name_counters, quotient};
use super::fields::{Field, fields};
use super::fits::Unfit;
use super::mix::{Mix, mix};
use super::print::{Printer, Size, tidy};
use super::statement::{Listed, Statement, Status, statements};
use crate::ptx::read::{Event, Operation, Reader, Stop};
use crate::ptx::syntax::StateSpace;
use crate::ptx::value::{Atom, AtomId, BlockAndGrid, Cond, Poly};

/// A kernel as it was understood for one launch, in words.
#[derive(Debug, Clone)]
pub(in crate::ptx) struct Reading {
    pub launch: BlockAndGrid,
    pub fields: Vec<Field>,
    /// The condition that all accesses have.
    pub guard: Option<String>,
    /// The same without what says that threads lie in the domain.
    pub inner_guard: Option<String>,
    /// Threads that work along each dimension, where the guard says it.
    pub domain: [Option<i64>; 3],
    /// Lines of YAML, without indentation of their own.
    pub body: Arc<Vec<String>>,
    pub accesses: Arc<Vec<Said>>,
    /// Whether the texts say `blockDim`, and hold for other blocks too.
    pub general: bool,
    pub mix: Mix,
    pub registers: u32,
    /// What somebody who keeps the document should know.
    pub notes: Vec<String>,
    /// Lines that somebody said something of that mattered, and those of predicates that data decide.
    pub heeded: (BTreeSet<u32>, BTreeSet<u32>),
}

/// An access in words.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ptx) struct Said {
    pub instruction: usize,
    pub operation: Operation,
    pub space: StateSpace,
    pub field: Option<String>,
    pub width: u64,
    pub address: Option<String>,
    pub when: Option<String>,
    /// Counters of the loops around it, outermost first, with their last values.
    pub loops: SaidLoops,
    pub status: Status,
    /// Whether it may be anywhere in its field.
    pub anywhere: bool,
    pub why: Option<String>,
}

/// Loops in words; accesses in the same loops share them.
type SaidLoops = Arc<[(String, String)]>;

/// A kernel as it was understood, before there are words for it.
pub(in crate::ptx) struct Understood<'r, 'a> {
    reader: &'r Reader<'a>,
    statements: Vec<Statement>,
    listed: Vec<Listed>,
    fields: Vec<Field>,
    bounds: Bounds,
    events: Vec<Event>,
    registers: u32,
    counters: FxHashMap<AtomId, (String, i128)>,
}

/// What conditions say that all accesses have.
struct Bounds {
    common: Vec<Cond>,
    /// Those that say no size.
    inner: Vec<Cond>,
    /// Threads that work along each dimension.
    domain: [Option<i64>; 3],
}

/// How many threads work along each dimension, where that is known, and what is missing to know it.
pub(in crate::ptx) struct ThreadsWorking {
    pub domain: [Option<i64>; 3],
    /// Parameters that conditions ask for and that have no value.
    pub missing: BTreeSet<usize>,
}

/// Reads a kernel for one launch, only to see how many threads work along each dimension.
pub(in crate::ptx) fn threads_working(reader: &mut Reader<'_>) -> Result<ThreadsWorking, Stop> {
    let events = reader.read()?;
    let (_, listed) = statements(reader, &events);
    Ok(ThreadsWorking { domain: bounds(reader, &listed).domain, missing: reader.parameters_missed(&events) })
}

/// Reads a kernel for one launch.
pub(in crate::ptx) fn understand<'r, 'a>(reader: &'r mut Reader<'a>) -> Result<Understood<'r, 'a>, Stop> {
    let events = reader.read()?;
    let (statements, mut listed) = statements(reader, &events);
    let fields = fields(reader, &listed)?;
    let bounds = bounds(reader, &listed);
    for access in &mut listed {
        let own = access.cond.parts().iter().filter(|part| !bounds.common.contains(part)).cloned();
        access.cond = own.fold(Cond::True, Cond::and);
    }
    let mut counters = FxHashMap::default();
    name_counters(reader, &statements, &listed, &fields, 0, &mut counters);
    let registers = reader.most_alive();
    Ok(Understood { reader, statements, listed, fields, bounds, events, registers, counters })
}

impl Understood<'_, '_> {
    /// Why its block does not fit the kernel's shared arrays, if that is certain.
    pub fn unfit(&self) -> Option<Unfit> {
        super::fits::unfit(self.reader, &self.listed, &self.bounds.common)
    }

    /// In words, for the launch that it was read for.
    pub fn said(&self) -> Reading {
        self.said_for(self.reader.algebra.launch, [Size::Number(1); 3], &self.mix())
    }

    /// Threads that work along each dimension, where the guard says it.
    pub fn domain(&self) -> [Option<i64>; 3] {
        self.bounds.domain
    }

    /// Instructions of a thread.
    pub fn mix(&self) -> Mix {
        let Bounds { common, inner, domain } = &self.bounds;
        let in_domain: Vec<Cond> = common.iter().filter(|cond| !inner.contains(cond)).cloned().collect();
        mix(self.reader, &self.events, *domain, &in_domain)
    }

    /// In words, for a launch whose block is as many times as large as the one that it was read for, where that is all
    /// the difference that the block makes.
    pub fn said_for(&self, launch: BlockAndGrid, sizes: [Size; 3], mix: &Mix) -> Reading {
        let Self { reader, fields, counters, .. } = self;
        let printer = Printer { algebra: &reader.algebra, counters, sizes };
        let mut accesses: Vec<Said> = Vec::with_capacity(self.listed.len());
        for (at, access) in self.listed.iter().enumerate() {
            let before = at.checked_sub(1).filter(|before| self.listed[*before].loops == access.loops);
            let loops = before
                .map_or_else(|| loops(&printer, &access.loops), |before| Arc::clone(&accesses[before].loops));
            accesses.push(said(&printer, access, fields, loops));
        }
        let mut body = Vec::new();
        lay_out(reader, &printer, &self.statements, &accesses, fields, 0, &mut body);
        for access in &mut accesses {
            for text in [&mut access.address, &mut access.when].into_iter().flatten() {
                let tidied = match tidy(text) {
                    Cow::Owned(tidied) => tidied,
                    Cow::Borrowed(_) => continue,
                };
                *text = tidied;
            }
        }
        let joined = |all: &[Cond]| {
            let whole = all.iter().cloned().fold(Cond::True, Cond::and);
            if whole == Cond::True { None } else { printer.cond(&whole) }
        };
        Reading {
            launch,
            fields: fields.clone(),
            guard: joined(&self.bounds.common),
            inner_guard: joined(&self.bounds.inner),
            domain: self.bounds.domain,
            body: Arc::new(body),
            accesses: Arc::new(accesses),
            general: sizes.contains(&Size::Word),
            mix: mix.clone(),
            registers: self.registers,
            notes: notes(reader),
            heeded: (reader.heeded.lines.clone(), reader.heeded.deciding.clone()),
        }
    }
}

/// What is left out, in words.
fn notes(reader: &Reader<'_>) -> Vec<String> {
    let calls = reader.outside.iter().map(|(i, name)| {
        let line = reader.function.instructions[*i].line;
        format!("line {line} calls `{name}`, which has no body in this file: what it does is left out")
    });
    let mut notes: Vec<String> = calls.collect();
    notes.dedup();
    notes.extend(reader.heeded.notes.iter().cloned());
    notes
}

/// The conditions that all accesses have and that no loop has a part in.
fn common(reader: &Reader<'_>, listed: &[Listed]) -> Vec<Cond> {
    let known: Vec<&Listed> = listed.iter().filter(|l| l.status != Status::Refused).collect();
    let Some((first, rest)) = known.split_first() else { return Vec::new() };
    let parts = first.cond.parts().iter();
    let shared = parts.filter(|part| rest.iter().all(|l| l.cond.parts().contains(part)));
    let counts = |atom: &Atom| matches!(atom, Atom::Counter(_));
    shared.filter(|part| !reader.algebra.cond_mentions(part, &counts)).cloned().collect()
}

/// The conditions of all accesses, sizes of the domain that those of them say which bound threads, and the others.
fn bounds(reader: &mut Reader<'_>, listed: &[Listed]) -> Bounds {
    let common = common(reader, listed);
    let mut domain = [None; 3];
    let mut inner = Vec::new();
    for cond in &common {
        match cond {
            Cond::Ge(p) => match bound(reader, p) {
                Some((dim, size)) if domain[dim].is_none() => domain[dim] = Some(size),
                _ => inner.push(cond.clone()),
            },
            _ => inner.push(cond.clone()),
        }
    }
    Bounds { common, inner, domain }
}

/// `size - 1 - (thread in the grid)`, which is not negative in the domain: its dimension and size.
fn bound(reader: &mut Reader<'_>, p: &Poly) -> Option<(usize, i64)> {
    (0..3).find_map(|dim| {
        let (tid, ctaid) = (reader.algebra.tid(dim), reader.algebra.ctaid(dim));
        let thread = tid.plus(&ctaid, reader.algebra.launch.block[dim].into())?;
        let rest = p.add(&thread)?;
        let size = i64::try_from(rest.number()? + 1).ok()?;
        (!thread.terms.is_empty() && size > 0).then_some((dim, size))
    })
}

/// Loops in words.
fn loops(printer: &Printer<'_>, loops: &[(AtomId, Poly)]) -> SaidLoops {
    let said = loops.iter().map(|(counter, last)| {
        let name = printer.counters.get(counter).map_or(String::new(), |c| c.0.clone());
        let last = printer.poly(last);
        (name, last.map_or_else(|| "?".to_owned(), |last| tidy(&last).into_owned()))
    });
    said.collect()
}

fn said(printer: &Printer<'_>, access: &Listed, fields: &[Field], loops: SaidLoops) -> Said {
    let field = fields.iter().find(|f| Some(f.base) == access.base);
    let element = field.map_or(1, |f| f.element);
    let offset = access.offset.as_ref().and_then(|p| p.exact_quotient(element.into()));
    let text = offset.and_then(|p| printer.poly(&p));
    let address = field.zip(text).map(|(field, text)| match text.strip_prefix('-') {
        _ if text == "0" => field.name.clone(),
        Some(size) => [&field.name, " - ", size].concat(),
        None => [&field.name, " + ", &text].concat(),
    });
    let (mut status, mut why) = (access.status, access.why.clone());
    let when = if access.cond == Cond::True { None } else { printer.cond(&access.cond) };
    let unsaid = when.is_none() && access.cond != Cond::True;
    if status != Status::Refused && (address.is_none() || unsaid) {
        status = Status::Refused;
        why = Some("the address or its condition cannot be written as an expression of documents".to_owned());
    }
    Said {
        instruction: access.instruction,
        operation: access.operation,
        space: access.space,
        field: field.map(|f| f.name.clone()),
        width: access.width,
        address,
        when,
        loops,
        status,
        anywhere: access.anywhere,
        why,
    }
}

/// What stands between an access and the line of PTX that it was read in.
pub(in crate::ptx) const LINE: &str = " # line ";

/// The word of an operation.
pub(in crate::ptx) fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Load => "load",
        Operation::Store => "store",
        Operation::Atomic => "atomic",
    }
}

/// Writes the line of an instruction, and what it was compiled from, where the text says so.
fn place(reader: &Reader<'_>, instruction: usize, out: &mut String) {
    let instruction = &reader.function.instructions[instruction];
    let _ = write!(out, "{LINE}{}", instruction.line);
    if let Some(source) = reader.module.source_of(instruction) {
        let _ = write!(out, ", {source}");
    }
}

fn lay_out(
    reader: &Reader<'_>,
    printer: &Printer<'_>,
    statements: &[Statement],
    accesses: &[Said],
    fields: &[Field],
    depth: usize,
    out: &mut Vec<String>,
) {
    let indent = "    ".repeat(depth);
    for statement in statements {
        match statement {
            Statement::Sync => out.push(format!("{indent}- sync")),
            Statement::Access(at) => {
                let access = &accesses[*at];
                let Some(address) = access.address.as_ref().filter(|_| access.status != Status::Refused)
                else {
                    continue;
                };
                let element =
                    fields.iter().find(|f| Some(&f.name) == access.field.as_ref()).map_or(0, |f| f.element);
                let plain = element == access.width && access.when.is_none();
                let mut line = String::with_capacity(indent.len() + address.len() + 32);
                line.push_str(&indent);
                line.push_str(if plain { "- " } else { "- {at: \"" });
                line.push_str(verb(access.operation));
                line.push(' ');
                line.push_str(address);
                if !plain {
                    line.push('"');
                    if element != access.width {
                        let _ = write!(line, ", width: {}", access.width);
                    }
                    if let Some(when) = &access.when {
                        let _ = write!(line, ", when: \"{when}\"");
                    }
                    line.push('}');
                }
                place(reader, access.instruction, &mut line);
                out.push(line);
            }
            Statement::Loop(counter, last, body) => {
                let (name, step) = &printer.counters[counter];
                let bound = quotient(reader, last).filter(|(_, n)| *step > 1 && n == step);
                let bound = bound.map_or_else(|| last.clone(), |(p, _)| p);
                // Bounds that cannot be said have only accesses in them that are not, either.
                let Some(last) = printer.poly(&bound) else { continue };
                let step = if *step == 1 { String::new() } else { format!(" step {step}") };
                let range = format!("0..{last}{step}");
                let range = if bound.number().is_some() { range } else { format!("\"{range}\"") };
                let at = out.len();
                lay_out(reader, printer, body, accesses, fields, depth + 1, out);
                if out.len() > at {
                    out.insert(at, format!("{indent}- loop: {{{name}: {range}}}"));
                    out.insert(at + 1, format!("{indent}  body:"));
                }
            }
        }
    }
}
