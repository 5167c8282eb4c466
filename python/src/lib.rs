//! What the Python package `wavecast` calls: requests as JSON texts, the command line, what a thread touches, and
//! reading PTX. The rest of the package is Python, in `wavecast/`.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use wavecast::ask::Session;
use wavecast::cli;
use wavecast::device;
use wavecast::footprint::Engine;
use wavecast::report::View;

mod interrupt;
mod objects;
mod ptx;
mod thread;

use interrupt::interruptible;
use objects::object;

/// What takes no longer than this is done by the thread that asks: to hand it to another and to wait for that takes
/// longer than most predictions. Ctrl-C waits meanwhile.
const SOON: Duration = Duration::from_millis(2);
/// Longest request that may be read there.
const BRIEF: usize = 32 << 10;

/// Result and error.
type Answered<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// Kernels and devices that were read, for all threads.
#[pyclass(frozen, name = "Session")]
struct PySession(Arc<Session>);

#[pymethods]
impl PySession {
    #[new]
    fn new() -> Self {
        Self(Arc::new(Session::new(None)))
    }

    /// Answers a request as `wavecast serve` does: what it has as `result`, and what it has as `error`. Other Python
    /// threads run meanwhile, and Ctrl-C ends the wait.
    fn answer<'py>(&self, py: Python<'py>, request: String) -> PyResult<Answered<'py>> {
        let soon =
            (request.len() <= BRIEF).then(|| py.detach(|| self.0.answer_soon(&request, SOON))).flatten();
        let found = if let Some(found) = soon {
            found
        } else {
            let session = Arc::clone(&self.0);
            interruptible(py, move || session.answer_to(&request))?
        };
        let result = found.result.map(|documents| object(py, &documents)).transpose()?;
        Ok((result, found.error.map(|error| object(py, &error)).transpose()?))
    }

    /// What a person is told instead: a text for each document of the answer.
    fn texts(&self, py: Python<'_>, request: String) -> PyResult<Vec<String>> {
        let session = Arc::clone(&self.0);
        interruptible(py, move || session.texts(&request, View::default()))
    }
}

/// What a thread of a launch loads and stores: kind, field and element offsets.
#[pyfunction]
#[pyo3(signature = (text, overrides, block, fold, block_index, thread))]
fn touches(
    py: Python<'_>,
    text: String,
    overrides: Vec<String>,
    block: [i64; 3],
    fold: [i64; 3],
    block_index: [i64; 3],
    thread: [i64; 3],
) -> PyResult<Vec<thread::Touched>> {
    interruptible(py, move || thread::touched(&text, overrides, block, fold, block_index, thread))?
        .map_err(PyValueError::new_err)
}

/// Runs the command line; the first argument is the name of the program.
#[pyfunction]
// PyO3 hands over what it made of a Python list.
#[allow(clippy::needless_pass_by_value)]
fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    // An exit code does not say its number, but there are three of them.
    let code = py.detach(|| cli::main(&arguments));
    (0..3).find(|n| std::process::ExitCode::from(*n) == code).map_or(2, i32::from)
}

/// What came of a command: its exit status, its output, the result for a person, what was said, and errors as JSON.
type Ran = (u8, String, Option<String>, String, Option<String>);

/// Runs a command line whose output is handed over. Other Python threads run meanwhile, and Ctrl-C ends the wait.
#[pyfunction]
fn run(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Ran> {
    let found = interruptible(py, move || cli::captured(&arguments))?;
    let output = String::from_utf8_lossy(&found.output).into_owned();
    Ok((found.status, output, found.text, found.said, found.errors))
}

/// The ids of the devices that come with Wavecast.
#[pyfunction]
fn devices() -> Vec<&'static str> {
    device::ids().collect()
}

/// What this build can do.
#[pyfunction]
fn features() -> Vec<(&'static str, bool)> {
    Engine::ALL.iter().map(|e| (e.word(), e.is_built())).collect()
}

#[pymodule]
fn _wavecast(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<PySession>()?;
    module.add_class::<ptx::Ptx>()?;
    module.add_function(wrap_pyfunction!(ptx::device_target, module)?)?;
    module.add_function(wrap_pyfunction!(ptx::ptxas, module)?)?;
    module.add_function(wrap_pyfunction!(ptx::assembled, module)?)?;
    module.add_function(wrap_pyfunction!(touches, module)?)?;
    module.add_function(wrap_pyfunction!(command_line, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(devices, module)?)?;
    module.add_function(wrap_pyfunction!(features, module)?)
}
