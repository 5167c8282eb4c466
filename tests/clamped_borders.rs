//! Kernels that keep their addresses inside the array, as filters of images do: what they move is what a kernel with a
//! border around its array moves, whatever the size.

mod program;

use program::{json, wavecast};
use serde_json::Value;

fn predicted(size: i64, radius: i64, fields: &str, statements: &str, block: &str) -> Value {
    let text = format!(
        "wavecast: 1\nkernel: k\nparams: {{N: {size}, R: {radius}}}\nfields: {{{fields}, b: {{dtype: f32, shape: [N, N]}}}}\n\
         domain: {{x: N, y: N}}\nbody: [{statements}, 'store b[x, y]']\nwork: {{unit: px, flops: 1}}\n\
         launch: {{block: [[{block}]], registers: 32}}\n"
    );
    let output = wavecast(&["predict", "-", "-d", "a100", "--format", "json"], &text);
    json(&output)["result"].clone()
}

/// Bytes that the L2 and the memory load.
fn loads(of: &Value) -> [f64; 2] {
    [("l2", "compulsory"), ("dram", "compulsory")]
        .map(|(level, part)| of["volumes"][level]["load"][part].as_f64().unwrap_or_else(|| panic!("{of}")))
}

/// The same written out, and as loops.
const INSIDE: [&str; 2] = [
    "{for: {l: '-R..R', m: '-R..R'}, at: 'load a[ADDRESS]'}",
    "{loop: {m: '-R..R'}, body: [{loop: {l: '-R..R'}, body: ['load a[ADDRESS]']}]}",
];

#[test]
fn bounds_of_addresses_hardly_change_what_is_moved() {
    let bounded = "min(max(x + l, 0), N - 1), min(max(y + m, 0), N - 1)";
    for (size, radius, block) in
        [(1000, 1, "32, 8"), (1024, 3, "32, 8"), (1024, 2, "16, 16"), (4096, 3, "64, 4")]
    {
        for statements in INSIDE {
            let plain = "a: {dtype: f32, shape: [N, N]}";
            let found = predicted(size, radius, plain, &statements.replace("ADDRESS", bounded), block);
            // A border of whole sectors, so that threads lie in them as they do without.
            let border = "a: {dtype: f32, shape: [N, N], halo: 16}";
            let free = predicted(size, radius, border, &statements.replace("ADDRESS", "x + l, y + m"), block);
            for (found, free) in loads(&found).into_iter().zip(loads(&free)) {
                assert!((found / free - 1.0).abs() < 0.03, "{size}, {radius}, {block}: {found} for {free}");
            }
            let warnings = found["warnings"].to_string();
            assert!(!warnings.contains("lines-sampled"), "{warnings}");
        }
    }
}

/// One block touches each line of a small image once, wherever its threads are kept.
#[test]
fn a_block_over_all_of_the_array_loads_all_of_it_once() {
    for statements in INSIDE {
        for bounded in [
            "min(max(x + l, 0), N - 1), min(max(y + m, 0), N - 1)",
            "max(min(N - 1, x - l), 0), max(min(N - 1, y - m), 0)",
        ] {
            let fields = "a: {dtype: f32, shape: [N, N]}";
            let found = predicted(32, 5, fields, &statements.replace("ADDRESS", bounded), "32, 32");
            let [l2, _] = loads(&found);
            assert!((l2 - 4.0).abs() < 1e-9, "{bounded}: {l2}");
        }
    }
}
