//! Matrices that warps load and store together: the bytes that a warp touches are those of the matrix, each once, in what
//! is read as in what is run.

use std::collections::BTreeMap;

use wavecast::kernel::{Options, load};
use wavecast::launch::{Chosen, Touching};
use wavecast::ptx::run::{Argument, EntryField, Machine, Sizes, ThreadEvent, Who};
use wavecast::ptx::syntax::parse;
use wavecast::ptx::{Compiled, Given};
use wavecast::space::{Block, Grid};

/// How often each byte of the matrix behind the first 64 of its field is touched by a warp.
type Bytes = BTreeMap<i64, usize>;

fn text(instruction: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 m, .param .u32 stride)\n{{\n\
         .reg .b32 %r<40>; .reg .b64 %rd<4>; .reg .f32 %f<40>; .reg .f64 %fd<8>;\n\
         ld.param.u64 %rd1, [m]; ld.param.u32 %r1, [stride];\n{instruction}\nret;\n}}\n"
    )
}

/// The bytes that the last warp of the block touches as it is read.
fn read(text: &str, stride: i64) -> Bytes {
    let args = vec!["0=m:u8[65536]".to_owned(), format!("1={stride}")];
    let given = Given {
        args,
        blocks: vec![Block::new([16, 6, 1]).unwrap()],
        grid: Some("1".to_owned()),
        ..Given::default()
    };
    let found = Compiled::new("k.ptx", text).unwrap().read(None, &given).unwrap();
    let document = found.document.unwrap_or_else(|| panic!("{:?}", found.accesses));
    assert!(document.contains("# matrices of `wmma` are loaded and stored by whole warps"), "{document}");
    let kernel = &load("k", &document, &Options::default()).unwrap().kernels[0];
    let chosen = Chosen::new(kernel, Some(Block::new([16, 6, 1]).unwrap()), None);
    let launch = wavecast::Launch::new(kernel, chosen.candidate).unwrap();
    let touching = Touching::new(kernel, &launch).unwrap();
    let mut bytes = Bytes::new();
    for thread in 64..96 {
        for touched in touching.thread([0; 3].into(), [thread % 16, thread / 16, 0].into()).unwrap() {
            add(&mut bytes, touched.offset, touched.bytes);
        }
    }
    bytes
}

/// The same as it is run.
fn run(text: &str, stride: i64) -> Bytes {
    let module = parse(text, Default::default()).unwrap();
    let sizes = Sizes { block: Block::new([16, 6, 1]).unwrap(), grid: Grid::new([1; 3]).unwrap(), shared: 0 };
    let arguments = [Argument::Pointer { field: 0, offset: 0 }, Argument::Integer(stride)];
    let machine =
        Machine::new(&module, "k", &arguments, vec![EntryField::new("m").with_data(vec![0; 65536])], &sizes)
            .unwrap();
    let mut bytes = Bytes::new();
    let mut seen = |thread: u32, event: ThreadEvent| {
        if let ThreadEvent::Access(access) = event
            && thread >= 64
        {
            assert!(access.sure);
            add(&mut bytes, access.offset, i64::from(access.bytes));
        }
    };
    machine.start(1 << 20).block([0; 3].into(), Who::All, &mut seen).unwrap();
    bytes
}

fn add(bytes: &mut Bytes, offset: i64, width: i64) {
    for byte in offset..offset + width {
        *bytes.entry(byte).or_default() += 1;
    }
}

/// Rows of so many bytes, so many bytes apart.
fn matrix(rows: i64, row: i64, apart: i64) -> Bytes {
    (0..rows).flat_map(|r| (0..row).map(move |b| (64 + r * apart + b, 1))).collect()
}

/// So many registers of a kind, from the second on.
fn registers(name: &str, count: usize) -> String {
    (0..count).map(|i| format!("%{name}{}", i + 2)).collect::<Vec<_>>().join(", ")
}

#[test]
fn warps_touch_their_matrices() {
    // The instruction, its registers, and rows, bytes of a row and of an element's stride.
    let cases = [
        ("load.a.sync.aligned.row.m16n16k16.global.f16", "r", 8, (16, 32, 2)),
        ("load.b.sync.aligned.row.m16n16k16.global.bf16", "r", 4, (16, 32, 2)),
        ("load.a.sync.aligned.col.m8n32k16.global.f16", "r", 8, (16, 16, 2)),
        ("load.b.sync.aligned.col.m8n32k16.global.f16", "r", 8, (32, 32, 2)),
        ("load.b.sync.aligned.row.m32n8k16.global.u8", "r", 1, (16, 8, 1)),
        ("load.c.sync.aligned.col.m32n8k16.global.f32", "f", 8, (8, 128, 4)),
        ("load.a.sync.aligned.row.m16n16k8.global.tf32", "r", 4, (16, 32, 4)),
        ("load.c.sync.aligned.row.m8n8k4.global.f64", "fd", 2, (8, 64, 8)),
        ("load.b.sync.aligned.col.m8n8k32.global.s4", "r", 1, (8, 16, 0)),
        ("store.d.sync.aligned.row.m16n16k16.global.f32", "f", 8, (16, 64, 4)),
        ("store.d.sync.aligned.col.m16n16k16.f16", "r", 4, (16, 32, 2)),
    ];
    for (name, kind, count, (rows, row, element)) in cases {
        let registers = registers(kind, count);
        for (stride, said) in [(160, "160"), (160, "%r1"), (256, "%r1"), (0, "")] {
            let stride_said = if said.is_empty() { String::new() } else { format!(", {said}") };
            let instruction = match name.strip_prefix("store") {
                Some(_) => format!("wmma.{name} [%rd1+64], {{{registers}}}{stride_said};"),
                None => format!("wmma.{name} {{{registers}}}, [%rd1+64]{stride_said};"),
            };
            // Half a byte an element; rows one behind the other where no stride is said.
            let apart = if said.is_empty() {
                row
            } else if element == 0 {
                stride / 2
            } else {
                stride * element
            };
            let (text, wanted) = (text(&instruction), matrix(rows, row, apart));
            assert_eq!(run(&text, stride), wanted, "{instruction}");
            assert_eq!(read(&text, stride), wanted, "{instruction}");
        }
    }
}
