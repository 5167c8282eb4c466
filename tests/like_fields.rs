//! Arrays that are accessed in the same way are counted once for all of them: the same as where the order of accesses hides
//! that they are alike.

use wavecast::device::{self, Device};
use wavecast::kernel::load;
use wavecast::launch::{Candidate, Launch, Program};
use wavecast::traffic::{Counting, FieldFootprint, Footprints, footprints};

/// What is counted of a kernel that loads two arrays from some places, as they are written.
fn counted(a: &[&str], b: &[&str], device: &Device, candidate: Candidate) -> Footprints {
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
    footprints(&kernel, &launch, &program, device, 64, &Counting::default()).unwrap()
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
                let of = |a: &[&str], b: &[&str]| counted(a, b, &device, candidate);
                assert_eq!(of(&places, &places), of(&places, &[s, r, q, p]), "{places:?} {block:?}");
                // What lies elsewhere is another array's, whichever of them comes first.
                let others = [p, q, r, "x + 2, y + 1, z"];
                let (first, second) = (of(&others, &places), of(&places, &others));
                assert_eq!(without_name(&first.fields[0]), without_name(&second.fields[1]), "{block:?}");
                assert_ne!(without_name(&first.fields[0]), without_name(&first.fields[1]), "{block:?}");
            }
        }
    }
}

/// What is counted of an array, whichever it is. Sums over all of them may be rounded otherwise.
fn without_name(of: &FieldFootprint) -> String {
    let text = format!("{of:?}");
    let (_, rest) = text.split_once("private").unwrap();
    rest.to_owned()
}
