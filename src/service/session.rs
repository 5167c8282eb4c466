//! What is remembered between requests: kernels by name, kernels just read, devices.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::answer::{Answer, Definition, Document, Documents};
use super::job::{Job, Text};
use super::lock::Lock;
use super::request::{Op, Request};
use crate::device::{self, Device};
use crate::kernel::{Kernel, Limits, Loaded, Options, load};
use crate::report::ErrorDocument;

/// Devices that are kept; with changed numbers there may be any number of them.
const DEVICES: usize = 32;
/// Kernels that are kept though nobody named them: a search asks about the same one again and again.
const RECENT: usize = 8;
/// Longest text and most statements of a kernel that is kept without a name, so that little memory is.
const RECENT_BYTES: usize = 64 << 10;
const RECENT_STATEMENTS: usize = 2_000;
/// Longest device file.
const DEVICE_BYTES: usize = 1 << 20;
/// Most kernels with a name.
const NAMES: usize = 100_000;

/// Answers requests. One session serves any number of threads.
#[derive(Debug, Default)]
pub struct Session {
    device: Option<String>,
    /// Requests may not name files, but for the device of the session.
    no_files: bool,
    kernels: Lock<HashMap<String, Arc<Defined>>>,
    recent: Lock<Vec<(Text, Arc<Loaded>)>>,
    devices: Lock<HashMap<DeviceKey, Arc<Device>>>,
}

/// Name of a device and what was changed of it.
type DeviceKey = (String, Vec<String>);

/// A kernel with a name.
#[derive(Debug)]
pub(super) struct Defined {
    pub text: Text,
    pub loaded: Arc<Loaded>,
}

impl Session {
    /// A session in which requests that name no device mean this one.
    pub fn new(device: Option<String>) -> Self {
        Self { device, ..Self::default() }
    }

    /// The same session, in which requests may not name device files: whoever sends them may be somebody else
    /// than whoever owns the files.
    #[must_use]
    pub fn without_files(self) -> Self {
        Self { no_files: true, ..self }
    }

    /// Answers one request; the answer is a line without its end.
    pub fn ask(&self, request: &str) -> String {
        match Request::read(request) {
            Ok(request) => {
                let id = request.id.clone();
                Answer::new(id, self.answer(request)).line()
            }
            Err((id, error)) => Answer::new(id, Err(error)).line(),
        }
    }

    /// What comes of one request.
    pub fn answer(&self, request: Request) -> Result<Documents, ErrorDocument> {
        let job = self.prepare(request)?;
        self.run(&job)
    }

    /// The part of a request that must be done in the order in which requests came: definitions, and
    /// finding what names refer to.
    pub(super) fn prepare(&self, request: Request) -> Result<Job, ErrorDocument> {
        if request.op == Op::Cancel {
            let message =
                "there is nothing to cancel here: requests are answered one after the other".to_owned();
            return Err(ErrorDocument::single("request", message, None));
        }
        if !request.target.is_null() {
            let help = "leave it out, or say `\"op\": \"cancel\"`".to_owned();
            return Err(ErrorDocument::single(
                "request",
                "`target` is for op `cancel`".to_owned(),
                Some(help),
            ));
        }
        let is_definition = request.op == Op::Define;
        let (name, job) = self.job(request)?;
        if is_definition {
            let loaded = guarded(|| self.kernels_of(&job))?;
            let name = name.or_else(|| loaded.kernels.first().map(|k| k.name.clone())).unwrap_or_default();
            let mut kernels = self.kernels.write().ok_or_else(forked)?;
            if kernels.len() >= NAMES && !kernels.contains_key(&name) {
                let message = format!("{NAMES} kernels are defined; more are not kept");
                let help = Some("define some of them anew, or send kernels with their requests".to_owned());
                return Err(ErrorDocument::single("too-many-names", message, help));
            }
            let defined = Defined { text: job.text.clone(), loaded: Arc::clone(&loaded) };
            kernels.insert(name.clone(), Arc::new(defined));
            return Ok(Job { name, loaded: Some(loaded), ..job });
        }
        Ok(job)
    }

