//! Reading a kernel as somebody asks for it.

use std::sync::Arc;

use super::assume::{told, unused};
use super::document::{Frame, Reading, Status, Understood, document, threads_working, understand, verb};
use super::flow::inlined;
use super::given::{Given, GridText, arguments, launches};
use super::launches::{blocks, blocks_asked_for, computed, has_fixed_arrays, largest, no_grid, usual};
use super::read::{Arguments, Reader, Stop, Told};
use super::symbol::{is_called, source_name};
use super::syntax::{Function, Module, PtxInstruction, StateSpace, parse};
use super::together::Together;
use super::value::BlockAndGrid;
use crate::space::{Block, Grid};
use crate::text::{Diagnostic, Fault, Sources};

/// A text of PTX that was parsed.
#[derive(Debug, Clone)]
pub struct Compiled {
    name: String,
    /// What it says.
    pub module: Module,
    sources: Sources,
}

/// A kernel that was read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Read {
    /// What each thread touches, in program order.
    pub accesses: Vec<ReadAccess>,
    /// The block that `accesses` are for.
    pub block: Block,
    /// The grid that they are for.
    pub grid: Grid,
    /// All blocks that it was read for.
    pub blocks: Vec<Block>,
    /// Registers of a thread, and where the number comes from.
    pub registers: (u32, &'static str),
    /// Instructions of a thread on average, by class.
    pub instructions: Vec<(&'static str, InstructionCount)>,
    /// Whether they are estimated from threads and iterations at random, as counting all would take too long.
    pub instructions_estimated: bool,
    /// The kernel document; none if an access could not be read.
    pub document: Option<String>,
}

/// A number of instructions of a thread, on average.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Count"))]
pub struct InstructionCount(pub(crate) f64);

/// An access.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "AccessSummary"))]
#[non_exhaustive]
pub struct ReadAccess {
    /// Number of the instruction in the entry, from 0, with the functions that it calls written out in it.
    pub instruction: usize,
    /// Its line in the PTX, from 1.
    pub line: u32,
    /// The line that it was compiled from, as `saxpy.cu:4`, where the PTX says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `load`, `store` or `atomic`.
    pub op: &'static str,
    /// `global`, `shared`, `local` or `const`.
    pub space: &'static str,
    /// The field.
    pub field: Option<String>,
    /// Bytes.
    pub width: u64,
    /// The address as kernel documents have it.
    pub address: Option<String>,
    /// The condition, beyond the guard of the document.
    pub when: Option<String>,
    /// The loops around it, outermost first.
    pub loops: Vec<Around>,
    /// `exact`; `data`: counted as always done or at one place, although data decide; `refused`: not known.
    pub status: &'static str,
    /// Whether data decide where in its field it is: it is counted at one place of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anywhere: bool,
    /// Why it is not exact.
    pub why: Option<String>,
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "LoopSummary"))]
#[non_exhaustive]
pub struct Around {
    /// Its counter, which starts at 0.
    pub counter: String,
    /// The last value of the counter.
    pub last: String,
}

/// A function as messages list it: by its symbol, and by its name in the source where that is another.
fn called(function: &Function) -> String {
    match source_name(&function.name) {
        Some(source) => format!("{} (`{source}`)", function.name),
        None => function.name.clone(),
    }
}

/// The grid for each block.
pub(super) type GridOf<'a> = &'a dyn Fn(Block) -> Result<Grid, Diagnostic>;

impl Compiled {
    /// Parses a text. `name` is what messages call it.
    pub fn new(name: &str, text: &str) -> Result<Compiled, Fault> {
        let mut sources = Sources::new();
        let file = sources.add(name, text);
        match parse(text, file) {
            Ok(module) => Ok(Compiled { name: name.to_owned(), module, sources }),
            Err(wrong) => Err(Fault::new(vec![wrong], Arc::new(sources))),
        }
    }

    /// The same of a text that is one of several: places are in `sources`, where [`lower`](Self::lower) needs them.
    pub(crate) fn parsed(name: &str, text: &str, sources: &mut Sources) -> Result<Compiled, Diagnostic> {
        let file = sources.add(name, text);
        let module = parse(text, file)?;
        Ok(Compiled { name: name.to_owned(), module, sources: Sources::new() })
    }

