//! Entries of PTX that are run: where they come from, and with what.

use std::sync::Arc;

use super::asker::fault;
use super::code::text_of;
use super::source::KernelSource;
use crate::expr::{Excess, LaunchSizes};
use crate::kernel::{CodeRequest, requests};
use crate::ptx::run::{EntryField, EntryNotRun, Machine, Sizes, given};
use crate::ptx::syntax::Module;
use crate::ptx::{Compiled, Given};
use crate::space::{Block, Grid};
use crate::text::{Fault, Sources, Spanned};

/// An entry of PTX, and how it is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySource {
    /// What messages call the text.
    pub name: Arc<str>,
    /// PTX.
    pub text: Arc<str>,
    /// The entry; not needed where there is only one.
    pub entry: Option<String>,
    /// Its arguments, as `NAME=VALUE`: see [`given`].
    pub arguments: Vec<String>,
    /// What fields hold, by their names.
    pub data: Vec<(String, Vec<u8>)>,
    /// Threads of a block; not needed where the entry demands a certain one.
    pub block: Option<Block>,
    /// Blocks of the grid.
    pub grid: EntryGrid,
    /// Bytes of fields of which more is known than the arguments say, by their names.
    pub sizes: Vec<(String, u64)>,
    /// Bytes of dynamic shared memory.
    pub shared: u64,
}

/// The grid of an entry that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryGrid {
    /// So many blocks.
    Known(Grid),
    /// An expression of parameters and blockDim, as `Given` has it.
    Said(String),
    /// What follows from the bounds of the kernel.
    Follows,
}

impl EntrySource {
    /// The code that the documents of a text have, if they have some; launched with this block, or the first that they
    /// name.
    pub fn of_document(source: &KernelSource, block: Option<Block>) -> Result<Option<Self>, Fault> {
        let all = requests(&source.name, &source.text, &source.options)?;
        let meant = |name: &Option<String>| {
            source.variants.is_empty() || name.as_ref().is_some_and(|name| source.variants.contains(name))
        };
        let mut wanted = all.into_iter().filter(|(name, _)| meant(name)).filter_map(|(_, wanted)| wanted);
        let Some(wanted_one) = wanted.next() else { return Ok(None) };
        let others = wanted.count() + wanted_one.ptx.len() - 1;
        let [ptx] = wanted_one.ptx.as_slice() else { return Err(several(&source.name, others + 1)) };
        if others > 0 {
            return Err(several(&source.name, others + 1));
        }
        Self::of_request(source, &wanted_one, ptx, block).map(Some)
    }

    fn of_request(
        source: &KernelSource,
        wanted: &CodeRequest,
        ptx: &Spanned<String>,
        block: Option<Block>,
    ) -> Result<Self, Fault> {
        let placed = |wrong| {
            let mut sources = Sources::new();
            sources.add(&*source.name, &*source.text);
            Fault::new(vec![wrong], Arc::new(sources))
        };
        let (name, text) =
            text_of(ptx, source.folder.as_ref(), source.options.limits.document_bytes).map_err(placed)?;
        let block = block.or_else(|| wanted.blocks.as_ref()?.first().copied());
        let beyond = |why: Excess| fault("not-run", format!("{}: {why}", source.name), None);
        let grid = match (&wanted.grid, wanted.domain, block) {
            (Some(grid), _, Some(block)) => {
                let grid = grid.at(block).map_err(beyond)?;
                let none = |_| fault("not-run", format!("{}: a grid without blocks", source.name), None);
                EntryGrid::Known(Grid::new(grid).map_err(none)?)
            }
            (None, Some(domain), Some(block)) => EntryGrid::Known(domain.blocks_of(block)),
            _ => EntryGrid::Follows,
        };
        let sizes = LaunchSizes { block: block.unwrap_or(Block::ONE), grid: Grid::ONE };
        let shared = wanted.shared.as_ref().map_or(Ok(0), |bytes| bytes.at(&sizes)).map_err(beyond)?;
        Ok(Self {
            name: Arc::from(name),
            text: Arc::from(text),
            entry: wanted.entry.clone(),
            arguments: wanted.args.iter().map(|text| text.value.clone()).collect(),
            data: Vec::new(),
            block,
            grid,
            sizes: wanted.fields.iter().map(|f| (f.name.clone(), f.bytes)).collect(),
            shared: u64::try_from(shared).map_err(|_| {
                fault("not-run", format!("{}: shared memory of {shared} bytes", source.name), None)
            })?,
        })
    }

    /// The entry, ready to be run; and its name.
    pub fn machine(&self) -> Result<(Machine, String), Fault> {
        let compiled = Compiled::new(&self.name, &self.text)?;
        let entry = compiled.entry(self.entry.as_deref())?.name.clone();
        let wrong = |e: EntryNotRun| fault("not-run", format!("{}: {e}", self.name), None);
        let block = self.block_of(&compiled.module, &entry).map_err(wrong)?;
        let grid = match &self.grid {
            EntryGrid::Known(grid) => *grid,
            said => {
                let text = if let EntryGrid::Said(text) = said { Some(text.clone()) } else { None };
                let given = Given { args: self.arguments.clone(), grid: text, ..Given::default() };
                compiled.grid(Some(&entry), &given, block)?
            }
        };
        let machine = self.with_entry(&compiled.module, &entry, block, grid).map_err(wrong)?;
        Ok((machine, entry))
    }

    fn block_of(&self, module: &Module, name: &str) -> Result<Block, EntryNotRun> {
        let entry =
            module.entries().find(|e| e.name == name).ok_or_else(|| EntryNotRun::NoEntry(name.to_owned()))?;
        let demanded = entry.required_block.map(|b| b.map(i64::from)).and_then(|b| Block::new(b).ok());
        let block = match (self.block, demanded) {
            (Some(given), Some(demanded)) if given != demanded => {
                let message = format!("`{name}` has to be launched with blocks of {demanded} (.reqntid)");
                return Err(EntryNotRun::Arguments(message));
            }
            (given, demanded) => given.or(demanded),
        };
        block.ok_or_else(|| {
            let message = "nothing says how large a block is: give --block, or `launch.block` in a document";
            EntryNotRun::Arguments(message.to_owned())
        })
    }

    fn with_entry(
        &self,
        module: &Module,
        name: &str,
        block: Block,
        grid: Grid,
    ) -> Result<Machine, EntryNotRun> {
        let entry =
            module.entries().find(|e| e.name == name).ok_or_else(|| EntryNotRun::NoEntry(name.to_owned()))?;
        let (arguments, mut fields) = given(entry, &self.arguments)?;
        for (name, bytes) in &self.sizes {
            for field in fields.iter_mut().filter(|f| f.name == *name) {
                field.bytes = field.bytes.or(Some(*bytes));
            }
        }
        for (name, data) in &self.data {
            let field: &mut EntryField = fields.iter_mut().find(|f| f.name == *name).ok_or_else(|| {
                EntryNotRun::Arguments(format!("no argument points to a field `{name}` that has data"))
            })?;
            *field = field.clone().with_data(data.clone());
        }
        Machine::new(module, name, &arguments, fields, &Sizes { block, grid, shared: self.shared })
    }
}

fn several(name: &str, count: usize) -> Fault {
    let message = format!("{name}: there are {count} kernels in it; one at a time is run");
    fault("usage", message, Some("choose one, with --variant if they are variants"))
}
