//! Same input, same bytes: whatever the number of threads, and every time.

mod program;

use program::{stdout, wavecast};

#[test]
fn the_number_of_threads_changes_nothing() {
    for kernel in ["kernels/star3d25.yaml", "kernels/transpose-tiled.yaml", "kernels/polybench-gemm.yaml"] {
        for format in ["json", "csv"] {
            let with = |jobs: &str| {
                let arguments = ["rank", kernel, "-d", "mi210", "--format", format, "--jobs", jobs];
                let output = wavecast(&arguments, "");
                assert!(output.status.success());
                stdout(&output)
            };
            let one = with("1");
            for jobs in ["2", "7", "7"] {
                assert!(with(jobs) == one, "{kernel}, {format}: {jobs} threads give other bytes than one");
            }
        }
    }
}

#[test]
fn the_order_of_candidates_changes_no_number() {
    let arguments = ["rank", "kernels/star3d7.yaml", "-d", "v100", "--fold", "1", "--format", "csv"];
    let with = |blocks: [&str; 3]| {
        let blocks = blocks.iter().flat_map(|b| ["--block", *b]);
        stdout(&wavecast(&arguments.into_iter().chain(blocks).collect::<Vec<_>>(), ""))
    };
    let ranking = with(["32,8,2", "256,2,1", "8,8,8"]);
    assert_eq!(ranking, with(["8,8,8", "32,8,2", "256,2,1"]));
    assert_eq!(ranking.lines().count(), 4);
}
