//! What blocks of an SM load in common comes to its L1 once: small arrays, and what loops touch in step.
//!
//! Goldens: loads of the L1 less its hits, bytes for each element, counted on the H100 SXM (`fits/data/h100-sxm.csv.gz`,
//! `l1_load_bytes` and `l1_hit_bytes`).

mod program;

use program::{answer, number};

/// Bytes that the L2 is asked for, for each work item.
fn l2_load(kernel: &str, device: &str, set: &[&str], block: &str) -> f64 {
    let set = set.iter().flat_map(|s| ["--set", s]);
    let arguments: Vec<&str> =
        ["predict", kernel, "-d", device, "--block", block].into_iter().chain(set).collect();
    number(&answer(&arguments, "")["result"], "volumes.l2.load.total")
}

/// A table of 8 to 32 KiB, of which each block reads a part 256 times: each SM loads it once.
#[test]
fn a_small_array_is_loaded_once_by_each_sm() {
    for (stride, counted) in [(1, 1.289), (2, 2.320), (3, 3.348), (4, 4.373)] {
        for block in [256, 512, 1024] {
            let set = [format!("S={stride}"), "LOADS=256".into(), "SPAN=1024".into()];
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let found = l2_load("calibration/kernels/strided-l1.yaml", "h100-sxm", &set, &block.to_string());
            assert!((found / counted - 1.0).abs() < 0.1, "{stride} {block}: {found} B, {counted} B counted");
        }
    }
}

/// All blocks of the product start together and walk along the sum in step.
#[test]
fn blocks_that_start_together_share_what_a_step_loads() {
    let counted = [
        ("32,8", 196.76),
        ("16,16", 234.63),
        ("32,4", 217.25),
        ("64,4", 187.0),
        ("128,2", 190.0),
        ("256,1", 308.0),
    ];
    for (block, counted) in counted {
        let found =
            l2_load("kernels/polybench-gemm.yaml", "h100-sxm", &["NI=512", "NJ=512", "NK=512"], block);
        assert!((found / counted - 1.0).abs() < 0.13, "{block}: {found} B, {counted} B counted");
    }
}

/// Blocks are numbered as they start, those that the domain cuts among them: with as many blocks as many share.
#[test]
fn cut_blocks_count_among_those_that_start_together() {
    let of = |n: u32| {
        let set = [format!("NI={n}"), format!("NJ={n}"), "NK=512".into()];
        let set = set.iter().flat_map(|s| ["--set", s.as_str()]);
        let arguments = ["predict", "kernels/polybench-gemm.yaml", "-d", "h100-sxm", "--block", "32,8"];
        let found = answer(&arguments.into_iter().chain(set).collect::<Vec<_>>(), "");
        let of = |part| number(&found["result"], &format!("volumes.l2.load.{part}"));
        of("shared") / (of("shared") + of("total"))
    };
    let whole = of(512);
    for cut in [496, 500, 504, 508] {
        let found = of(cut);
        assert!((found - whole).abs() < 0.04, "{cut}: {found} of all is shared, {whole} by whole blocks");
    }
}

/// Of a product of four waves the first one does so, the others begin at any time.
#[test]
fn of_later_waves_nothing_is_known() {
    for (block, counted) in
        [("256,1", 3376.5), ("64,2", 1885.9), ("64,4", 987.2), ("32,8", 616.2), ("32,32", 253.5)]
    {
        let set = ["K=1024", "M=1024", "N=1024"];
        let found = l2_load("kernels/matmul-naive.yaml", "h100-sxm", &set, block);
        assert!((found / counted - 1.0).abs() < 0.1, "{block}: {found} B, {counted} B counted");
    }
}

/// A vector of 8,192 elements, which all blocks load: with one block on an SM, no other has loaded it before.
#[test]
fn a_block_that_is_alone_has_nothing_in_common() {
    for (block, counted) in [("64", 33280.0), ("128", 33024.0), ("256", 32896.2)] {
        let set = ["N=8192".to_owned(), format!("B={block}")];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let found = l2_load("kernels/matvec.yaml", "h100-sxm", &set, block);
        assert!((found / counted - 1.0).abs() < 0.001, "{block}: {found} B, {counted} B counted");
    }
}

/// However large the device is, an SM loads no less than once what it uses, and blocks no more than each by itself.
#[test]
fn more_sms_load_more_often() {
    let kernel = "wavecast: 1\nkernel: lookup\nparams: {N: 1048576, T: 4096}\ndomain: {x: N}\n\
        fields: {table: {dtype: f32, size: T}, b: {dtype: f32, size: N}}\n\
        loads: ['table[x % T]']\nstores: ['b[x]']\nlaunch: {block: [[256]], registers: 16}\n";
    let mut before = 0.0;
    for sms in [1, 2, 8, 54, 108, 432] {
        let device = format!("sm.count={sms}");
        let found = answer(&["predict", "-", "-d", "a100", "--device-set", &device], kernel);
        let bytes = number(&found["result"], "volumes.l2.load.total") * 1_048_576.0;
        let table = 16.0 * 1024.0;
        assert!(bytes > before, "{sms}: {bytes}");
        // Of 4,096 blocks each sixteenth reads the same: one SM in four of many has them all.
        assert!(bytes <= 1.02 * table * f64::from(sms) && bytes <= 4096.0 * 1024.0, "{sms}: {bytes}");
        assert!(bytes >= 0.35 * table * f64::from(sms), "{sms}: {bytes}");
        before = bytes;
    }
}

/// Three arrays of which each fits in an L1, said by one word or one by one.
#[test]
fn identical_arrays_are_as_small_as_each_of_them() {
    let of = |fields: &str, loads: &str| {
        let kernel = format!(
            "wavecast: 1\nkernel: tables\nfields:\n  {fields}\n  a: {{dtype: f64, shape: [2048, 1024, 1]}}\n\
             domain: {{x: 1024, y: 2048}}\nloads: ['a[x, y, 0]', {loads}]\nwork: {{flops: 1}}\n\
             launch: {{block: [[128, 2, 1]], registers: 32}}\n"
        );
        let found = answer(&["predict", "-", "-d", "a100"], &kernel);
        ["shared", "total"].map(|part| number(&found["result"], &format!("volumes.l2.load.{part}")))
    };
    let size = "{dtype: f64, shape: [10240, 1, 1]";
    let together = of(&format!("w: {size}, multiplicity: 3}}"), "'w[x, 0, 0]'");
    let apart =
        of(&format!("u: {size}}}\n  v: {size}}}\n  w: {size}}}"), "'u[x, 0, 0]', 'v[x, 0, 0]', 'w[x, 0, 0]'");
    for (together, apart) in together.into_iter().zip(apart) {
        assert!((together / apart - 1.0).abs() < 1e-9, "{together} {apart}");
    }
    assert!(together[0] > 10.0, "{together:?}");
}
