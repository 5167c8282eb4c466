//! What an assembler said, in the user's cache: one small file for each text, entry, target and assembler. Several
//! processes may use it at once: files appear whole, and one that another process has removed is made again.

use std::fmt::Write as _;
use std::fs::{DirEntry, read_dir, read_to_string, remove_file};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::super::files;

/// Files that are kept; the oldest go.
const MOST_FILES: usize = 1024;
/// Files that go at a time.
const GOING: usize = 128;
/// Bytes of a file.
const MOST_BYTES: usize = 1 << 16;

/// The folder, where the user has one for such things.
pub(super) fn folder() -> Option<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(cache.join("wavecast").join("ptxas"))
}

/// The name of the file for some texts and an assembler, which is known by its place, its size and its date.
pub(super) fn key(assembler: &Path, texts: [&str; 3]) -> Option<String> {
    let place = assembler.canonicalize().ok()?;
    let about = place.metadata().ok()?;
    let changed = about.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let mut hash = Sha256::new();
    hash.update(format!("1 {} {} {}", place.display(), about.len(), changed.as_nanos()));
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    let mut key = String::new();
    for byte in hash.finalize().iter().take(20) {
        let _ = write!(key, "{byte:02x}");
    }
    Some(key)
}

/// What is kept under a key.
pub(super) fn kept(folder: &Path, key: &str) -> Option<String> {
    read_to_string(folder.join(key)).ok()
}

/// Keeps something. That it cannot be kept is no failure: it is asked for again.
pub(super) fn keep(folder: &Path, key: &str, said: &str) {
    if said.len() > MOST_BYTES || std::fs::create_dir_all(folder).is_err() {
        return;
    }
    make_room(folder);
    let _ = files::write(&folder.join(key), said);
}

fn make_room(folder: &Path) {
    let Ok(entries) = read_dir(folder) else { return };
    let all: Vec<DirEntry> = entries.flatten().collect();
    if all.len() < MOST_FILES {
        return;
    }
    let age = |entry: &DirEntry| entry.metadata().and_then(|m| m.modified()).ok();
    let mut aged: Vec<(Option<SystemTime>, PathBuf)> = all.iter().map(|e| (age(e), e.path())).collect();
    aged.sort();
    let going = aged.len() - MOST_FILES + GOING;
    for (_, path) in aged.iter().take(going) {
        // Another process may have done it.
        let _ = remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go() {
        let folder = std::env::temp_dir().join(format!("wavecast-cache-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for i in 0..MOST_FILES {
            std::fs::write(folder.join(i.to_string()), "said").unwrap();
        }
        keep(&folder, "new", "said too");
        assert_eq!(read_dir(&folder).unwrap().count(), MOST_FILES - GOING + 1);
        assert_eq!(kept(&folder, "new").as_deref(), Some("said too"));
        keep(&folder, "large", &"x".repeat(MOST_BYTES + 1));
        assert_eq!(kept(&folder, "large"), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn keys_tell_texts_apart() {
        let own = std::env::current_exe().unwrap();
        let keys = [["a", "b", "c"], ["ab", "", "c"], ["a", "bc", ""]].map(|texts| key(&own, texts).unwrap());
        assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[0].len() == 40);
    }
}
