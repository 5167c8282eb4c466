//! What was read from PTX: `wavecast read`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::answer::{Answer, View};
use super::table::{Align, Table, within};
use crate::ptx::syntax::{Function, FunctionKind, StateSpace};
use crate::ptx::{Compiled, InstructionCount, Read, ReadAccess, source_name};
use crate::space::{Block, Grid};
use crate::text::{Bounds, Node, Value, parse_stream};

/// A kernel that was read from PTX: `wavecast/reading/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadingDocument {
    /// `wavecast/reading/1`.
    pub schema: &'static str,
    /// The entry.
    pub entry: String,
    /// Its parameters.
    pub parameters: Vec<ParameterSummary>,
    /// The block, of those that it was read for, that the accesses are of.
    pub block: Block,
    /// The grid that goes with it.
    pub grid: Grid,
    /// The blocks that it may be launched with, and those that it was read for.
    pub blocks: BlocksSummary,
    /// Registers of a thread.
    pub registers: RegisterSummary,
    /// Bytes of shared memory of a block whose size is fixed.
    pub shared: u64,
    /// Instructions of a thread by class, on average.
    pub instructions: BTreeMap<&'static str, InstructionCount>,
    /// Whether these are estimated from threads and iterations at random, as counting all would take too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub instructions_estimated: bool,
    /// What a thread does to memory, in program order.
    pub accesses: Vec<ReadAccess>,
    /// The kernel document; null if an access could not be read.
    pub document: Option<serde_json::Value>,
    #[serde(skip)]
    text: Option<String>,
}

/// Blocks of an entry.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BlocksSummary {
    /// The only block, if the entry demands one (`.reqntid`).
    pub required: Option<[u32; 3]>,
    /// The most threads, if the entry says so (`.maxntid`), as extents whose product they are.
    pub largest: Option<[u32; 3]>,
    /// Those that it was read for.
    pub read: Vec<Block>,
}

/// A parameter.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ParameterSummary {
    /// Its number, from 0.
    pub number: usize,
    /// Its name in the PTX.
    pub name: String,
    /// Its type in the PTX.
    #[serde(rename = "type")]
    pub ty: String,
    /// Bytes of it.
    pub bytes: u64,
}

/// Registers, and where the number comes from.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RegisterSummary {
    /// The number.
    pub value: u32,
    /// `given`, `ptxas`: what this assembler made of the kernel, or `liveness`: counted in the PTX, which compilers
    /// change.
    pub source: &'static str,
}

/// What was read, as a document.
pub fn reading_document(compiled: &Compiled, function: &Function, read: &Read) -> ReadingDocument {
    let fixed = |v: &&crate::ptx::syntax::Variable| v.space == StateSpace::Shared;
    let shared = function.variables.iter().chain(&compiled.module.variables).filter(fixed);
    ReadingDocument {
        schema: "wavecast/reading/1",
        entry: function.name.clone(),
        parameters: parameters(function),
        block: read.block,
        grid: read.grid,
        blocks: BlocksSummary {
            required: function.required_block,
            largest: function.largest_block,
            read: read.blocks.clone(),
        },
        registers: RegisterSummary { value: read.registers.0, source: read.registers.1 },
        shared: shared.map(crate::ptx::syntax::Variable::bytes).sum(),
        instructions: read.instructions.iter().copied().collect(),
        instructions_estimated: read.instructions_estimated,
        accesses: read.accesses.clone(),
        document: read.document.as_deref().and_then(as_json),
        text: read.document.clone(),
    }
}

fn parameters(function: &Function) -> Vec<ParameterSummary> {
    let ty = |p: &crate::ptx::syntax::Param| {
        let plain = format!("{}{}", p.element.kind, p.element.bits);
        p.count.map_or(plain.clone(), |n| format!("{plain}[{n}]"))
    };
    let params = function.params.iter().enumerate();
    params
        .map(|(number, p)| ParameterSummary { number, name: p.name.clone(), ty: ty(p), bytes: p.bytes() })
        .collect()
}

/// A YAML document as JSON.
fn as_json(text: &str) -> Option<serde_json::Value> {
    let (documents, errors) = parse_stream(text, Default::default(), Bounds::of_bytes(text.len()));
    documents.first().filter(|_| errors.is_empty()).map(value)
}

fn value(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Scalar(scalar) => match (scalar.as_int(), scalar.text.as_str().parse::<f64>()) {
            (Some(n), _) => n.into(),
            (None, Ok(x)) if scalar.plain => x.into(),
            _ => scalar.text.as_str().into(),
        },
        Value::List(all) => all.iter().map(value).collect(),
        Value::Map(entries) => entries.iter().map(|e| (e.key.to_string(), value(&e.value))).collect(),
    }
}

impl ReadingDocument {
    fn refused(&self) -> impl Iterator<Item = &ReadAccess> {
        self.accesses.iter().filter(|a| a.status == "refused")
    }

    /// The fields that an address may be in, to stand behind a remedy.
    fn fields_known(&self) -> String {
        let names: BTreeSet<&str> = self.accesses.iter().filter_map(|a| a.field.as_deref()).collect();
        let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
        if names.is_empty() { String::new() } else { format!("; FIELD may be {}", names.join(", ")) }
    }

