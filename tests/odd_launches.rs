//! Kernels and launches at the edge: right answers or clear errors, never a null, a negative number, a
//! panic or a long wait.

mod program;

use std::time::{Duration, Instant};

use program::{json, number, results, stderr, stdout, unsound, wavecast};
use serde_json::Value;

/// Far more than any of these takes, also without optimisation.
const PATIENCE: Duration = Duration::from_secs(60);

/// A kernel over `N` doubles in one dimension, with other parts added.
fn kernel(body: &str) -> String {
    let has = |key: &str| body.lines().any(|l| l.starts_with(key));
    let default = |key: &str, text: &str| if has(key) { String::new() } else { format!("{key}: {text}\n") };
    format!(
        "wavecast: 1\nkernel: odd\n{}{}{}{}{}{}",
        default("params", "{N: 16777216}"),
        default("fields", "{a: {dtype: f64, size: N}, b: {like: a}}"),
        default("domain", "{x: N}"),
        default("work", "{flops: 1}"),
        default("launch", "{block: [[256]], registers: 16}"),
        body
    )
}

const COPY: &str = "loads: ['a[x]']\nstores: ['b[x]']\n";

/// What `rank` makes of it, on one device of each vendor.
fn ranked(text: &str, more: &[&str]) -> [(i32, Value); 2] {
    ["a100", "rx-6900-xt"].map(|device| {
        let started = Instant::now();
        let arguments = [&["rank", "-", "-d", device, "--format", "json"], more].concat();
        let output = wavecast(&arguments, text);
        assert!(started.elapsed() < PATIENCE, "{text} {more:?}: {:?}", started.elapsed());
        let code = output.status.code().expect("not killed");
        assert!(code <= 2, "{text} {more:?}: {}", stderr(&output));
        let document = json(&output);
        if code < 2 {
            for result in results(&document) {
                assert_eq!(unsound(result), Vec::<String>::new(), "{text} {more:?} on {device}");
            }
        }
        (code, document)
    })
}

/// The only result on an A100 of a kernel that can run everywhere.
fn result(text: &str, more: &[&str]) -> Value {
    let [(on_nvidia, document), (on_amd, _)] = ranked(text, more);
    assert_eq!((on_nvidia, on_amd), (0, 0), "{text} {more:?}: {document:#}");
    results(&document)[0].clone()
}

/// Bytes per work item: L2 loads and stores, memory loads and stores.
fn volumes(result: &Value) -> [f64; 4] {
    ["l2.load", "l2.store", "dram.load", "dram.store"].map(|v| number(result, &format!("volumes.{v}.total")))
}

#[track_caller]
fn moves(result: &Value, expected: [f64; 4]) {
    let found = volumes(result);
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 0.01 * b + 0.01;
    assert!(found.iter().zip(&expected).all(near), "{found:?}, {expected:?} expected");
}

/// Messages of a run that has to be refused.
#[track_caller]
fn refused(text: &str, more: &[&str]) -> String {
    let [(code, document), _] = ranked(text, more);
    assert_eq!(code, 2, "{document:#}");
    document["errors"].as_array().unwrap().iter().map(|e| e["message"].as_str().unwrap()).collect()
}

/// Reasons of a ranking without results.
#[track_caller]
fn infeasible(text: &str, more: &[&str]) -> String {
    let [(code, document), _] = ranked(text, more);
    assert_eq!(code, 1, "{document:#}");
    document["infeasible"][0]["reason"].as_str().unwrap().to_owned()
}

#[test]
fn a_copy_moves_what_it_copies() {
    moves(&result(&kernel(COPY), &[]), [8.0; 4]);
    moves(&result(&kernel("loads: ['a[x]']\n"), &[]), [8.0, 0.0, 8.0, 0.0]);
    moves(&result(&kernel("stores: ['b[x]']\n"), &[]), [0.0, 8.0, 0.0, 8.0]);
    moves(&result(&kernel("loads: ['a[x]']\nstores: ['a[x]']\n"), &[]), [8.0; 4]);
    moves(&result(&kernel("loads: ['a[N - 1 - x]']\nstores: ['b[x]']\n"), &[]), [8.0; 4]);
    moves(&result(&kernel("loads: [{for: {q: 0..99}, at: 'a[x]'}]\nstores: ['b[x]']\n"), &[]), [8.0; 4]);
    let five = "fields: {a: {dtype: f64, size: N, multiplicity: 5}, b: {like: a}}\n";
    moves(&result(&kernel(&format!("{five}{COPY}")), &[]), [40.0; 4]);
}

