//! Reading kernels and devices as the arguments name them.

use std::io::Read;
use std::path::Path;

use clap::Args;

use super::failure::Failure;
use super::files;
use crate::device::{self, Device};
use crate::kernel::{Limits, Loaded, MAX_FOLD, Options, load};
use crate::launch::extents;
use crate::text::Fault;

/// Arguments that change how kernels are read.
#[derive(Debug, Clone, Args)]
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
        let mut limits = Limits::default();
        for text in &self.limit {
            let set = text.split_once('=').and_then(|(name, value)| {
                let value = value.trim().replace('_', "").parse().ok()?;
                limits.set(name.trim(), value).then_some(())
            });
            if set.is_none() {
                let message = format!("`--limit {text}` is not a limit and a number");
                let help = format!("write NAME=N with one of: {}", Limits::NAMES.join(", "));
                return Err(Failure::message("usage", message, Some(&help)));
            }
        }
        Ok(Options { set: self.set.clone(), limits })
    }

    /// The kernels of a file, or of standard input for `-`: those of the variants that were named.
    pub(super) fn load(&self, path: &str, json: bool) -> Result<Loaded, Failure> {
        self.load_all(path, json)?.only(&self.variant).map_err(|fault| Failure::faults(vec![fault], json))
    }

    /// The kernels of a file whatever variant was named.
    pub(super) fn load_all(&self, path: &str, json: bool) -> Result<Loaded, Failure> {
        let options = self.options().map_err(|f| f.for_json(json))?;
        let (name, text) = read_text(path, options.limits, json)?;
        load(&name, &text, &options).map_err(|fault| Failure::faults(vec![fault], json))
    }
}

/// Name and text of a file, or of standard input for `-`.
pub(super) fn read_text(path: &str, limits: Limits, json: bool) -> Result<(String, String), Failure> {
    let (name, text) = if path == "-" {
        let input = files::stdin();
        ("<stdin>", input.and_then(|i| read_limited(i, Path::new("standard input"), limits)))
    } else {
        (path, files::open(Path::new(path)).and_then(|f| read_limited(f, Path::new(path), limits)))
    };
    Ok((name.to_owned(), text.map_err(|f| f.for_json(json))?))
}

/// Reads a text, but hardly more than the limit: the rest is refused without having been read.
fn read_limited(reader: impl Read, path: &Path, limits: Limits) -> Result<String, Failure> {
    let most = u64::try_from(limits.document_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    reader.take(most).read_to_end(&mut bytes).map_err(|e| Failure::file("cannot-read", path, "read", &e))?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let message = format!("{} is not UTF-8 text (byte {at})", path.display());
        Failure::message("not-text", message, Some("save it as UTF-8"))
    })
}

/// Three extents of an argument such as `256,1,2`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape(pub [i64; 3]);

/// Reads the shape of a block; missing extents are 1.
pub(super) fn parse_shape(text: &str) -> Result<Shape, String> {
    shape(text, 65_536)
}

/// Reads the shape of a fold.
pub(super) fn parse_fold(text: &str) -> Result<Shape, String> {
    shape(text, MAX_FOLD)
}

fn shape(text: &str, most: i64) -> Result<Shape, String> {
    extents(text, most)
        .map(Shape)
        .ok_or_else(|| format!("at most three numbers from 1 to {most}, as in 256,1,2"))
}

/// Arguments that choose a device.
#[derive(Debug, Clone, Args)]
pub(super) struct DeviceArguments {
    /// A device id or alias (see `wavecast devices`), or a path ending in .yaml
    #[arg(short, long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Change a number of the device, for example l2.capacity=80MiB (repeatable)
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
    DeviceText::open(name, json)?.with(set).map_err(|fault| Failure::faults(vec![fault], json))
}

/// A device of which numbers can be changed again and again.
#[derive(Debug)]
pub(super) struct DeviceText {
    name: String,
    /// Of a file; none of a device that comes with the program.
    text: Option<String>,
}

impl DeviceText {
    /// By id, alias or path.
    pub(super) fn open(name: &str, json: bool) -> Result<Self, Failure> {
        let text =
            if device::is_path(name) { Some(read_text(name, Limits::default(), json)?.1) } else { None };
        Ok(Self { name: name.to_owned(), text })
    }

    /// The device with numbers changed by `PATH=VALUE` texts.
    pub(super) fn with(&self, set: &[String]) -> Result<Device, Fault> {
        match &self.text {
            Some(text) => device::read(&self.name, text, set),
            None => device::find(&self.name, set),
        }
    }
}
