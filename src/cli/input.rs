//! Reading kernels and devices as the arguments name them.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use clap::Args;

use super::assembler::{Assembler, target};
use super::failure::Failure;
use super::files;
use super::foreign::{bare_ptx, machine_code, refuse_source};
use crate::ask::{
    AskAssembler, Asker, CodeRegisters, DeviceSource, KernelSource, KernelsRead, PtxSource, limits,
};
use crate::device::{self, Device, RunClock};
use crate::kernel::{Limits, Loaded, MAX_FOLD, Options};
use crate::launch::extents;
use crate::ptx::{Assembled, Compiled, Given};
use crate::space::{Block, Fold, Shape};
use crate::text::Diagnostic;

/// Arguments that change how kernels are read.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct KernelArguments {
    /// Override a parameter of the kernel (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Only this variant of the kernel (repeatable)
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// Raise a limit that protects the tool: document-bytes, nodes, accesses, candidates, variants, steps (repeatable)
    #[arg(long, value_name = "NAME=N")]
    pub limit: Vec<String>,
}

impl KernelArguments {
    /// What changes how kernels are read.
    pub(super) fn options(&self) -> Result<Options, Failure> {
        Ok(Options { set: self.set.clone(), limits: limits(&self.limit, Asker::CommandLine)? })
    }

    /// The text of a file, or of standard input for `-`, and how it is read.
    pub(super) fn source(&self, path: &str) -> Result<KernelSource, Failure> {
        if is_ptx(path) {
            return Err(bare_ptx(path));
        }
        let options = self.options()?;
        let (name, text) = read_text(path, options.limits, false)?;
        let variants = self.variant.clone();
        let source = KernelSource { options, variants, ..KernelSource::new(name, text) };
        Ok(source.beside(Path::new(path)))
    }

    /// The kernels of a file, or of standard input for `-`.
    pub(super) fn read(&self, path: &str) -> Result<KernelsRead, Failure> {
        Ok(self.source(path)?.read()?)
    }

    /// Those of the variants that were named.
    pub(super) fn load(&self, path: &str, json: bool) -> Result<Loaded, Failure> {
        self.read(path).map(KernelsRead::into_loaded).map_err(|f| f.for_json(json))
    }
}

/// Kernel files, and how they are read.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct KernelFiles {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    #[command(flatten)]
    reading: KernelArguments,
    #[command(flatten)]
    ptx: PtxArguments,
}

/// What is said of kernels in PTX.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(super) struct PtxArguments {
    #[command(flatten)]
    pub given: ReadingArguments,
    /// For PTX: a thread block to read the kernel for (repeatable); by default all that it may be launched with
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    pub read_block: Vec<Block>,
}

/// What is said of a kernel in PTX.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(super) struct ReadingArguments {
    /// For PTX: the kernel (`.entry`), if there are several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// For PTX: what a parameter gets, by its name or its number from 0: a number, or a field such as x:f32[1024]
    /// (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub arg: Vec<String>,
    /// For PTX: blocks of the grid, as in 'ceil(arg0 / blockDim.x)'; by default what follows from the kernel's bounds
    #[arg(long, value_name = "EXPR")]
    pub grid: Option<String>,
    /// For PTX: how many iterations the loop around this line has, where data decide (repeatable)
    #[arg(long, value_name = "LINE=N")]
    pub trips: Vec<String>,
    /// For PTX: how probable it is that the branch or predicate in this line holds, where data decide (repeatable)
    #[arg(long, value_name = "LINE=P")]
    pub branch: Vec<String>,
    /// For PTX: an address in the place of one that could not be read, as in '44: x[4*i0 + threadIdx.x]' (repeatable)
    #[arg(long, value_name = "LINE: ADDRESS")]
    pub assume: Vec<String>,
    /// Registers of a thread: a number. For PTX, also where a document names it, `ptxas`: what NVIDIA's assembler makes of
    /// it; or `counted` in the PTX. By default what a document says, and for PTX `ptxas` where it is found
    /// (`WAVECAST_PTXAS`, PATH), otherwise `counted`
    #[arg(long, value_name = "N", value_parser = parse_registers)]
    pub registers: Option<Registers>,
}

/// Where the number of registers comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registers {
    Given(u32),
    Counted,
    Ptxas,
}

fn parse_registers(text: &str) -> Result<Registers, String> {
    match text {
        "counted" => Ok(Registers::Counted),
        "ptxas" => Ok(Registers::Ptxas),
        _ => {
            let number = text.parse().ok().filter(|n| (1..=1024).contains(n));
            number.map(Registers::Given).ok_or_else(|| "a number, `counted` or `ptxas`".to_owned())
        }
    }
}

impl ReadingArguments {
    pub(super) fn given(&self, blocks: &[Block]) -> Given {
        Given {
            args: self.arg.clone(),
            grid: self.grid.clone(),
            blocks: blocks.to_vec(),
            trips: self.trips.clone(),
            branch: self.branch.clone(),
            assume: self.assume.clone(),
            ..Given::default()
        }
    }

