//! The list of kernels in tests/ptx/kernels.yaml.

#![allow(dead_code, reason = "each test needs a part of it")]

use std::path::{Path, PathBuf};

use wavecast::ptx::run::{Argument, EntryField, EntryNotRun, Machine, Sizes};
use wavecast::ptx::syntax::{Module, parse};
use wavecast::space::{Block, Grid};
use wavecast::text::{Bounds, Node, Value, parse_stream};

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx")
}

/// A kernel, its arguments and launches.
#[derive(Debug, Clone)]
pub struct Case {
    pub ptx: String,
    pub text: String,
    pub arguments: Vec<Argument>,
    /// The same as `read` takes them: `NUMBER=VALUE`, and `NUMBER+BYTE=VALUE` of structs.
    pub given: Vec<String>,
    pub fields: Vec<EntryField>,
    /// Types of elements, by field.
    pub types: Vec<String>,
    pub launches: Vec<Launch>,
    pub expect: String,
}

/// Block, grid and dynamic shared memory.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    pub block: [i64; 3],
    pub grid: [i64; 3],
    pub shared: u64,
}

impl Launch {
    pub fn blocks(&self) -> i64 {
        self.grid.iter().product()
    }

    /// The first blocks, the last, and some between.
    pub fn some_blocks(&self) -> Vec<[i64; 3]> {
        let [x, y, _] = self.grid;
        let all = self.blocks();
        let mut some = vec![0, 1, all / 2, all - 1];
        some.retain(|&n| n < all);
        some.dedup();
        some.into_iter().map(|n| [n % x, n / x % y, n / x / y]).collect()
    }
}

impl Case {
    pub fn module(&self) -> Module {
        parse(&self.text, Default::default()).unwrap_or_else(|e| panic!("{}: {e:?}", self.ptx))
    }

    pub fn machine(&self, launch: &Launch) -> Machine {
        self.machine_or_why(launch).unwrap_or_else(|e| panic!("{}: {e}", self.ptx))
    }

    pub fn machine_or_why(&self, launch: &Launch) -> Result<Machine, EntryNotRun> {
        let sizes = Sizes {
            block: Block::new(launch.block).unwrap(),
            grid: Grid::new(launch.grid).unwrap(),
            shared: launch.shared,
        };
        let module = self.module();
        let entry = module.entries().next().unwrap().name.clone();
        Machine::new(&module, &entry, &self.arguments, self.fields.clone(), &sizes)
    }
}

fn text(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.to_string(),
        other => panic!("{other:?} is no scalar"),
    }
}

fn list(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        other => panic!("{other:?} is no list"),
    }
}

pub fn extents(text: &str) -> [i64; 3] {
    let mut all = [1; 3];
    for (extent, part) in all.iter_mut().zip(text.trim().split('x')) {
        *extent = part.parse().unwrap();
    }
    all
}

fn launch(text: &str) -> Launch {
    let parts: Vec<&str> = text.split('/').map(str::trim).collect();
    let shared = parts.get(2).map_or(0, |s| s.parse().unwrap());
    Launch { block: extents(parts[0]), grid: extents(parts[1]), shared }
}

/// All cases of the list.
pub fn cases() -> Vec<Case> {
    let list_text = std::fs::read_to_string(folder().join("kernels.yaml")).unwrap();
    let (documents, errors) = parse_stream(&list_text, Default::default(), Bounds::of_bytes(1 << 20));
    assert_eq!(errors, []);
    list(&documents[0]).iter().map(case).collect()
}

fn case(node: &Node) -> Case {
    let get = |key: &str| node.get(key);
    let ptx = text(get("ptx").unwrap());
    let mut case = Case {
        text: std::fs::read_to_string(folder().join(format!("{ptx}.ptx"))).unwrap(),
        ptx,
        arguments: Vec::new(),
        given: Vec::new(),
        fields: Vec::new(),
        types: Vec::new(),
        launches: list(get("launches").unwrap()).iter().map(|n| launch(&text(n))).collect(),
        expect: text(get("expect").unwrap()),
    };
    for (number, given) in list(get("args").unwrap()).iter().enumerate() {
        let made = if let Value::List(parts) = &given.value {
            for part in parts {
                let part = text(part);
                let words: Vec<&str> = part.split(' ').collect();
                case.given.push(format!("{number}+{}={}", words[0], words[words.len() - 1]));
            }
            Argument::Parts(parts.iter().map(|p| part(&mut case, &text(p))).collect())
        } else {
            case.given.push(format!("{number}={}", text(given)));
            argument(&mut case, &text(given))
        };
        case.arguments.push(made);
    }
    if let Some(Value::Map(entries)) = get("data").map(|n| &n.value) {
        for entry in entries {
            let number = case.fields.iter().position(|f| f.name == *entry.key).unwrap();
            let rule: Vec<i64> = list(&entry.value).iter().map(|n| text(n).parse().unwrap()).collect();
            let field = case.fields[number].clone();
            let data = data(&case.types[number], field.bytes.unwrap(), &rule);
            case.fields[number] = field.with_data(data);
        }
    }
    case
}

/// Bytes of an element type such as `f32`.
pub fn size(ty: &str) -> u64 {
    ty[1..].parse::<u64>().unwrap() / 8
}

fn data(ty: &str, bytes: u64, rule: &[i64]) -> Vec<u8> {
    let size = size(ty);
    let value = |i: i64| (rule[0] * i + rule[1]) % rule[2];
    let element = |i: i64| match ty {
        "f32" => (value(i) as f32).to_le_bytes().to_vec(),
        "f64" => (value(i) as f64).to_le_bytes().to_vec(),
        _ => value(i).to_le_bytes()[..usize::try_from(size).unwrap()].to_vec(),
    };
    (0..i64::try_from(bytes / size).unwrap()).flat_map(element).collect()
}

fn part(case: &mut Case, text: &str) -> (u32, u32, Argument) {
    let words: Vec<&str> = text.split(' ').collect();
    let at = words[0].parse().unwrap();
    match words[1] {
        "int" => (at, 4, argument(case, words[2])),
        "f64" => (at, 8, Argument::Float(words[2].parse().unwrap())),
        pointer => (at, 8, argument(case, pointer)),
    }
}

fn argument(case: &mut Case, text: &str) -> Argument {
    if let Ok(value) = text.parse() {
        return Argument::Integer(value);
    }
    if let Ok(value) = text.parse() {
        return Argument::Float(value);
    }
    let (name, ty) = text.split_once(':').unwrap();
    let (name, offset) = name.split_once('+').map_or((name, 0), |(n, o)| (n, o.parse().unwrap()));
    let (element, count) = ty.trim_end_matches(']').split_once('[').unwrap();
    let mut field = EntryField::new(name);
    field.bytes = Some(count.parse::<u64>().unwrap() * size(element));
    case.fields.push(field);
    case.types.push(element.to_owned());
    Argument::Pointer { field: case.fields.len() - 1, offset }
}
