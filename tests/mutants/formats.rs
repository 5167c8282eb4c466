//! The formats: what their texts look like, how they are changed, and what is done with one.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::value::RawValue;
use wavecast::ask::Session;
use wavecast::curve;
use wavecast::device;
use wavecast::measure::import::{ImportOptions, TextSource, import, lookups};
use wavecast::measure::measurements::{read, write_csv, write_json_lines};
use wavecast::probe::simulate::read_spec;
use wavecast::probe::{LogDefaults, Logs, read_logs};
use wavecast::report::probe::ProbeDocument;
use wavecast::report::{Answer, View};
use wavecast::report::{probe_picture, render_fault};
use wavecast::text::Fault;
use wavecast::trace::format::{Collector, CsvWriter, ReadOptions, Sink, TraceFormat, read as read_trace};
use wavecast::trace::reference::Reference;
use wavecast::trace::schedule::{SchedulePolicy, WarpShape, order};

use super::expression::{self, EXPRESSIONS, grown};
use super::kernel::{self, DOCUMENTS};
use super::mutate::{Style, mutant};
use super::random::Rng;
use super::words;

/// A format of inputs.
pub struct Format {
    pub name: &'static str,
    seeds: fn() -> Vec<Vec<u8>>,
    style: Style,
    /// What is done with a text; whether it could be read.
    pub run: fn(&[u8], &mut Rng) -> bool,
}

const fn style(words: &'static [&'static str]) -> Style {
    Style { words, is_language: false }
}

const LANGUAGE: Style = Style { words: words::LANGUAGE, is_language: true };

/// All of them.
pub const FORMATS: [Format; 11] = [
    Format {
        name: "kernel",
        seeds: kernels,
        style: LANGUAGE,
        run: |text, rng| kernel::run(&lossy(text), rng),
    },
    Format {
        name: "expression",
        seeds: || EXPRESSIONS.iter().map(|e| e.as_bytes().to_vec()).collect(),
        style: LANGUAGE,
        run: |text, rng| expression::run(&lossy(text), rng),
    },
    Format { name: "device", seeds: devices, style: style(words::DEVICES), run: a_device },
    Format { name: "curves", seeds: curves, style: style(words::DEVICES), run: a_curve_file },
    Format { name: "measurements", seeds: measurements, style: style(words::TABLES), run: measured },
    Format { name: "profile", seeds: profiles, style: style(words::TABLES), run: imported },
    Format { name: "trace", seeds: traces, style: style(words::TRACES), run: traced },
    Format { name: "probe-log", seeds: logs, style: style(words::TABLES), run: probed },
    Format {
        name: "probe-spec",
        seeds: || vec![seed("spec.yaml")],
        style: style(words::DEVICES),
        run: a_spec,
    },
    Format { name: "reference", seeds: references, style: style(words::TABLES), run: referenced },
    Format { name: "request", seeds: requests, style: style(words::REQUESTS), run: asked },
];

impl Format {
    /// The text of a case.
    pub fn text(&self, rng: &mut Rng) -> Vec<u8> {
        static SEEDS: [OnceLock<Vec<Vec<u8>>>; FORMATS.len()] = [const { OnceLock::new() }; FORMATS.len()];
        let at = FORMATS.iter().position(|f| f.name == self.name).unwrap();
        let seeds = SEEDS[at].get_or_init(self.seeds);
        assert!(!seeds.is_empty(), "{} has seeds", self.name);
        if self.name == "expression" && rng.chance(2) {
            let depth = 1 + rng.below(5);
            let text = grown(rng, depth).into_bytes();
            return if rng.chance(2) { text } else { mutant(&[text], &self.style, rng) };
        }
        mutant(seeds, &self.style, rng)
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

// --- seeds ---

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn seed(name: &str) -> Vec<u8> {
    std::fs::read(root().join("tests/mutants/seeds").join(name)).unwrap()
}

/// Files of a folder in the order of their names. Some folders are not part of a published package.
fn files(folder: &str, extensions: &[&str]) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)));
    paths.sort();
    paths.iter().map(|p| std::fs::read(p).unwrap()).collect()
}

fn kernels() -> Vec<Vec<u8>> {
    let own = DOCUMENTS.iter().map(|d| d.as_bytes().to_vec());
    [files("kernels", &["yaml"]), files("tests/clients", &["yaml"]), own.collect()].concat()
}

fn devices() -> Vec<Vec<u8>> {
    [files("devices", &["yaml"]), vec![seed("device.yaml"); 6]].concat()
}

fn curves() -> Vec<Vec<u8>> {
    [files("fits", &["yaml"]), vec![seed("curves.yaml"); 4]].concat()
}

fn measurements() -> Vec<Vec<u8>> {
    let short = |text: &[u8]| text.split_inclusive(|&b| b == b'\n').take(12).collect::<Vec<_>>().concat();
    let csv: Vec<Vec<u8>> = files("tests/measured", &["csv"]).iter().map(|t| short(t)).collect();
    let mut lines = Vec::new();
    write_json_lines(&read("seed", &csv[0][..]).unwrap(), &mut lines).unwrap();
    [csv, vec![lines]].concat()
}

fn profiles() -> Vec<Vec<u8>> {
    files("tests/imports", &["csv", "json"])
}

fn traces() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = ["trc", "crawford", "traceg", "nvbit", "full", "scheduled"]
        .iter()
        .map(|extension| seed(&format!("trace.{extension}")))
        .collect();
    let mut csv = Vec::new();
    read_trace(&all[4][..], ReadOptions::default(), &mut CsvWriter::new(&mut csv)).unwrap();
    let mut json = Vec::new();
    let mut writer = wavecast::trace::format::JsonWriter::new(&mut json);
    read_trace(&all[4][..], ReadOptions::default(), &mut writer).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&all[0]).unwrap();
    all.extend([csv, json, packed.finish().unwrap()]);
    all
}

