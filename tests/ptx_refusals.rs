//! What cannot be read of PTX says where, why, and what to do about it; nothing is guessed, and nothing breaks down.

use std::fmt::Write as _;

use wavecast::ptx::{Compiled, Given, ReadAccess};
use wavecast::space::Block;

/// An entry `k` of a thread with these instructions and variables: `%rd1` is `in`, `%rd2` is `out`, `%r1` the thread,
/// `%r2` the parameter `n`, and `%r3` comes from memory.
fn entry(variables: &str, instructions: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>;\n{variables}\n\
         ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r2, [n];\n\
         mov.u32 %r1, %tid.x; ld.global.u32 %r3, [%rd1];\n\
         {instructions}\nret;\n}}\n"
    )
}

fn given(more: &[&str]) -> Given {
    let args = ["0=in:f32[4096]", "1=out:f32[4096]", "2=2048"].map(str::to_owned).to_vec();
    let assume = more.iter().map(|a| (*a).to_owned()).collect();
    Given {
        args,
        blocks: vec![Block::new([32, 1, 1]).unwrap()],
        grid: Some("4".to_owned()),
        assume,
        ..Given::default()
    }
}

/// The accesses of an entry with a tile of shared memory.
fn accesses(instructions: &str) -> Vec<ReadAccess> {
    let text = entry(".shared .align 128 .b8 tile[4096]; .shared .align 8 .b8 bar[8];", instructions);
    Compiled::new("k.ptx", &text).unwrap().read(None, &given(&[])).unwrap().accesses
}

/// What the instruction in the last line is refused for.
fn refused(instruction: &str) -> String {
    let all = accesses(&format!("mov.u32 %r4, tile; mov.u32 %r5, bar;\n{instruction}"));
    let lost: Vec<&ReadAccess> = all.iter().filter(|a| a.status == "refused").collect();
    assert_eq!(lost.len(), 1, "{instruction}: {all:?}");
    // Seven lines of a head and its variables and three of instructions come first.
    assert_eq!(lost[0].line, 11, "{instruction}");
    lost[0].why.clone().unwrap()
}

const BULK: &str = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";

#[test]
fn bulk_copies_are_one_load_and_one_store() {
    let text = format!("mov.u32 %r4, tile; mov.u32 %r5, bar;\n{BULK} [%r4+256], [%rd1+512], %r2, [%r5];");
    let found: Vec<_> = accesses(&text)[1..]
        .iter()
        .map(|a| (a.op, a.space, a.width, a.address.clone().unwrap(), a.status))
        .collect();
    assert_eq!(
        found,
        [
            ("load", "global", 2048, "in + 128".to_owned(), "exact"),
            ("store", "shared", 2048, "tile + 256".to_owned(), "exact"),
        ]
    );
}

/// The length may be one of a few numbers: each has its own condition.
#[test]
fn bulk_copies_may_have_several_lengths() {
    let text = format!(
        "mov.u32 %r4, tile; mov.u32 %r5, bar; mov.u32 %r6, %ctaid.x; mul.lo.s32 %r7, %r6, 600;\n\
         sub.s32 %r7, %r2, %r7; min.s32 %r7, %r7, 600; shl.b32 %r7, %r7, 2;\n\
         {BULK} [%r4], [%rd1], %r7, [%r5];"
    );
    let widths: Vec<(u64, bool)> =
        accesses(&text)[1..].iter().filter(|a| a.op == "load").map(|a| (a.width, a.when.is_some())).collect();
    // The last block copies 248 numbers of 4 bytes, the others 600.
    assert_eq!(widths, [(992, true), (2400, true)]);
}

#[test]
fn copies_that_are_not_read_say_why() {
    let multicast = BULK.to_owned() + ".multicast::cluster [%r4], [%rd1], 1024, [%r5], %rs1;";
    let multicast = multicast.replace("%rs1", "%r6");
    for (instruction, why) in [
        (format!("{BULK} [%r4], [%rd1], %r3, [%r5];"), "how many bytes it copies is no number"),
        (format!("{BULK} [%r4], [%rd1], 2097152, [%r5];"), "beyond 2^20"),
        (multicast, "several blocks"),
        (
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, {%r1}], [%r5];"
                .to_owned(),
            "a map that the host makes",
        ),
        (
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r4], 1024;".to_owned(),
            "copies that also add",
        ),
        (
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [%r4], 1024, [%r5];"
                .to_owned(),
            "between the shared memories of blocks",
        ),
        (
            "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r6, %r7}, [%r4];".to_owned(),
            "8 x 8 elements of 16 bits",
        ),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.global.e4m3 \
             {%r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13}, [%rd1], 16;"
                .to_owned(),
            "its shape, layout or type is none of those that are read",
        ),
        ("ld.global.nc.f3 %f2, [%rd1+4];".to_owned(), "it names no type of what is moved"),
    ] {
        let found = refused(&instruction);
        assert!(found.contains(why), "{instruction}\n{found}");
        let name = instruction.split(' ').next().unwrap();
        assert!(found.contains(name), "{instruction}\n{found}");
    }
}