    /// What messages call it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The entry of this name, its symbol or what the source calls it, or the only one.
    pub fn entry(&self, name: Option<&str>) -> Result<&Function, Fault> {
        self.chosen(name).map_err(|wrong| Fault::new(vec![wrong], Arc::new(self.sources.clone())))
    }

    pub(super) fn chosen(&self, name: Option<&str>) -> Result<&Function, Diagnostic> {
        let all: Vec<&Function> = self.module.entries().collect();
        let found: Vec<&Function> = match name {
            Some(name) => match all.iter().find(|f| f.name == name) {
                Some(exact) => vec![*exact],
                None => all.iter().copied().filter(|f| is_called(&f.name, name)).collect(),
            },
            None => all.clone(),
        };
        if let [one] = found[..] {
            return Ok(one);
        }
        Err({
            let message = match name {
                Some(name) if found.is_empty() => format!("there is no entry `{name}` in {}", self.name),
                Some(name) => format!("`{name}` may be {} entries of {}", found.len(), self.name),
                None => format!("{} has {} entries: say which one is meant", self.name, all.len()),
            };
            let listed = if found.is_empty() { &all } else { &found };
            let names: Vec<String> = listed.iter().map(|f| called(f)).collect();
            let help = if names.is_empty() {
                "the text has no `.entry` with a body: was it compiled as a kernel (`__global__`)?".to_owned()
            } else {
                format!("the entry is one of: {}", names.join(", "))
            };
            Diagnostic::global("ptx-entry", message).help(help)
        })
    }

    /// The blocks that an entry is read for: those given, the one that it demands, or all usual ones.
    pub fn blocks(&self, entry: Option<&str>, given: &Given) -> Result<Vec<Block>, Fault> {
        let wrong = |wrong| Fault::new(vec![wrong], Arc::new(self.sources.clone()));
        blocks(self.entry(entry)?, &self.module, given).map_err(wrong)
    }

    /// The grid of a block: what somebody says, otherwise what follows from the bounds of the entry.
    pub fn grid(&self, entry: Option<&str>, given: &Given, block: Block) -> Result<Grid, Fault> {
        let function = self.entry(entry)?;
        let mut sources = self.sources.clone();
        let mut found = || {
            let values = arguments(function, given)?;
            if let Some(text) = &given.grid {
                return GridText::parse(text, &mut sources)?.at(block, function, &values);
            }
            let function = &*inlined(&self.module, function);
            self.followed(function, block, &values, &told(given, &mut sources)?)
        };
        found().map_err(|wrong| Fault::new(vec![wrong], Arc::new(sources)))
    }

    /// Reads a kernel.
    pub fn read(&self, entry: Option<&str>, given: &Given) -> Result<Read, Fault> {
        let function = self.entry(entry)?;
        let mut sources = self.sources.clone();
        let result = self.read_function(function, given, &mut sources);
        result.map_err(|wrong| Fault::new(vec![wrong], Arc::new(sources)))
    }

