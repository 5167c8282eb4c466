//! What the busiest thread of a block does besides its arithmetic: counted by hand for small kernels, and the same in
//! whatever order a document writes its accesses.

use proptest::prelude::*;
use wavecast::kernel::{Options, load};
use wavecast::launch::{Candidate, Launch, Program};
use wavecast::quantity::{PerThread, Times};
use wavecast::traffic::ThreadPath;

fn path(text: &str, block: [i64; 3]) -> ThreadPath {
    let loaded = load("test", text, &Options::default()).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let kernel = loaded.kernels.into_iter().next().unwrap();
    let candidate = Candidate::new(block, [1; 3]).unwrap();
    let launch = Launch::new(&kernel, candidate).unwrap();
    let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
    ThreadPath::new(&kernel, &launch, &program).unwrap()
}

/// How often, in whole numbers.
fn count(times: Times<PerThread>) -> i64 {
    times.get().to_string().parse().expect("a whole number")
}

/// A kernel over 4,096 items with a body of these lines.
fn kernel(body: &str) -> String {
    let fields = "fields: {a: {dtype: f64, size: 4194304}, b: {dtype: f64, size: 4096}, s: {dtype: f64, size: 256, space: shared}}";
    format!("wavecast: 1\nkernel: test\n{fields}\ndomain: {{x: 4096}}\nbody:\n{body}\n")
}

#[test]
fn loops_that_only_load_are_told_from_those_that_store_what_they_load() {
    let only_loads = path(
        &kernel(
            "  - loop: {k: 0..15}\n    body: ['load a[x + 4096*k]', 'load a[x + 4096*k + 1]']\n  - store b[x]",
        ),
        [256, 1, 1],
    );
    assert_eq!([count(only_loads.looped_loads), count(only_loads.waits)], [32, 0]);

    let stores =
        path(&kernel("  - loop: {k: 0..15}\n    body: ['load a[x + 4096*k]', 'store b[x]']"), [256, 1, 1]);
    assert_eq!([count(stores.looped_loads), count(stores.waits)], [16, 16]);

    let outside = path(&kernel("  - load a[x]\n  - load a[x + 1]\n  - store b[x]"), [256, 1, 1]);
    assert_eq!([count(outside.looped_loads), count(outside.waits)], [0, 0]);

    // Loads from shared memory are another matter.
    let shared = path(
        &kernel(
            "  - store s[threadIdx.x]\n  - sync\n  - loop: {k: 0..15}\n    body: ['load s[(x + k) % 256]']",
        ),
        [256, 1, 1],
    );
    assert_eq!([count(shared.looped_loads), count(shared.waits), count(shared.barriers)], [0, 0, 1]);
}

#[test]
fn updates_of_shared_memory_load_there_and_store_there_in_one_loop() {
    let updates = |body: &str| {
        let text = format!("  - loop: {{k: 0..15}}\n    body: [{body}]\n  - store b[x]");
        count(path(&kernel(&text), [256, 1, 1]).shared_updates)
    };
    assert_eq!(updates("'load s[threadIdx.x]', 'load a[x]', 'store s[threadIdx.x]'"), 16);
    assert_eq!(updates("'load s[threadIdx.x]', sync, 'store s[threadIdx.x]'"), 16);
    for other in [
        "'load a[x + 4096*k]', 'store s[threadIdx.x]'",
        "'load s[threadIdx.x]', 'store b[x]'",
        "'store s[threadIdx.x]', 'load s[threadIdx.x]'",
        "'load s[threadIdx.x]', {loop: {j: 0..1}, body: ['store s[threadIdx.x]']}",
    ] {
        assert_eq!(updates(other), 0, "{other}");
    }
}

/// Times that a thread waits for memory where this is the body of a loop of so many iterations.
fn waits(iterations: i64, body: &str) -> i64 {
    let text = format!("  - loop: {{k: 0..{}}}\n    body: [{body}]\n  - store b[x]", iterations - 1);
    count(path(&kernel(&text), [256, 1, 1]).waits)
}

#[test]
fn copies_to_shared_memory_wait_four_iterations_at_a_time() {
    let copy = "'load a[x + 4096*k]', 'store s[threadIdx.x]'";
    let guarded =
        "{when: x + k < 4090, at: ['load a[x + 4096*k]', 'load a[x + 64*k]', 'store s[threadIdx.x]']}";
    // What is left over of fours is done one by one.
    for (iterations, expected) in [(2, 2), (3, 3), (4, 1), (5, 2), (7, 4), (8, 2), (16, 4)] {
        assert_eq!([waits(iterations, copy), waits(iterations, guarded)], [expected; 2], "{iterations}");
    }
    // Bodies that compute are too long, others may load what is stored, and barriers keep iterations apart.
    for other in [
        "'load a[x + 4096*k]', 'load s[0]', 'store s[threadIdx.x]'",
        "'load a[x + 4096*k]', 'store b[x]'",
        "'load a[x + 4096*k]', 'store s[threadIdx.x]', sync",
    ] {
        assert_eq!(waits(16, other), 16, "{other}");
    }
}

