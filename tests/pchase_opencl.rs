//! The `OpenCL` pointer chase compiles, goes through its array as it should, and writes what `cache-probe` reads.
//! Skipped with a message where there is no C compiler, no `OpenCL` or no Oclgrind.

use std::path::Path;
use std::process::{Command, Output};

use wavecast::probe::{ChaseOrder, LogDefaults, Logs, read_logs};

fn run(program: &str, arguments: &[&str], folder: &Path) -> Option<Output> {
    Command::new(program).args(arguments).current_dir(folder).output().ok()
}

#[test]
fn the_chase_goes_through_its_array() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tracer/pchase");
    let binary = std::env::temp_dir().join(format!("wavecast-pchase-{}", std::process::id()));
    let binary = binary.to_str().unwrap();
    if run("oclgrind", &["--version"], &folder).is_none_or(|o| !o.status.success()) {
        println!("skipped: there is no oclgrind (apt-get install oclgrind ocl-icd-opencl-dev)");
        return;
    }
    let built = run("cc", &["-O2", "-Wall", "-o", binary, "pchase_cl.c", "-lOpenCL"], &folder);
    let Some(built) = built.filter(|b| b.status.success()) else {
        println!("skipped: pchase_cl.c needs a C compiler and ocl-icd-opencl-dev to be built");
        return;
    };
    assert!(built.stderr.is_empty(), "{}", String::from_utf8_lossy(&built.stderr));
    let log = |arguments: &[&str]| -> String {
        let output = run("oclgrind", &[&[binary][..], arguments].concat(), &folder).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let mut logs = Logs::default();
    for arguments in [&["--n", "96", "--stride", "8", "--rounds", "3"][..], &["--n", "96", "--stride", "-8"]]
    {
        read_logs("log", log(arguments).as_bytes(), LogDefaults::default(), &mut logs).unwrap();
    }
    let indices = |logs: &Logs, run: usize| logs.runs[run].loads.iter().map(|l| l.index).collect::<Vec<_>>();
    assert_eq!(indices(&logs, 0), (0..36).map(|i| i % 12 * 8).collect::<Vec<_>>());
    assert_eq!(indices(&logs, 1)[..3], [95, 87, 79]);
    read_logs(
        "log",
        log(&["--n", "64", "--stride", "8", "--shuffled"]).as_bytes(),
        LogDefaults::default(),
        &mut logs,
    )
    .unwrap();
    assert_eq!(logs.runs[2].order, ChaseOrder::Shuffled);
    let mut round = indices(&logs, 2)[..16].to_vec();
    round.sort_unstable();
    let two = (0..16).map(|i| i / 2 * 8 + i % 2);
    assert_eq!(round, two.collect::<Vec<_>>(), "two elements of each line, once, that no sector parts");
    let scattered = log(&["--n", "64", "--stride", "-8", "--scattered", "--rounds", "2"]);
    read_logs("log", scattered.as_bytes(), LogDefaults::default(), &mut logs).unwrap();
    assert_eq!(logs.runs[3].order, ChaseOrder::Scattered);
    let round = indices(&logs, 3);
    assert_eq!(round[..8], round[8..]);
    let strides: Vec<u32> = round[..8].iter().map(|i| i / 8).collect();
    assert_eq!(strides, [7, 6, 5, 4, 3, 2, 1, 0], "one element of each stride, backwards");
    assert!(round.iter().any(|i| i % 8 != round[0] % 8), "at random places");
    read_logs("sizes", log(&["--sizes", "2"]).as_bytes(), LogDefaults::default(), &mut logs).unwrap();
    assert_eq!(logs.sizes.len(), 2);
    let _ = std::fs::remove_file(binary);
}
