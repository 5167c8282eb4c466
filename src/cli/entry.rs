//! Arguments that choose an entry of PTX and say how it is launched.

use std::path::Path;
use std::sync::Arc;

use clap::Args;

use super::failure::Failure;
use super::files;
use super::input::read_text;
use crate::ask::EntrySource;
use crate::kernel::Limits;
use crate::ptx::run::npy;
use crate::space::{Block, Grid};

#[derive(Debug, Clone, Default, Args)]
pub(super) struct EntryArguments {
    /// For PTX: the entry, if there are several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// For PTX: what a parameter gets, by its name or its number from 0: a number, or a field such as x:f32[1024];
    /// parameters of 8 bytes that are not named are pointers to fields of their own names (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub arg: Vec<String>,
    /// For PTX: blocks of the grid
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_grid)]
    pub grid: Option<Grid>,
    /// For PTX: bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub shared: u64,
    /// For PTX: what a field holds, as numpy.save wrote it (repeatable)
    #[arg(long, value_name = "FIELD=FILE.npy")]
    pub data: Vec<String>,
}

fn parse_grid(text: &str) -> Result<Grid, String> {
    let wrong = || "at most three numbers from 1 on, as in 64,8".to_owned();
    let mut extents = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(wrong());
    }
    for (extent, part) in extents.iter_mut().zip(parts) {
        *extent = part.trim().parse().ok().filter(|&n: &i64| n <= i64::from(u32::MAX)).ok_or_else(wrong)?;
    }
    Grid::new(extents).map_err(|_| wrong())
}

impl EntryArguments {
    /// The entry of a file of PTX.
    pub(super) fn source(&self, path: &str, block: Option<Block>) -> Result<EntrySource, Failure> {
        let (name, text) = read_text(path, Limits::default(), false)?;
        let Some(grid) = self.grid else {
            let message = "nothing says how many blocks of the kernel there are".to_owned();
            return Err(Failure::message("usage", message, Some("give --grid X,Y,Z")));
        };
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
            name: Arc::from(name),
            text: Arc::from(text),
            entry: self.entry.clone(),
            arguments: self.arg.clone(),
            data,
            block,
            grid,
            shared: self.shared,
        })
    }
}