#[test]
fn strides_load_whole_sectors() {
    let text = |s: i64| {
        kernel(&format!(
            "fields: {{a: {{dtype: f64, size: {s}*N}}, b: {{dtype: f64, size: N}}}}\n\
             loads: ['a[{s}*x]']\nstores: ['b[x]']\n"
        ))
    };
    let strided = |s: i64| result(&text(s), &["--set", "N=1048576*4"]);
    moves(&strided(2), [16.0, 8.0, 16.0, 8.0]);
    moves(&strided(4), [32.0, 8.0, 32.0, 8.0]);
    moves(&strided(1000), [32.0, 8.0, 32.0, 8.0]);
    // Each thread has its own page. Where the reach of the TLB is known, that is what limits.
    moves(&strided(262_144), [32.0, 8.0, 32.0, 8.0]);
    let output = wavecast(&["predict", "-", "-d", "v100", "--format", "json"], &text(262_144));
    assert_eq!(json(&output)["result"]["limiter"], "tlb");
    let constant = result(&kernel("loads: ['a[0]']\nstores: ['b[x]']\n"), &[]);
    assert!(volumes(&constant)[2] < 0.01, "{:?}", volumes(&constant));
}

#[test]
fn element_sizes_and_widths_count() {
    for (dtype, bytes) in [("u8", 1.0), ("f32", 4.0), ("c128", 16.0), ("24", 24.0)] {
        let text = kernel(&format!("fields: {{a: {{dtype: {dtype}, size: N}}, b: {{like: a}}}}\n{COPY}"));
        moves(&result(&text, &["--set", "N=1<<28"]), [bytes; 4]);
    }
    let pairs = "fields: {a: {dtype: f64, size: 2*N}, b: {dtype: f64, size: N}}\n\
                 loads: [{at: 'a[2*x]', width: 16}]\nstores: ['b[x]']\n";
    moves(&result(&kernel(pairs), &[]), [16.0, 8.0, 16.0, 8.0]);
}

#[test]
fn small_domains_have_answers() {
    for n in ["1", "2", "31", "33", "255", "257", "1000"] {
        for block in ["1", "32", "96", "256", "1024"] {
            result(&kernel(COPY), &["--set", &format!("N={n}"), "--block", block]);
        }
    }
    let cube = "params: {N: 5}\nfields: {a: {dtype: f64, shape: [N+2, N+2, N+2], halo: 1}, b: {like: a}}\n\
                domain: {x: N, y: N, z: N}\nloads: ['a[x, y, z]', 'a[x-1, y, z]', 'a[x, y, z+1]']\n\
                stores: ['b[x, y, z]']\n";
    for n in ["1", "2", "3", "5", "17"] {
        for block in ["1,1,1", "32,8,4", "1,1,64", "1,256,1", "3,5,7"] {
            result(&kernel(cube), &["--set", &format!("N={n}"), "--block", block, "--fold", "1,2,3"]);
        }
    }
    let thin = "params: {N: 100000}\nfields: {a: {dtype: f64, shape: [1, N, 1]}, b: {like: a}}\n\
                domain: {x: 1, y: N, z: 1}\nloads: ['a[x, y, z]']\nstores: ['b[x, y, z]']\n";
    for block in ["1,256,1", "16,16,1", "1,2,64"] {
        result(&kernel(thin), &["--block", block]);
    }
}

#[test]
fn nothing_to_do_is_an_error() {
    for (n, field) in [(0, "has no elements"), (-5, "must be at least 0")] {
        let told = refused(&kernel(COPY), &["--set", &format!("N={n}")]);
        assert!(told.contains(&format!("has {n} work items; it needs at least one")), "{told}");
        assert!(told.contains(field), "{told}");
    }
    assert!(refused(&kernel(""), &[]).contains("accesses no memory"));
    let launch = "launch: {block: [[256]], grid: [0]}\n";
    assert!(refused(&kernel(&format!("{launch}{COPY}")), &[]).contains("without blocks"));
}

