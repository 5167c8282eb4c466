//! The formats of traces: the same kernel in each of them is the same trace; what is wrong is said with its
//! line; nothing panics.

use std::io::Read;

use wavecast::trace::format::{
    Collector, CsvWriter, JsonWriter, ReadError, ReadOptions, Sink, TraceFormat, TrcWriter, read, read_text,
    write_scheduled,
};
use wavecast::trace::schedule::{SchedulePolicy, WarpShape, order};
use wavecast::trace::{Header, Trace, TraceKind};

/// Two blocks of two threads; thread t loads x[t] and x[4 + t], then stores y[t]. Thread 3 only loads once.
const TRC: &str = "blocksize: 2 1 1
0 0 4096 4
0 0 4112 4
0 1 8192 4
1 0 4100 4
1 0 4116 4
1 1 8196 4
3 0 4108 4
2 0 4104 4
2 0 4120 4
2 1 8200 4
";

const CRAWFORD: &str = "local size:2 1 1
0x1000F0000319|0x0|0x10000000000
0x00001010F0000319|0x0|0x20000000000
0x00002000A000031A|0x0|0x0
0x1004F0000319|0x1|0x10000000000
0x1014F0000319|0x1|0x20000000000
0x2004A000031A|0x1|0x0
0x1008F0000319|0x2|0x10000000000
0x1018F0000319|0x2|0x20000000000
0x2008A000031A|0x2|0x0
0x100CF0000319|0x3|0x10000000000
--
";

const TRACEG: &str = "-kernel name = k
-grid dim = (2,1,1)
-block dim = (2,1,1)
#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 4
0010 00000003 1 R5 LDG.E 1 R2 4 0 0x1000 0x1004
0010 00000003 1 R5 LDG.E 1 R2 4 1 0x1010 4
0020 00000003 1 R5 FADD 2 R2 R3 0
0030 00000003 0 STG.E 2 R2 R5 4 2 0x2000 4
#END_TB
#BEGIN_TB
thread block = 1,0,0
warp = 0
insts = 3
0010 00000003 1 R5 LDG.E 1 R2 4 1 0x1008 4
0010 00000001 1 R5 LDG.E 1 R2 4 0 0x1018
0030 00000001 0 STG.E 2 R2 R5 4 0 0x2008
#END_TB
";

const NVBIT: &str = "MEMTRACE: CTX 0x1 - LAUNCH - Kernel pc 0x10 - Kernel name k - grid launch id 0 - grid size 2,1,1 - block size 2,1,1 - nregs 32 - shmem 0 - cuda stream id 0
CTX 0x1 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - 0x1000 0x1004 Z
CTX 0x1 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - 0x1010 0x1014 Z
MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - STG.E - 0x2000 0x2004 Z
CTX 0x1 - grid_launch_id 0 - CTA 1,0,0 - warp 0 - LDG.E - 0x1008 0x100c Z
CTX 0x1 - grid_launch_id 0 - CTA 1,0,0 - warp 0 - LDG.E - 0x1018 0x0 Z
CTX 0x1 - grid_launch_id 0 - CTA 1,0,0 - warp 0 - STG.E - 0x2008 0x0 Z
";

const FULL: &str = "B 1 size 4096 flags 0
B 2 size 16 flags 0
K k dim 1 global 4 1 1 local 2 1 1
P 0 x size 8 buffer 1
L 0 depth 1 func k line 9
I 0 store line 12 col 29 loops
I 1 load line 10 col 16 loops 0
A 0 0,0,0 0,0,0 R 1 1:0x0 4 i1 0=0
A 0 0,0,0 0,0,0 R 1 1:0x10 4 i1 0=1
A 0 0,0,0 0,0,0 R 3 1:0x10 4 i1 0=1
A 0 0,0,0 0,0,0 W 1 2:0x0 4 i0
A 0 1,0,0 1,0,0 R 1 1:0x4 4 i1 0=0
A 0 1,0,0 1,0,0 R 1 1:0x14 4 i1 0=1
A 0 1,0,0 1,0,0 W 1 2:0x4 4 i0
A 1 2,0,0 0,0,0 R 1 1:0x8 4 i1 0=0
A 1 2,0,0 0,0,0 R 1 1:0x18 4 i1 0=1
A 1 2,0,0 0,0,0 W 1 2:0x8 4 i0
A 1 3,0,0 1,0,0 R 1 1:0xc 4 i1 0=0
E 10
";

