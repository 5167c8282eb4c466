//! Running kernels in PTX: the kernels of tests/ptx, thread by thread.

mod ptx_cases;

use ptx_cases::{Case, cases};
use wavecast::ptx::run::{Event, Who};

/// More than any of them takes.
const STEPS: u64 = 20_000_000;

/// What the threads of the launch's blocks do, of as many as are worth it.
fn each_block(case: &Case, mut look: impl FnMut(&str, u32, Event)) {
    for launch in &case.launches {
        let machine = case.machine(launch);
        let mut run = machine.start(STEPS);
        for block in launch.some_blocks() {
            let done = run.block(block.into(), Who::All, &mut |thread, event| look("", thread, event));
            done.unwrap_or_else(|e| panic!("{} {launch:?}: {e}", case.ptx));
        }
    }
}

#[test]
fn all_kernels_run() {
    for case in cases() {
        let (mut accesses, mut unsure) = (0_u64, 0_u64);
        each_block(&case, |_, _, event| {
            if let Event::Access(access) = event {
                accesses += 1;
                unsure += u64::from(!access.sure);
            }
        });
        assert!(accesses > 0, "{}", case.ptx);
        println!("{} {accesses} {unsure}", case.ptx);
    }
}
