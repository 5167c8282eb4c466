//! What `explain` says agrees with what `predict` and `rank` say, and its parts add up.

use std::process::Command;
use std::sync::atomic::AtomicUsize;

use wavecast::device::{self, Device};
use wavecast::kernel::{Kernel, load};
use wavecast::launch::{Candidate, Chosen, candidates};
use wavecast::predict::{Choice, Estimator, Explanation, explain};
use wavecast::quantity::{Amount, Bytes, Cycles, ItemsPerSecond, Share};
use wavecast::report::{ExplanationDocument, explanation_document};

fn kernel(name: &str) -> Kernel {
    let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    load(name, &text, &Default::default()).unwrap().kernels.remove(0)
}

fn device(name: &str) -> Device {
    device::find(name, &[]).unwrap()
}

fn explained(estimator: &Estimator<'_>, candidate: Candidate) -> Explanation {
    let others = candidates(estimator.kernel).map(|candidate| Choice { kernel: 0, candidate });
    let others: Vec<Choice> = others.collect();
    let choice = Choice { kernel: 0, candidate };
    explain(std::slice::from_ref(estimator), choice, &others, &AtomicUsize::new(0)).unwrap()
}

fn document(estimator: &Estimator<'_>, candidate: Candidate) -> ExplanationDocument {
    let chosen = Chosen::new(estimator.kernel, Some(candidate.block()), Some(candidate.fold()));
    let found = explained(estimator, candidate);
    explanation_document(std::slice::from_ref(estimator), 0, &found, &chosen, Vec::new())
}

fn near<Unit, Per>(a: Amount<Unit, Per>, b: Amount<Unit, Per>) -> bool {
    let (a, b) = (a.get(), b.get());
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
}

/// Launches of different kinds: stencil, folded, narrow, shared memory, several arrays, a further cache.
fn samples() -> [(&'static str, &'static str, Candidate); 6] {
    let of = |block, fold| Candidate::new(block, fold).unwrap();
    [
        ("star3d25", "v100", of([2, 128, 4], [1; 3])),
        ("star3d25", "a100-40gb", of([16, 2, 32], [1, 1, 2])),
        ("laplap2d", "h200", of([64, 4, 1], [1; 3])),
        ("matmul-tiled", "a100-40gb", of([16, 16, 1], [1; 3])),
        ("lbm-d3q19", "v100", of([64, 1, 1], [1; 3])),
        ("allen-cahn-d3q15", "mi300x", of([128, 1, 1], [1; 3])),
    ]
}

#[test]
fn parts_add_up() {
    for (name, on, candidate) in samples() {
        let (kernel, device) = (kernel(name), device(on));
        let found = explained(&Estimator::new(&kernel, &device), candidate);
        let volumes = &found.prediction.volumes;
        let cycles: Cycles<_> = found.accesses.iter().map(|a| a.cost.cycles).sum();
        let all = volumes.l1.wavefront_cycles;
        assert!(near(cycles, all), "{name}: {cycles} cycles of {all}");
        let [_, l2, .., dram] = found.levels.as_slice() else { panic!("{name}: {:?}", found.levels) };
        assert_eq!(found.levels.len(), 3 + usize::from(device.llc().is_some()));
        for level in &found.levels[1..] {
            let of = level.loads.unwrap();
            let sum = of.unavoidable + of.lost_x + of.lost_y + of.lost_z + of.lost_within + of.fill;
            assert!(near(level.load_bytes, sum), "{name}: {level:?}");
        }
        assert!(near(dram.load_bytes, volumes.dram.load.total) && near(l2.load_bytes, volumes.l2.load.total));
        // What is unavoidable is what the time model takes for first loads.
        assert!(near(dram.loads.unwrap().unavoidable, volumes.first_loads), "{name}: {dram:?}");
        for layer in found.layers {
            assert!(layer.lost_bytes <= layer.reusable_bytes * (1.0 + 1e-9), "{name}: {layer:?}");
        }
    }
}

