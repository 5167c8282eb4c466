//! Man pages of all commands and completions for all shells, in a folder laid out as packages install them:
//! `cargo run --example manual -- FOLDER`.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory;
use wavecast::cli::{self, Cli};

/// Shells, and where each looks for the completions of a program.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/wavecast"),
    ("zsh", "share/zsh/site-functions/_wavecast"),
    ("fish", "share/fish/vendor_completions.d/wavecast.fish"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("the folder to write to is missing")?;
    let folder = Path::new(&folder);
    let pages = folder.join("share/man/man1");
    std::fs::create_dir_all(&pages)?;
    clap_mangen::generate_to(Cli::command(), &pages)?;
    for (shell, path) in SHELLS {
        let said = cli::captured(&["wavecast", "completions", shell].map(OsString::from));
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().ok_or("a script stands in a folder")?)?;
        std::fs::write(path, said.output)?;
    }
    Ok(())
}
