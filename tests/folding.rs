//! Folding work items into threads changes neither what is touched nor by whom: the addresses that the
//! threads of a launch touch are those of the work items of the domain, each evaluated by itself.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use wavecast::expr::{Coord, Form};
use wavecast::kernel::{Access, AccessKind, Kernel, Statement, load};
use wavecast::launch::{Candidate, Launch, Program, visit_thread};
use wavecast::space::Fold;

type Touched = BTreeSet<(AccessKind, u16, i64)>;

const WHENS: [&str; 4] = ["", "x > 1", "x + y < 6 || z == 0", "threadIdx.x != 1"];
const GUARDS: [&str; 4] = ["", "guard: x >= 1\n", "guard: x + 2*y < 9 && y != 1\n", "guard: tidx < 5\n"];

/// A kernel of one to three axes with random accesses, some in thread coordinates, some conditional.
fn documents() -> impl Strategy<Value = (String, [i64; 3], [i64; 3])> {
    let addresses = [
        "a + x",
        "a + x + 3*y",
        "a + 2*x - z",
        "b + x/3 + 10*y",
        "b + (x + y)%7",
        "a + tidx + 5*tidy",
        "b + threadIdx.x",
        "a + max(x, 2*y)",
        "b + blockIdx.x*blockDim.x + threadIdx.x",
        "a + x + 1",
        "a + x + 3*y + 3",
        "b + 40*z + y",
    ];
    let access = (prop::sample::select(addresses.to_vec()), prop::sample::select(WHENS.as_slice())).prop_map(
        |(at, when)| {
            if when.is_empty() {
                format!("  - {at}\n")
            } else {
                format!("  - {{at: \"{at}\", when: \"{when}\"}}\n")
            }
        },
    );
    let list = |most| prop::collection::vec(access.clone(), 1..most);
    let shape = |most: i64| prop::array::uniform3(1..=most);
    let extents = prop::array::uniform3(1_i64..11);
    (list(7), list(4), prop::sample::select(GUARDS.as_slice()), extents, shape(4), shape(3)).prop_map(
        |(loads, stores, guard, [x, y, z], block, fold)| {
            let text = format!(
                "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 1000}}, b: {{like: a}}}}\n\
                 domain: {{x: {x}, y: {y}, z: {z}}}\n{guard}loads:\n{}stores:\n{}",
                loads.concat(),
                stores.concat()
            );
            (text, block, fold)
        },
    )
}

fn accesses(kernel: &Kernel) -> Vec<&Access> {
    kernel.body().iter().filter_map(|s| if let Statement::Access(a) = s { Some(a) } else { None }).collect()
}

/// What every work item of the domain touches, evaluated without folding.
fn by_work_items(kernel: &Kernel, launch: &Launch) -> Touched {
    let (extents, fold, block) = (kernel.extents(), launch.candidate().fold(), launch.candidate().block());
    let mut touched = Touched::new();
    for z in 0..extents[2] {
        for y in 0..extents[1] {
            for x in 0..extents[0] {
                let item = [x, y, z];
                let thread = [0, 1, 2].map(|d| item[d] / fold[d]);
                let value = |coord| {
                    Some(match coord {
                        Coord::Axis(d) => item[d.index()],
                        Coord::Thread(d) => thread[d.index()],
                        Coord::ThreadIdx(d) => thread[d.index()] % block[d.index()],
                        Coord::BlockIdx(d) => thread[d.index()] / block[d.index()],
                        Coord::Loop(_) => return None,
                    })
                };
                // Block sizes are the only launch constants of these kernels, put in by name here.
                let holds = |c: &wavecast::expr::Cond<wavecast::expr::Scale>| {
                    c.substitute(&|c| value(c).map(Form::int))
                        .unwrap()
                        .at(&launch.sizes())
                        .unwrap()
                        .evaluate(&|_| None)
                        .unwrap()
                };
                if kernel.guard().as_ref().is_some_and(|g| !holds(g)) {
                    continue;
                }
                for access in accesses(kernel) {
                    if access.when().as_ref().is_none_or(holds) {
                        let element = access.element().substitute(&|c| value(c).map(Form::int)).unwrap();
                        let element = element.at(&launch.sizes()).unwrap().as_constant().unwrap();
                        touched.insert((*access.kind(), access.field().0, element));
                    }
                }
            }
        }
    }
    touched
}

