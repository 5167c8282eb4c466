//! Kernels that fold a grid into one row of blocks: what comes again after a row or a plane of the array is as far back as
//! where the launch has rows and planes of blocks.

mod program;

use program::{json, wavecast};
use serde_json::Value;

const ELEMENTS: i64 = 1 << 28;

fn predicted(document: &str, device: &str) -> Value {
    let output = wavecast(&["predict", "-", "-d", device, "--format", "json"], document);
    json(&output)["result"].clone()
}

fn document(fields: &str, domain: &str, loads: &str, store: &str) -> String {
    format!(
        "wavecast: 1\nkernel: k\nfields: {{{fields}}}\ndomain: {{{domain}}}\nloads: [{loads}]\nstores: [{store}]\n\
         work: {{unit: element, flops: 1}}\nlaunch: {{block: [[256]], registers: 16}}\n"
    )
}

fn dram_loads(of: &Value) -> f64 {
    of["volumes"]["dram"]["load"]["total"].as_f64().unwrap()
}

/// Three planes that lie `plane` elements apart, in one row of blocks and in a grid of as many rows.
fn stencil(plane: i64, device: &str) -> [Value; 2] {
    let row = document(
        &format!("a: {{dtype: f32, size: {ELEMENTS}}}, y: {{like: a}}"),
        &format!("i: {}", ELEMENTS - 2 * plane),
        &format!("'a[i]', 'a[i + {plane}]', 'a[i + {}]'", 2 * plane),
        "'y[i]'",
    );
    let rows = ELEMENTS / plane;
    let grid = document(
        &format!("a: {{dtype: f32, shape: [{plane}, {rows}]}}, y: {{like: a}}"),
        &format!("i: {plane}, j: {}", rows - 2),
        "'a[i, j]', 'a[i, j + 1]', 'a[i, j + 2]'",
        "'y[i, j]'",
    );
    [predicted(&row, device), predicted(&grid, device)]
}

#[test]
fn planes_in_one_row_of_blocks_come_again_as_planes_of_a_grid_do() {
    for device in ["a100", "v100", "mi210", "rtx-3090"] {
        for plane in [1 << 17, 1 << 18, 3 << 18, 1 << 20, 1 << 21, 1 << 23] {
            let [row, grid] = stencil(plane, device);
            let (found, right) = (dram_loads(&row), dram_loads(&grid));
            assert!((found / right - 1.0).abs() < 0.02, "{device}, planes of {plane}: {found} for {right}");
        }
    }
}

#[test]
fn all_that_comes_again_in_one_row_is_along_x() {
    let [row, _] = stencil(1 << 20, "a100");
    let load = &row["volumes"]["dram"]["load"];
    assert!(load["reuse_x"].as_f64().unwrap() > 5.0, "{load}");
    assert_eq!((&load["reuse_y"], &load["reuse_z"]), (&0.0.into(), &0.0.into()));
}

#[test]
fn what_repeats_after_a_remainder_comes_again() {
    for period in [1 << 18, 3 << 18, 1 << 20] {
        let row = document(
            &format!(
                "x: {{dtype: f32, size: {ELEMENTS}}}, b: {{dtype: f32, size: {period}}}, y: {{like: x}}"
            ),
            &format!("i: {ELEMENTS}"),
            &format!("'x[i]', 'b[i % {period}]'"),
            "'y[i]'",
        );
        let rows = ELEMENTS / period;
        let grid = document(
            &format!(
                "x: {{dtype: f32, shape: [{period}, {rows}]}}, b: {{dtype: f32, size: {period}}}, y: {{like: x}}"
            ),
            &format!("i: {period}, j: {rows}"),
            "'x[i, j]', 'b[i]'",
            "'y[i, j]'",
        );
        let [found, right] = [row, grid].map(|document| dram_loads(&predicted(&document, "a100")));
        assert!((found / right - 1.0).abs() < 0.02, "period {period}: {found} for {right}");
    }
}

/// A cube in whose inner points a stencil is applied, by one number for each point and by three.
fn inside_of_a_cube(size: i64, device: &str) -> [Value; 2] {
    let document = |fields: &str, domain: &str, places: [&str; 3], element: &dyn Fn([i64; 3]) -> String| {
        let inside: Vec<String> =
            places.iter().map(|place| format!("{place} >= 1 && {place} < {size} - 1")).collect();
        let stencil = [[0, 0, 0], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];
        let loads: Vec<String> = stencil.iter().map(|&at| format!("'load a{}'", element(at))).collect();
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{{fields}}}\ndomain: {{{domain}}}\nbody:\n  - when: '{}'\n    at: [{}, 'store y{}']\n\
             work: {{unit: element, flops: 1}}\nlaunch: {{block: [[256]], registers: 16}}\n",
            inside.join(" && "),
            loads.join(", "),
            element([0, 0, 0]),
        );
        predicted(&text, device)
    };
    let (row, plane) = (size, size * size);
    let one = document(
        &format!("a: {{dtype: f64, size: {}}}, y: {{like: a}}", size * plane),
        &format!("i: {}", size * plane),
        [&format!("i % {row}"), &format!("i / {row} % {row}"), &format!("i / {plane}")],
        &|[x, y, z]| format!("[i + {}]", x + row * y + plane * z),
    );
    let three = document(
        &format!("a: {{dtype: f64, shape: [{size}, {size}, {size}]}}, y: {{like: a}}"),
        &format!("i: {size}, j: {size}, k: {size}"),
        ["i", "j", "k"],
        &|[x, y, z]| format!("[i + {x}, j + {y}, k + {z}]"),
    );
    [one, three]
}

#[test]
fn a_cube_that_is_numbered_through_loads_what_its_planes_load() {
    for device in ["a100", "v100"] {
        for size in [300, 500, 768, 1000] {
            let [one, three] = inside_of_a_cube(size, device);
            let (found, right) = (dram_loads(&one), dram_loads(&three));
            assert!((found / right - 1.0).abs() < 0.03, "{device}, {size}: {found} for {right}");
            let engines = one["counting"]["engines"].to_string();
            assert_eq!(engines, r#"["linear"]"#, "{device}, {size}");
        }
    }
}