    /// Refuses what is said of PTX where a path is a document, unless another path is PTX.
    fn refuse_for_document(&self, path: &str, all: &[String]) -> Result<(), Failure> {
        let Self { entry, arg, grid, trips, branch, assume, registers: _ } = self;
        let given = [
            ("--entry", entry.is_some()),
            ("--arg", !arg.is_empty()),
            ("--grid", grid.is_some()),
            ("--trips", !trips.is_empty()),
            ("--branch", !branch.is_empty()),
            ("--assume", !assume.is_empty()),
        ];
        let first = given.iter().find(|(_, given)| *given);
        let Some((option, _)) = first.filter(|_| !all.iter().any(|path| is_ptx(path))) else { return Ok(()) };
        let path = if path == "-" { "standard input" } else { path };
        let message = format!("`{option}` is for PTX, and {path} is a kernel document");
        Err(Failure::message("usage", message, Some("leave it out: a document says such things itself")))
    }

    /// Where the registers of entries come from, which an assembler is asked for a device if there is one.
    pub(super) fn registers(&self, device: Option<&str>) -> CodeRegisters {
        let demanded = match self.registers {
            Some(Registers::Given(n)) => return CodeRegisters::Given(n),
            Some(Registers::Counted) => return CodeRegisters::Counted,
            Some(Registers::Ptxas) => true,
            None => false,
        };
        let device = device.map(str::to_owned);
        CodeRegisters::Assembled(AskAssembler(Arc::new(move |compiled, text, entry| {
            assembled(compiled, text, entry, device.as_deref(), demanded)
        })))
    }
}

/// What an assembler makes of an entry. That it refuses the text is told, and is wrong only where it was asked for by
/// name.
fn assembled(
    compiled: &Compiled,
    text: &str,
    entry: Option<&str>,
    device: Option<&str>,
    demanded: bool,
) -> Result<Option<Assembled>, Diagnostic> {
    let wrong = |message: String| {
        let help = "set WAVECAST_PTXAS to one that can, or say `--registers counted`";
        Diagnostic::global("no-assembler", message).help(help)
    };
    let Some(assembler) = Assembler::find() else {
        return if demanded { Err(wrong("no ptxas is found".to_owned())) } else { Ok(None) };
    };
    // A text without a target, or with several entries of which none was named, is refused when it is read.
    let (Ok(entry), Some(own)) = (compiled.entry(entry), compiled.module.target.first()) else {
        return Ok(None);
    };
    match assembler.assemble(text, &entry.name, target(own, device)) {
        Ok(found) => Ok(Some(found)),
        Err(why) if demanded => Err(wrong(why.to_string())),
        Err(why) => {
            super::progress::say(&format!("note: {why}; registers are counted in the PTX"));
            Ok(None)
        }
    }
}

impl KernelFiles {
    /// The paths.
    pub(super) fn paths(&self) -> &[String] {
        &self.kernels
    }

    /// The kernels of a file for a device. Code that is not read without a block is read for those that were `asked` for.
    pub(super) fn read_one(
        &self,
        path: &str,
        device: Option<&str>,
        asked: &[Block],
    ) -> Result<KernelsRead, Failure> {
        self.read(self.source(path)?, device, asked)
    }

    /// The file, if there is only one.
    pub(super) fn only(&self) -> Option<&str> {
        match &self.kernels[..] {
            [path] => Some(path),
            _ => None,
        }
    }

    /// How documents are read, and what is said of kernels in PTX.
    pub(super) fn arguments(&self) -> (&KernelArguments, &ReadingArguments) {
        (&self.reading, &self.ptx.given)
    }

    /// The text of a file, and how it is read.
    fn source(&self, path: &str) -> Result<KernelSource, Failure> {
        let blocks = self.ptx.read_block.clone();
        Ok(if is_ptx(path) {
            let options = self.reading.options()?;
            let (name, text) = read_text(path, options.limits, false)?;
            let ptx = PtxSource { entry: self.ptx.given.entry.clone(), given: self.ptx.given.given(&[]) };
            let variants = self.reading.variant.clone();
            KernelSource { options, variants, blocks, ..KernelSource::of_ptx(name, text, ptx) }
        } else {
            self.ptx.given.refuse_for_document(path, &self.kernels)?;
            KernelSource { blocks, ..self.reading.source(path)? }
        })
    }

    /// The kernels of a text for a device. Code that is not read without a block is read for those that were `asked` for.
    fn read(
        &self,
        source: KernelSource,
        device: Option<&str>,
        asked: &[Block],
    ) -> Result<KernelsRead, Failure> {
        let source = KernelSource { registers: self.ptx.given.registers(device), ..source };
        match source.clone().read() {
            Err(fault) if !asked.is_empty() && fault.diagnostics.iter().any(|d| d.code == "ptx-block") => {
                Ok(KernelSource { blocks: asked.to_vec(), ..source }.read()?)
            }
            read => Ok(read?),
        }
    }