#[test]
fn huge_kernels_have_answers_or_reasons() {
    let huge = ["--set", "N=1<<40"];
    assert_eq!(infeasible(&kernel(COPY), &huge), "grid.x 4294967296 > 2147483647");
    moves(&result(&kernel(COPY), &[&huge[..], &["--block", "1024"]].concat()), [8.0; 4]);
    moves(&result(&kernel(COPY), &[&huge[..], &["--block", "1024", "--verify"]].concat()), [8.0; 4]);
    assert!(refused(&kernel(COPY), &["--set", "N=1<<61"]).contains("more than 2^62 bytes"));
    let space = "domain: {x: N, y: N, z: N}\nloads: ['a[0]']\nstores: ['b[1]']\n";
    assert!(refused(&kernel(space), &["--set", "N=1<<31"]).contains("more than 2^62 work items"));
    let cube = "params: {N: 16384}\nfields: {a: {dtype: f64, shape: [N, N, N]}, b: {like: a}}\n\
                domain: {x: N, y: N, z: N}\nloads: ['a[x, y, z]']\nstores: ['b[x, y, z]']\n";
    moves(&result(&kernel(cube), &[]), [8.0; 4]);
}

#[test]
fn launches_that_cannot_be_are_infeasible() {
    assert_eq!(infeasible(&kernel(COPY), &["--block", "2048"]), "threads_per_block 2048 > 1024");
    let most = ["--block", "65536,65536,65536"];
    assert!(infeasible(&kernel(COPY), &most).starts_with("threads_per_block"));
    assert!(!infeasible(&kernel(COPY), &["--fold", "4096,4096,4096"]).is_empty());
    assert!(refused(&kernel(COPY), &["--fold", "65536,65536,65536"]).contains("numbers from 1 to 4096"));
    let shared = "fields: {s: {dtype: f32, size: 1000000, space: shared}, a: {dtype: f32, size: N}}\n\
                  body: ['load a[x]', 'store s[threadIdx.x]']\n";
    assert!(infeasible(&kernel(shared), &[]).starts_with("shared_bytes 4000000 >"));
    let registers = "launch: {block: [[256]], registers: 300}\n";
    assert!(
        infeasible(&kernel(&format!("{registers}{COPY}")), &[]).starts_with("registers_per_thread 300 >")
    );
}

#[test]
fn shared_memory_alone_moves_nothing_below_l1() {
    let text = kernel(
        "fields: {s: {dtype: f32, size: 256, space: shared}}\n\
         body: ['store s[threadIdx.x]', sync, 'load s[255 - threadIdx.x]']\n",
    );
    let found = result(&text, &[]);
    moves(&found, [0.0; 4]);
    assert!(number(&found, "volumes.l1.wavefront_cycles") > 0.0);
    assert_eq!(found["limits_per_s"]["dram"], Value::Null);
}

#[test]
fn tables_conditions_and_quasi_affine_accesses_are_counted() {
    let table = "tables: {t: [3, 1, 4, 1, 5]}\nfields: {a: {dtype: f64, size: N + 5}, b: {like: a}}\n\
                 loads: [{for: {q: 0..4}, at: 'a[x + t[q]]'}]\nstores: ['b[x]']\n";
    assert!((volumes(&result(&kernel(table), &[]))[2] - 8.0).abs() < 0.05);
    let small = ["--set", "N=1<<20"];
    let cyclic = result(&kernel("loads: ['a[x % 1000]']\nstores: ['b[x]']\n"), &small);
    assert!((volumes(&cyclic)[0] - 8.0).abs() < 0.01 && volumes(&cyclic)[2] < 1.0);
    let shrunk = result(&kernel("loads: ['a[x / 8]']\nstores: ['b[x]']\n"), &small);
    assert!(volumes(&shrunk)[0] < 2.0);
    let some = result(&kernel("loads: [{at: 'a[x]', when: 'x % 32 == 0'}]\nstores: ['b[x]']\n"), &small);
    assert!((volumes(&some)[0] - 1.0).abs() < 0.01, "one sector per warp: {:?}", volumes(&some));
    result(&kernel(&format!("guard: x < 0\n{COPY}")), &small);
}

/// Each thread goes along its row in a loop.
fn rows(body: &str) -> String {
    kernel(&format!(
        "params: {{N: 4096, K: 64}}\nfields: {{a: {{dtype: f32, shape: [N, K]}}, b: {{dtype: f32, size: N}}}}\n\
         body:\n  - loop: {{{body}}}\n    body: ['load a[x, k]']\n  - store b[x]\n"
    ))
}

#[test]
fn loops_are_counted_over_all_iterations() {
    let [loads, stores, ..] = volumes(&result(&rows("k: 0..K-1"), &[]));
    assert!((loads - 256.0).abs() < 0.1 && (stores - 4.0).abs() < 0.1, "{loads} {stores}");
    result(&rows("k: 1..0"), &[]);
    let long = "params: {N: 1048576, K: 1000000}\nfields: {a: {dtype: f32, size: N + K}, b: {dtype: f32, size: N}}\n\
                body:\n  - loop: {k: 0..K-1}\n    body: ['load a[x + k]']\n  - store b[x]\n";
    result(&kernel(long), &[]);
}