fn by_threads(kernel: &Kernel, launch: &Launch, program: &Program<i64>) -> Touched {
    let (grid, block) = (launch.sizes().grid, launch.candidate().block());
    let all = |n: [i64; 3]| {
        (0..n.iter().product::<i64>()).map(move |i| [i % n[0], i / n[0] % n[1], i / n[0] / n[1]])
    };
    let mut touched = Touched::new();
    for place in all(*grid) {
        for thread in all(*block) {
            visit_thread(
                program,
                kernel.extents(),
                block,
                place.into(),
                thread.into(),
                10_000,
                &mut |touch| {
                    let i = touch.instruction;
                    touched.insert((i.kind, i.field.0, touch.element));
                },
            )
            .unwrap();
        }
    }
    touched
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn threads_touch_what_their_work_items_touch((text, block, fold) in documents()) {
        let loaded = match load("k", &text, &Default::default()) {
            Ok(loaded) => loaded,
            Err(fault) => {
                // Conditions that never hold leave nothing.
                prop_assert_eq!(fault.diagnostics[0].code, "no-accesses");
                return Ok(());
            }
        };
        let kernel = &loaded.kernels[0];
        let candidate = Candidate::new(block, fold).unwrap();
        let launch = Launch::new(kernel, candidate).unwrap();
        let folded = Program::placed(kernel, candidate).unwrap();
        let program = folded.at(&launch).unwrap();
        prop_assert_eq!(by_threads(kernel, &launch, &program), by_work_items(kernel, &launch), "{}", text);
        // No load is left that an equal one made needless: these kernels load before they store.
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for i in folded.instructions.iter().filter(|i| i.kind == AccessKind::Load) {
            *seen.entry(format!("{:?} {:?} {} {:?}", i.field, i.element, i.width, i.when)).or_default() += 1;
        }
        prop_assert!(seen.values().all(|&n| n == 1), "{}", text);
    }
}

#[test]
fn a_store_or_a_barrier_keeps_loads_apart() {
    let program = |between: &str| {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 64}}, b: {{like: a}}}}\ndomain: {{x: 8}}\n\
             body: [\"load a[x]\", {between}, \"load a[x]\", \"store b[x]\"]\n"
        );
        let loaded = load("k", &text, &Default::default()).unwrap();
        let program = Program::folded(&loaded.kernels[0], Fold::ONE).unwrap();
        program.instructions.iter().filter(|i| i.kind == AccessKind::Load).count()
    };
    assert_eq!(program("\"load b[x]\""), 2, "merged: nothing between changes a");
    assert_eq!(program("\"store b[x]\""), 1);
    assert_eq!(program("\"store a[x + 1]\""), 2, "it may be the same address");
    assert_eq!(program("\"atomic a[0]\""), 2);
    assert_eq!(program("sync"), 2);
    assert_eq!(program("{loop: {k: 0..3}, body: [\"load a[x]\"]}"), 1, "still in a register in the loop");
    assert_eq!(program("{loop: {k: 0..3}, body: [\"load a[x]\", \"store a[k]\"]}"), 3);
}

/// Two work items of a thread store twice what is an address of work items, even where their domain is so short
/// that it is always the same; and once what is none.
#[test]
fn an_address_of_work_items_is_one_of_each() {
    let stores = |at: &str| {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 64}}}}\ndomain: {{x: 1, y: 2, z: 2}}\n\
             stores: [\"{at}\"]\n"
        );
        let loaded = load("k", &text, &Default::default()).unwrap();
        Program::folded(&loaded.kernels[0], Fold::new([1, 2, 1]).unwrap()).unwrap().instructions.len()
    };
    for at in ["a[max(z - 3, 0)]", "a[max(z % 2 - 3, 0)]", "a[z % 1]", "a[min(z, 0)]", "a[x]"] {
        assert_eq!(stores(at), 2, "{at}");
    }
    for at in ["a[0]", "a[z - z]", "a[0*(z % 2)]"] {
        assert_eq!(stores(at), 1, "{at}");
    }
}