    fn read_function(
        &self,
        function: &Function,
        given: &Given,
        sources: &mut Sources,
    ) -> Result<Read, Diagnostic> {
        let function = &*inlined(&self.module, function);
        let alone = given.blocks.is_empty()
            && given.grids.is_empty()
            && function.required_block.is_none()
            && has_fixed_arrays(function, &self.module);
        let asked = if alone { usual(function) } else { blocks(function, &self.module, given)? };
        let grid = given.grid.as_ref().map(|text| GridText::parse(text, sources)).transpose()?;
        let values = arguments(function, given)?;
        let texts = grid.as_ref().map(|grid| grid.texts(function, &values));
        let at = grid.as_ref().map(|grid| |block| grid.at(block, function, &values));
        let at = at.as_ref().map(|at| at as GridOf<'_>);
        let told = told(given, sources)?;
        let readings = if alone {
            self.fitting(function, given, &told, &asked, at)?
        } else {
            self.readings(function, given, &told, &asked, at)?
        };
        let blocks = if alone { readings.iter().map(|r| r.launch.block).collect() } else { asked };
        let frame = Frame {
            entry: &function.name,
            file: &self.name,
            grid: texts.as_deref(),
            domain: None,
            registers: given.registers,
            assembled: given.assembled.as_ref(),
        };
        let refused = |r: &Reading| r.accesses.iter().any(|a| a.status == Status::Refused);
        let document = if readings.iter().any(refused) { None } else { Some(document(&frame, &readings)) };
        let first = readings.iter().find(|r| refused(r)).unwrap_or(&readings[0]);
        Ok(self.answer(function, first, given, (blocks, document)))
    }

    /// What is understood for each of these blocks of an entry with its calls in it; the grid is what follows from the
    /// bounds where nobody says it.
    pub(super) fn readings(
        &self,
        function: &Function,
        given: &Given,
        told: &Told,
        blocks: &[Block],
        grid: Option<GridOf<'_>>,
    ) -> Result<Vec<Reading>, Diagnostic> {
        let values = arguments(function, given)?;
        let launches = match grid {
            Some(grid) => launches(blocks, grid)?,
            None if !given.grids.is_empty() => computed(blocks, &given.grids, function)?,
            None => match self.followed_together(function, blocks, &values, told) {
                Some(all) => all,
                None => launches(blocks, |block| self.followed(function, block, &values, told))?,
            },
        };
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone is of one lifetime")]
        let alone =
            |launch: BlockAndGrid| self.understood(function, launch, &values, told, |found| found.said());
        // Addresses that somebody has put in the place of others may ask for more than the kernel does.
        let together = Some(&launches).filter(|all| all.len() > FEW && given.assume.is_empty());
        let together = together.and_then(|all| Together::new(function, all));
        let readings = together.and_then(|all| {
            let read = |found: &Understood<'_, '_>| all.readings(found, |launch| alone(launch).ok());
            self.understood(function, all.whole, &values, told, read).ok().flatten()
        });
        let readings: Vec<Reading> = match readings {
            Some(all) => all,
            None => launches.iter().map(|launch| alone(*launch)).collect::<Result<_, _>>()?,
        };
        unused(function, told, &readings)?;
        if readings.iter().all(|r| r.accesses.is_empty()) {
            let message =
                format!("entry `{}` touches no memory when it is launched like this", function.name);
            return Err(Diagnostic::error("ptx-nothing", function.span, message)
                .help("are the values of its parameters right, and those of bounds not 0?"));
        }
        Ok(readings)
    }

    /// What `then` makes of the kernel as it was understood for a launch.
    pub(super) fn understood<T>(
        &self,
        function: &Function,
        launch: BlockAndGrid,
        values: &Arguments,
        told: &Told,
        then: impl FnOnce(&Understood<'_, '_>) -> T,
    ) -> Result<T, Diagnostic> {
        self.reading(function, launch, values, told, |reader| understand(reader).map(|found| then(&found)))
    }

    /// What reading the kernel for a launch comes to.
    fn reading<T>(
        &self,
        function: &Function,
        launch: BlockAndGrid,
        values: &Arguments,
        told: &Told,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, Stop>,
    ) -> Result<T, Diagnostic> {
        let mut reader = Reader::new(&self.module, function, launch, values, told);
        read(&mut reader).map_err(|stop| match stop {
            Stop::Tangled(i) => {
                let span = function.instructions.get(i).map_or(function.span, |i| i.span);
                let message = "a loop is entered at two places here: such control flow is not read";
                Diagnostic::error("ptx-flow", span, message).help("compile without jumps into loops (`goto`)")
            }
            Stop::Far(i, array) => {
                let span = function.instructions.get(i).map_or(function.span, |i| i.span);
                let message = format!(
                    "array `{array}` is larger than any memory when this is done: it ends beyond 2^64 bytes"
                );
                Diagnostic::error("ptx-array", span, message)
                    .help("are the values of its parameters, the grid and what --assume says right?")
            }
            Stop::Assumed(line, why) => {
                let message = format!("the address that --assume gives for line {line} is none: {why}");
                Diagnostic::global("ptx-argument", message)
                    .help("write LINE: FIELD[INDEX], as in --assume '44: x[4*i0 + threadIdx.x]'")
            }
            Stop::TooLong(unrolled) => {
                self.too_long(function, unrolled.and_then(|i| function.instructions.get(i)))
            }
        })
    }

    /// That reading takes too long: because of a loop whose iterations were gone through one by one, or of all together.
    fn too_long(&self, function: &Function, unrolled: Option<&PtxInstruction>) -> Diagnostic {
        if let Some(instruction) = unrolled {
            let source = self.module.source_of(instruction).map_or(String::new(), |at| format!(", {at},"));
            let line = instruction.line;
            let message = format!(
                "entry `{}` takes too long to read: no formula says how the loop of line {line}{source} goes on",
                function.name
            );
            return Diagnostic::error("ptx-too-long", instruction.span, message)
                .help(format!("say how often it runs: `--trips {line}=N`"));
        }
        let message = format!("entry `{}` is too long or has too many loops in loops", function.name);
        let unrolled = match function.instructions.len() {
            0..=UNROLLED => "",
            _ => "compile it without unrolling (`#pragma unroll 1`), ",
        };
        let help = format!("{unrolled}say how often loops run (`--trips LINE=N`), or read smaller parts");
        Diagnostic::error("ptx-too-long", function.span, message).help(help)
    }

    /// The grid that follows from the bounds of the kernel.
    pub(super) fn followed(
        &self,
        function: &Function,
        block: Block,
        values: &Arguments,
        told: &Told,
    ) -> Result<Grid, Diagnostic> {
        let used = blocks_asked_for(function);
        let working = self.reading(function, largest(block, used), values, told, threads_working)?;
        let mut grid = [1; 3];
        for d in (0..3).filter(|d| used[*d]) {
            let blocks = working.domain[d].map(|size| (size + block[d] - 1) / block[d]);
            let missing = || no_grid(function, ['x', 'y', 'z'][d], values, &working.missing);
            grid[d] = blocks.filter(|n| *n > 0).ok_or_else(missing)?;
        }
        Ok(Grid::known(grid))
    }

    /// The same for many blocks, where one reading is enough for it.
    fn followed_together(
        &self,
        function: &Function,
        blocks: &[Block],
        values: &Arguments,
        told: &Told,
    ) -> Option<Vec<BlockAndGrid>> {
        let used = blocks_asked_for(function);
        let launches: Vec<BlockAndGrid> = blocks.iter().map(|block| largest(*block, used)).collect();
        let together = Together::new(function, Some(&launches).filter(|all| all.len() > FEW)?)?;
        let working = self.reading(function, together.whole, values, told, threads_working).ok()?;
        together.grids(working.domain, used)
    }
}

/// A kernel with more instructions than that may have loops that a compiler has unrolled.
const UNROLLED: usize = 500;

/// So many launches are read one by one.
const FEW: usize = 3;

/// The word of a space.
pub(super) fn space(space: StateSpace) -> &'static str {
    match space {
        StateSpace::Shared => "shared",
        StateSpace::Local => "local",
        StateSpace::Const => "const",
        StateSpace::Global | StateSpace::Param => "global",
    }
}