    fn job(&self, request: Request) -> Result<(Option<String>, Job), ErrorDocument> {
        let Request { op, name, kernel, kernel_text, kernel_ref, device, options, .. } = request;
        let reading = options.reading()?;
        let device = device.or_else(|| self.device.clone());
        let (text, loaded) = match (kernel, kernel_text, kernel_ref) {
            (Some(kernel), None, None) => {
                (Text::new("kernel", Box::<str>::from(kernel).into(), &reading), None)
            }
            (None, Some(text), None) => (Text::new("kernel_text", text, &reading), None),
            (None, None, Some(name)) => {
                let defined = self.defined(&name)?;
                if reading.set.is_empty() && reading.limits == Limits::default() {
                    (defined.text.clone(), Some(Arc::clone(&defined.loaded)))
                } else {
                    let set = [defined.text.options.set.as_slice(), &reading.set].concat();
                    let limits = reading.limits;
                    (Text { options: Options { set, limits }, ..defined.text.clone() }, None)
                }
            }
            (None, None, None) => return Err(no_kernel("the request has no kernel")),
            _ => return Err(no_kernel("the request has more than one kernel")),
        };
        let job = Job { op, name: String::new(), text, loaded, device, options };
        Ok((name, job))
    }

    fn defined(&self, name: &str) -> Result<Arc<Defined>, ErrorDocument> {
        let kernels = self.kernels.read().ok_or_else(forked)?;
        kernels.get(name).map(Arc::clone).ok_or_else(|| {
            let near = crate::text::nearest(name, kernels.keys().map(String::as_str));
            let near = near.map(|n| format!("did you mean `{n}`? "));
            let help = format!("{}define it with op `define` before", near.unwrap_or_default());
            let message = format!("no kernel `{}` is defined", crate::text::shorten(name));
            ErrorDocument::single("unknown-kernel", message, Some(help))
        })
    }

    /// The rest of a request, which may be done at any time.
    pub(super) fn run(&self, job: &Job) -> Result<Documents, ErrorDocument> {
        guarded(|| {
            let mut loaded = self.kernels_of(job)?;
            let variants = &job.options.variant.0;
            if !variants.is_empty() {
                let only = Loaded::clone(&loaded).only(variants);
                loaded = Arc::new(only.map_err(|fault| ErrorDocument::new([&fault]))?);
            }
            if job.op == Op::Define {
                let kernels = loaded.kernels.iter().map(title).collect();
                let (schema, name) = ("wavecast/definition/1", job.name.clone());
                return Ok(Documents::from_list(vec![Document::Definition(Definition {
                    schema,
                    name,
                    kernels,
                })]));
            }
            let needs_device = job.op != Op::Check || job.device.is_some();
            let device = needs_device.then(|| self.device(job)).transpose()?;
            job.answer(&loaded, device.as_deref())
        })
    }

    fn kernels_of(&self, job: &Job) -> Result<Arc<Loaded>, ErrorDocument> {
        if let Some(loaded) = &job.loaded {
            return Ok(Arc::clone(loaded));
        }
        let known = |(text, loaded): &(Text, Arc<Loaded>)| (*text == job.text).then(|| Arc::clone(loaded));
        if let Some(loaded) = self.recent.read().and_then(|recent| recent.iter().find_map(known)) {
            return Ok(loaded);
        }
        let Text { name, content, options } = &job.text;
        let loaded = load(name, content, options).map_err(|fault| ErrorDocument::new([&fault]))?;
        let loaded = Arc::new(loaded);
        if content.len() <= RECENT_BYTES
            && is_small(&loaded)
            && let Some(mut recent) = self.recent.write()
        {
            if recent.len() >= RECENT {
                recent.remove(0);
            }
            recent.push((job.text.clone(), Arc::clone(&loaded)));
        }
        Ok(loaded)
    }

    fn device(&self, job: &Job) -> Result<Arc<Device>, ErrorDocument> {
        let name = job.device.as_deref().unwrap_or(device::DEFAULT);
        let key = (name.to_owned(), job.options.device_set.texts().to_vec());
        // Files may change between requests.
        let is_file = device::is_path(name);
        if is_file && self.no_files && self.device.as_deref() != Some(name) {
            return Err(no_files(name));
        }
        let known = || self.devices.read()?.get(&key).map(Arc::clone);
        if let Some(device) = known().filter(|_| !is_file) {
            return Ok(device);
        }
        let found = if is_file { read_device(name, &key.1)? } else { device::find(name, &key.1) };
        let device = Arc::new(found.map_err(|fault| ErrorDocument::new([&fault]))?);
        if let Some(mut devices) = self.devices.write() {
            if devices.len() >= DEVICES {
                devices.clear();
            }
            devices.insert(key, Arc::clone(&device));
        }
        Ok(device)
    }
}

