//! Arguments that choose an entry of PTX and say how it is launched.

use std::path::Path;
use std::sync::Arc;

use clap::Args;

use super::failure::Failure;
use super::files;
use super::input::read_text;
use crate::ask::{EntryGrid, EntrySource, KernelSource};
use crate::kernel::Limits;
use crate::ptx::run::npy;
use crate::space::Block;

#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(super) struct EntryArguments {
    /// For PTX: the kernel (`.entry`), if there are several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// For PTX: what a parameter gets, by its name or its number from 0: a number, or a field such as x:f32[1024];
    /// parameters of 8 bytes that are not named are pointers to fields of their own names (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub arg: Vec<String>,
    /// For PTX: blocks of the grid, as in '64,8' or 'ceil(arg0 / blockDim.x)'; by default what follows from the kernel's
    /// bounds
    #[arg(long, value_name = "EXPR")]
    pub grid: Option<String>,
    /// For PTX: bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES")]
    pub shared: Option<u64>,
    /// For PTX: what a field holds, as numpy.save wrote it (repeatable)
    #[arg(long, value_name = "FIELD=FILE.npy")]
    pub data: Vec<String>,
}

impl EntryArguments {
    /// The entry of a file of PTX.
    pub(super) fn source(&self, path: &str, block: Option<Block>) -> Result<EntrySource, Failure> {
        let (name, text) = read_text(path, Limits::default(), false)?;
        self.with(EntrySource {
            name: Arc::from(name),
            text: Arc::from(text),
            entry: None,
            arguments: Vec::new(),
            data: Vec::new(),
            block,
            grid: EntryGrid::Follows,
            sizes: Vec::new(),
            shared: 0,
        })
    }

    /// The code of a document, if it has some.
    pub(super) fn of_document(
        &self,
        source: &KernelSource,
        block: Option<Block>,
    ) -> Result<Option<EntrySource>, Failure> {
        EntrySource::of_document(source, block)?.map(|source| self.with(source)).transpose()
    }

    /// The same with what the arguments say.
    fn with(&self, source: EntrySource) -> Result<EntrySource, Failure> {
        let mut data = Vec::new();
        for given in &self.data {
            let Some((field, file)) = given.split_once('=') else {
                let message = format!("`--data {given}` is not FIELD=FILE.npy");
                return Err(Failure::message("usage", message, None));
            };
            let array = npy(&files::read(Path::new(file))?);
            let array = array.map_err(|e| Failure::message("no-array", format!("{file}: {e}"), None))?;
            data.push((field.to_owned(), array.data));
        }
        Ok(EntrySource {
            entry: self.entry.clone().or(source.entry),
            arguments: [source.arguments, self.arg.clone()].concat(),
            data,
            grid: self.grid.clone().map_or(source.grid, EntryGrid::Said),
            shared: self.shared.unwrap_or(source.shared),
            ..source
        })
    }
}
