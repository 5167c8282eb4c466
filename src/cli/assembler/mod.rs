//! Registers of kernels in PTX, from NVIDIA's assembler where there is one. It is asked once for each text: what it said
//! is kept in the user's cache.

mod cache;
mod process;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::ptx::{Assembled, assembled};

/// Names the assembler; if it is empty, none is used.
const VARIABLE: &str = "WAVECAST_PTXAS";

/// An assembler.
#[derive(Debug, Clone)]
pub struct Assembler {
    path: PathBuf,
    /// The folder that keeps what it said.
    cache: Option<PathBuf>,
}

/// Why an assembler told nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAssembled {
    /// It could not be run.
    #[error("{0} cannot be run: {1}")]
    CannotRun(String, String),
    /// It took too long.
    #[error("{0} takes longer than {1} s")]
    TooLong(String, u64),
    /// It refused the text.
    #[error("{0} refuses the PTX: {1}")]
    Refused(String, String),
    /// It ended well and told no registers of the entry.
    #[error("{0} tells no registers of the entry `{1}`")]
    Silent(String, String),
}

impl Assembler {
    /// The one that `WAVECAST_PTXAS` names; otherwise `ptxas` in PATH, in the Python environment that is active (package
    /// nvidia-cuda-nvcc-cu12), or in CUDA's own folder.
    pub fn find() -> Option<Self> {
        if let Some(named) = std::env::var_os(VARIABLE) {
            return Some(named).filter(|n| !n.is_empty()).map(Self::at);
        }
        let name = format!("ptxas{}", std::env::consts::EXE_SUFFIX);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        folders.extend(std::env::var_os("VIRTUAL_ENV").iter().flat_map(packages));
        for variable in ["CUDA_HOME", "CUDA_PATH"] {
            folders.extend(std::env::var_os(variable).map(|home| Path::new(&home).join("bin")));
        }
        folders.push("/usr/local/cuda/bin".into());
        folders.into_iter().map(|folder| folder.join(&name)).find(|file| file.is_file()).map(Self::at)
    }

    /// The one at a path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), cache: cache::folder() }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it makes of an entry of a text of PTX, for a target such as `sm_80`.
    pub fn assemble(&self, text: &str, entry: &str, target: &str) -> Result<Assembled, NotAssembled> {
        let key = cache::key(&self.path, [text, entry, target]);
        let place = self.cache.as_deref().zip(key.as_deref());
        if let Some(said) = place.and_then(|(folder, key)| cache::kept(folder, key))
            && let Some(found) = of_entry(&said, entry)
        {
            return Ok(found);
        }
        let said = process::told(&self.path, text, entry, target)?;
        let name = || self.path.display().to_string();
        let found = of_entry(&said, entry).ok_or_else(|| NotAssembled::Silent(name(), entry.to_owned()))?;
        if let Some((folder, key)) = place {
            cache::keep(folder, key, &said);
        }
        Ok(found)
    }
}

/// Where a Python environment has NVIDIA's package.
fn packages(environment: &OsString) -> Vec<PathBuf> {
    let pythons = std::fs::read_dir(Path::new(environment).join("lib")).into_iter().flatten().flatten();
    pythons.map(|python| python.path().join("site-packages/nvidia/cuda_nvcc/bin")).collect()
}

/// What is said of an entry, below a line with the assembler's name and version.
fn of_entry(said: &str, entry: &str) -> Option<Assembled> {
    let (by, messages) = said.split_once('\n')?;
    let found = assembled(messages).into_iter().find(|kernel| kernel.entry == entry)?;
    Some(Assembled { by: by.to_owned(), ..found })
}

/// The target to assemble for: that of a device where the PTX is for it or for earlier ones, otherwise that of the PTX.
pub fn target<'t>(of_text: &'t str, of_device: Option<&'t str>) -> &'t str {
    let number = |target: &str| target.strip_prefix("sm_").and_then(|n| n.parse::<u32>().ok());
    match of_device.and_then(number).zip(number(of_text)) {
        Some((device, text)) if device >= text => of_device.unwrap_or(of_text),
        _ => of_text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_assembled_for_where_the_text_allows_it() {
        assert_eq!(target("sm_80", Some("sm_90")), "sm_90");
        assert_eq!(target("sm_80", Some("sm_70")), "sm_80");
        assert_eq!(target("sm_90a", Some("sm_90")), "sm_90a");
        assert_eq!(target("sm_80", Some("gfx90a")), "sm_80");
        assert_eq!(target("sm_80", None), "sm_80");
    }

    #[cfg(unix)]
    fn script(folder: &Path, text: &str) -> Assembler {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join("ptxas");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Assembler { path, cache: Some(folder.join("cache")) }
    }

    #[cfg(unix)]
    #[test]
    fn what_it_says_is_kept() {
        let folder = std::env::temp_dir().join(format!("wavecast-assembler-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = folder.join("log");
        let assembler = script(
            &folder,
            &format!(
                "if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release 12.9, V12.9.86'; exit; fi\n\
                 echo run >> {}\n\
                 echo \"ptxas info : Compiling entry function 'k' for 'sm_80'\" >&2\n\
                 echo 'ptxas info : Used 77 registers, 384 bytes cmem[0]' >&2",
                log.display()
            ),
        );
        for _ in 0..2 {
            let found = assembler.assemble("text", "k", "sm_80").unwrap();
            assert_eq!((found.registers, found.by.as_str()), (77, "ptxas 12.9"));
        }
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "run\n", "asked once");
        assembler.assemble("another text", "k", "sm_80").unwrap();
        let silent = assembler.assemble("text", "other", "sm_80").unwrap_err();
        assert!(matches!(silent, NotAssembled::Silent(..)), "{silent}");
        let refusing = script(&folder, "echo 'ptxas fatal : no' >&2; exit 255");
        let why = refusing.assemble("text", "k", "sm_80").unwrap_err();
        assert!(why.to_string().ends_with("refuses the PTX: ptxas fatal : no"), "{why}");
        // What is kept by a program of another size counts no more; what is damaged neither.
        std::fs::remove_dir_all(&folder).unwrap();
        let missing = assembler.assemble("text", "k", "sm_80").unwrap_err();
        assert!(matches!(missing, NotAssembled::CannotRun(..)), "{missing}");
    }
}
