//! Programs that `emit` makes of documents access what the documents say: compiled by NVRTC, run, and compared.

mod ptx_cases;

use std::collections::{BTreeMap, BTreeSet};

use ptx_cases::{extents, folder};
use wavecast::kernel::{AccessKind, Kernel, Options, Space, load};
use wavecast::launch::{Chosen, Launch, Touching};
use wavecast::ptx::run::{Argument, Event, Field, Machine, Memory, Operation, Sizes, Who};
use wavecast::ptx::syntax::parse;
use wavecast::space::{Block, Fold};
use wavecast::text::{Bounds, Node, Value, parse_stream};

/// Bytes that a thread reads or writes, by what it does and where.
type Bytes = BTreeMap<(Operation, String), BTreeSet<i64>>;

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

fn add(bytes: &mut Bytes, operation: Operation, field: &str, offset: i64, width: i64) {
    bytes.entry((operation, field.to_owned())).or_default().extend(offset..offset + width);
}

#[test]
fn emitted_programs_access_what_their_documents_say() {
    let yaml = std::fs::read_to_string(folder().join("emitted.yaml")).unwrap();
    let (documents, errors) = parse_stream(&yaml, Default::default(), Bounds::of_bytes(1 << 20));
    assert_eq!(errors, []);
    let Value::List(cases) = &documents[0].value else { panic!("no list") };
    assert!(cases.len() >= 8);
    for case in cases {
        let name = text(case.get("ptx").unwrap());
        let kernel = kernel(case);
        let block = size(&text(case.get("block").unwrap()));
        let fold = case.get("fold").map(|fold| Fold::new(size(&text(fold))).unwrap());
        let chosen = Chosen::new(&kernel, Some(Block::new(block).unwrap()), fold);
        let launch = Launch::new(&kernel, chosen.candidate).unwrap();
        let touching = Touching::new(&kernel, &launch).unwrap();
        let starts = shared_starts(&kernel, &launch);
        let ptx = std::fs::read_to_string(folder().join(format!("emitted/{name}.ptx"))).unwrap();
        let module = parse(&ptx, Default::default()).unwrap();
        let entry = module.entries().next().unwrap().name.clone();
        let mut fields = Vec::new();
        let arguments: Vec<Argument> = list(case.get("args").unwrap())
            .iter()
            .map(|given| {
                if let Ok(value) = given.parse() {
                    return Argument::Integer(value);
                }
                fields.push(Field::new(given));
                Argument::Pointer { field: fields.len() - 1, offset: 0 }
            })
            .collect();
        let sizes = Sizes { block: launch.sizes().block, grid: launch.sizes().grid, shared: 65536 };
        let machine = Machine::new(&module, &entry, &arguments, fields, &sizes).unwrap();
        let grid: [i64; 3] = sizes.grid.into();
        let blocks: BTreeSet<[i64; 3]> =
            [[0; 3], grid.map(|n| n / 2), grid.map(|n| n - 1), [grid[0] - 1, 0, 0]].into_iter().collect();
        let mut compared = 0;
        for at in blocks {
            let mut run = vec![Bytes::new(); machine.threads() as usize];
            let done = machine.start(1 << 26).block(at.into(), Who::All, &mut |thread, event| {
                let Event::Access(access) = event else { return };
                assert!(access.sure, "{name}");
                let (field, offset) = match access.memory {
                    Memory::Shared => ("shared".to_owned(), machine.shared_offset(&access)),
                    _ => (machine.name(&access).to_owned(), access.offset),
                };
                add(&mut run[thread as usize], access.operation, &field, offset, i64::from(access.bytes));
            });
            done.unwrap_or_else(|e| panic!("{name}: {e}"));
            for (number, found) in (0..).zip(run) {
                let thread = [number % block[0], number / block[0] % block[1], number / block[0] / block[1]];
                let mut wanted = Bytes::new();
                for touched in touching.thread(at.into(), thread.into()).unwrap() {
                    let field = kernel.field(touched.field);
                    let operation = match touched.kind {
                        AccessKind::Load => Operation::Load,
                        AccessKind::Store => Operation::Store,
                        AccessKind::Atomic => Operation::Atomic,
                    };
                    let (name, start) = match starts.get(field.name()) {
                        Some(start) => ("shared", *start),
                        None => (field.name().as_str(), 0),
                    };
                    add(&mut wanted, operation, name, start + touched.offset, touched.bytes);
                }
                // What a thread has stored itself it need not load again.
                assert_eq!(found, wanted, "{name} block {at:?} thread {thread:?}");
                compared += found.len();
            }
        }
        assert!(compared > 0, "{name}");
    }
}