    /// What somebody can say of the accesses that could not be read.
    fn remedies(&self) -> String {
        let why = |a: &ReadAccess| a.why.clone().unwrap_or_default();
        let mut out = String::new();
        if self.refused().any(|a| why(a).contains("--trips")) {
            out.push_str("--trips LINE=N says how often such a loop runs\n");
        }
        let told = |a: &&ReadAccess| !why(a).contains("--trips") && !why(a).contains("--arg");
        if let Some(access) = self.refused().find(told) {
            let _ = writeln!(
                out,
                "--assume '{}: FIELD[threadIdx.x]' puts an address in the place of one that data decide{}",
                access.line,
                self.fields_known()
            );
        }
        out
    }
}

impl Answer for ReadingDocument {
    fn text(&self, view: View) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        let _ = view;
        let mut out = format!("{}: these accesses could not be read\n", self.entry);
        // One line of PTX may stand in several places of what is read.
        let mut said = BTreeSet::new();
        for access in self.refused() {
            let why = access.why.as_deref().unwrap_or("the reason is not known");
            let source = access.source.as_ref().map_or(String::new(), |at| format!(", {at}"));
            let text =
                format!("  line {}{source}: {} in {} memory: {why}\n", access.line, access.op, access.space);
            if said.insert(text.clone()) {
                out.push_str(&text);
            }
        }
        let read = self.accesses.len() - self.refused().count();
        let _ = writeln!(out, "{read} other accesses could; --format json lists all");
        out.push_str(&self.remedies());
        out
    }

    /// Lines of YAML are not broken.
    fn fitted(&self, view: View) -> String {
        if self.text.is_some() { self.text(view) } else { within(&self.text(view), view.width) }
    }

    fn table(answers: &[&Self]) -> Table {
        let columns = [
            ("entry", Align::Left),
            ("instruction", Align::Right),
            ("line", Align::Right),
            ("op", Align::Left),
            ("space", Align::Left),
            ("width", Align::Right),
            ("address", Align::Left),
            ("when", Align::Left),
            ("status", Align::Left),
        ];
        let mut table = Table::new(columns);
        for answer in answers {
            for a in &answer.accesses {
                table.row([
                    answer.entry.clone(),
                    a.instruction.to_string(),
                    a.line.to_string(),
                    a.op.to_owned(),
                    a.space.to_owned(),
                    a.width.to_string(),
                    a.address.clone().unwrap_or_default(),
                    a.when.clone().unwrap_or_default(),
                    a.status.to_owned(),
                ]);
            }
        }
        table
    }
}

/// The entries of a text of PTX: `wavecast/entries/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EntriesDocument {
    /// `wavecast/entries/1`.
    pub schema: &'static str,
    /// The architecture and what else stands in `.target`.
    pub target: Vec<String>,
    /// The entries, in the order of the text.
    pub entries: Vec<EntrySummary>,
}

/// An entry.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EntrySummary {
    /// Its name.
    pub name: String,
    /// Its name in the source, where the one in the PTX was made of it (C++).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// Its parameters.
    pub parameters: Vec<ParameterSummary>,
    /// The block that it must be launched with, if it says so.
    pub required_block: Option<[u32; 3]>,
    /// The largest block, if it says so.
    pub largest_block: Option<[u32; 3]>,
    /// Instructions in it.
    pub instructions: usize,
    /// Bytes of shared memory of fixed size.
    pub shared: u64,
}

/// The entries of a text.
pub fn entries_document(compiled: &Compiled) -> EntriesDocument {
    let of_all: u64 = shared_bytes(&compiled.module.variables);
    let entries = compiled.module.functions.iter().filter(|f| f.kind == FunctionKind::Entry && f.body);
    let entries = entries.map(|f| EntrySummary {
        name: f.name.clone(),
        source_name: source_name(&f.name),
        parameters: parameters(f),
        required_block: f.required_block,
        largest_block: f.largest_block,
        instructions: f.instructions.len(),
        shared: of_all + shared_bytes(&f.variables),
    });
    EntriesDocument {
        schema: "wavecast/entries/1",
        target: compiled.module.target.clone(),
        entries: entries.collect(),
    }
}

fn shared_bytes(variables: &[crate::ptx::syntax::Variable]) -> u64 {
    variables.iter().filter(|v| v.space == StateSpace::Shared).map(crate::ptx::syntax::Variable::bytes).sum()
}

impl Answer for EntriesDocument {
    fn text(&self, _: View) -> String {
        let mut out = format!("compiled for {}\n", self.target.join(", "));
        for entry in &self.entries {
            let source = entry.source_name.as_ref().map_or(String::new(), |name| format!(" (`{name}`)"));
            let _ = writeln!(out, "\n{}{source}", entry.name);
            for p in &entry.parameters {
                let _ = writeln!(out, "  {} {} {}", p.number, p.ty, p.name);
            }
            if let Some([x, y, z]) = entry.required_block {
                let _ = writeln!(out, "  blocks of {x} x {y} x {z} only");
            }
            if let Some([x, y, z]) = entry.largest_block {
                let _ = writeln!(out, "  blocks of {x} x {y} x {z} at most");
            }
            let _ =
                writeln!(out, "  {} instructions, {} B of shared memory", entry.instructions, entry.shared);
        }
        let which = if self.entries.len() == 1 { "read it with" } else { "read one with --entry NAME, and" };
        let _ = writeln!(out, "\n{which} --arg NUMBER=VALUE for its sizes");
        out
    }

    fn table(answers: &[&Self]) -> Table {
        let columns = ["entry", "parameter", "type", "name"].map(|c| (c, Align::Left));
        let mut table = Table::new(columns);
        for entry in answers.iter().flat_map(|a| &a.entries) {
            for p in &entry.parameters {
                table.row([entry.name.clone(), p.number.to_string(), p.ty.clone(), p.name.clone()]);
            }
        }
        table
    }
}