/// Hints and waiting for copies touch nothing.
#[test]
fn waiting_for_copies_touches_nothing() {
    let all = accesses(
        "mov.u32 %r4, tile; mov.u32 %r5, bar;\n\
         mbarrier.init.shared::cta.b64 [%r5], 1; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n\
         cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r5]; cp.async.bulk.prefetch.L2.global [%rd1], 1024;\n\
         AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], 0; @!%p1 bra AGAIN;",
    );
    assert_eq!(all.len(), 1, "{all:?}");
}

/// An array that ends beyond what 64 bits can say is named, with the line that reaches there.
#[test]
fn arrays_beyond_all_memory_are_named() {
    let text = entry("", "mul.wide.s32 %rd3, %r3, 4; add.s64 %rd3, %rd1, %rd3;\nst.global.f32 [%rd3], %f1;");
    let compiled = Compiled::new("k.ptx", &text).unwrap();
    let far = "11: out[1152921504606846975*(threadIdx.x + blockIdx.x)]";
    let wrong = compiled.read(None, &given(&[far])).unwrap_err().to_string();
    for part in ["k.ptx:11:", "array `out` is larger than any memory", "--assume"] {
        assert!(wrong.contains(part), "{wrong}");
    }
    // Each thread has so much for itself.
    let text = entry(
        ".local .align 4 .b8 own[1099511627776];",
        "mov.u64 %rd3, own; cvta.local.u64 %rd3, %rd3;\nst.local.f32 [%rd3], %f1;",
    );
    let compiled = Compiled::new("k.ptx", &text).unwrap();
    let grid = Some("2147483647, 65535, 65535".to_owned());
    let wrong = compiled.read(None, &Given { grid, ..given(&[]) }).unwrap_err().to_string();
    assert!(wrong.contains("array `own` is larger than any memory"), "{wrong}");
}

/// What data say of the place in a small table is flagged, and counted at the table's beginning.
#[test]
fn small_tables_are_counted_at_their_beginning() {
    let read = |bytes: u32, instructions: &str| {
        let table = format!(".global .align 16 .b8 table[{bytes}] = {{1, 2}};");
        let text = entry("", instructions);
        let text = text.replacen(".visible", &format!("{table}\n.visible"), 1);
        Compiled::new("k.ptx", &text).unwrap().read(None, &given(&[])).unwrap().accesses
    };
    let looked_up = "mov.u64 %rd3, table; mul.wide.s32 %rd4, %r3, 4; add.s64 %rd5, %rd3, %rd4;";
    let found = read(4096, &format!("{looked_up}\nld.global.f32 %f1, [%rd5+8];"));
    let access = &found[1];
    assert_eq!((access.status, access.anywhere), ("data", true), "{found:?}");
    assert_eq!(access.address.as_deref(), Some("table + 2"));
    let why = access.why.as_deref().unwrap();
    assert!(why.contains("its beginning is counted") && why.contains("reads it from memory"), "{why}");
    // What is added may lie before the place that data say.
    let found = read(4096, &format!("{looked_up}\nld.global.f32 %f1, [%rd5+-8];"));
    assert_eq!(found[1].address.as_deref(), Some("table"));
    // The same by one instruction, and one more that adds to it.
    let looked_up = "mov.u64 %rd3, table; mad.wide.s32 %rd5, %r3, 4, %rd3; add.s64 %rd6, %rd5, 16;";
    let found = read(64, &format!("{looked_up}\nld.global.f32 %f1, [%rd6];"));
    assert_eq!((found[1].status, found[1].address.as_deref()), ("data", Some("table + 4")));
    // Neither large tables nor those that the thread's place leads to; and what is stored may be anywhere.
    let large = read(4097, &format!("{looked_up}\nld.global.f32 %f1, [%rd6];"));
    let stored = read(64, &format!("{looked_up}\nst.global.f32 [%rd6], %f1;"));
    let product = "mov.u64 %rd3, table; mad.wide.s32 %rd5, %r1, 4, %rd3; mad.wide.s32 %rd6, %r3, 4, %rd5;";
    let placed = read(64, &format!("{product}\nld.global.f32 %f1, [%rd6];"));
    for found in [large, stored, placed] {
        assert_eq!(found[1].status, "refused", "{found:?}");
    }
}

