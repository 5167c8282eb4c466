//! Arrays that are accessed in the same way are counted once for all of them: the same as where the order of accesses hides
//! that they are alike.

use wavecast::device::{self, Device};
use wavecast::kernel::load;
use wavecast::launch::{Candidate, Launch, Program};
use wavecast::traffic::{Counting, footprints};

/// All that is counted of a kernel that accesses two arrays at some places, as they are written.
fn counted(a: &[&str], b: &[&str], device: &Device, candidate: Candidate) -> String {
    let list = |name: &str, places: &[&str]| {
        places.iter().map(|at| format!("'{name}[{at}]'")).collect::<Vec<_>>().join(", ")
    };
    let text = format!(
        "wavecast: 1\nkernel: k\nparams: {{N: 300, M: 90}}\ndomain: {{x: N, y: M, z: 20}}\n\
         fields:\n  a: {{dtype: f64, shape: [N + 40, M + 4, 24], halo: 2, offset: 3}}\n  b: {{like: a}}\n  c: {{like: a}}\n\
         loads: [{}, {}]\nstores: ['c[x, y, z]']\n",
        list("a", a),
        list("b", b)
    );
    let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
    let launch = Launch::new(&kernel, candidate).unwrap();
    let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
    format!("{:?}", footprints(&kernel, &launch, &program, device, 64, &Counting::default()).unwrap())
}

#[test]
fn arrays_that_are_alike_count_as_others_do() {
    let star = ["x, y, z", "x + 1, y, z", "x, y - 1, z", "x, y, z + 1"];
    let quotients = ["x + x/40, y, z", "x, y + y % 2, z", "x, y, z", "x, y, z - 2"];
    for device in ["a100", "mi300x"] {
        let device = device::find(device, &[]).unwrap();
        for places in [star, quotients] {
            for (block, fold) in [([32, 4, 2], [1; 3]), ([31, 3, 1], [1; 3]), ([8, 8, 4], [2, 1, 1])] {
                let candidate = Candidate::new(block, fold).unwrap();
                let [p, q, r, s] = places;
                let of = |second: &[&str]| counted(&places, second, &device, candidate);
                let alike = of(&places);
                assert_eq!(alike, of(&[s, r, q, p]), "{places:?} {block:?}");
                // With one of the places less, something else is counted.
                assert_ne!(alike, of(&[p, q, r]), "{places:?} {block:?}");
            }
        }
    }
}