fn read_device(path: &str, set: &[String]) -> Result<Result<Device, crate::text::Fault>, ErrorDocument> {
    let text = crate::text::read_regular(path, DEVICE_BYTES).map_err(|e| {
        let help = "check the path, or name a device that `wavecast devices` lists".to_owned();
        ErrorDocument::single("cannot-read", format!("cannot read {path}: {e}"), Some(help))
    })?;
    Ok(device::read(path, &text, set))
}

fn no_files(path: &str) -> ErrorDocument {
    let path = crate::text::shorten(path);
    let message = format!("`device` is the path {path}, and this server reads no files for requests");
    let help = "start it with --allow-files, or name a device that `wavecast devices` lists".to_owned();
    ErrorDocument::single("files-not-allowed", message, Some(help))
}

fn title(kernel: &Kernel) -> String {
    kernel.variant.as_ref().map_or_else(|| kernel.name.clone(), |v| format!("{} ({v})", kernel.name))
}

fn is_small(loaded: &Loaded) -> bool {
    let statements = |k: &Kernel| k.body.len() + k.loops.len() * RECENT_STATEMENTS / 16;
    loaded.kernels.len() <= 16 && loaded.kernels.iter().map(statements).sum::<usize>() <= RECENT_STATEMENTS
}

fn no_kernel(message: &str) -> ErrorDocument {
    let help = "give it as `kernel` (a document), `kernel_text` (YAML) or `kernel_ref` (a defined name)";
    ErrorDocument::single("request", message.to_owned(), Some(help.to_owned()))
}

/// Where a thread of the parent process was defining a kernel at the moment of the fork.
fn forked() -> ErrorDocument {
    let message = "the kernels of the parent process cannot be read after this fork".to_owned();
    let help = "send the kernel itself, or fork when no kernel is being defined".to_owned();
    ErrorDocument::single("fork", message, Some(help))
}

/// A fault of Wavecast itself costs one answer, not the server.
fn guarded<T>(work: impl FnOnce() -> Result<T, ErrorDocument>) -> Result<T, ErrorDocument> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let cause = panic.downcast_ref::<String>().map(String::as_str);
        let cause = cause.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
        let help = "this is a fault of Wavecast: please report it with the request".to_owned();
        Err(ErrorDocument::single("internal", format!("internal error: {cause}"), Some(help)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(size: usize) -> String {
        let fields = format!(r#"{{"a": {{"dtype": "f64", "size": {size}}}}}"#);
        let kernel = format!(
            r#"{{"wavecast": 1, "kernel": "k", "fields": {fields}, "domain": {{"x": {size}}}, "loads": ["a[x]"]}}"#
        );
        format!(r#"{{"id": {size}, "op": "predict", "device": "a100", "kernel": {kernel}}}"#)
    }

    #[test]
    fn what_nobody_named_is_not_kept_for_ever() {
        let session = Session::new(None);
        for size in 1..=3 * RECENT {
            assert!(
                session.ask(&request(64 * size)).starts_with(&format!(r#"{{"id":{},"ok":true"#, 64 * size))
            );
        }
        assert_eq!(session.recent.read().unwrap().len(), RECENT);
        for count in 1..=2 * DEVICES {
            let change = format!(r#""options": {{"device_set": {{"sm.count": {count}}}}}, "op""#);
            assert!(session.ask(&request(64).replace(r#""op""#, &change)).contains(r#""ok":true"#));
        }
        assert!(session.devices.read().unwrap().len() <= DEVICES);
    }

    #[test]
    fn a_panic_costs_one_answer() {
        let failed = guarded::<()>(|| std::panic::resume_unwind(Box::new("of a test"))).unwrap_err();
        assert_eq!(failed.errors[0].code, "internal");
        assert!(failed.errors[0].message.contains("of a test"));
    }
}
