//! What a single thread loads and stores: how an adapter's document is held against its generator.

use std::collections::BTreeSet;

use wavecast::ask::KernelSource;
use wavecast::kernel::Options;
use wavecast::launch::{Candidate, Launch, Program, visit_thread};
use wavecast::space::Block;

/// Kind, field and element offset from the field's base, without the field's own offset.
pub type Touched = (&'static str, String, i64);

/// Most steps of a thread.
const STEPS: usize = 1 << 20;

/// Everything a thread touches, each element once.
pub fn touched(
    text: &str,
    set: Vec<String>,
    block: [i64; 3],
    fold: [i64; 3],
    block_index: [i64; 3],
    thread: [i64; 3],
) -> Result<Vec<Touched>, String> {
    let options = Options { set, ..Options::default() };
    let blocks = vec![Block::new(block).map_err(|e| e.to_string())?];
    let source = KernelSource { options, blocks, ..KernelSource::new("kernel", text) };
    let loaded = source.read().map_err(|fault| fault.to_string())?.into_loaded();
    let [kernel] = loaded.kernels.as_slice() else {
        return Err(format!("one kernel expected, found {}", loaded.kernels.len()));
    };
    let candidate = Candidate::new(block, fold).map_err(|e| e.to_string())?;
    let launch = Launch::new(kernel, candidate).map_err(|e| e.to_string())?;
    let program = Program::placed(kernel, candidate).map_err(|e| e.to_string())?;
    let program = program.at(&launch).map_err(|e| e.to_string())?;
    let mut all = BTreeSet::new();
    let mut add = |kind: &'static str, field: String, element: i64| {
        all.insert((kind, field, element));
    };
    let shape = candidate.block();
    visit_thread(&program, kernel.extents(), shape, block_index.into(), thread.into(), STEPS, &mut |touch| {
        let instruction = touch.instruction;
        add(instruction.kind.verb(), kernel.field(instruction.field).name().clone(), touch.element);
    })
    .map_err(|e| e.to_string())?;
    Ok(all.into_iter().collect())
}