/// A row of 50 in pieces: whatever way the loops are cut, each element of it is loaded once.
#[test]
fn bounds_may_depend_on_the_loops_around() {
    let sized =
        "params: {N: 4096}\nfields: {a: {dtype: f64, shape: [50, N]}, b: {dtype: f64, size: N}}\nbody:\n";
    let row = |loops: &str| kernel(&format!("{sized}{loops}  - store b[x]\n"));
    let plain = row("  - loop: {i: 0..49}\n    body: ['load a[i, x]']\n");
    let nested = |outer: &str, inner: &str, at: &str| {
        row(&format!("  - loop: {{{outer}}}\n    body: [{{loop: {{{inner}}}, body: ['load a[{at}, x]']}}]\n"))
    };
    // What is lost between iterations depends on them; what is asked for and touched does not.
    let touched = |result: &Value| {
        ["l1.load_bytes", "l2.load.compulsory", "dram.store.total"]
            .map(|v| number(result, &format!("volumes.{v}")))
    };
    let expected = touched(&result(&plain, &["--verify"]));
    for (outer, inner, at) in [
        ("i: 0..15", "k: {from: 0, to: (49-i)/16}", "i + 16*k"),
        ("k: 0..3", "i: {from: 0, to: 'min(15, 49 - 16*k)'}", "i + 16*k"),
        ("k: 0..48 step 16", "i: {from: k, to: 'min(k + 15, 49)'}", "i"),
        ("k: 0..48 step 16", "i: {from: 'min(k + 15, 49)', to: k, step: -1}", "i"),
    ] {
        let found = touched(&result(&nested(outer, inner, at), &["--verify"]));
        for (one, other) in found.iter().zip(expected) {
            assert!(
                (one - other).abs() < 1e-6 * other.max(1.0),
                "{outer}, {inner}: {found:?}, not {expected:?}"
            );
        }
    }
    // A triangle: half of the square.
    let triangle = "params: {N: 4096}\nfields: {a: {dtype: f64, shape: [64, 64]}, b: {dtype: f64, size: N}}\nbody:\n  \
                    - loop: {i: 0..63}\n    body: [{loop: {k: {from: 0, to: i}}, body: ['load a[k, i]']}]\n  - store b[x]\n";
    result(&kernel(triangle), &["--verify"]);
}

#[test]
fn silly_devices_have_answers_or_reasons() {
    for set in ["sm.count=0", "dram.bandwidth=0 GB/s", "clock=0 GHz", "sm.warp_size=0", "nosuch.key=3"] {
        assert!(!refused(&kernel(COPY), &["--device-set", set]).is_empty());
    }
    for key in
        ["l2.effective", "l2.capacity", "l1.capacity", "l1.line", "l1.sector", "dram.fetch", "tlb.page"]
    {
        let why = refused(&kernel(COPY), &["--device-set", &format!("{key}=0B")]);
        assert_eq!(why, "`0B` is too small: it must be at least 1 B", "{key}");
    }
    let none = refused(&kernel(COPY), &["--device-set", "sm.count=0"]);
    assert_eq!(none, "`0` is too small: it must be at least 1");
    for set in [
        "l1.capacity=1B",
        "sm.count=1",
        "l1.sector=1B",
        "dram.fetch=1B",
        "tlb.page=1B",
        "sm.count=100000",
        "sm.warp_size=1",
        "dram.latency=1000000",
    ] {
        ranked(&kernel(COPY), &["--device-set", set]);
    }
    for set in ["l1.sector=3B", "l1.line=1B", "sm.count=1000000000000", "sm.warp_size=33", "tlb.page=3B"] {
        assert!(!refused(&kernel(COPY), &["--device-set", set]).is_empty(), "{set}");
    }
}

#[test]
fn odd_kernels_read_well() {
    let text = stdout(&wavecast(&["predict", "-", "-d", "a100", "--set", "N=1"], &kernel(COPY)));
    assert!(text.starts_with("odd: 1 LUP on NVIDIA A100"), "{text}");
    for word in ["NaN", "inf ", " -0.00"] {
        assert!(!text.contains(word), "{text}");
    }
}

