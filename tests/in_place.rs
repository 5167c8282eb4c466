//! Arrays that are stored to where they are loaded from are counted once for both: the same as where the order of the
//! stores hides that they are.

use wavecast::device::{self, Device};
use wavecast::kernel::load;
use wavecast::launch::{Candidate, Launch, Program};
use wavecast::traffic::{Counting, footprints};

/// All that is counted of a kernel that loads from some places and stores to some, as they are written.
fn counted(loads: &[&str], stores: &[&str], device: &Device, candidate: Candidate) -> String {
    let list = |places: &[&str]| places.iter().map(|at| format!("'{at}'")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "wavecast: 1\nkernel: k\nparams: {{N: 300, M: 90}}\ndomain: {{x: N, y: M, z: 20}}\n\
         fields:\n  a: {{dtype: f64, shape: [N + 40, M + 4, 24], halo: 2, offset: 3}}\n  b: {{dtype: f32, size: 90000}}\n\
         loads: [{}, 'b + x/3 + 100*y']\nstores: [{}]\n",
        list(loads),
        list(stores)
    );
    let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
    let launch = Launch::new(&kernel, candidate).unwrap();
    let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
    format!("{:?}", footprints(&kernel, &launch, &program, device, 64, &Counting::default()).unwrap())
}

#[test]
fn arrays_in_place_count_as_others_do() {
    let simple = ["a[x, y, z]", "a[x, y + 1, z]"];
    let quotients = ["a[x + x/40, y, z]", "a[x, y + y % 2, z]"];
    for device in ["a100", "mi300x"] {
        let device = device::find(device, &[]).unwrap();
        for [first, second] in [simple, quotients] {
            for (block, fold) in [([32, 4, 2], [1; 3]), ([31, 3, 1], [1; 3]), ([8, 8, 4], [2, 1, 1])] {
                let candidate = Candidate::new(block, fold).unwrap();
                let of = |stores: &[&str]| counted(&[first, second], stores, &device, candidate);
                let in_place = of(&[first, second]);
                assert_eq!(in_place, of(&[second, first]), "{first} {block:?}");
                // With one of the stores less, something else is counted.
                assert_ne!(in_place, of(&[first]), "{first} {block:?}");
            }
        }
    }
}
