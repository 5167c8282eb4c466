//! How many instructions and flops are counted of what was read: those of all threads and iterations, and what is not
//! exact says so.

use wavecast::ptx::{Compiled, Given, Read};
use wavecast::space::Block;

/// An entry `k` with these instructions: `%rd1` is `in`, `%rd2` is `out`, `%r1` the thread, `%r2` its place in the grid.
fn read(instructions: &str, grid: &str) -> Read {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<16>; .reg .f32 %f<9>; .reg .b16 %h<9>;\n\
         .shared .align 128 .b8 tile[4096];\n\
         ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.s32 %r2, %r3, 64, %r1;\n\
         mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3;\n\
         {instructions}\nst.global.f32 [%rd4], %f1;\nret;\n}}\n"
    );
    let given = Given {
        blocks: vec![Block::new([64, 1, 1]).unwrap()],
        grid: Some(grid.to_owned()),
        ..Given::default()
    };
    Compiled::new("k.ptx", &text).unwrap().read(None, &given).unwrap()
}

/// The lines of a document about flops and instructions.
fn work(read: &Read) -> (String, String) {
    let document = read.document.as_ref().unwrap();
    let line = |key: &str| document.lines().find_map(|l| l.trim().strip_prefix(key)).unwrap().to_owned();
    (line("flops: "), line("instructions: "))
}

const LOOP: &str = "mov.u32 %r10, 0;\nAGAIN:";
const END: &str = "add.s32 %r10, %r10, 1; setp.lt.s32 %p1, %r10, 1000; @%p1 bra AGAIN;";
const FMA: &str = "fma.rn.f32 %f1, %f1, %f1, %f1;";

#[test]
fn waiting_for_copies_is_no_access() {
    let found = read(
        "mov.u32 %r4, tile;\ncp.async.cg.shared.global [%r4], [%rd1], 16;\ncp.async.commit_group;\n\
         cp.async.wait_group 0;\ncp.async.wait_all;",
        "4",
    );
    let global = found.instructions.iter().find(|(class, _)| *class == "global").unwrap().1;
    // One copy and the store at the end.
    assert_eq!(serde_json::to_value(global).unwrap(), 2.0);
}

/// What is done in few iterations is counted in all of them: in the last, in the first, in each third.
#[test]
fn conditions_on_iterations_are_counted_in_all() {
    for (condition, times) in [
        ("setp.ne.s32 %p2, %r10, 999;", 1),
        ("setp.ne.s32 %p2, %r10, 0;", 1),
        ("setp.ne.s32 %p2, %r10, 500;", 1),
        ("rem.u32 %r11, %r10, 3; setp.ne.s32 %p2, %r11, 0;", 334),
        ("setp.lt.s32 %p2, %r10, 993;", 7),
    ] {
        let found = read(&format!("{LOOP} {condition} @%p2 bra REST; {FMA} REST: {END}"), "4");
        assert_eq!(work(&found).0, (2 * times).to_string(), "{condition}");
        assert!(!found.instructions_estimated && !work(&found).1.contains("estimated"), "{condition}");
    }
}

/// One thread of a block, and one block of the grid, count as what they are.
#[test]
fn what_few_threads_do_is_counted() {
    for (condition, share) in [
        ("setp.ne.s32 %p2, %r1, 0;", "0.031"),
        ("setp.ne.s32 %p2, %r3, 999;", "0.002"),
        ("setp.ge.s32 %p2, %r2, 32000;", "1"),
    ] {
        let found = read(&format!("{condition} @%p2 bra REST;\n{FMA}\nREST:"), "1000");
        assert_eq!(work(&found).0, share, "{condition}");
        assert!(!found.instructions_estimated, "{condition}");
    }
}

/// Where counting all threads and iterations would take too long, some stand for all, and the document says it.
#[test]
fn estimates_say_that_they_are() {
    let condition = "add.s32 %r11, %r10, %r2; and.b32 %r12, %r11, 7; setp.ne.s32 %p2, %r12, 5;";
    let found = read(&format!("{LOOP} {condition} @%p2 bra REST;\n{FMA}\nREST: {END}"), "100000");
    let (flops, instructions) = work(&found);
    assert!(found.instructions_estimated);
    assert!(instructions.contains("# flops and instructions are estimated"), "{instructions}");
    let flops: f64 = flops.parse().unwrap();
    assert!((flops - 250.0).abs() < 25.0, "{flops}");
}

/// Those of tensor cores are instructions, and no flops: the document says so.
#[test]
fn flops_of_tensor_cores_are_left_out() {
    let found = read(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, \
         {%f1, %f2, %f3, %f4};",
        "4",
    );
    assert_eq!(work(&found).0, "0 # without those of tensor cores");
    assert!(work(&found).1.contains("tensor: 1,"), "{:?}", work(&found));
}