#[test]
fn a_sampled_loop_takes_the_time_of_the_whole() {
    let time = |sample: &str| {
        let text = format!(
            "params: {{N: 16777216}}\nlaunch: {{block: [[256]], grid: [864], units_per_thread: N/864/256, registers: 16}}\n\
             body:\n  - loop: {{i: {{from: tidx, to: N-1, step: blockDim.x*gridDim.x{sample}}}}}\n    \
             body: ['load a[i]', 'store b[i]']\n"
        );
        let found = result(&kernel(&text), &[]);
        moves(&found, [8.0; 4]);
        assert_eq!(found["limiter"], "dram");
        number(&found, "time_s")
    };
    let (whole, sampled) = (time(""), time(", sample: 2"));
    assert!((sampled / whole - 1.0).abs() < 0.05, "{sampled} {whole}");
}

#[test]
fn a_grid_larger_than_the_domain_changes_no_volume() {
    let launch = "launch: {block: [[256]], grid: [100000], registers: 16}\n";
    moves(&result(&kernel(&format!("{launch}{COPY}")), &["--set", "N=1<<24"]), [8.0; 4]);
}

#[test]
fn a_guard_that_leaves_a_part_has_the_volumes_of_the_part() {
    // Per work item of the domain, those that do nothing too.
    let guards = [("x < N/4", 2.0), ("x >= N/2", 4.0), ("x >= 3*(N/4)", 2.0), ("blockIdx.x % 2 == 1", 4.0)];
    for (guard, bytes) in guards {
        let found = result(&kernel(&format!("guard: {guard}\n{COPY}")), &[]);
        let near = |v: f64| (v / bytes - 1.0).abs() < 0.03;
        assert!(volumes(&found).into_iter().all(near), "{guard}: {:?}", volumes(&found));
        // 256 doubles in 128 B per cycle, loaded and stored.
        assert!(near(number(&found, "volumes.l1.wavefront_cycles") * 64.0), "{guard}");
    }
}

#[test]
fn atomics_read_what_they_change() {
    let warned = |r: &Value| r["warnings"].to_string().contains("atomics-contended");
    let apart = result(&kernel("loads: ['a[x]']\natomics: ['b[x]']\n"), &[]);
    moves(&apart, [8.0, 8.0, 16.0, 8.0]);
    // One sector of each warp, which stays in the L2.
    let together = result(&kernel("loads: ['a[x]']\natomics: ['b[0]']\n"), &[]);
    moves(&together, [8.0, 1.0, 8.0, 0.0]);
    assert!(!warned(&apart) && warned(&together));
    // Neighbours in a sector are not the same address: eight blocks of one wave change each.
    let few = result(&kernel("loads: ['a[x]']\natomics: ['b[x % 65536]']\n"), &[]);
    let many = result(&kernel("loads: ['a[x]']\natomics: ['b[x % 1024]']\n"), &[]);
    assert!(!warned(&few) && warned(&many));
    // One thread of each block is enough, in a kernel with one address.
    let one = result(&kernel("body:\n  - load a[x]\n  - {when: threadIdx.x == 0, at: 'atomic b[0]'}\n"), &[]);
    assert!(one["warnings"].to_string().contains(" atomics of a wave change the same address"), "{one}");
}

#[test]
fn storing_whole_sectors_again_fills_nothing() {
    let text = "params: {N: 1048576, K: 64}\nfields: {b: {dtype: f32, size: N}}\n\
                body:\n  - loop: {k: 0..K-1}\n    body: ['store b[x]']\n";
    let found = result(&kernel(text), &["--set", "N=1<<26"]);
    assert!(number(&found, "volumes.dram.load.partial_store_fill") < 0.01);
}

#[test]
fn a_loop_without_iterations_loads_nothing() {
    let [loads, ..] = volumes(&result(&rows("k: 1..0"), &[]));
    assert!(loads.abs() < 1e-12, "{loads}");
}

#[test]
fn threads_beyond_the_domain_take_their_time() {
    let text = kernel(
        "params: {N: 256}\nfields: {a: {dtype: f64, shape: [N, N, N]}, b: {like: a}}\ndomain: {x: N, y: N, z: N}\n\
         loads: ['a[x, y, z]']\nstores: ['b[x, y, z]']\n",
    );
    let of = |block: &str| {
        let found = result(&text, &["--block", block]);
        (number(&found, "time_terms_s.latency"), number(&found, "rate_per_s"))
    };
    // Twice as many waves, in which half the warps have nothing to do.
    let ((half, slower), (all, faster)) = (of("512,1,1"), of("256,1,1"));
    assert!((half / all - 2.0).abs() < 0.01 && slower <= faster, "{half} {all} {slower} {faster}");
}

#[test]
fn enumeration_counts_a_copy_on_a_large_device() {
    let found = result(&kernel(COPY), &["--engine", "enumeration"]);
    moves(&found, [8.0; 4]);
}