impl Compiled {
    /// What was read, for who asked.
    fn answer(
        &self,
        function: &Function,
        reading: &Reading,
        given: &Given,
        (blocks, document): (Vec<Block>, Option<String>),
    ) -> Read {
        let accesses = reading.accesses.iter().map(|a| ReadAccess {
            instruction: a.instruction,
            line: function.instructions[a.instruction].line,
            source: self.module.source_of(&function.instructions[a.instruction]),
            op: verb(a.operation),
            space: space(a.space),
            field: a.field.clone(),
            width: a.width,
            address: a.address.clone(),
            when: a.when.clone(),
            loops: a
                .loops
                .iter()
                .map(|(c, last)| Around { counter: c.clone(), last: last.clone() })
                .collect(),
            status: match a.status {
                Status::Exact => "exact",
                Status::Data => "data",
                Status::Refused => "refused",
            },
            anywhere: a.anywhere,
            why: a.why.clone(),
        });
        let registers = match (given.registers, &given.assembled) {
            (Some(n), _) => (n, "given"),
            (None, Some(assembled)) => (assembled.registers, "ptxas"),
            (None, None) => (reading.registers, "liveness"),
        };
        Read {
            accesses: accesses.collect(),
            block: reading.launch.block,
            grid: reading.launch.grid,
            blocks,
            registers,
            instructions: reading.mix.by_class().map(|(name, n)| (name, InstructionCount(n))).collect(),
            instructions_estimated: !reading.mix.exact,
            document,
        }
    }
}
