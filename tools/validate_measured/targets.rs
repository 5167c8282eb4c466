//! What was to be reached on whole sets, and what the older model reached.

/// What was asked for of a part of a set.
#[derive(Clone, Copy)]
pub struct Target {
    /// The set.
    pub set: &'static str,
    /// The part; `all` for all of it.
    pub of: &'static str,
    /// Spearman's rank correlation, at least.
    pub spearman: Option<f64>,
    /// The same, of coefficients that were fitted without the set.
    pub left_out: Option<f64>,
    /// The first choice, at least, in percent of the best.
    pub first: Option<f64>,
    /// Mean error of the time, at most, in percent.
    pub time: Option<f64>,
    /// Mean errors of volumes, at most, in percent, by their names in the measurement format.
    pub volumes: &'static [(&'static str, f64)],
    /// Whether correlation and error are means over problems.
    pub in_each: bool,
}

const NONE: Target = Target {
    set: "",
    of: "all",
    spearman: None,
    left_out: None,
    first: None,
    time: None,
    volumes: &[],
    in_each: false,
};

/// All of them.
pub const TARGETS: [Target; 24] = [
    Target {
        set: "star3d25-v100",
        spearman: Some(0.985),
        first: Some(100.0),
        time: Some(4.0),
        volumes: &[("l2_load", 3.0), ("dram_load", 2.2)],
        ..NONE
    },
    Target {
        set: "laplap-v100",
        spearman: Some(0.95),
        first: Some(99.0),
        time: Some(4.0),
        in_each: true,
        ..NONE
    },
    Target {
        set: "conv15-rtx-2080-ti",
        spearman: Some(0.95),
        left_out: Some(0.93),
        first: Some(95.0),
        time: Some(10.0),
        volumes: &[("l2_read", 8.0), ("l2_store", 4.0), ("dram_load", 4.0), ("dram_store", 4.0)],
        ..NONE
    },
    Target {
        set: "conv15-a100",
        spearman: Some(0.90),
        left_out: Some(0.87),
        first: Some(92.0),
        time: Some(12.0),
        ..NONE
    },
    Target { set: "xgemm-rtx-2080-ti", spearman: Some(0.93), first: Some(97.0), time: Some(10.0), ..NONE },
    Target { set: "xgemm-a100", spearman: Some(0.92), first: Some(95.0), time: Some(12.0), ..NONE },
    Target {
        set: "coulomb-rtx-2080-ti",
        of: "unrolled",
        spearman: Some(0.93),
        first: Some(99.0),
        time: Some(6.0),
        volumes: &[("l2_read", 5.0)],
        ..NONE
    },
    Target {
        set: "coulomb-instructions-rtx-2080-ti",
        spearman: Some(0.90),
        first: Some(95.0),
        time: Some(15.0),
        volumes: &[("l2_read", 5.0)],
        ..NONE
    },
    Target { set: "hotspot-a100", spearman: Some(0.85), time: Some(25.0), ..NONE },
    Target {
        set: "hotspot-a100",
        of: "wide",
        spearman: Some(0.88),
        first: Some(85.0),
        time: Some(25.0),
        ..NONE
    },
    Target { set: "hotspot-a100", of: "one step", spearman: Some(0.6), time: Some(25.0), ..NONE },
    Target { set: "strided-a100", spearman: Some(0.99), time: Some(10.0), ..NONE },
    Target { set: "strided-v100", spearman: Some(0.99), time: Some(10.0), ..NONE },
    Target { set: "pmpp-rtx-2060", spearman: Some(0.985), first: Some(93.0), time: Some(12.0), ..NONE },
    Target {
        set: "pmpp-rtx-3060-laptop",
        spearman: Some(0.985),
        first: Some(93.0),
        time: Some(12.0),
        ..NONE
    },
    Target {
        set: "mixbench-amd",
        of: "f32, f64, half2",
        spearman: Some(0.95),
        time: Some(4.0),
        volumes: &[("l2_load", 1.0), ("dram_load", 1.0)],
        ..NONE
    },
    Target { set: "stream-occupancy-v100-pcie-32gb", of: "others", time: Some(4.0), ..NONE },
    Target { set: "stream-occupancy-v100-pcie-32gb", of: "init", time: Some(10.0), ..NONE },
    Target { set: "stream-occupancy-a100-40gb", of: "others", time: Some(4.0), ..NONE },
    Target { set: "stream-occupancy-a100-40gb", of: "init", time: Some(10.0), ..NONE },
    Target { set: "stream-occupancy-a100-80gb", of: "others", time: Some(4.0), ..NONE },
    Target { set: "stream-occupancy-a100-80gb", of: "init", time: Some(10.0), ..NONE },
    Target { set: "stream-occupancy-h100-pcie", of: "others", time: Some(4.0), ..NONE },
    Target { set: "stream-occupancy-h100-pcie", of: "init", time: Some(10.0), ..NONE },
];

/// What the model that was made on two stencils of the V100 reached: Spearman, first choice, time error. By scripts that
/// came with the data, at the devices' own clocks; of some sets over several groups, or the time alone.
pub const BEFORE: [(&str, &str, &str); 21] = [
    ("star3d25-v100", "all", "0.990, 100 %, 3 %"),
    ("laplap-v100", "all", "0.936, 98.6 %, 4 %"),
    ("conv15-rtx-2080-ti", "all", "0.76 to 0.90, 73 to 89 %, 39 %"),
    ("conv15-a100", "all", "0.79, 78 %, 49 %"),
    ("conv15-w6600", "all", "-0.1"),
    ("xgemm-rtx-2080-ti", "all", "0.87, 100 %, 14 %"),
    ("xgemm-a100", "all", "0.82, 81 %, 21 %"),
    ("coulomb-rtx-2080-ti", "all", "-0.10, 10 %"),
    ("coulomb-rtx-2080-ti", "unrolled", "0.89, 99 %, 6 %"),
    ("hotspot-a100", "all", "0.60, 38 %, 59 %"),
    ("strided-a100", "all", "0.98, -, 19 %"),
    ("strided-v100", "all", "0.98, -, 19 %"),
    ("pmpp-rtx-2060", "all", "0.98, 62 to 100 %, 20 to 33 %"),
    ("pmpp-rtx-3060-laptop", "all", "0.98, 62 to 100 %, 20 to 33 %"),
    ("mixbench-amd", "f32, f64, half2", "3 to 8 %"),
    ("stream-occupancy-v100-pcie-32gb", "init", "44 %"),
    ("stream-occupancy-a100-40gb", "init", "73 %"),
    ("stream-occupancy-a100-80gb", "init", "90 %"),
    ("stream-occupancy-h100-pcie", "init", "88 %"),
    ("stream-occupancy-v100-pcie-32gb", "others", "1.3 %"),
    ("stream-occupancy-h100-pcie", "others", "3.5 %"),
];

/// What the paper's own program reaches on the star, as far as anybody wrote it down: mean errors in percent by the
/// names in the measurement format, Spearman and first choice.
pub const REFERENCE_STAR: [(&str, f64); 5] =
    [("l2_load", 10.8), ("dram_load", 4.1), ("rate", 37.0), ("Spearman", 0.899), ("first choice", 95.9)];