const XZ: &[u8] = &[
    253, 55, 122, 88, 90, 0, 0, 4, 230, 214, 180, 70, 2, 0, 33, 1, 22, 0, 0, 0, 116, 47, 229, 163, 1, 0, 26,
    98, 108, 111, 99, 107, 115, 105, 122, 101, 58, 32, 49, 32, 49, 32, 49, 10, 48, 32, 48, 32, 49, 50, 56,
    32, 52, 10, 0, 0, 190, 101, 165, 85, 57, 136, 55, 9, 0, 1, 51, 27, 247, 25, 136, 94, 31, 182, 243, 125,
    1, 0, 0, 0, 0, 4, 89, 90,
];

const ZSTD: &[u8] = &[
    40, 181, 47, 253, 32, 27, 217, 0, 0, 98, 108, 111, 99, 107, 115, 105, 122, 101, 58, 32, 49, 32, 49, 32,
    49, 10, 48, 32, 48, 32, 49, 50, 56, 32, 52, 10,
];

fn nvbit() -> String {
    NVBIT.replace('Z', &"0x0 ".repeat(30))
}

fn parse(text: &str) -> Result<Vec<Trace>, ReadError> {
    let mut collector = Collector::default();
    read_text(text.as_bytes(), ReadOptions::default(), &mut collector)?;
    Ok(collector.traces)
}

fn one(text: &str) -> Trace {
    parse(text).unwrap().remove(0)
}

/// What every format says: kinds, addresses and bytes by thread. Buffers of the log lie elsewhere.
fn contents(trace: &Trace, moved: bool) -> Vec<Vec<(TraceKind, u64, u16)>> {
    let place = |a: u64| match (moved, a) {
        (false, a) => a,
        (true, a) if a >= 0x20_1000 => a - 0x20_1000 + 8192,
        (true, a) => a - 0x20_0000 + 4096,
    };
    let of = |t| trace.thread(t).iter().map(|a| (a.kind, place(a.address), a.bytes)).collect();
    (0..trace.threads()).map(of).collect()
}

#[test]
fn the_same_kernel_is_the_same_trace_in_every_format() {
    let expected = contents(&one(TRC), false);
    assert_eq!(expected.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 1]);
    for (text, moved) in
        [(CRAWFORD.to_owned(), false), (TRACEG.to_owned(), false), (nvbit(), false), (FULL.to_owned(), true)]
    {
        let trace = one(&text);
        assert_eq!(contents(&trace, moved), expected, "{text}");
        assert_eq!((trace.block.0, trace.blocks()), ([2, 1, 1], 2));
        // Warps of two threads do the same instructions together, whatever the format knows of them.
        let order = order(&trace, SchedulePolicy::Warp, WarpShape::new(2).unwrap());
        let threads: Vec<u32> = order.iter().map(|&i| trace.accesses()[i as usize].thread).collect();
        assert_eq!(threads, [0, 1, 2, 3, 0, 1, 2, 0, 1, 2], "{text}");
    }
}

fn replay<S: Sink>(trace: &Trace, sink: &mut S) {
    let header = Header { kernel: trace.kernel.clone(), block: trace.block, grid: Some(trace.grid) };
    sink.begin(&header, false).unwrap();
    for &access in trace.accesses() {
        sink.access(access, &trace.tables).unwrap();
    }
    sink.end(trace.tables.clone()).unwrap();
}