#[test]
fn no_access_needs_more_alone_than_all_do() {
    for (name, on, candidate) in samples() {
        let (kernel, device) = (kernel(name), device(on));
        let found = explained(&Estimator::new(&kernel, &device), candidate);
        let v = &found.prediction.volumes;
        let footprints = &found.prediction.footprints().fields;
        let block: Bytes<_> = footprints.iter().map(|f| f.mean_block_load).sum();
        let wave: Bytes<_> = footprints.iter().map(|f| f.wave_load).sum();
        let mut sums = [Bytes::ZERO; 2];
        for a in &found.accesses {
            let alone = a.cost.alone.unwrap();
            sums[0] += alone.block_load_bytes;
            sums[1] += alone.wave_load_bytes;
            assert!(alone.l2_bytes <= v.l2.total() + Bytes::new(1e-9), "{name}: {a:?}");
            assert!(alone.dram_bytes <= v.dram.total() + Bytes::new(1e-9), "{name}: {a:?}");
        }
        // What only one access touches is touched by one: these sets are disjoint.
        assert!(sums[0] <= block * (1.0 + 1e-9), "{name}: {} of {block}", sums[0]);
        assert!(sums[1] <= wave * (1.0 + 1e-9), "{name}: {} of {wave}", sums[1]);
    }
}

/// Blocks 4 deep, loads 4 before and 4 behind: the farthest plane of each side is touched by one load
/// only, 8 bytes for every 4 cells.
#[test]
fn the_outermost_loads_of_a_star_own_a_plane_each() {
    let (kernel, device) = (kernel("star3d25"), device("v100"));
    let estimator = Estimator::new(&kernel, &device);
    let document = document(&estimator, Candidate::new([2, 128, 4], [1; 3]).unwrap());
    for at in ["src[x, y, z - 4]", "src[x, y, z + 4]"] {
        let access = document.accesses.iter().find(|a| a.at == at).unwrap();
        let alone = access.cost.alone.unwrap();
        // Of 2 cells of a row a block uses half a sector: twice as much.
        assert!(
            near(alone.block_load_bytes, Bytes::new(4.0)) && near(alone.wave_load_bytes, Bytes::new(2.0)),
            "{alone:?}"
        );
    }
    let center = document.accesses.iter().find(|a| a.at == "src[x, y, z]").unwrap().cost.alone.unwrap();
    assert!(center.block_load_bytes.get().abs() < 1e-12 && center.wave_load_bytes.get().abs() < 1e-12);
    assert_eq!(document.halos[0].reach, [Some(8); 3]);
    assert_eq!(document.wave_extent, [320, 128, 4]);
    let unavoidable = document.levels.last().unwrap().loads.unwrap().unavoidable;
    assert!((unavoidable.get() - 8.0).abs() < 0.1, "{unavoidable}");
}

#[test]
fn bytes_used_are_those_that_lanes_ask_for() {
    let (kernel, device) = (kernel("stream-copy"), device("v100"));
    let document = document(&Estimator::new(&kernel, &device), Candidate::new([256, 1, 1], [1; 3]).unwrap());
    for access in &document.accesses {
        assert!(near(access.cost.efficiency.unwrap(), Share::ALL), "{access:?}");
        assert!(near(access.cost.sectors_per_request.unwrap(), Amount::new(8.0)), "{access:?}");
        assert!(near(access.cost.issues, Amount::new(1.0 / 32.0)), "{access:?}");
    }
}

#[test]
fn neighbours_are_predicted_as_predict_does() {
    for (name, on, candidate) in samples() {
        let (kernel, device) = (kernel(name), device(on));
        let estimator = Estimator::new(&kernel, &device);
        let found = explained(&estimator, candidate);
        assert_eq!(found.prediction, estimator.predict(candidate).unwrap());
        let rates: Vec<ItemsPerSecond> = found.neighbours.near.iter().map(|n| n.prediction.rate()).collect();
        assert!(rates.is_sorted_by(|a, b| a >= b));
        for n in found.neighbours.near.iter().chain(&found.neighbours.best) {
            assert_ne!(n.choice.candidate, candidate);
            let alone = estimator.predict(n.choice.candidate).unwrap();
            assert!(near(alone.rate(), n.prediction.rate()), "{name}: {:?}", n.choice.candidate);
        }
        let best = found.neighbours.best.unwrap().prediction.rate();
        assert!(rates.iter().all(|r| *r <= best));
    }
}

