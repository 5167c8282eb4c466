//! The public face of the library is a list that is checked in: what is added or taken away shows in a change of
//! `grammar/public_items.txt`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a file declares as public at its top level, and under which names it passes on what others declare.
fn items(text: &str) -> (Vec<String>, Vec<String>) {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let (mut declared, mut passed_on) = (Vec::new(), Vec::new());
    for kind in ["mod", "struct", "enum", "trait", "type", "const", "static", "fn"] {
        let head = format!("\npub {kind} ");
        for at in text.match_indices(&head).map(|(at, _)| at + head.len()) {
            let name = text[at..].split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            declared.push(format!("{kind} {name}"));
        }
    }
    for list in text.split("\npub use ").skip(1) {
        let list: String = list.split(';').next().unwrap().split_whitespace().collect();
        let names = list.split_once('{').map_or(list.as_str(), |(_, names)| names.trim_end_matches('}'));
        for path in names.split(',').filter(|name| !name.is_empty()) {
            let path = path
                .split_once("as")
                .filter(|(_, to)| to.starts_with(char::is_uppercase))
                .map_or(path, |p| p.1);
            passed_on.push(path.rsplit("::").next().unwrap().to_owned());
        }
    }
    (declared, passed_on)
}

/// The public items of a module by their paths: a module's own, and those of public modules in it.
fn walk(file: &Path, path: &str, out: &mut BTreeSet<String>) {
    let text = format!("\n{}", std::fs::read_to_string(file).unwrap());
    let (declared, passed_on) = items(&text);
    out.extend(passed_on.iter().map(|name| format!("{path}::{name}")));
    let folder = match file.file_name().and_then(|name| name.to_str()) {
        Some("lib.rs" | "mod.rs") => file.parent().unwrap().to_owned(),
        _ => file.with_extension(""),
    };
    for item in declared {
        let (kind, name) = item.split_once(' ').unwrap();
        let place = format!("{path}::{name}");
        if kind == "mod" {
            let files: [PathBuf; 2] = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
            walk(files.iter().find(|f| f.exists()).unwrap(), &place, out);
        }
        out.insert(place);
    }
}

#[test]
fn the_list_is_up_to_date() {
    let mut found = BTreeSet::new();
    walk(&root().join("src/lib.rs"), "wavecast", &mut found);
    for known in ["wavecast::Kernel", "wavecast::predict::rank", "wavecast::space::Block"] {
        assert!(found.contains(known), "{known} is public, but was not found");
    }
    let list = found.iter().fold(String::new(), |list, item| list + item + "\n");
    let file = root().join("grammar/public_items.txt");
    if std::env::var_os("WAVECAST_UPDATE").is_some() {
        std::fs::write(&file, &list).unwrap();
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let help = "WAVECAST_UPDATE=1 cargo test --test public_items";
    let is = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (more, fewer) = (&is(&list) - &is(&known), &is(&known) - &is(&list));
    assert!(more.is_empty() && fewer.is_empty(), "new: {more:?}; gone: {fewer:?}. If that is meant: {help}");
}