/// An address that somebody says is taken in the place of a table's beginning.
#[test]
fn what_is_assumed_of_a_table_comes_first() {
    let instructions = "mov.u64 %rd3, table; mul.wide.s32 %rd4, %r3, 4; add.s64 %rd5, %rd3, %rd4;\n\
                        ld.global.f32 %f1, [%rd5];";
    let text = entry("", instructions);
    let text = text.replacen(".visible", ".global .align 16 .b8 table[64];\n.visible", 1);
    let line = text.lines().position(|l| l.starts_with("ld.global.f32")).unwrap() + 1;
    let told = format!("{line}: table[lane / 4]");
    let found = Compiled::new("k.ptx", &text).unwrap().read(None, &given(&[&told])).unwrap().accesses;
    assert_eq!((found[1].status, found[1].anywhere), ("exact", false), "{found:?}");
    assert_eq!(found[1].address.as_deref(), Some("table + (threadIdx.x/4)"));
}

/// Reasons begin where they arise; what computes with it comes behind, in the order of the program.
#[test]
fn reasons_begin_where_they_arise() {
    let why = |instructions: &str| {
        let found = accesses(&format!("{instructions}\nld.global.f32 %f1, [%rd5];"));
        found.iter().find(|a| a.status == "refused").unwrap().why.clone().unwrap()
    };
    let read = "`ld.global.u32` in line 9 reads it from memory, and";
    let one = why("mad.wide.s32 %rd5, %r3, 4, %rd1;");
    assert_eq!(one, format!("{read} line 10 computes with it"));
    let two = why("mul.wide.s32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;");
    assert_eq!(two, format!("{read} lines 10 and 11 compute with it"));
    let many = why(&format!("{}mad.wide.s32 %rd5, %r3, 4, %rd1;", "add.s32 %r3, %r3, 1;\n".repeat(8)));
    assert_eq!(many, format!("{read} 9 lines from 10 to 18 compute with it"));
}

/// A loop with two entries and no end, beside a way around it: each of its halves comes after the other.
#[test]
fn loops_with_two_entries_are_refused() {
    let text = entry(
        "",
        "setp.eq.s32 %p1, %r1, 0; @%p1 bra W;\nsetp.eq.s32 %p2, %r1, 1; @%p2 bra X;\n\
         Y: st.global.u32 [%rd2], %r1;\nX: st.global.u32 [%rd2+4], %r1; bra Y;\n\
         W: st.global.u32 [%rd2+8], %r1;",
    );
    let wrong = Compiled::new("k.ptx", &text).unwrap().read(None, &given(&[])).unwrap_err().to_string();
    assert!(wrong.contains("entered at two places"), "{wrong}");
}

/// Parts of a number go into registers of numbers; what a predicate gets of them is not known.
#[test]
fn predicates_are_no_parts_of_numbers() {
    let text = entry("", "mov.b64 {%r4, %p1}, %rd1; @%p1 st.global.u32 [%rd2], %r1;");
    let found = Compiled::new("k.ptx", &text).unwrap().read(None, &given(&[])).unwrap().accesses;
    assert_eq!((found.len(), found[1].op, found[1].status), (2, "store", "data"), "{found:?}");
}

/// A register of numbers says nothing of whether something is done.
#[test]
fn guards_that_are_numbers_are_not_known() {
    let text = entry("", "@%r1 st.global.u32 [%rd2], %r1; @!%r2 bra END; st.global.u32 [%rd2+4], %r1; END:");
    let Ok(compiled) = Compiled::new("k.ptx", &text) else { return };
    let found = compiled.read(None, &given(&[])).unwrap().accesses;
    let flagged: Vec<_> = found[1..].iter().map(|a| (a.op, a.status)).collect();
    assert_eq!(flagged, [("store", "data"); 2], "{found:?}");
}

/// Predicates made of predicates become longer with each instruction. Who reads them whole never comes to an end.
#[test]
fn predicates_that_grow_without_end_are_refused() {
    let chain = |word: fn(usize) -> &'static str| {
        let mut text = String::from(".reg .pred %q<256>;\n");
        for i in 0..8 {
            let _ = writeln!(text, "setp.lt.u32 %q{i}, %r1, {};", 3 * i + 1);
        }
        for i in 8..128 {
            let _ = writeln!(text, "{}.pred %q{i}, %q{}, %q{};", word(i), i - 1, i - 5 + i % 2);
        }
        text + "@%q127 bra DONE;\nst.global.f32 [%rd2], %f1;\nDONE:"
    };
    let words: [fn(usize) -> &'static str; 2] = [|_| "xor", |i| ["and", "or", "xor"][i % 3]];
    for word in words {
        let read = Compiled::new("k.ptx", &entry("", &chain(word))).unwrap().read(None, &given(&[]));
        let message = read.map(|found| found.document).unwrap_err().to_string();
        assert!(message.contains("too long"), "{message}");
    }
}