fn logs() -> Vec<Vec<u8>> {
    let small = files("tests/cache_probe", &["csv"]);
    let others = [
        "warps,loads,cycles\n1,1,300.0\n1,2,302\n2,1,301\n2,8,900\n",
        "buffer_kB,cycles_per_load\n1,30\n2,30\n4,31\n8,90\n16,200\n32,201\n",
        "index,latency\n0,300\n1,30\n2,30\n3,30\n4,300\n5,30\n",
        "Next_id Latency\n1 300\n2 30\n3 31\n",
    ];
    [small, others.iter().map(|t| t.as_bytes().to_vec()).collect()].concat()
}

fn references() -> Vec<Vec<u8>> {
    vec![seed("reference.json")]
}

fn requests() -> Vec<Vec<u8>> {
    seed("requests.jsonl").split(|&b| b == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec).collect()
}

// --- what is done with a text ---

/// What was read, or a fault that can be told.
fn told<T>(result: Result<T, Fault>) -> Option<T> {
    result
        .map_err(|fault| {
            assert!(!fault.diagnostics.is_empty(), "a fault says what is wrong");
            let shown = render_fault(&fault);
            assert!(shown.len() < 1 << 20, "{} bytes of messages", shown.len());
        })
        .ok()
}

fn a_device(text: &[u8], rng: &mut Rng) -> bool {
    let text = lossy(text);
    let set = if rng.chance(4) { vec!["l2.capacity=80MiB".to_owned()] } else { Vec::new() };
    told(device::read("mutant.yaml", &text, &set)).is_some()
}

fn a_curve_file(text: &[u8], _: &mut Rng) -> bool {
    told(curve::read("mutant.yaml", &lossy(text))).is_some()
}

fn measured(text: &[u8], _: &mut Rng) -> bool {
    let Some(found) = told(read("mutant.csv", text)) else { return false };
    let mut csv = Vec::new();
    write_csv(&found, &mut csv).unwrap();
    read("again.csv", &csv[..]).expect("what is written can be read");
    true
}

fn imported(text: &[u8], rng: &mut Rng) -> bool {
    let source = TextSource { name: "mutant", bytes: text };
    let map = [("block.x", "bx"), ("block.y", "by"), ("time [ms]", "kernel_ms")];
    let map =
        if rng.chance(4) { map.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec() } else { Vec::new() };
    let _ = told(lookups(&source));
    let Some(found) = told(import(&source, None, &ImportOptions { map, ..ImportOptions::default() })) else {
        return false;
    };
    let mut csv = Vec::new();
    write_csv(&found.measurements, &mut csv).unwrap();
    let _ = told(read("again.csv", &csv[..]));
    true
}

fn traced(text: &[u8], rng: &mut Rng) -> bool {
    let format = rng.chance(3).then(|| TraceFormat::NAMED[rng.below(TraceFormat::NAMED.len())].1);
    let options = ReadOptions { format, lenient: rng.chance(2), ..ReadOptions::default() };
    let mut collector = Collector::default();
    match read_trace(text, options, &mut collector) {
        Ok(_) => {
            for trace in collector.traces.iter().filter(|t| t.threads() < 10_000) {
                let _ = order(trace, SchedulePolicy::Warp, WarpShape::default());
                let header = wavecast::trace::Header {
                    kernel: trace.kernel.clone(),
                    block: trace.block,
                    grid: Some(trace.grid),
                };
                let mut writer = CsvWriter::new(std::io::sink());
                writer.begin(&header, false).unwrap();
                for &access in trace.accesses() {
                    writer.access(access, &trace.tables).unwrap();
                }
            }
            true
        }
        Err(error) => {
            assert!(error.to_string().len() < 1000, "{error}");
            false
        }
    }
}

fn probed(text: &[u8], rng: &mut Rng) -> bool {
    let given = LogDefaults {
        n: rng.chance(4).then_some(256),
        stride: rng.chance(4).then_some(1),
        element: None,
        cold: rng.chance(4),
    };
    let mut logs = Logs::default();
    if let Err(error) = read_logs("mutant.csv", text, given, &mut logs) {
        assert!(error.to_string().len() < 1000, "{error}");
        return false;
    }
    let document = ProbeDocument::new(vec!["mutant.csv".to_owned()], &logs, None);
    let text = document.text(View { width: Some(80), all: true });
    let _ = (text, Answer::table(&[&document]).csv(), probe_picture(&document, &logs));
    true
}

fn a_spec(text: &[u8], _: &mut Rng) -> bool {
    told(read_spec("mutant.yaml", &lossy(text))).is_some()
}

fn referenced(text: &[u8], _: &mut Rng) -> bool {
    Reference::parse(&lossy(text)).is_ok()
}

fn asked(text: &[u8], _: &mut Rng) -> bool {
    // A line, as `serve` reads it.
    let text = lossy(text).replace(['\n', '\r'], " ");
    let session = Session::new(None);
    let define = r#"{"op": "define", "name": "k", "kernel_text": "wavecast: 1\nkernel: k\nfields: {a: {dtype: 4, size: 64}}\ndomain: {x: 64}\nstores: ['a[x]']\n"}"#;
    session.ask(define);
    let answer = session.ask(&text);
    // An id is given back as it was written, even where no number is that large.
    let answer: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&answer).expect("an answer is JSON");
    !answer.contains_key("error")
}