#[test]
fn lanes_with_more_left_over_keep_the_others_waiting() {
    let of = |end: i64| {
        let body = "body: ['load a[x + 4096*k]', 'store s[threadIdx.x]']";
        let text = format!(
            "  - loop: {{k: {{from: threadIdx.x, to: {end}, step: 32}}}}\n    {body}\n  - store b[x]"
        );
        count(path(&kernel(&text), [32, 1, 1]).waits)
    };
    // Four iterations of the first lanes, three of the last ones, which their warp does one by one.
    assert_eq!(of(32 * 3 + 5), 3 + 1);
    // Five and four.
    assert_eq!(of(32 * 4 + 5), 1 + 1);
    // All have four.
    assert_eq!(of(32 * 4 - 1), 1);
}

#[test]
fn an_outer_loop_does_not_load_for_its_inner_one() {
    let nested = "  - loop: {i: 0..3}\n    body:\n      - loop: {k: 0..7}\n        body: ['load a[x + 4096*k + 64*i]', 'store b[x]']\n  - store b[x]";
    let found = path(&kernel(nested), [128, 1, 1]);
    assert_eq!([count(found.looped_loads), count(found.waits)], [32, 32]);
}

#[test]
fn loops_whose_bounds_depend_on_the_thread_are_entered() {
    let uneven = path(
        &kernel("  - loop: {k: 0..threadIdx.x}\n    body: ['load a[x + 4096*k]']\n  - store b[x]"),
        [32, 1, 1],
    );
    // The last thread does most.
    assert_eq!([count(uneven.overhead.entries), count(uneven.overhead.iterations)], [1, 32]);
    let even =
        path(&kernel("  - loop: {k: 0..31}\n    body: ['load a[x + 4096*k]']\n  - store b[x]"), [32, 1, 1]);
    assert_eq!([count(even.overhead.entries), count(even.overhead.iterations)], [0, 0]);
}

#[test]
fn a_condition_counts_once_in_an_iteration() {
    let body = "  - {when: x < 4000, at: 'load a[x]'}\n  - {when: x < 4000, at: 'load a[x + 1]'}\n  - {when: x < 3000, at: 'load a[x + 2]'}\n  - store b[x]";
    assert_eq!(count(path(&kernel(body), [256, 1, 1]).overhead.conditions), 2);
    let looped = "  - loop: {k: 0..7}\n    body:\n      - {when: x < 4000, at: 'load a[x + 4096*k]'}\n      - {when: x < 4000, at: 'load a[x + 1 + 4096*k]'}\n  - store b[x]";
    assert_eq!(count(path(&kernel(looped), [256, 1, 1]).overhead.conditions), 8);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Distances of up to 32 MiB; a compiler sorts the addresses of straight code as it likes.
    #[test]
    fn no_order_of_loads_changes_the_path(
        (loads, shuffled) in prop::collection::vec((0_i64..4_000_000, prop::bool::ANY), 1..12)
            .prop_flat_map(|loads| (Just(loads.clone()), Just(loads).prop_shuffle())),
    ) {
        let body = |loads: &[(i64, bool)]| {
            let load = |&(at, guarded): &(i64, bool)| {
                let when = if guarded { "when: x < 4000, " } else { "" };
                format!("  - {{{when}at: 'load a[x + {at}]'}}")
            };
            let lines: Vec<String> = loads.iter().map(load).chain(["  - store b[x]".to_owned()]).collect();
            kernel(&lines.join("\n"))
        };
        let [one, other] = [&loads, &shuffled].map(|loads| path(&body(loads), [64, 1, 1]));
        prop_assert_eq!(one, other);
    }

    /// The fewest bases are between what the distance needs and one for each load.
    #[test]
    fn far_addresses_follow_from_the_distance(step in 1_i64..3_000_000, loads in 2_i64..10) {
        let size = step * loads + 5000;
        let lines: Vec<String> = (0..loads).map(|i| format!("  - load c[x + {}]", i * step)).collect();
        let text = format!(
            "wavecast: 1\nkernel: test\nfields: {{c: {{dtype: f64, size: {size}}}, b: {{dtype: f64, size: 4096}}}}\n\
             domain: {{x: 4096}}\nbody:\n{}\n  - store b[x]\n",
            lines.join("\n")
        );
        let far = count(path(&text, [64, 1, 1]).overhead.far);
        let reach = 2 * ((1 << 23) - 1);
        let together = reach / (8 * step) + 1;
        prop_assert_eq!(far, (loads + together - 1) / together - 1);
    }
}
