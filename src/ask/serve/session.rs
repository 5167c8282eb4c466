//! What is remembered between requests: kernels by name, kernels just read, devices.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::super::predictor::{ModelOptions, Predictor};
use super::super::source::{DeviceSource, KernelSource, KernelsRead};
use super::answer::{AnswerLine, Documents};
use super::job::{Asked, Job};
use super::lock::Lock;
use super::request::{Operation, RequestLine};
use crate::device::{self, Device};
use crate::effort::{Stop, heeding};
use crate::kernel::{Limits, Loaded, Options};
use crate::report::{ErrorDocument, View};

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
    recent: Lock<Vec<(KernelSource, Arc<Loaded>)>>,
    devices: Lock<HashMap<DeviceSource, Arc<Device>>>,
}

/// A kernel with a name.
#[derive(Debug)]
pub(super) struct Defined {
    /// Without variants: each request names its own.
    pub source: KernelSource,
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
        self.answer_to(request).line()
    }

    /// What comes of the text of one request.
    pub fn answer_to(&self, request: &str) -> AnswerLine {
        match RequestLine::read(request) {
            Ok(request) => AnswerLine::new(request.id.clone(), self.answer(request)),
            Err((id, error)) => AnswerLine::new(id, Err(error)),
        }
    }

    /// The same, if it is known within this time. Nothing comes of any but predictions, and of those with compiled code or
    /// an engine that was asked for, which may take long without a look at the clock; nor of what was begun and took
    /// longer. It is to be asked for again.
    pub fn answer_soon(&self, request: &str, time: Duration) -> Option<AnswerLine> {
        let stop = Stop::after(time);
        // Whether a kernel was defined should not depend on how long that took.
        let request = RequestLine::read(request).ok().filter(|request| request.op != Operation::Define)?;
        let id = request.id.clone();
        let outcome = heeding(Some(&stop), || {
            let job = self.prepare(request).ok().filter(Job::is_brief)?;
            Some(self.run(&job))
        })?;
        stop.reason().is_none().then(|| AnswerLine::new(id, outcome))
    }

    /// What a person is told instead, a text for each document; nothing where there is no answer.
    pub fn texts(&self, request: &str, view: View) -> Vec<String> {
        let answer = RequestLine::read(request).map_err(|(_, error)| error).and_then(|r| self.answer(r));
        answer.map(|documents| documents.texts(view)).unwrap_or_default()
    }

    /// What comes of one request.
    pub fn answer(&self, request: RequestLine) -> Result<Documents, ErrorDocument> {
        let job = self.prepare(request)?;
        self.run(&job)
    }

    /// The part of a request that must be done in the order in which requests came: definitions, and
    /// finding what names refer to.
    pub(super) fn prepare(&self, request: RequestLine) -> Result<Job, ErrorDocument> {
        if request.op == Operation::Cancel {
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
        let (op, name) = (request.op, request.name.clone());
        let job = self.job(request)?;
        if op != Operation::Define {
            return Ok(job);
        }
        let loaded = guarded(|| self.kernels_of(&job))?;
        // A text without a kernel is an error of whoever reads it.
        let name = name.unwrap_or_else(|| loaded.kernels[0].name.clone());
        let mut kernels = self.kernels.write().ok_or_else(forked)?;
        if kernels.len() >= NAMES && !kernels.contains_key(&name) {
            let message = format!("{NAMES} kernels are defined; more are not kept");
            let help = Some("define some of them anew, or send kernels with their requests".to_owned());
            return Err(ErrorDocument::single("too-many-names", message, help));
        }
        let defined = Defined { source: every_variant(&job.source), loaded: Arc::clone(&loaded) };
        kernels.insert(name.clone(), Arc::new(defined));
        Ok(Job { asked: Asked::Define(name), loaded: Some(loaded), ..job })
    }

    fn job(&self, request: RequestLine) -> Result<Job, ErrorDocument> {
        let RequestLine { op, kernel, kernel_text, kernel_ref, device, device_text, options, .. } = request;
        if device.is_some() && device_text.is_some() {
            let message = "the request has more than one device".to_owned();
            let help = Some("leave out `device` or `device_text`".to_owned());
            return Err(ErrorDocument::single("request", message, help));
        }
        let reading = options.reading()?;
        let (source, loaded) = match (kernel, kernel_text, kernel_ref) {
            (Some(kernel), None, None) => (KernelSource::new("kernel", Box::<str>::from(kernel)), None),
            (None, Some(text), None) => (KernelSource::new("kernel_text", text), None),
            (None, None, Some(name)) => {
                let defined = self.defined(&name)?;
                let as_defined = reading.set.is_empty() && reading.limits == Limits::default();
                (defined.source.clone(), as_defined.then(|| Arc::clone(&defined.loaded)))
            }
            (None, None, None) if op == Operation::Devices => (KernelSource::new("kernel_text", ""), None),
            (None, None, None) => return Err(no_kernel("the request has no kernel")),
            _ => return Err(no_kernel("the request has more than one kernel")),
        };
        let reading = match &loaded {
            Some(_) => source.options.clone(),
            None => Options { set: [source.options.set.clone(), reading.set].concat(), ..reading },
        };
        let model = if matches!(op, Operation::Define | Operation::Check | Operation::Devices) {
            ModelOptions::default()
        } else {
            options.model()?
        };
        Ok(Job {
            asked: options.asked(op)?,
            source: KernelSource { options: reading, variants: options.variant.0.clone(), ..source },
            loaded,
            device: device.or_else(|| self.device.clone().filter(|_| device_text.is_none())),
            device_text: device_text.map(Arc::from),
            device_set: options.device_set.texts().to_vec(),
            clock: options.clock,
            model,
        })
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
            if matches!(job.asked, Asked::Devices) {
                return job.devices(|| self.predictor(job));
            }
            let kernels = KernelsRead::new(job.source.clone(), self.kernels_of(job)?)?;
            job.answer(&kernels, || self.predictor(job))
        })
    }

    fn kernels_of(&self, job: &Job) -> Result<Arc<Loaded>, ErrorDocument> {
        if let Some(loaded) = &job.loaded {
            return Ok(Arc::clone(loaded));
        }
        let source = every_variant(&job.source);
        let known =
            |(text, loaded): &(KernelSource, Arc<Loaded>)| (*text == source).then(|| Arc::clone(loaded));
        if let Some(loaded) = self.recent.read().and_then(|recent| recent.iter().find_map(known)) {
            return Ok(loaded);
        }
        let loaded = Arc::new(source.load()?);
        if source.text.len() <= RECENT_BYTES
            && is_small(&loaded)
            && let Some(mut recent) = self.recent.write()
        {
            if recent.len() >= RECENT {
                recent.remove(0);
            }
            recent.push((source, Arc::clone(&loaded)));
        }
        Ok(loaded)
    }

    fn predictor(&self, job: &Job) -> Result<Predictor<'static>, ErrorDocument> {
        // Files may change between requests.
        let file = job.device.as_deref().filter(|name| device::is_path(name));
        let source = match (file, &job.device) {
            _ if job.device_text.is_some() => {
                DeviceSource::of_text("device_text", job.device_text.clone().unwrap_or_default())
            }
            (Some(path), _) if self.no_files && self.device.as_deref() != Some(path) => {
                return Err(no_files(path));
            }
            (Some(path), _) => DeviceSource::of_text(path, device_text(path)?),
            (None, Some(name)) => DeviceSource::named(name),
            (None, None) => DeviceSource::default(),
        };
        let source = source.with(job.device_set.clone()).at_clock(job.clock);
        let known = self.devices.read().and_then(|devices| devices.get(&source).map(Arc::clone));
        let device = if let Some(device) = known {
            device
        } else {
            let device = Arc::new(source.read(&[])?);
            if let Some(mut devices) = self.devices.write() {
                if devices.len() >= DEVICES {
                    devices.clear();
                }
                devices.insert(source.clone(), Arc::clone(&device));
            }
            device
        };
        Ok(Predictor::known(source, device).with(job.model))
    }
}

