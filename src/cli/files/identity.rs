//! What tells one file from another, whatever their names.

use std::fs::Metadata;
use std::path::Path;

/// A regular file. Its names may be several: links, and ways that lead through links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity(Inner);

#[cfg(unix)]
type Inner = (u64, u64);
#[cfg(not(unix))]
type Inner = std::path::PathBuf;

impl Identity {
    /// The file at a path; none if there is no regular file, of which nothing can be lost.
    pub(super) fn find(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Self::with(path, &metadata)
    }

    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    fn with(_: &Path, metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self((metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    fn with(path: &Path, _: &Metadata) -> Option<Self> {
        path.canonicalize().ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_under_all_its_names() {
        let folder = std::env::temp_dir().join(format!("wavecast-identity-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [file, other] = ["file", "other"].map(|n| folder.join(n));
        std::fs::write(&file, "a").unwrap();
        std::fs::write(&other, "a").unwrap();
        assert_eq!(Identity::find(&file), Identity::find(&folder.join("../").join(&folder).join("./file")));
        assert_ne!(Identity::find(&file), Identity::find(&other));
        #[cfg(unix)]
        {
            let [hard, soft] = ["hard", "soft"].map(|n| folder.join(n));
            std::fs::hard_link(&file, &hard).unwrap();
            std::os::unix::fs::symlink(&file, &soft).unwrap();
            assert_eq!(Identity::find(&hard), Identity::find(&soft));
            assert_eq!(Identity::find(Path::new("/dev/null")), None, "of a device nothing can be lost");
        }
        assert_eq!(Identity::find(&folder), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
