//! Running kernels in PTX: the kernels of tests/ptx, thread by thread.

mod ptx_cases;

use ptx_cases::{Case, cases};
use wavecast::ptx::run::{EntryNotRun, ThreadEvent, Who};

/// More than any of them takes.
const STEPS: u64 = 20_000_000;

/// How many accesses there are in some blocks of all launches, and how many of them rest on what is not known.
fn accesses(case: &Case) -> (u64, u64) {
    let (mut all, mut unsure) = (0, 0);
    for launch in &case.launches {
        let machine = case.machine(launch);
        let mut run = machine.start(STEPS);
        for block in launch.some_blocks() {
            let done = run.block(block.into(), Who::All, &mut |_, event| match event {
                ThreadEvent::Access(access) => {
                    all += 1;
                    unsure += u64::from(!access.sure);
                }
                ThreadEvent::Guess { .. } => unsure += 1,
                _ => {}
            });
            done.unwrap_or_else(|e| panic!("{} {launch:?}: {e}", case.ptx));
        }
    }
    (all, unsure)
}

#[test]
fn all_kernels_run_and_say_what_needs_data() {
    let (mut needy, mut recursive) = (0, 0);
    for case in cases() {
        if let Err(EntryNotRun::Recursion(_)) = case.machine_or_why(&case.launches[0]) {
            recursive += 1;
            continue;
        }
        let (all, unsure) = accesses(&case);
        assert!(all > 0, "{}", case.ptx);
        let known = case.fields.iter().any(|f| f.data.is_some());
        match case.expect.as_str() {
            "affine" | "uneven" => assert_eq!(unsure, 0, "{}", case.ptx),
            // Not all of them have data in the list.
            _ if known => assert_eq!(unsure, 0, "{}", case.ptx),
            _ => {}
        }
        if matches!(case.expect.as_str(), "data" | "guard") {
            let mut without = case.clone();
            without.fields.iter_mut().for_each(|f| f.data = None);
            let (_, unsure) = accesses(&without);
            assert!(unsure > 0, "{} does not need its data", case.ptx);
            needy += 1;
        }
    }
    assert!(needy >= 10);
    assert_eq!(recursive, 1, "functions that call themselves are refused");
}