    /// What a question about the kernels of each file is answered with, or all that is wrong with any of them. `devices`
    /// are what compilers call the devices that are asked about: the kernels are read for each of them, a file once.
    pub(super) fn each<T>(
        &self,
        devices: &[Option<&str>],
        asked: &[Block],
        mut answer: impl FnMut(Vec<KernelsRead>) -> Result<Vec<T>, Failure>,
    ) -> Result<Vec<T>, Failure> {
        let (mut answers, mut faults) = (Vec::new(), Vec::new());
        for path in &self.kernels {
            let read = self.source(path).and_then(|source| {
                devices.iter().map(|device| self.read(source.clone(), *device, asked)).collect()
            });
            match read.and_then(&mut answer) {
                Ok(found) => answers.extend(found),
                Err(failure) => faults.extend(failure.into_faults()),
            }
        }
        if faults.is_empty() { Ok(answers) } else { Err(Failure::faults(faults, false)) }
    }
}

/// Name and text of a file, or of standard input for `-`.
pub(super) fn read_text(path: &str, limits: Limits, json: bool) -> Result<(String, String), Failure> {
    let (name, text) = if path == "-" {
        let input = files::stdin();
        ("<stdin>", input.and_then(|i| read_limited(i, Path::new("standard input"), limits)))
    } else {
        let opened = refuse_source(path).and_then(|()| files::open(Path::new(path)));
        (path, opened.and_then(|f| read_limited(f, Path::new(path), limits)))
    };
    Ok((name.to_owned(), text.map_err(|f| f.for_json(json))?))
}

/// Reads a text, but hardly more than the limit: the rest is refused without having been read.
fn read_limited(reader: impl Read, path: &Path, limits: Limits) -> Result<String, Failure> {
    // A text is read into memory: what does not fit into 64 bits is no limit.
    let most = u64::try_from(limits.document_bytes).map_or(u64::MAX, |most| most.saturating_add(1));
    let mut bytes = Vec::new();
    reader.take(most).read_to_end(&mut bytes).map_err(|e| Failure::file("cannot-read", path, "read", &e))?;
    String::from_utf8(bytes).map_err(|e| {
        if let Some(failure) = machine_code(&path.display().to_string(), e.as_bytes()) {
            return failure;
        }
        let at = e.utf8_error().valid_up_to();
        let message = format!("{} is not UTF-8 text (byte {at})", path.display());
        Failure::message("not-text", message, Some("save it as UTF-8"))
    })
}

/// Reads the shape of a block; missing extents are 1.
pub(super) fn parse_block(text: &str) -> Result<Block, String> {
    shape(text, 65_536)
}

/// Reads the shape of a fold.
pub(super) fn parse_fold(text: &str) -> Result<Fold, String> {
    shape(text, MAX_FOLD)
}

fn shape<T: Shape>(text: &str, most: i64) -> Result<T, String> {
    extents(text, most).ok_or_else(|| format!("at most three numbers from 1 to {most}, as in 256,1,2"))
}

/// Whether a path names PTX.
pub(super) fn is_ptx(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("ptx"))
}

/// Arguments that choose a device.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct DeviceArguments {
    /// A device id or alias (see `wavecast devices`), or a path ending in .yaml
    #[arg(short, long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Change a number of the device, for example l2.effective=80MiB (repeatable)
    #[arg(long, value_name = "PATH=VALUE", requires = "device")]
    pub device_set: Vec<String>,
}

impl DeviceArguments {
    /// The device, if one was named.
    pub(super) fn load(&self, json: bool) -> Result<Option<Device>, Failure> {
        self.device.as_deref().map(|name| load_device(name, &self.device_set, json)).transpose()
    }
}

/// A device by id, alias or path.
pub(super) fn load_device(name: &str, set: &[String], json: bool) -> Result<Device, Failure> {
    load_device_at(name, set, None, json)
}

/// The same at the clock that a run had.
pub(super) fn load_device_at(
    name: &str,
    set: &[String],
    clock: Option<RunClock>,
    json: bool,
) -> Result<Device, Failure> {
    let device = device_source(Some(name), set).and_then(|source| Ok(source.at_clock(clock).read(&[])?));
    device.map_err(|f| f.for_json(json))
}

/// Where a device comes from that is named by id, alias or path; the default one if none is named.
pub(super) fn device_source(name: Option<&str>, set: &[String]) -> Result<DeviceSource, Failure> {
    let source = match name {
        None => DeviceSource::default(),
        Some(path) if device::is_path(path) => {
            DeviceSource::of_text(path, read_text(path, Limits::default(), false)?.1)
        }
        Some(name) => DeviceSource::named(name),
    };
    Ok(source.with(set.to_vec()))
}
