//! Reading kernels and devices as the arguments name them.

use std::io::Read;
use std::path::Path;

use clap::Args;

use super::output::Failure;
use wavecast::device::{self, Device};
use wavecast::kernel::{Limits, Loaded, Options, load};

/// Arguments that change how kernels are read.
#[derive(Debug, Clone, Args)]
pub(super) struct KernelArguments {
    /// Override a parameter of the kernel (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Raise a limit that protects the tool: document-bytes, accesses, candidates, variants (repeatable)
    #[arg(long, value_name = "NAME=N")]
    pub limit: Vec<String>,
}

impl KernelArguments {
    fn options(&self) -> Result<Options, Failure> {
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

    /// The kernels of a file, or of standard input for `-`.
    pub(super) fn load(&self, path: &str, json: bool) -> Result<Loaded, Failure> {
        let options = self.options().map_err(|f| f.for_json(json))?;
        let (name, text) = if path == "-" {
            ("<stdin>", read_limited(std::io::stdin().lock(), Path::new("standard input"), options.limits))
        } else {
            let file = std::fs::File::open(path)
                .map_err(|e| Failure::file("cannot-read", Path::new(path), "read", &e));
            (path, file.and_then(|f| read_limited(f, Path::new(path), options.limits)))
        };
        let text = text.map_err(|f| f.for_json(json))?;
        load(name, &text, &options).map_err(|fault| Failure::faults(vec![fault], json))
    }
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

/// Reads a shape; missing extents are 1.
pub(super) fn parse_shape(text: &str) -> Result<Shape, String> {
    let mut shape = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).map(str::trim).collect();
    if parts.len() > 3 {
        return Err("at most three numbers, as in 256,1,2".to_owned());
    }
    for (extent, part) in shape.iter_mut().zip(parts) {
        let number = part.parse().ok().filter(|n| (1..=65_536).contains(n));
        *extent = number.ok_or("numbers from 1 to 65536, as in 256,1,2")?;
    }
    Ok(Shape(shape))
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
    let is_path = [".yaml", ".yml", ".json"].iter().any(|e| name.ends_with(e)) || name.contains('/');
    let device = if is_path {
        let path = Path::new(name);
        let file = std::fs::File::open(path)
            .map_err(|e| Failure::file("cannot-read", path, "read", &e).for_json(json))?;
        let text = read_limited(file, path, Limits::default()).map_err(|f| f.for_json(json))?;
        device::read(name, &text, set)
    } else {
        device::find(name, set)
    };
    device.map_err(|fault| Failure::faults(vec![fault], json))
}
