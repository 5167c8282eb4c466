//! Code in the place of accesses: what was read of it as trees of documents, whose places are those of the PTX.

use std::collections::BTreeMap;

use super::answer::{Compiled, GridOf, space};
use super::argument;
use super::assume::told;
use super::document::{Frame, LINE, Reading, Status, document, verb};
use super::flow::inlined;
use super::given::{Given, GridText, KnownField, RegistersTold, arguments};
use super::launches::{blocks, required_block};
use super::syntax::{Function, PtxInstruction};
use crate::expr::Excess;
use crate::kernel::{Code, CodeRead, CodeRequest};
use crate::space::{Block, Domain, Grid};
use crate::text::{Bounds, Diagnostic, Entry, FileId, Node, Origin, Sources, Span, Value, parse_stream};

/// Accesses that messages name.
const SHOWN: usize = 10;

/// What a document says of the launches.
#[derive(Default)]
struct Around<'a> {
    grid: Option<GridOf<'a>>,
    /// The grid in the grammar of documents.
    texts: Option<Vec<String>>,
    domain: Option<Domain>,
    /// Whether the grid is what follows from the domain.
    by_domain: bool,
    /// Where the document asks.
    at: Option<Span>,
}

impl Compiled {
    /// What a document wants read.
    pub(crate) fn wanted(
        &self,
        wanted: &CodeRequest,
        told: RegistersTold,
        sources: &mut Sources,
    ) -> Result<Vec<CodeRead>, Vec<Diagnostic>> {
        let one = |wrong: Diagnostic| vec![placed(wrong, wanted.span)];
        let function = self.chosen(wanted.entry.as_deref()).map_err(one)?;
        let given = given(function, wanted, told)?;
        let told = |block: Block| match (&wanted.grid, wanted.domain) {
            (Some(grid), _) => {
                let found = grid.at(block).map_err(|e| no_grid(e, grid.span))?;
                match found.iter().find(|n| !(1..=1 << 31).contains(*n)) {
                    Some(n) => {
                        let message = format!("{n} blocks for blocks of {block}");
                        let error = Diagnostic::error("ptx-grid", grid.span, message);
                        Err(error.help("a grid has 1 to 2^31 blocks"))
                    }
                    None => Ok(Grid::known(found)),
                }
            }
            (None, Some(domain)) => Ok(domain.blocks_of(block)),
            (None, None) => Ok(Grid::ONE),
        };
        let by_domain = wanted.grid.is_none() && wanted.domain.is_some();
        let texts = match (&wanted.grid, wanted.domain) {
            (Some(grid), _) => Some(grid.texts.clone()),
            (None, Some(domain)) => Some(
                ["x", "y", "z"]
                    .iter()
                    .zip(domain)
                    .map(|(d, n)| format!("({n} + blockDim.{d} - 1)/blockDim.{d}"))
                    .collect(),
            ),
            (None, None) => None,
        };
        let grid = texts.as_ref().map(|_| &told as GridOf<'_>);
        let around = Around { grid, texts, domain: wanted.domain, by_domain, at: Some(wanted.span) };
        self.lowered(function, &given, &around, sources)
    }

    /// What is read without a document.
    pub(crate) fn lower(
        &self,
        entry: Option<&str>,
        given: &Given,
        sources: &mut Sources,
    ) -> Result<Vec<CodeRead>, Vec<Diagnostic>> {
        let one = |wrong: Diagnostic| vec![wrong];
        let function = self.chosen(entry).map_err(one)?;
        let grid = given.grid.as_ref().map(|text| GridText::parse(text, sources)).transpose().map_err(one)?;
        let values = arguments(function, given).map_err(one)?;
        let texts = grid.as_ref().map(|grid| grid.texts(function, &values));
        let at = grid.as_ref().map(|grid| |block| grid.at(block, function, &values));
        let around = Around { grid: at.as_ref().map(|at| at as GridOf<'_>), texts, ..Around::default() };
        self.lowered(function, given, &around, sources)
    }

    fn lowered(
        &self,
        function: &Function,
        given: &Given,
        around: &Around<'_>,
        sources: &mut Sources,
    ) -> Result<Vec<CodeRead>, Vec<Diagnostic>> {
        let function = &*inlined(&self.module, function);
        let one = |wrong: Diagnostic| {
            vec![match around.at {
                Some(at) => placed(wrong, at),
                None => wrong,
            }]
        };
        let (blocks, mut warnings) = allowed(self, function, given).map_err(one)?;
        let told = told(given, sources).map_err(one)?;
        let readings = self.readings(function, given, &told, &blocks, around.grid).map_err(one)?;
        refuse(self, function, &readings)?;
        if let Some(at) = around.at {
            compare_elements(given, &readings, at)?;
            warnings.extend(idle(around, &readings, at));
        }
        warnings.extend(flagged(function, &readings));
        let frame = Frame {
            entry: &function.name,
            file: self.name(),
            grid: around.texts.as_deref(),
            domain: around.domain,
            registers: given.registers,
            assembled: given.assembled.as_ref(),
        };
        let text = document(&frame, &readings);
        let file = sources.add(format!("what was read of {}", self.name()), text.as_str());
        let (mut documents, errors) = parse_stream(&text, file, Bounds::of_bytes(text.len()));
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut document =
            documents.pop().unwrap_or(Node { span: function.span, value: Value::Map(Vec::new()) });
        Placing { file, lines: placed_lines(&text, &places(self)) }.place(&mut document);
        let code = Code {
            text: function.span.file,
            name: self.name().to_owned(),
            entry: function.name.clone(),
            blocks,
            most_threads: most_threads(function),
            lines: compiled_from(self, function, &readings),
        };
        Ok(apart(document, &code, &warnings))
    }
}

/// The same at a place of the document, if it has none of its own.
fn placed(wrong: Diagnostic, at: Span) -> Diagnostic {
    Diagnostic { span: wrong.span.or(Some(at)), ..wrong }
}

fn no_grid(why: Excess, at: Span) -> Diagnostic {
    Diagnostic::error("ptx-grid", at, format!("the grid cannot be computed: {why}"))
}

/// What a document says, as whoever reads asks for it. Each argument that is wrong is reported at its place.
fn given(function: &Function, wanted: &CodeRequest, told: RegistersTold) -> Result<Given, Vec<Diagnostic>> {
    let wrong = wanted.args.iter().filter_map(|text| {
        let wrong = argument::argument(function, &text.value).err()?;
        Some(Diagnostic::error("ptx-argument", text.span, wrong.message).help(wrong.help))
    });
    let wrong: Vec<Diagnostic> = wrong.collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let field = |f: &crate::kernel::CodeField| KnownField {
        name: f.name.clone(),
        element: f.element,
        bytes: f.bytes,
    };
    Ok(Given {
        args: wanted.args.iter().map(|text| text.value.clone()).collect(),
        grid: None,
        grids: Vec::new(),
        blocks: wanted.blocks.clone().unwrap_or_default(),
        trips: wanted.trips.clone(),
        branch: wanted.branch.clone(),
        assume: wanted.assume.clone(),
        registers: told.registers,
        assembled: told.assembled,
        fields: wanted.fields.iter().map(field).collect(),
    })
}

/// The most threads of a block, if the entry says so.
fn most_threads(function: &Function) -> Option<i64> {
    function.largest_block.map(|b| b.iter().map(|n| i64::from(*n)).product())
}

/// The blocks that the entry may be launched with, of those that were asked for.
fn allowed(
    compiled: &Compiled,
    function: &Function,
    given: &Given,
) -> Result<(Vec<Block>, Vec<Diagnostic>), Diagnostic> {
    let required = required_block(function)?;
    let most = most_threads(function);
    let runs = |b: &&Block| required.is_none_or(|r| r == **b) && most.is_none_or(|most| b.volume() <= most);
    let kept: Vec<Block> = given.blocks.iter().filter(runs).copied().collect();
    let left = given.blocks.len() - kept.len();
    if kept.is_empty() || left == 0 {
        return Ok((blocks(function, &compiled.module, given)?, Vec::new()));
    }
    let why = match (required, most) {
        (Some(block), _) => format!("runs with blocks of {block} only (`.reqntid`)"),
        (None, most) => format!("runs with at most {} threads in a block (`.maxntid`)", most.unwrap_or(1024)),
    };
    let message =
        format!("{left} of {} blocks are left out: entry `{}` {why}", given.blocks.len(), function.name);
    Ok((kept, vec![Diagnostic::warning("code-blocks", Some(function.span), message)]))
}

/// An error for each access that could not be read.
fn refuse(compiled: &Compiled, function: &Function, readings: &[Reading]) -> Result<(), Vec<Diagnostic>> {
    let refused = |r: &&Reading| r.accesses.iter().any(|a| a.status == Status::Refused);
    let Some(reading) = readings.iter().find(refused) else { return Ok(()) };
    let all = reading.accesses.iter().filter(|a| a.status == Status::Refused);
    let errors = all.take(SHOWN).map(|access| {
        let why = access.why.as_deref().unwrap_or("the reason is not known");
        let (verb, space) = (verb(access.operation), space(access.space));
        let instruction = &function.instructions[access.instruction];
        let source = compiled.module.source_of(instruction).map_or(String::new(), |at| format!(" of {at}"));
        let message = format!("this {verb}{source} in {space} memory could not be read: {why}");
        Diagnostic::error("not-read", instruction.span, message)
            .help("`wavecast read` lists all accesses, `wavecast help ptx` says what helps; in documents `trips` and others are keys of `code`")
    });
    Err(errors.collect())
}

/// Fields whose elements the document makes larger than the code does.
fn compare_elements(given: &Given, readings: &[Reading], at: Span) -> Result<(), Vec<Diagnostic>> {
    let mut errors: Vec<Diagnostic> = Vec::new();
    for known in &given.fields {
        let read =
            readings.iter().flat_map(|r| &r.fields).filter(|f| f.name == known.name && f.space.is_none());
        if let Some(other) = read.map(|f| f.element).find(|element| *element != known.element) {
            let message = format!(
                "the field `{}` has elements of {} bytes, but the code touches it at multiples of {other} bytes",
                known.name, known.element
            );
            let help = format!("give it a `dtype` of {other} bytes, and as many more elements");
            errors.push(Diagnostic::error("code-element", at, message).help(help));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Says where the domain asks for more blocks than do anything.
fn idle(around: &Around<'_>, readings: &[Reading], at: Span) -> Option<Diagnostic> {
    let domain = around.domain.filter(|_| around.by_domain)?;
    let (d, size) = readings.iter().find_map(|r| {
        let idle = |d: &usize| {
            r.domain[*d].is_some_and(|size| (size - 1) / r.launch.block[*d] + 1 < r.launch.grid[*d])
        };
        (0..3).find(idle).and_then(|d| Some((d, r.domain[d]?)))
    })?;
    let axis = ['x', 'y', 'z'][d];
    let message = format!(
        "the domain has {} work items along {axis}, but the code does something in {size} threads only; with a thread for \
         each work item most blocks do nothing",
        domain[d]
    );
    let help = "say how many blocks there are with `launch.grid`";
    Some(Diagnostic::warning("code-grid", Some(at), message).help(help))
}

/// Accesses of which data decide whether they are done.
fn flagged(function: &Function, readings: &[Reading]) -> Vec<Diagnostic> {
    let data = readings[0].accesses.iter().filter(|a| a.status == Status::Data);
    let shown = data.take(SHOWN / 2).map(|access| {
        let why = access.why.as_deref().unwrap_or("data decide whether it is done");
        let span = function.instructions[access.instruction].span;
        Diagnostic::warning("code-data", Some(span), format!("{}: {why}", verb(access.operation)))
    });
    let notes = readings[0]
        .notes
        .iter()
        .map(|note| Diagnostic::warning("code-note", Some(function.span), note.as_str()));
    shown.chain(notes).collect()
}

/// All instructions of a text by their lines.
fn places(compiled: &Compiled) -> BTreeMap<u32, Span> {
    let all = compiled.module.functions.iter().flat_map(|f| &f.instructions);
    all.map(|i: &PtxInstruction| (i.line, i.span)).collect()
}

/// The lines of sources for those of accesses.
fn compiled_from(compiled: &Compiled, function: &Function, readings: &[Reading]) -> BTreeMap<u32, String> {
    let accesses =
        readings.iter().flat_map(|r| r.accesses.iter()).map(|a| &function.instructions[a.instruction]);
    accesses.filter_map(|i| Some((i.line, compiled.module.source_of(i)?))).collect()
}

/// Of each line of a document that was read, where it ends, and the place in the PTX of the line that it names.
fn placed_lines(text: &str, places: &BTreeMap<u32, Span>) -> Vec<(usize, Option<Span>)> {
    let mut end = 0;
    let line = |line: &str| {
        end += line.len();
        let place = line.trim_end().rsplit_once(LINE).and_then(|(_, place)| {
            // Behind a comma it says where that is in the source.
            places.get(&place.split(',').next()?.parse().ok()?).copied()
        });
        (end, place)
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Gives the nodes of statements the places of what they were read of.
struct Placing {
    file: FileId,
    lines: Vec<(usize, Option<Span>)>,
}

impl Placing {
    fn place(&self, node: &mut Node) {
        if let Some(span) = self.found(node.span) {
            node.span = span;
        }
        match &mut node.value {
            Value::Scalar(scalar) => {
                if let Some(span) = self.found(scalar.origin.span(0..0)) {
                    scalar.origin = Origin::whole(span);
                }
            }
            Value::List(items) => items.iter_mut().for_each(|item| self.place(item)),
            Value::Map(entries) => entries.iter_mut().for_each(|Entry { key_span, value, .. }| {
                *key_span = self.found(*key_span).unwrap_or(*key_span);
                self.place(value);
            }),
        }
    }

    /// The place in the PTX of what stands in a line that says which it is.
    fn found(&self, span: Span) -> Option<Span> {
        debug_assert_eq!(span.file, self.file);
        let line = self.lines.partition_point(|(end, _)| *end <= span.start as usize);
        self.lines.get(line)?.1
    }
}

/// The document, or its variants, each with where it was read.
fn apart(mut document: Node, code: &Code, warnings: &[Diagnostic]) -> Vec<CodeRead> {
    let mut variants = Vec::new();
    if let Value::Map(entries) = &mut document.value
        && let Some(at) = entries.iter().position(|e| e.key == "variants")
        && let Value::List(items) = entries.remove(at).value.value
    {
        variants = items;
    }
    let read = |variant, document, blocks| CodeRead {
        variant,
        document,
        code: Code { blocks, ..code.clone() },
        warnings: warnings.to_vec(),
    };
    if variants.is_empty() {
        return vec![read(None, document, code.blocks.clone())];
    }
    // There is a variant for each block, in their order.
    let one = |(mut variant, block): (Node, &Block)| {
        if let Value::Map(entries) = &mut variant.value {
            entries.retain(|e| e.key != "name");
        }
        let mut whole = document.clone();
        whole.merge(&variant);
        read(Some(block.to_string().replace('x', " x ")), whole, vec![*block])
    };
    variants.into_iter().zip(&code.blocks).map(one).collect()
}