/// A call through a pointer may do anything. The label of its prototype is no function.
#[test]
fn calls_by_an_address_are_refused() {
    let why = refused(
        "{ .param .b32 a0; .param .b32 r0; p0: .callprototype (.param .b32 _) _ (.param .b32 _); call (r0), %rd1, (a0), p0; }",
    );
    assert_eq!(why, "line 11 calls a function by its address");
}

/// The size of a warp is a number.
#[test]
fn warps_have_a_size() {
    let found = accesses(
        "mov.u32 %r4, WARP_SZ; div.u32 %r5, %r1, %r4; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], %r5;",
    );
    assert_eq!((found[1].address.as_deref(), found[1].status), (Some("out + 32"), "exact"), "{found:?}");
}

/// Where iterations follow from each other in no regular way, it is said of which loop, and what helps.
#[test]
fn loops_that_take_too_long_are_named() {
    // Collatz: what the next number is depends on whether this one is odd.
    let text = entry(
        "",
        "mov.u32 %r4, %r1;\nAGAIN: and.b32 %r5, %r4, 1; setp.eq.s32 %p1, %r5, 0; shr.s32 %r6, %r4, 1; \
         mad.lo.s32 %r7, %r4, 3, 1; selp.b32 %r4, %r6, %r7, %p1; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n\
         ld.global.f32 %f1, [%rd4]; setp.gt.s32 %p2, %r4, 1; @%p2 bra AGAIN;",
    );
    let wrong = Compiled::new("k.ptx", &text).unwrap().read(None, &given(&[])).unwrap_err().to_string();
    assert!(wrong.contains("no formula says how the loop of line 11 goes on"), "{wrong}");
    assert!(wrong.contains("`--trips 11=N`") && !wrong.contains("unroll"), "{wrong}");
}

/// What somebody says of an address may call an array as the document does, which is as the source does.
#[test]
fn assumed_addresses_call_arrays_as_documents_do() {
    let text = entry(
        ".shared .align 4 .b8 _ZZ1kE4tile[4096];",
        "mov.u32 %r4, _ZZ1kE4tile; mad.lo.s32 %r5, %r3, 4, %r4;\nst.shared.u32 [%r5], %r1;",
    );
    let compiled = Compiled::new("k.ptx", &text).unwrap();
    for name in ["tile", "_ZZ1kE4tile"] {
        let found = compiled.read(None, &given(&[&format!("11: {name}[threadIdx.x]")])).unwrap().accesses;
        assert_eq!(found[1].address.as_deref(), Some("tile + threadIdx.x"), "{name}");
    }
}

/// Accesses that data decide for the same kind of reason have one note, which names all lines.
#[test]
fn notes_of_the_same_kind_are_one() {
    let text = entry(
        "",
        "setp.gt.s32 %p1, %r3, 5;\n@%p1 st.global.u32 [%rd2], %r1;\n@%p1 st.global.u32 [%rd2+4], %r1;\n\
         ld.global.f32 %f1, [%rd1]; setp.gt.f32 %p2, %f1, 0f00000000;\n@%p2 st.global.u32 [%rd2+8], %r1;\n\
         ld.global.f32 %f2, [%rd1+4]; setp.gt.f32 %p3, %f2, 0f00000000;\n@%p3 st.global.u32 [%rd2+12], %r1;",
    );
    let found = Compiled::new("k.ptx", &text).unwrap().read(None, &given(&[])).unwrap();
    let notes: Vec<_> =
        found.document.as_ref().unwrap().lines().skip(1).filter(|l| l.starts_with('#')).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("# out and 1 other access: counted as always done"), "{notes:?}");
    assert!(notes[1].contains("compares floating-point numbers; likewise in line 15"), "{notes:?}");
}

/// Where the PTX says what a line was compiled from, so does what is refused.
#[test]
fn refusals_say_the_line_of_the_source() {
    let text = entry("", ".loc 1 7 3\nmad.wide.s32 %rd5, %r3, 4, %rd1; ld.global.f32 %f1, [%rd5];");
    let text = text.replacen(".visible", ".file 1 \"folder/k.cu\"\n.visible", 1);
    let found = Compiled::new("k.ptx", &text).unwrap().read(None, &given(&[])).unwrap().accesses;
    assert_eq!((found[0].source.as_deref(), found[1].source.as_deref()), (None, Some("k.cu:7")));
    assert_eq!(found[1].status, "refused");
}
