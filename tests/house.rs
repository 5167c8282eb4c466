//! The house as docs/architecture.md describes it: its rooms are the folders that exist, and no file imports in a
//! circle. Public numbers have units, and a name of a public type is that of one type only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a folder.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn the_page_names_the_rooms_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let rows = page.lines().filter_map(|l| l.strip_prefix("| `")?.split_once("/` |"));
    let named: BTreeSet<String> = rows.map(|(room, _)| room.to_owned()).collect();
    let folders = std::fs::read_dir(root().join("src")).unwrap().map(|e| e.unwrap());
    let folders = folders.filter(|e| e.path().is_dir()).map(|e| e.file_name().into_string().unwrap());
    assert_eq!(named, folders.collect());
    // The picture of the data's way has all of them, too.
    let picture = page.split("```").nth(1).unwrap();
    let drawn =
        |room: &&String| picture.split(|c: char| !c.is_alphanumeric()).any(|word| word == room.as_str());
    let missing: Vec<_> = named.iter().filter(|room| !drawn(room)).collect();
    assert!(missing.is_empty(), "the picture of docs/architecture.md lacks {missing:?}");
}

/// A module by the names on the way to it.
type Module = Vec<String>;

/// The modules of the library, with their text without tests and comments.
fn modules() -> BTreeMap<Module, String> {
    let source = root().join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let mut modules = BTreeMap::new();
    for file in all {
        let place = file.strip_prefix(&source).unwrap().with_extension("");
        let mut module: Module = place.iter().map(|p| p.to_str().unwrap().to_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        if module == ["lib"] || module == ["main"] {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let code: Vec<&str> = text.lines().map(|l| l.split("//").next().unwrap()).collect();
        modules.insert(module, code.join("\n"));
    }
    modules
}

/// The paths that a list such as `a::{b, c::{d, e}}` stands for.
fn expanded(list: &str) -> Vec<String> {
    let list = list.trim();
    let Some((prefix, rest)) = list.split_once('{') else {
        return vec![list.split(" as ").next().unwrap().trim().to_owned()];
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (i, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let parts = parts.into_iter().filter(|p| !p.trim().is_empty());
    parts.flat_map(|part| expanded(&format!("{prefix}{}", part.trim()))).collect()
}

/// The imports of a module: whether they are handed on, and their paths.
fn imports(text: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    for statement in text.split(';') {
        let Some(at) = statement.rfind("use ") else { continue };
        let before = statement[..at].rsplit('\n').next().unwrap().trim();
        if before.is_empty() || before.starts_with("pub") {
            let list = statement[at + 4..].replace('\n', " ");
            found.extend(expanded(&list).into_iter().map(|path| (!before.is_empty(), path)));
        }
    }
    // Paths that are written out where they are used.
    let in_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let written =
        text.split(|c| !in_path(c)).filter(|p| p.starts_with("crate::") || p.starts_with("super::"));
    found.extend(written.map(|path| (false, path.trim_end_matches(':').to_owned())));
    found
}

/// The module that a path leads into, and the name that it takes there.
fn resolved(
    modules: &BTreeMap<Module, String>,
    from: &Module,
    path: &str,
) -> Option<(Module, Option<String>)> {
    let mut parts: Vec<&str> = path.split("::").map(str::trim).collect();
    let mut at = from.clone();
    match parts[0] {
        "crate" => {
            at.clear();
            parts.remove(0);
        }
        "self" => drop(parts.remove(0)),
        "super" => {
            while parts.first() == Some(&"super") {
                at.pop();
                parts.remove(0);
            }
        }
        first => {
            at.push(first.to_owned());
            if !modules.contains_key(&at) {
                return None;
            }
            parts.remove(0);
        }
    }
    while let Some(next) = parts.first() {
        at.push((*next).to_owned());
        if !modules.contains_key(&at) {
            at.pop();
            return Some((at, Some((*next).to_owned())));
        }
        parts.remove(0);
    }
    Some((at, None))
}

/// Which modules each module takes something from, through what others hand on.
fn edges() -> BTreeMap<Module, BTreeSet<Module>> {
    let modules = modules();
    let mut handed_on = BTreeMap::new();
    for (module, text) in &modules {
        for (handed, path) in imports(text) {
            let name = path.rsplit("::").next().unwrap().to_owned();
            if let (true, Some((to, Some(from)))) = (handed, resolved(&modules, module, &path)) {
                handed_on.insert((module.clone(), name), (to, from));
            }
        }
    }
    let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, text) in &modules {
        for (handed, path) in imports(text) {
            let Some((mut to, mut name)) = resolved(&modules, module, &path) else { continue };
            for _ in 0..8 {
                let Some(next) = name.clone().and_then(|n| handed_on.get(&(to.clone(), n))) else { break };
                (to, name) = (next.0.clone(), Some(next.1.clone()));
            }
            if !handed && to != *module && !to.is_empty() {
                edges.entry(module.clone()).or_default().insert(to);
            }
        }
    }
    edges
}

/// A module on a circle, if there is one: what is left after all that lead nowhere are taken away.
fn circle<T: Ord + Clone>(mut edges: BTreeMap<T, BTreeSet<T>>) -> Vec<T> {
    loop {
        let left: BTreeSet<T> = edges.keys().cloned().collect();
        let before = edges.len();
        edges.retain(|_, to| {
            to.retain(|t| left.contains(t));
            !to.is_empty()
        });
        if edges.len() == before {
            return edges.into_keys().collect();
        }
    }
}

#[test]
fn no_file_and_no_room_imports_in_a_circle() {
    let edges = edges();
    assert!(edges.len() > 200, "the imports of only {} files were read", edges.len());
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in &edges {
        let others = to.iter().map(|t| t[0].clone()).filter(|t| *t != from[0]);
        rooms.entry(from[0].clone()).or_default().extend(others);
    }
    assert!(rooms["cli"].contains("predict") && rooms["predict"].contains("traffic"), "{rooms:?}");
    assert_eq!(circle(rooms), Vec::<String>::new());
    assert_eq!(circle(edges), Vec::<Module>::new());
}

#[test]
fn a_circle_is_noticed() {
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")];
    let edges = edges.map(|(from, to)| (from, BTreeSet::from([to])));
    assert_eq!(circle(BTreeMap::from(edges)), ["a", "b", "c", "d"]);
    assert_eq!(circle(BTreeMap::from([("a", BTreeSet::from(["b"]))])), Vec::<&str>::new());
    assert_eq!(
        expanded("crate::a::{B, c::{D, E as F}}"),
        ["crate::a::B", "crate::a::c::D", "crate::a::c::E"]
    );
}

/// What the name of a field with a plain number may end in, or be: the unit that it is in.
const UNITS: [&str; 10] =
    ["percent", "points", "share", "ratio", "cycles", "ticks", "s", "kib", "lines", "flops"];

/// The public fields of plain numbers that name no unit.
fn without_unit(text: &str) -> Vec<&str> {
    let of_numbers =
        |declared: &str| declared.split(|c: char| !c.is_alphanumeric()).any(|word| word == "f64");
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some(rest) = line.strip_prefix("pub ") else { continue };
        if let Some((name, fields)) = rest.strip_prefix("struct ").and_then(|tuple| tuple.split_once('(')) {
            if fields.split(',').any(|field| field.trim().starts_with("pub ") && of_numbers(field)) {
                found.push(name);
            }
        } else if let Some((name, declared)) = rest.split_once(": ")
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && of_numbers(declared)
            && !UNITS.contains(&name.rsplit('_').next().unwrap())
        {
            found.push(name);
        }
    }
    found
}

#[test]
fn public_numbers_have_units() {
    for (module, text) in modules() {
        // There the types with units are made.
        if module[0] != "quantity" && module != ["device", "quantity"] {
            assert_eq!(without_unit(&text), Vec::<&str>::new(), "{}", module.join("/"));
        }
    }
}

#[test]
fn a_number_without_a_unit_is_noticed() {
    let text = "
        pub struct Named { pub hit_cycles: f64, }
        pub struct Interval(pub [f64; 2]);
        pub struct Fitted {
            pub cycles: f64,
            pub rest_percent: Option<f64>,
            pub cost: f64,
            pub values: Vec<Vec<f64>>,
            pub speeds: BTreeMap<String, [f64; 2]>,
            pub share: Share,
            pub(crate) scale: f64,
            scatter: f64,
        }
        pub fn rate(&self, o: f64) -> f64 {";
    assert_eq!(without_unit(text), ["Interval", "cost", "values", "speeds"]);
}

/// The public types that a text declares, also within macros; and those that macros make of calls in which a line begins
/// with the name of a type, as `section!` makes sections of device files.
fn public_types(text: &str) -> Vec<&str> {
    let (mut found, mut called) = (Vec::new(), false);
    for line in text.lines() {
        if !line.is_empty() && !line.starts_with([' ', '}']) {
            called = line.trim_end().ends_with("! {");
        }
        let kinds = ["pub struct ", "pub enum ", "pub trait ", "pub union ", "pub type "];
        let declared = kinds.iter().find_map(|kind| line.trim().strip_prefix(kind));
        let made = line.strip_prefix("    ").filter(|_| called && declared.is_none());
        let rest = declared.or(made).unwrap_or_default();
        let (name, behind) = rest.split_at(rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()));
        let alone = declared.is_some() || matches!(behind.trim().chars().next(), None | Some(','));
        if name.starts_with(char::is_uppercase) && alone {
            found.push(name);
        }
    }
    found
}

#[test]
fn no_two_public_types_have_one_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (module, text) in modules() {
        // Files of tests alone.
        if !module.last().is_some_and(|last| last.ends_with("tests")) {
            for name in public_types(&text) {
                places.entry(name.to_owned()).or_default().push(module.join("/"));
            }
        }
    }
    // Declared plainly, within a macro, and by one.
    for known in ["Launch", "Access", "Device", "Block", "Space", "PerItem"] {
        assert!(places.contains_key(known), "{known} is a public type, but was not found");
    }
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "names of several public types: {places:?}");
}

#[test]
fn the_name_of_a_public_type_is_noticed() {
    let text = "
pub struct Plain(pub f64);
pub(crate) struct Inner;
pub trait Generic<T> {
    type Associated;
    fn new() -> Self;
}
named! {
    pub enum Kind {
        Variant = \"variant\",
    }
}
section! {
    Section, \"a section\" {
        Field, field: Type,
    }
}
units! {
    Byte
    Cycle
}
operators! {
    Add add Self, |other| other.0;
}
impl Generic<f64> for Plain {
    type Associated = Self;
}
pub type Alias<'a> = Vec<&'a str>;";
    assert_eq!(public_types(text), ["Plain", "Generic", "Kind", "Section", "Byte", "Cycle", "Alias"]);
}

#[test]
fn functions_say_more_than_of() {
    let mut all = Vec::new();
    files(&root().join("src"), &mut all);
    let is_of = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        ["fn of(", "fn of<"].iter().any(|head| text.contains(head))
    };
    all.retain(is_of);
    assert!(all.is_empty(), "a function is called `of` in {all:?}: what does it find or make?");
}
