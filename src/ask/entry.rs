//! Entries of PTX that are run: where they come from, and with what.

use std::sync::Arc;

use super::asker::fault;
use crate::ptx::run::{Field, Machine, NotRun, Sizes, given};
use crate::ptx::syntax::{Module, parse};
use crate::space::{Block, Grid};
use crate::text::{Fault, Sources};

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
    pub grid: Grid,
    /// Bytes of dynamic shared memory.
    pub shared: u64,
}

impl EntrySource {
    /// The entry, ready to be run; and its name.
    pub fn machine(&self) -> Result<(Machine, String), Fault> {
        let mut sources = Sources::default();
        let file = sources.add(&*self.name, &*self.text);
        let module = parse(&self.text, file).map_err(|d| Fault::new(vec![d], Arc::new(sources)))?;
        let entry = self.chosen(&module)?;
        let machine = self.with_entry(&module, &entry);
        let machine = machine.map_err(|e| fault("not-run", format!("{}: {e}", self.name), None))?;
        Ok((machine, entry))
    }

    fn chosen(&self, module: &Module) -> Result<String, Fault> {
        let names: Vec<&str> = module.entries().map(|e| e.name.as_str()).collect();
        match (&self.entry, names.as_slice()) {
            (Some(name), names) if names.contains(&name.as_str()) => Ok(name.clone()),
            (None, [one]) => Ok((*one).to_owned()),
            (_, []) => Err(fault("no-entry", format!("{}: there is no entry in it", self.name), None)),
            (given, names) => {
                let message = match given {
                    Some(name) => format!("{}: there is no entry `{name}`", self.name),
                    None => format!("{}: there are {} entries in it", self.name, names.len()),
                };
                let shown: Vec<&str> = names.iter().take(20).copied().collect();
                Err(fault("no-entry", message, Some(&format!("name one with --entry: {}", shown.join(", ")))))
            }
        }
    }

    fn with_entry(&self, module: &Module, name: &str) -> Result<Machine, NotRun> {
        let entry =
            module.entries().find(|e| e.name == name).ok_or_else(|| NotRun::NoEntry(name.to_owned()))?;
        let (arguments, mut fields) = given(entry, &self.arguments)?;
        for (name, data) in &self.data {
            let field: &mut Field = fields.iter_mut().find(|f| f.name == *name).ok_or_else(|| {
                NotRun::Arguments(format!("no argument points to a field `{name}` that has data"))
            })?;
            *field = field.clone().with_data(data.clone());
        }
        let demanded = entry.required_block.map(|b| b.map(i64::from)).and_then(|b| Block::new(b).ok());
        let block = match (self.block, demanded) {
            (Some(given), Some(demanded)) if given != demanded => {
                let message = format!("`{name}` has to be launched with blocks of {demanded} (.reqntid)");
                return Err(NotRun::Arguments(message));
            }
            (given, demanded) => given.or(demanded),
        };
        let block = block
            .ok_or_else(|| NotRun::Arguments("nothing says how large a block is: give --block".to_owned()))?;
        Machine::new(module, name, &arguments, fields, &Sizes { block, grid: self.grid, shared: self.shared })
    }
}
