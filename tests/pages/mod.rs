//! README.md and docs/ as tests read them.

use std::path::Path;

/// A fenced block of a page.
pub struct Block {
    pub kind: String,
    pub text: String,
    /// `page:line`, for messages.
    pub place: String,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap()
}

/// README.md, CHANGELOG.md and everything in docs/.
pub fn pages() -> Vec<String> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let names = docs.map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = names
        .filter(|name| Path::new(name).extension().is_some_and(|e| e == "md"))
        .map(|name| format!("docs/{name}"))
        .collect();
    pages.extend(["README.md".to_owned(), "CHANGELOG.md".to_owned()]);
    pages.sort();
    pages
}

pub fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut open): (Vec<Block>, bool) = (Vec::new(), false);
    for (i, line) in read(page).lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(kind), false) => {
                let (kind, place) = (kind.to_owned(), format!("{page}:{}", i + 1));
                blocks.push(Block { kind, text: String::new(), place });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => blocks.last_mut().unwrap().text.extend([line, "\n"]),
            (None, false) => {}
        }
    }
    assert!(!open, "{page}: a block is not closed");
    blocks
}