/// The same text with all its variants.
fn every_variant(source: &KernelSource) -> KernelSource {
    KernelSource { variants: Vec::new(), ..source.clone() }
}

fn device_text(path: &str) -> Result<String, ErrorDocument> {
    crate::text::read_regular(path, DEVICE_BYTES).map_err(|e| {
        let help = "check the path, or name a device that `wavecast devices` lists".to_owned();
        ErrorDocument::single("cannot-read", format!("cannot read {path}: {e}"), Some(help))
    })
}

fn no_files(path: &str) -> ErrorDocument {
    let path = crate::text::shorten(path);
    let message = format!("`device` is the path {path}, and this server reads no files for requests");
    let help = "start it with --allow-files, or name a device that `wavecast devices` lists".to_owned();
    ErrorDocument::single("files-not-allowed", message, Some(help))
}

fn is_small(loaded: &Loaded) -> bool {
    let statements = |k: &crate::kernel::Kernel| k.body.len() + k.loops.len() * RECENT_STATEMENTS / 16;
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
    fn what_takes_long_is_not_answered_soon() {
        let (session, long) = (Session::new(None), Duration::from_secs(1000));
        let soon = session.answer_soon(&request(64), long).unwrap().line();
        assert_eq!(soon, session.ask(&request(64)));
        assert!(session.answer_soon(&request(64), Duration::ZERO).is_none());
        // Its comments name ptxas.
        let star =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/star3d7.yaml")).unwrap();
        let star =
            serde_json::json!({"id": 1, "op": "predict", "device": "a100", "kernel_text": star}).to_string();
        assert_eq!(session.answer_soon(&star, long).unwrap().line(), session.ask(&star));
        for (said, instead) in [
            ("predict", "rank"),
            ("predict", "check"),
            (r#""op""#, r#""options": {"engine": "linear"}, "op""#),
        ] {
            let other = request(64).replace(said, instead);
            assert!(session.answer_soon(&other, long).is_none(), "{other}");
            assert!(session.ask(&other).contains(r#""ok":true"#), "{other}");
        }
        assert!(session.answer_soon(&request(64).replace("predict", "define"), long).is_none());
        assert!(session.kernels.read().unwrap().is_empty());
        assert!(session.answer_soon("{", long).is_none());
    }

    #[test]
    fn a_panic_costs_one_answer() {
        let failed = guarded::<()>(|| std::panic::resume_unwind(Box::new("of a test"))).unwrap_err();
        assert_eq!(failed.errors[0].code, "internal");
        assert!(failed.errors[0].message.contains("of a test"));
    }
}