#[test]
fn our_own_formats_say_all_that_the_others_can_say() {
    let everything =
        format!("{}A 1 3,0,0 1,0,0 r 1 1:0x40 8 i1 0=7 2=1\nY 1 1\nE 1\n", FULL.replace("E 10\n", ""));
    let named = |t: &Trace| {
        let name = |a: &wavecast::trace::TraceAccess| {
            let known = t.tables.instructions().get(a.instruction as usize).cloned();
            (a.thread, a.kind, a.address, a.bytes, known, t.tables.pairs(a.iteration).to_vec())
        };
        (t.kernel.clone(), t.block, t.grid, t.accesses().iter().map(name).collect::<Vec<_>>())
    };
    for text in [everything, TRACEG.to_owned(), CRAWFORD.to_owned(), TRC.to_owned()] {
        let trace = one(&text);
        let (mut csv, mut json) = (Vec::new(), Vec::new());
        replay(&trace, &mut CsvWriter::new(&mut csv));
        replay(&trace, &mut JsonWriter::new(&mut json));
        for written in [csv, json] {
            let again = one(&String::from_utf8(written).unwrap());
            assert_eq!(named(&again), named(&trace));
        }
    }
}

#[test]
fn written_traces_are_read_again() {
    let trace = one(TRC);
    let mut out = Vec::new();
    replay(&trace, &mut TrcWriter::new(&mut out));
    assert_eq!(contents(&one(&String::from_utf8(out).unwrap()), false), contents(&trace, false));

    let crawford = one(CRAWFORD);
    let mut out = Vec::new();
    let order = order(&crawford, SchedulePolicy::Warp, WarpShape::new(2).unwrap());
    write_scheduled(&mut out, &crawford, 2, order.iter().copied()).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("2 2\n0x1000 R 0 0 0\n0x1004 R 0 0 0\n0x1008 R 1 0 0\n"), "{text}");
    let scheduled = one(&text);
    let addresses = |t: &Trace, order: &[u32]| {
        order.iter().map(|&i| t.accesses()[i as usize].address).collect::<Vec<_>>()
    };
    assert_eq!(addresses(&scheduled, scheduled.recorded().unwrap()), addresses(&crawford, &order));
}

#[test]
fn packed_traces_are_read_directly() {
    let mut gz = Vec::new();
    flate2::read::GzEncoder::new(TRC.as_bytes(), flate2::Compression::fast()).read_to_end(&mut gz).unwrap();
    // What `xz` and `zstd` make of "blocksize: 1 1 1\n0 0 128 4\n".
    for packed in [gz, XZ.to_vec(), ZSTD.to_vec()] {
        let mut collector = Collector::default();
        read(packed.as_slice(), ReadOptions::default(), &mut collector).unwrap();
        assert!(!collector.traces[0].accesses().is_empty());
        // Cut off, it is an error and no shorter trace.
        let cut = &packed[..packed.len() - 9];
        assert!(matches!(
            read(cut, ReadOptions::default(), &mut Collector::default()),
            Err(ReadError::Io(_))
        ));
    }
}

