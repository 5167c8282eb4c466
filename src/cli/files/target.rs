//! What a path that is written to stands for.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Most links that are followed to a file, as systems do it.
const MOST_LINKS: usize = 40;

/// What a path stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A file that is or will be there, behind all links.
    File(PathBuf),
    /// A pipe, a terminal or something else that is written as it is.
    Device,
    /// What this program was given as open, by its number: 1 is standard output.
    Descriptor(u32),
}

/// What a path stands for, `-` being standard output.
pub(super) fn resolved(path: &Path) -> io::Result<Target> {
    if path == Path::new("-") {
        return Ok(Target::Descriptor(1));
    }
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Some(number) = descriptor(&path) {
            return Ok(Target::Descriptor(number));
        }
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                let link = std::fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("")).join(link);
            }
            Ok(found) if found.is_file() || found.is_dir() => return Ok(Target::File(path)),
            Ok(_) => return Ok(Target::Device),
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Target::File(path)),
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("too many links"))
}

/// The number of an open file that a path names as such.
fn descriptor(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        text => {
            let own = format!("/proc/{}/fd/", std::process::id());
            let folders = ["/dev/fd/", "/proc/self/fd/", &own];
            folders.iter().find_map(|f| text.strip_prefix(f)).and_then(|n| n.parse().ok())
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_to_what_is_there_or_will_be() {
        let folder = std::env::temp_dir().join(format!("wavecast-target-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("in")).unwrap();
        let at = |name: &str| folder.join(name);
        symlink("in/new", at("dangling")).unwrap();
        symlink("dangling", at("second")).unwrap();
        symlink("circle", at("circle")).unwrap();
        symlink("/dev/stdout", at("out")).unwrap();
        symlink("/dev/null", at("nothing")).unwrap();
        let of = |name: &str| resolved(&at(name)).unwrap();
        assert_eq!(of("second"), Target::File(at("in/new")));
        assert_eq!(of("fresh"), Target::File(at("fresh")));
        assert_eq!(of("out"), Target::Descriptor(1), "not the file or pipe behind it");
        assert_eq!(of("nothing"), Target::Device);
        assert!(resolved(&at("circle")).is_err());
        let direct = |path: &str| resolved(Path::new(path)).unwrap();
        assert_eq!(direct("-"), Target::Descriptor(1));
        assert_eq!(direct("/dev/fd/7"), Target::Descriptor(7));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
