//! Where kernels and devices come from.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::asker::fault;
use super::code::CodeReader;
use super::registers::CodeRegisters;
use crate::device::{self, Device, RunClock};
use crate::kernel::{Kernel, Loaded, Options, load_read, load_with};
use crate::ptx::{Compiled, Given};
use crate::space::Block;
use crate::text::{Fault, Sources};

/// A text of kernels, how it is read, and which of them are meant.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSource {
    /// What messages call it.
    pub name: Arc<str>,
    /// YAML or JSON; or PTX.
    pub text: Arc<str>,
    /// How it is read.
    pub options: Options,
    /// The variants that are meant; all of them if none is named.
    pub variants: Vec<String>,
    /// The folder in which the paths of its code start; without one it may name no files.
    pub folder: Option<PathBuf>,
    /// Blocks that compiled code is read for, instead of those of the document.
    pub blocks: Vec<Block>,
    /// Of a text of PTX: what is said of it.
    pub ptx: Option<PtxSource>,
    /// Registers of compiled code; a number that is given is that of documents without code, too.
    pub registers: CodeRegisters,
}

/// What is said of a kernel that is given as PTX.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PtxSource {
    /// The entry; not needed where there is only one.
    pub entry: Option<String>,
    /// Its arguments, the grid, and more.
    pub given: Given,
}

impl KernelSource {
    /// All kernels of a text.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        let (name, text) = (name.into(), text.into());
        let (options, variants) = (Options::default(), Vec::new());
        let registers = CodeRegisters::default();
        Self { name, text, options, variants, folder: None, blocks: Vec::new(), ptx: None, registers }
    }

    /// A kernel in PTX.
    pub fn of_ptx(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>, ptx: PtxSource) -> Self {
        Self { ptx: Some(ptx), ..Self::new(name, text) }
    }

    /// The same text as the file of this path: its code may name files, which are seen from there.
    #[must_use]
    pub fn beside(self, path: &Path) -> Self {
        Self { folder: path.parent().map(Path::to_owned), ..self }
    }

    /// All its kernels, whatever variants are meant.
    pub(super) fn load(&self) -> Result<Loaded, Fault> {
        let Some(ptx) = &self.ptx else {
            let reader = CodeReader {
                folder: self.folder.as_ref(),
                most: self.options.limits.document_bytes,
                blocks: &self.blocks,
                registers: &self.registers,
                parsed: RefCell::default(),
            };
            let mut loaded = load_with(&self.name, &self.text, &self.options, &reader)?;
            if let CodeRegisters::Given(registers) = self.registers {
                // Of code it was said when that was read.
                let others = loaded.kernels.iter_mut().filter(|kernel| kernel.code.is_none());
                others.for_each(|kernel| kernel.set_registers(registers.into()));
            }
            return Ok(loaded);
        };
        let mut given = ptx.given.clone();
        if !self.blocks.is_empty() {
            given.blocks.clone_from(&self.blocks);
        }
        let mut sources = Sources::new();
        let entry = ptx.entry.as_deref();
        let compiled = Compiled::parsed(&self.name, &self.text, &mut sources).and_then(|compiled| {
            let told = self.registers.of_entry(&compiled, &self.text, entry)?;
            given.registers = given.registers.or(told.registers);
            given.assembled = given.assembled.take().or(told.assembled);
            Ok(compiled)
        });
        let compiled = compiled.map_err(|wrong| vec![wrong]);
        match compiled.and_then(|compiled| compiled.lower(entry, &given, &mut sources)) {
            Ok(read) => load_read(read, sources, &self.options),
            Err(wrong) => Err(Fault::new(wrong, Arc::new(sources))),
        }
    }

    /// Its kernels.
    pub fn read(self) -> Result<KernelsRead, Fault> {
        let all = Arc::new(self.load()?);
        KernelsRead::new(self, all)
    }
}

/// Kernels that were read.
#[derive(Debug, Clone)]
pub struct KernelsRead {
    pub(super) source: KernelSource,
    /// Those of all variants.
    pub(super) all: Arc<Loaded>,
    /// Those that are meant.
    pub(super) meant: Arc<Loaded>,
}

impl KernelsRead {
    pub(super) fn new(source: KernelSource, all: Arc<Loaded>) -> Result<Self, Fault> {
        let meant = match source.variants.as_slice() {
            [] => Arc::clone(&all),
            variants => Arc::new(Loaded::clone(&all).only(variants)?),
        };
        Ok(Self { source, all, meant })
    }

