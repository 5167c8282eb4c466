//! Programs that `emit` makes of documents access what the documents say: compiled by NVRTC, run, and compared.

mod ptx_cases;

use std::collections::{BTreeMap, BTreeSet};

use ptx_cases::{extents, folder};
use wavecast::device::find;
use wavecast::kernel::{AccessKind, Kernel, Options, Space, load};
use wavecast::launch::{Chosen, Launch, Touching};
use wavecast::predict::Estimator;
use wavecast::ptx::run::{AccessOperation, Argument, EntryField, Machine, Memory, Sizes, ThreadEvent, Who};
use wavecast::ptx::syntax::parse;
use wavecast::ptx::{Compiled, Given};
use wavecast::space::{Block, Fold};
use wavecast::text::{Bounds, Node, Value, parse_stream};

/// Bytes that a thread reads or writes, by what it does and where.
type Bytes = BTreeMap<(AccessOperation, String), BTreeSet<i64>>;

fn text(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.to_string(),
        other => panic!("{other:?} is no scalar"),
    }
}

fn list(node: &Node) -> Vec<String> {
    match &node.value {
        Value::List(items) => items.iter().map(text).collect(),
        other => panic!("{other:?} is no list"),
    }
}

fn size(text: &str) -> [i64; 3] {
    extents(&text.replace(',', "x"))
}

fn kernel(case: &Node) -> Kernel {
    let name = text(case.get("kernel").unwrap());
    let path = folder().join(format!("../../kernels/{name}.yaml"));
    let options = Options { set: case.get("set").map(list).unwrap_or_default(), ..Options::default() };
    let loaded = load(&name, &std::fs::read_to_string(path).unwrap(), &options).unwrap();
    match case.get("variant").map(text) {
        Some(variant) => loaded.only(&[variant]).unwrap().kernels.remove(0),
        None => loaded.kernels.into_iter().next().unwrap(),
    }
}

/// Where shared fields begin: each on a multiple of 16 bytes, as `emit` lays them out.
fn shared_starts(kernel: &Kernel, launch: &Launch) -> BTreeMap<String, i64> {
    let (mut starts, mut next) = (BTreeMap::new(), 0_i64);
    for field in kernel.fields().iter().filter(|f| matches!(f.space(), Space::Shared)) {
        starts.insert(field.name().to_owned(), next);
        let bytes = field.elements().at(&launch.sizes()).unwrap() * field.dtype().bytes;
        next = (next + bytes + 15) / 16 * 16;
    }
    starts
}

fn add(bytes: &mut Bytes, operation: AccessOperation, field: &str, offset: i64, width: i64) {
    bytes.entry((operation, field.to_owned())).or_default().extend(offset..offset + width);
}

/// What a list of cases says of one.
struct Emitted {
    name: String,
    kernel: Kernel,
    launch: Launch,
    args: Vec<String>,
    text: String,
    /// Why volumes of what was compiled are not those of the document.
    compiler: Option<String>,
}

fn cases() -> Vec<Emitted> {
    let yaml = std::fs::read_to_string(folder().join("emitted.yaml")).unwrap();
    let (documents, errors) = parse_stream(&yaml, Default::default(), Bounds::of_bytes(1 << 20));
    assert_eq!(errors, []);
    let Value::List(cases) = &documents[0].value else { panic!("no list") };
    let case = |case: &Node| {
        let name = text(case.get("ptx").unwrap());
        let kernel = kernel(case);
        let block = size(&text(case.get("block").unwrap()));
        let fold = case.get("fold").map(|fold| Fold::new(size(&text(fold))).unwrap());
        let chosen = Chosen::new(&kernel, Some(Block::new(block).unwrap()), fold);
        let launch = Launch::new(&kernel, chosen.candidate).unwrap();
        let args = list(case.get("args").unwrap());
        let compiler = case.get("compiler").map(text);
        let text = std::fs::read_to_string(folder().join(format!("emitted/{name}.ptx"))).unwrap();
        Emitted { name, kernel, launch, args, text, compiler }
    };
    cases.iter().map(case).collect()
}

/// Blocks at the edges of the grid and in the middle.
fn some_blocks(grid: [i64; 3]) -> BTreeSet<[i64; 3]> {
    [[0; 3], grid.map(|n| n / 2), grid.map(|n| n - 1), [grid[0] - 1, 0, 0]].into_iter().collect()
}

/// What a thread of a document touches; shared fields as the one that the program has.
fn touched(kernel: &Kernel, launch: &Launch, at: [i64; 3], threads: &[[i64; 3]]) -> Vec<Bytes> {
    let touching = Touching::new(kernel, launch).unwrap();
    let starts = shared_starts(kernel, launch);
    let one = |thread: &[i64; 3]| {
        let mut bytes = Bytes::new();
        for touched in touching.thread(at.into(), (*thread).into()).unwrap() {
            let field = kernel.field(touched.field);
            let operation = match touched.kind {
                AccessKind::Load => AccessOperation::Load,
                AccessKind::Store => AccessOperation::Store,
                AccessKind::Atomic => AccessOperation::Atomic,
            };
            let (name, start) = match starts.get(field.name()) {
                Some(start) => ("shared", *start),
                None => (field.name().as_str(), 0),
            };
            add(&mut bytes, operation, name, start + touched.offset, touched.bytes);
        }
        bytes
    };
    threads.iter().map(one).collect()
}

