//! Texts of PTX: what they hold, and kernel documents read out of them. What is wrong comes as a `ValueError` whose
//! text is an error document; Python makes a `KernelError` of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

use wavecast::ask::{DeviceSource, hold};
use wavecast::cli::assembler::Assembler;
use wavecast::device;
use wavecast::ptx::agreement::{Reached, Undecided};
use wavecast::ptx::{Compiled, Given};
use wavecast::report::{ErrorDocument, entries_document, json_line, reading_document};
use wavecast::space::{Block, EmptyExtent, Grid};
use wavecast::text::Fault;

use crate::interrupt::interruptible;

/// A text of PTX that was parsed.
#[pyclass(frozen)]
pub struct Ptx(Arc<Compiled>);

#[pymethods]
impl Ptx {
    #[new]
    fn new(py: Python<'_>, name: String, text: String) -> PyResult<Self> {
        let compiled = interruptible(py, move || Compiled::new(&name, &text))?;
        compiled.map(|compiled| Self(Arc::new(compiled))).map_err(raised)
    }

    /// The entries, as `wavecast read FILE.ptx --format json` lists them.
    fn entries(&self) -> String {
        json_line(&entries_document(&self.0))
    }

    /// The blocks that an entry is read for.
    fn blocks(&self, entry: &str, blocks: Vec<[i64; 3]>) -> PyResult<Vec<[i64; 3]>> {
        let given = Given { blocks: sizes(blocks, Block::new)?, ..Given::default() };
        let found = self.0.blocks(Some(entry), &given).map_err(raised)?;
        Ok(found.into_iter().map(Into::into).collect())
    }

    /// What was read of an entry as JSON, and the kernel document, if all accesses could be read.
    #[pyo3(signature = (entry, args, blocks, grid, grids, trips, branch, assume, registers))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn read(
        &self,
        py: Python<'_>,
        entry: String,
        args: Vec<String>,
        blocks: Vec<[i64; 3]>,
        grid: Option<String>,
        grids: Vec<[i64; 3]>,
        trips: Vec<String>,
        branch: Vec<String>,
        assume: Vec<String>,
        registers: Option<u32>,
    ) -> PyResult<(String, Option<String>)> {
        let (blocks, grids) = (sizes(blocks, Block::new)?, sizes(grids, Grid::new)?);
        let given = Given { args, blocks, grid, grids, trips, branch, assume, registers, ..Given::default() };
        let compiled = Arc::clone(&self.0);
        let found = interruptible(py, move || -> Result<_, Fault> {
            let read = compiled.read(Some(&entry), &given)?;
            Ok((reading_document(&compiled, compiled.entry(Some(&entry))?, &read), read.document))
        })?;
        let (reading, document) = found.map_err(raised)?;
        Ok((json_line(&reading), document))
    }

    /// Runs so many threads of a document's launches, and compares what they touch: a list of what was found for each.
    /// Of what is `undecided`, by what it does, the field, the bytes and whether it may be anywhere, less may be done.
    fn hold(
        &self,
        py: Python<'_>,
        entry: String,
        args: Vec<String>,
        document: String,
        threads: usize,
        undecided: Vec<(String, String, u64, bool)>,
    ) -> PyResult<String> {
        let compiled = Arc::clone(&self.0);
        let held = move || {
            let undecided = undecided.iter().map(|(op, field, bytes, any)| (&**op, &**field, *bytes, *any));
            hold(&compiled, &entry, &args, &document, threads, &Undecided::new(undecided))
        };
        let all = interruptible(py, held)?.map_err(raised)?;
        let reached = |all: &[Reached]| -> Vec<String> {
            let said =
                |r: &Reached| format!("{} {} {} bytes at {}", r.operation.word(), r.field, r.bytes, r.offset);
            all.iter().map(said).collect()
        };
        let launches = all.iter().map(|(block, found)| {
            let differences = found.differences.iter().map(|d| {
                let (block, thread) = (<[i64; 3]>::from(d.block), <[i64; 3]>::from(d.thread));
                let (invented, missed) = (reached(&d.invented), reached(&d.missed));
                json!({"block_index": block, "thread": thread, "document_alone": invented, "program_alone": missed})
            });
            json!({
                "block": <[i64; 3]>::from(*block),
                "holds": found.holds(),
                "threads": found.threads,
                "accesses": found.accesses,
                "guessed": found.guessed,
                "undone": found.undone,
                "different": found.different,
                "differences": differences.collect::<Vec<_>>(),
            })
        });
        Ok(json_line(&launches.collect::<Vec<_>>()))
    }
}

/// What compilers call a device, such as `sm_80`.
#[pyfunction]
#[pyo3(signature = (name))]
pub fn device_target(name: Option<&str>) -> PyResult<Option<String>> {
    let source = match name {
        None => DeviceSource::default(),
        Some(path) if device::is_path(path) => {
            DeviceSource::of_text(path, std::fs::read_to_string(Path::new(path))?)
        }
        Some(name) => DeviceSource::named(name),
    };
    Ok(source.read(&[]).map_err(raised)?.target().cloned())
}

/// The path of the assembler that the command line asks for registers, if there is one.
#[pyfunction]
pub fn ptxas() -> Option<PathBuf> {
    Assembler::find().map(|assembler| assembler.path().to_owned())
}

/// Registers of a thread of an entry, and bytes that it stores because registers are missing; none if the assembler
/// does not take the text.
#[pyfunction]
#[pyo3(signature = (program, text, entry, target))]
pub fn assembled(
    py: Python<'_>,
    program: PathBuf,
    text: &str,
    entry: &str,
    target: &str,
) -> Option<(u32, u64)> {
    let found = py.detach(|| Assembler::at(program).assemble(text, entry, target)).ok()?;
    Some((found.registers, found.spilled.0))
}

/// Blocks or grids that Python gives as lists.
fn sizes<T>(lists: Vec<[i64; 3]>, size: fn([i64; 3]) -> Result<T, EmptyExtent>) -> PyResult<Vec<T>> {
    let all = lists.into_iter().map(|list| size(list).map_err(|e| PyValueError::new_err(e.to_string())));
    all.collect()
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn raised(fault: Fault) -> PyErr {
    PyValueError::new_err(json_line(&ErrorDocument::new([&fault])))
}