#[test]
fn malformed_lines_are_named_or_skipped() {
    let wrong = [
        (TRC.replace("0 1 8192 4", "0 2 8192 4"), 4),
        (TRC.replace("3 0 4108 4", "3 0 4108"), 8),
        (TRC.replace("3 0 4108 4", "99999999999 0 4108 4"), 8),
        (CRAWFORD.replace("0x1004F0000319|0x1|", "0x1004G0000319|0x1|"), 5),
        (TRACEG.replace("STG.E 2 R2 R5 4 2 0x2000 4", "STG.E 2 R2 R5 4 2 0x2000"), 12),
        (TRACEG.replace("thread block = 1", "thread block = 9"), 15),
        (FULL.replace("A 0 1,0,0 1,0,0 R 1 1:0x4", "A 0 1,0,0 2,0,0 R 1 1:0x4"), 12),
        (FULL.replace("W 1 2:0x0", "W 1 7:0x0"), 11),
        (nvbit().replace("CTA 1,0,0 - warp 0 - STG.E", "CTA 1,0,0 - warp 0 - FADD"), 7),
        ("# wavecast-trace 1\n# launch block=1,1,1\n0,R,5,4,,0,0,\n0,X,5,4,,0,0,\n".to_owned(), 4),
        ("{\"block\":[1,1,1]}\n{\"thread\":0,\"kind\":\"R\"}\n{\"thread\":0}\n".to_owned(), 3),
    ];
    for (text, expected) in wrong {
        match parse(&text) {
            Err(ReadError::Malformed { line, .. }) => assert_eq!(line, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
        let mut collector = Collector::default();
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let reading = read_text(text.as_bytes(), options, &mut collector).unwrap();
        assert!(reading.skipped > 0 && reading.first_skipped == Some(expected), "{text}");
    }
    let cut = TRACEG.split("0030 00000001").next().unwrap();
    assert!(matches!(parse(cut), Err(ReadError::Truncated { .. })));
    assert!(matches!(parse(FULL.trim_end_matches("E 10\n")), Err(ReadError::Truncated { line: 18, .. })));
    assert!(matches!(parse(""), Err(ReadError::Empty)));
    assert!(matches!(parse("what is this\n"), Err(ReadError::Unknown)));
    assert!(matches!(parse("blocksize: 0 1 1\n"), Err(ReadError::Malformed { line: 1, .. })));
    assert_eq!(one("blocksize: 32 1 1\n").accesses(), []);
}

/// Changes a text in a few places: other bytes, parts left out, parts doubled.
fn mutate(text: &[u8], random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut out = text.to_vec();
    for _ in 0..=random(3) {
        let at = random(out.len());
        let length = 1 + random(20);
        let end = (at + length).min(out.len());
        match random(5) {
            0 => out[at] = u8::try_from(random(256)).unwrap(),
            1 => drop(out.drain(at..end)),
            2 => {
                let part = out[at..end].to_vec();
                drop(out.splice(at..at, part));
            }
            3 => out[at] = b"0123456789abcdefx ,=|-:\n"[random(24)],
            _ => out.truncate(at),
        }
        if out.is_empty() {
            out.push(b'\n');
        }
    }
    out
}

/// How many mutated files are read; the bar of a million is reached with `WAVECAST_FUZZ=1000000`.
fn rounds() -> usize {
    std::env::var("WAVECAST_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

#[test]
fn mutated_files_never_panic() {
    let scheduled = "2 2\n0x1000 R 0 0 1\n0x1004 R 0 0 1\n0x1008 W 1 0 2\n".to_owned();
    let (mut csv, mut json) = (Vec::new(), Vec::new());
    replay(&one(FULL), &mut CsvWriter::new(&mut csv));
    replay(&one(FULL), &mut JsonWriter::new(&mut json));
    let own = [csv, json].map(|t| String::from_utf8(t).unwrap());
    let texts: Vec<String> =
        [TRC.to_owned(), CRAWFORD.to_owned(), TRACEG.to_owned(), nvbit(), FULL.to_owned(), scheduled]
            .into_iter()
            .chain(own)
            .collect();
    let mut state = 1_u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % n.max(1)
    };
    let mut understood = 0;
    for round in 0..rounds() {
        let text = mutate(texts[round % texts.len()].as_bytes(), &mut random);
        let format = (round % 3 == 0).then(|| TraceFormat::NAMED[random(TraceFormat::NAMED.len())].1);
        let options = ReadOptions { format, lenient: round % 2 == 0, ..ReadOptions::default() };
        let mut collector = Collector::default();
        if read_text(&text, options, &mut collector).is_ok() {
            understood += 1;
            // Numbers of threads may be large now; what is held is not.
            for trace in collector.traces.iter().filter(|t| t.threads() < 10_000) {
                assert_eq!(
                    order(trace, SchedulePolicy::Warp, WarpShape::default()).len(),
                    without_barriers(trace)
                );
            }
        }
    }
    assert!(understood > rounds() / 20);
}

fn without_barriers(trace: &Trace) -> usize {
    trace.accesses().iter().filter(|a| a.kind != TraceKind::Barrier).count()
}