/// Bytes of the whole launch between the L1, the L2 and memory.
fn volumes(kernel: &Kernel, launch: &Launch) -> [f64; 4] {
    let a100 = find("a100", &[]).unwrap();
    let found = Estimator::new(kernel, &a100).predict(launch.candidate()).unwrap();
    let (l2, dram) = (&found.volumes.l2, &found.volumes.dram);
    let bytes = [l2.load.total, l2.store.total, dram.load.total, dram.store.total];
    bytes.map(|b| b.in_all(found.items).get())
}

#[test]
fn what_is_read_of_emitted_programs_is_their_documents() {
    for Emitted { name, kernel, launch, args, text, compiler } in cases() {
        let size = |field: &str| {
            let field = kernel.fields().iter().find(|f| f.name().as_str() == field)?;
            Some(field.elements().at(&launch.sizes()).unwrap() * field.dtype().bytes)
        };
        let given = args.iter().enumerate().map(|(i, value)| match size(value) {
            Some(bytes) => format!("{i}={value}:b8[{bytes}]"),
            None => format!("{i}={value}"),
        });
        let [x, y, z]: [i64; 3] = launch.sizes().grid.into();
        let given = Given {
            args: given.collect(),
            blocks: vec![launch.sizes().block],
            grid: Some(format!("{x}, {y}, {z}")),
            registers: Some(u32::try_from(launch.registers()).unwrap()),
            ..Given::default()
        };
        let read = Compiled::new(&name, &text).unwrap().read(None, &given).unwrap();
        let document = read.document.unwrap_or_else(|| panic!("{name}: {:?}", read.accesses));
        let found = load(&name, &document, &Options::default()).unwrap_or_else(|e| panic!("{e}\n{document}"));
        let found = &found.kernels[0];
        let again = Launch::new(found, Chosen::new(found, None, None).candidate).unwrap();
        assert_eq!(again.sizes().grid, launch.sizes().grid, "{name}");
        let [bx, by, bz]: [i64; 3] = launch.sizes().block.into();
        let corners =
            [[0; 3], [bx - 1, by - 1, bz - 1], [bx / 2, by / 2, bz / 2], [1 % bx, by - 1, 0], [bx - 1, 0, 0]];
        for at in some_blocks([x, y, z]) {
            let (one, other) =
                (touched(&kernel, &launch, at, &corners), touched(found, &again, at, &corners));
            assert_eq!(other, one, "{name} block {at:?}");
        }
        let (one, other) = (volumes(&kernel, &launch), volumes(found, &again));
        let equal = one.iter().zip(other).all(|(a, b)| (a - b).abs() < 0.5);
        assert!(equal || compiler.is_some(), "{name}: {one:?} and {other:?}\n{document}");
    }
}

#[test]
fn emitted_programs_access_what_their_documents_say() {
    let cases = cases();
    assert!(cases.len() >= 8);
    for Emitted { name, kernel, launch, args, text, .. } in cases {
        let block: [i64; 3] = launch.sizes().block.into();
        let module = parse(&text, Default::default()).unwrap();
        let entry = module.entries().next().unwrap().name.clone();
        let mut fields = Vec::new();
        let arguments: Vec<Argument> = args
            .iter()
            .map(|given| {
                if let Ok(value) = given.parse() {
                    return Argument::Integer(value);
                }
                fields.push(EntryField::new(given));
                Argument::Pointer { field: fields.len() - 1, offset: 0 }
            })
            .collect();
        let sizes = Sizes { block: launch.sizes().block, grid: launch.sizes().grid, shared: 65536 };
        let machine = Machine::new(&module, &entry, &arguments, fields, &sizes).unwrap();
        let grid: [i64; 3] = sizes.grid.into();
        let mut compared = 0;
        for at in some_blocks(grid) {
            let mut run = vec![Bytes::new(); machine.threads() as usize];
            let done = machine.start(1 << 26).block(at.into(), Who::All, &mut |thread, event| {
                let ThreadEvent::Access(access) = event else { return };
                assert!(access.sure, "{name}");
                let (field, offset) = match access.memory {
                    Memory::Shared => ("shared".to_owned(), machine.shared_offset(&access)),
                    _ => (machine.name(&access).to_owned(), access.offset),
                };
                add(&mut run[thread as usize], access.operation, &field, offset, i64::from(access.bytes));
            });
            done.unwrap_or_else(|e| panic!("{name}: {e}"));
            let place = |n: i64| [n % block[0], n / block[0] % block[1], n / block[0] / block[1]];
            let threads: Vec<[i64; 3]> = (0..i64::from(machine.threads())).map(place).collect();
            let wanted = touched(&kernel, &launch, at, &threads);
            for ((thread, found), wanted) in threads.iter().zip(run).zip(wanted) {
                // What a thread has stored itself it need not load again.
                assert_eq!(found, wanted, "{name} block {at:?} thread {thread:?}");
                compared += found.len();
            }
        }
        assert!(compared > 0, "{name}");
    }
}