    /// The same kernels; those with code read for the blocks that are asked for, too, where it was read for others only.
    pub(super) fn covering(&self, asked: impl Fn(&Kernel) -> Vec<Block>) -> Result<Cow<'_, Self>, Fault> {
        let mut blocks = Vec::new();
        let mut missing = false;
        for kernel in &self.meant.kernels {
            let Some(code) = &kernel.code else { continue };
            let own = asked(kernel);
            let known =
                |b: &Block| self.meant.kernels.iter().any(|k| k.document == kernel.document && k.covers(*b));
            missing |= !own.iter().all(known);
            blocks.extend(own.into_iter().chain(code.blocks.iter().copied()));
        }
        if !missing {
            return Ok(Cow::Borrowed(self));
        }
        let mut seen = HashSet::new();
        blocks.retain(|b| seen.insert(*b));
        let source = KernelSource { blocks, ..self.source.clone() };
        source.read().map(Cow::Owned)
    }

    /// The kernels that are meant.
    pub fn kernels(&self) -> &[Kernel] {
        &self.meant.kernels
    }

    /// The same, to be changed.
    pub fn kernels_mut(&mut self) -> &mut [Kernel] {
        &mut Arc::make_mut(&mut self.meant).kernels
    }

    /// Without what they were read from.
    pub fn into_loaded(self) -> Loaded {
        drop(self.all);
        Arc::unwrap_or_clone(self.meant)
    }

    /// The texts that their places are in.
    pub(super) fn sources(&self) -> &Sources {
        &self.all.sources
    }

    /// Document by document the variants that are meant.
    pub(super) fn documents(&self) -> impl Iterator<Item = &[Kernel]> {
        self.kernels().chunk_by(|a, b| a.document == b.document)
    }
}

/// Where a device comes from, and what is changed of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DeviceSource {
    /// An id or an alias, or what messages call the text; the default device if there is none.
    name: Option<String>,
    /// That of a file; none of a device that comes with Wavecast.
    text: Option<Arc<str>>,
    /// Numbers to change, as `PATH=VALUE`.
    set: Vec<String>,
    /// The clock that the run had, if it is not that of the device.
    clock: Option<RunClock>,
}

impl DeviceSource {
    /// One that comes with Wavecast, by its id or an alias.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// The text of a device file.
    pub fn of_text(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { name: Some(name.into()), text: Some(text.into()), ..Self::default() }
    }

    /// The same with numbers changed by `PATH=VALUE` texts.
    #[must_use]
    pub fn with(self, set: Vec<String>) -> Self {
        Self { set, ..self }
    }

    /// The same at the clock that a run had, which replaces that of the device: see [`Device::at_clock`].
    #[must_use]
    pub fn at_clock(self, clock: Option<RunClock>) -> Self {
        Self { clock, ..self }
    }

    /// Another device with the same changed of it.
    pub(super) fn another(&self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), text: None, ..self.clone() }
    }

    /// The clock that the run had, if that was given.
    pub(super) fn clock(&self) -> Option<RunClock> {
        self.clock
    }

    /// What is changed of it, as `PATH=VALUE` texts.
    pub(super) fn changes(&self) -> &[String] {
        &self.set
    }

    /// Whether none was named, so that the default device is meant.
    pub fn is_assumed(&self) -> bool {
        self.name.is_none()
    }

    /// The device, with further numbers changed.
    pub fn read(&self, more: &[String]) -> Result<Device, Fault> {
        let name = self.name.as_deref().unwrap_or(device::DEFAULT);
        let set = [self.set.as_slice(), more].concat();
        if self.clock.is_some() && set.iter().any(|s| s.split('=').next().map(str::trim) == Some("clock")) {
            let message = "the clock is given twice: as that of the run, and as a number of the device";
            let help = "leave out one of them; only that of the run has the bandwidth of the L2 follow";
            return Err(fault("device-set", message.to_owned(), Some(help)));
        }
        let device = match &self.text {
            Some(text) => device::read(name, text, &set),
            None => device::find(name, &set),
        }?;
        Ok(match self.clock {
            Some(clock) => device.at_clock(clock),
            None => device,
        })
    }
}
