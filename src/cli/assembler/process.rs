//! Running an assembler.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::NotAssembled;

/// How long it may take.
const LIMIT: Duration = Duration::from_secs(20);
/// Lines of its messages that are shown where it fails.
const SHOWN: usize = 3;

/// The assembler's name and version, and below them what it says of an entry.
pub(super) fn told(path: &Path, text: &str, entry: &str, target: &str) -> Result<String, NotAssembled> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = Folder(std::env::temp_dir().join(format!("wavecast-ptxas-{}-{number}", std::process::id())));
    let cannot = |e: std::io::Error| NotAssembled::CannotRun(path.display().to_string(), e.to_string());
    std::fs::create_dir(&folder.0).map_err(cannot)?;
    let source = folder.0.join("kernel.ptx");
    std::fs::write(&source, text).map_err(cannot)?;
    let mut command = Command::new(path);
    command.args(["-v", "--gpu-name", target, "--entry", entry, "-o"]);
    let (status, messages) = run(path, command.arg(folder.0.join("kernel.cubin")).arg(&source))?;
    if !status.success() {
        let lines: Vec<&str> = messages.lines().take(SHOWN).collect();
        return Err(NotAssembled::Refused(path.display().to_string(), lines.join("; ")));
    }
    let (_, about) = run(path, Command::new(path).arg("--version"))?;
    Ok(format!("ptxas {}\n{messages}", version(&about)))
}

/// `12.9` of `Cuda compilation tools, release 12.9, V12.9.86`.
fn version(about: &str) -> &str {
    let release = about.split_once("release ").and_then(|(_, rest)| rest.split([',', '\n']).next());
    release.unwrap_or("of unknown version")
}

/// A folder that goes when it is not needed any more.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in a temporary folder is no failure.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How a program ended, and all that it wrote.
fn run(path: &Path, command: &mut Command) -> Result<(ExitStatus, String), NotAssembled> {
    let cannot = |e: std::io::Error| NotAssembled::CannotRun(path.display().to_string(), e.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cannot)?;
    let (errors, output) = (child.stderr.take(), child.stdout.take());
    // Both are read all the time, so that it never waits for a full pipe.
    std::thread::scope(|scope| {
        let output = scope.spawn(|| all(output));
        let errors = scope.spawn(|| all(errors));
        let status = wait(&mut child).map_err(cannot)?;
        let text = [errors, output].map(|reader| reader.join().unwrap_or_default()).concat();
        let too_long = || NotAssembled::TooLong(path.display().to_string(), LIMIT.as_secs());
        Ok((status.ok_or_else(too_long)?, text))
    })
}

/// How it ended; none if it took too long, and was ended.
fn wait(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    let (started, mut pause) = (Instant::now(), Duration::from_micros(500));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn all(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        // What can be read is enough.
        let _ = from.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