/// A kernel with shared memory or thread indices is right for the launches of its document: no others
/// are recommended.
#[test]
fn what_looks_at_its_block_is_not_given_another() {
    let (kernel, device) = (kernel("matmul-tiled"), device("v100"));
    let own: Vec<Candidate> = candidates(&kernel).collect();
    let found = explained(&Estimator::new(&kernel, &device), own[0]);
    assert!(found.neighbours.near.iter().all(|n| own.contains(&n.choice.candidate)));
    assert_eq!(found.neighbours.compared, own.len() - 1);
}

/// Removing an instruction must not change what the others do.
#[test]
fn without_an_access_the_others_stay() {
    let (kernel, device) = (kernel("star3d7"), device("a100-40gb"));
    let estimator = Estimator::new(&kernel, &device);
    let found = explained(&estimator, Candidate::new([32, 4, 2], [1; 3]).unwrap());
    let rest = found.program.without(0);
    assert_eq!(rest.instructions.len(), found.program.instructions.len());
    assert_eq!(rest.instructions[1..], found.program.instructions[1..]);
}

fn wavecast(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_explanation_reads_well() {
    let star = ["explain", "kernels/star3d25.yaml", "-d", "v100", "--block", "2,128,4"];
    insta::assert_snapshot!("explain_star3d25", wavecast(&star));
}

#[test]
fn every_format_holds_the_same_accesses() {
    let of = |format| {
        let copy = ["explain", "kernels/laplap2d.yaml", "-d", "h200", "--near", "--format", format];
        wavecast(&copy)
    };
    let json: serde_json::Value = serde_json::from_str(&of("json")).unwrap();
    assert_eq!(json["schema"], "wavecast/explanation/1");
    let accesses = json["accesses"].as_array().unwrap();
    assert_eq!(of("csv").lines().count(), 1 + accesses.len());
    assert_eq!(of("md").lines().count(), 2 + accesses.len());
    let line: serde_json::Value = serde_json::from_str(of("jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(line, json);
    let sentences = json["sentences"].as_array().unwrap();
    assert_eq!(sentences[0]["code"], "rate");
    assert!(sentences.iter().all(|s| s["text"].as_str().unwrap().ends_with('.')));
}

/// Many accesses: a person sees the costliest 40, a program all.
#[test]
fn many_accesses_are_cut_for_people_only() {
    let lbm = ["explain", "kernels/allen-cahn-d3q15.yaml", "-d", "v100", "--near"];
    let rows =
        |text: &str| text.lines().filter(|l| l.starts_with(" load ") || l.starts_with(" store ")).count();
    let cut = wavecast(&lbm);
    assert_eq!(rows(&cut), 40, "{cut}");
    assert!(cut.contains("--all shows all"));
    let all = wavecast(&[&lbm[..], &["--all"]].concat());
    assert_eq!(rows(&all), 41);
}

/// The reason that is named for a gain is one: fewer blocks where starting them takes longest, and less work where most of the
/// gain is theirs.
#[test]
fn what_would_help_is_said_with_its_reason() {
    let said = |arguments: &[&str]| wavecast(&[&["explain"], arguments].concat()).replace('\n', " ");
    let small = said(&["kernels/stream-triad.yaml", "-d", "a100", "--block", "32"]);
    assert!(small.contains("1,048,576 blocks instead of 2,097,152"), "{small}");
    // 20.24 and 20.23 bytes are no reason for a gain of 8 %.
    let faster = said(&["kernels/star3d25.yaml", "-d", "v100", "--block", "16,2,16"]);
    assert!(faster.contains("as DRAM moves its bytes 1.10 times"), "{faster}");
    let fewer = said(&["kernels/star3d25.yaml", "-d", "v100", "--block", "2,128,4"]);
    assert!(fewer.contains("as the L1 pipe's work goes from"), "{fewer}");
}
