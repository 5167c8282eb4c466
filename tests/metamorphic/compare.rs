//! Two predictions, number by number.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use wavecast::device::{self, Device};
use wavecast::kernel::{Kernel, Limits, Options, load};
use wavecast::launch::{Candidate, Launch, Program, Touch, visit_thread};
use wavecast::predict::{Choice, Estimator, Time, rank};
use wavecast::quantity::Sectors;
use wavecast::traffic::l1::{self, FieldCounts, InstructionCounts, L1Counts};
use wavecast::traffic::{FieldVolumes, MemoryVolumes, Volumes};

use super::document::Document;
use super::random::{Case, DEVICES};
use super::relations::{Method, Pair};

const NOTHING: &str = "it accesses no memory";

/// Sums are made in another order; nothing else may differ.
const NEAR: f64 = 1e-9;

/// Steps without end: which words cost more steps than others is no part of what is compared.
fn limits() -> Options {
    let limits = Limits { steps: usize::MAX >> 8, ..Limits::default() };
    Options { limits, ..Options::default() }
}

/// The kernel of a document; nothing where it accesses no memory, as conditions never hold.
fn kernel(document: &Document) -> Option<Kernel> {
    let text = document.yaml();
    match load("kernel", &text, &limits()) {
        Ok(mut loaded) => Some(loaded.kernels.remove(0)),
        Err(fault) if fault.diagnostics.iter().all(|d| d.code == "no-accesses") => None,
        Err(fault) => panic!("{fault:?}\n{text}"),
    }
}

/// What is predicted of a case, by name; or why nothing is.
pub type Predicted = Result<Vec<(String, f64)>, String>;

/// What is predicted of a case.
pub fn predicted(case: &Case) -> Predicted {
    let asked = Asked::new(case).ok_or(NOTHING)?;
    asked.predict().map(|p| numbers(&p, &asked.fields(&case.document, None)))
}

/// What differs between the two predictions of a pair, if anything does; the left one is known.
pub fn difference(left: &Predicted, pair: &Pair) -> Option<String> {
    // A condition of an access that never holds is an error if it leaves none; a guard is not.
    let right = Asked::new(&pair.right)?;
    match (left, right.by(&pair.method)) {
        (Ok(a), Ok(b)) => {
            let fields =
                pair.fields.clone().unwrap_or_else(|| (0..pair.right.document.fields.len()).collect());
            let b = numbers(&b, &right.fields(&pair.right.document, Some(&fields)));
            let different = |((name, a), (_, b)): (&(String, f64), &(String, f64))| {
                let scale = a.abs().max(b.abs()).max(if name.contains("seconds") { 1e-9 } else { 1e-3 });
                let far = (a - b).abs() > NEAR * scale && !(pair.may_wait && name == "seconds");
                far.then(|| format!("{name}: left {a}, right {b}"))
            };
            let found: Vec<String> = a.iter().zip(&b).filter_map(different).collect();
            (!found.is_empty()).then(|| found.join("\n"))
        }
        (Err(_), Err(_)) => None,
        // What never is done may be seen when the document is read, or later.
        (Err(why), Ok(_)) if why == NOTHING => None,
        (Ok(_), Err(why)) => Some(format!("only the right one fails: {why}")),
        (Err(why), Ok(_)) => Some(format!("only the left one fails: {why}")),
    }
}

/// What the first-level cache does, counted by alignments and lane by lane: where nothing is sampled and
/// both look at the same blocks, every number is the same.
pub fn between_roads(case: &Case) -> Option<String> {
    let Asked { kernel, device, candidate } = Asked::new(case)?;
    let launch = Launch::new(&kernel, candidate).ok()?;
    let program = Program::placed(&kernel, candidate).ok()?.at(&launch).ok()?;
    let quick = l1::count(&kernel, &launch, &program, device).ok()?;
    let slow = l1::count_by_lane(&kernel, &launch, &program, device).ok()?;
    if quick.blocks != slow.blocks {
        return Some("other blocks are looked at".to_owned());
    }
    // Long loops lane by lane, and more blocks than are looked at.
    if slow.sampled {
        return None;
    }
    // The tags of some warps stand for those of all.
    let exact = !quick.sampled;
    let one = |c: &InstructionCounts, field: bool| {
        let tags = if exact { [c.tag.get(), c.cycles.get()] } else { [0.0; 2] };
        let lines = if field { [c.sectors.get(), c.runs.get(), c.lines.get()] } else { [0.0; 3] };
        [&[c.issues.get(), c.lanes.get(), c.data.get()][..], &tags, &lines].concat()
    };
    let of_field = |f: &FieldCounts| {
        let unions = if exact { [f.warp_load_sectors.get(), f.warp_store_sectors.get()] } else { [0.0; 2] };
        let sectors = [f.load_sectors, f.store_sectors, f.atomic_sectors].map(Sectors::get);
        [&sectors[..], &[f.atomic_bytes.get(), f.load_lines.get()], &unions].concat()
    };
    let all = |counts: &L1Counts| -> Vec<f64> {
        let of_instructions = counts.instructions.iter().flat_map(|c| one(c, true));
        let of_fields = counts.fields.iter().flat_map(of_field);
        [counts.work_items.get(), counts.warps.get()]
            .into_iter()
            .chain(of_instructions)
            .chain(of_fields)
            .collect()
    };
    let (a, b) = (all(&quick), all(&slow));
    let far = a.iter().zip(&b).position(|(a, b)| (a - b).abs() > NEAR * a.abs().max(b.abs()).max(1.0));
    far.map(|i| format!("number {i} is {} by alignment, {} by lane", a[i], b[i]))
}

/// First and last byte that each field is touched at, by its number in the document.
pub fn reach(case: &Case) -> Option<Vec<Option<(i64, i64)>>> {
    let asked = Asked::new(case)?;
    let numbers = asked.fields(&case.document, None);
    let Asked { kernel, candidate, .. } = asked;
    let launch = Launch::new(&kernel, candidate).ok()?;
    let program = Program::placed(&kernel, candidate).ok()?.at(&launch).ok()?;
    let mut found = vec![None; case.document.fields.len()];
    let boxes = |of: [i64; 3]| {
        let [nx, ny, nz] = of;
        (0..nx * ny * nz).map(move |i| [i % nx, i / nx % ny, i / nx / ny])
    };
    for block in boxes(*launch.sizes().grid) {
        for thread in boxes(case.block) {
            let mut visit = |touch: Touch| {
                let field = kernel.field(touch.instruction.field);
                let first = (touch.element + field.offset()) * field.dtype().bytes;
                let of: &mut Option<(i64, i64)> = &mut found[numbers[usize::from(touch.instruction.field.0)]];
                let (low, high) = of.unwrap_or((first, first));
                *of = Some((low.min(first), high.max(first + touch.instruction.width - 1)));
            };
            let shape = launch.sizes().block;
            visit_thread(&program, kernel.extents(), shape, block.into(), thread.into(), 1 << 20, &mut visit)
                .ok()?;
        }
    }
    Some(found)
}

/// A kernel and its launch.
struct Asked {
    kernel: Kernel,
    device: &'static Device,
    candidate: Candidate,
}

/// What is predicted.
struct Found {
    volumes: Volumes,
    time: Time,
    items: f64,
}

/// The device of a case; each is read once.
fn device_of(case: &Case) -> &'static Device {
    static ALL: OnceLock<Vec<(&str, bool, Device)>> = OnceLock::new();
    let read = |name: &'static str, small: bool| {
        let set = ["sm.count=3", "l2.effective=20 KiB"].map(str::to_owned);
        (name, small, device::find(name, if small { &set } else { &[] }).unwrap())
    };
    let all = ALL.get_or_init(|| {
        DEVICES
            .iter()
            .flat_map(|name| [false, true].into_iter().map(move |small| read(name, small)))
            .collect()
    });
    let found = all.iter().find(|d| d.0 == case.device && d.1 == case.small);
    &found.unwrap().2
}

impl Asked {
    fn new(case: &Case) -> Option<Self> {
        let device = device_of(case);
        let candidate = Candidate::new(case.block, case.fold).unwrap();
        Some(Self { kernel: kernel(&case.document)?, device, candidate })
    }

    /// For each field of the kernel its number in the left document.
    fn fields(&self, document: &Document, of_left: Option<&[usize]>) -> Vec<usize> {
        let number = |name: &str| document.fields.iter().position(|f| f.name == name).unwrap();
        let numbers = self.kernel.fields().iter().map(|f| number(f.name()));
        numbers.map(|n| of_left.map_or(n, |o| o[n])).collect()
    }

    fn predict(&self) -> Result<Found, String> {
        let found = Estimator::new(&self.kernel, self.device).predict(self.candidate);
        found
            .map(|p| Found { volumes: p.volumes.clone(), time: p.time, items: p.items.get() })
            .map_err(|e| e.to_string())
    }

    fn by(&self, method: &Method) -> Result<Found, String> {
        let Method::Rank { others, threads } = method else { return self.predict() };
        let choice = |(block, fold): ([i64; 3], [i64; 3])| Choice {
            kernel: 0,
            candidate: Candidate::new(block, fold).unwrap(),
        };
        let mut choices: Vec<Choice> = others.iter().copied().map(choice).collect();
        choices.insert(choices.len() / 2, Choice { kernel: 0, candidate: self.candidate });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(*threads).build().unwrap();
        let estimators = [Estimator::new(&self.kernel, self.device)];
        let ranking = pool.install(|| rank(&estimators, &choices, 0.04, usize::MAX, &AtomicUsize::new(0)));
        let (results, rejected) = ranking.into_parts();
        let found = results.into_iter().find(|r| r.prediction.launch.candidate() == self.candidate);
        let rejected = rejected.into_iter().find(|r| r.0.candidate == self.candidate);
        match (found, rejected) {
            (Some(found), _) => {
                let p = found.prediction;
                Ok(Found { volumes: p.volumes, time: p.time, items: p.items.get() })
            }
            (None, Some((_, why))) => Err(why.to_string()),
            (None, None) => Err("it is in neither list".to_owned()),
        }
    }
}

/// Everything that is predicted, with names.
fn numbers(p: &Found, fields: &[usize]) -> Vec<(String, f64)> {
    let (v, t) = (&p.volumes, &p.time);
    let mut all = vec![
        ("items".to_owned(), p.items),
        ("seconds".to_owned(), t.seconds.get()),
        ("fp seconds".to_owned(), t.terms.fp.get()),
        ("l1 seconds".to_owned(), t.terms.l1.get()),
        ("l2 seconds".to_owned(), t.terms.l2.get()),
        ("dram seconds".to_owned(), t.terms.dram.get()),
        ("latency seconds".to_owned(), t.terms.latency.get()),
        ("tlb seconds".to_owned(), t.terms.tlb.get()),
        ("dispatch seconds".to_owned(), t.terms.dispatch.get()),
        ("l1 cycles".to_owned(), v.l1.wavefront_cycles.get()),
        ("l1 data".to_owned(), v.l1.data_wavefronts.get()),
        ("l1 tag".to_owned(), v.l1.tag_wavefronts.get()),
        ("l1 load".to_owned(), v.l1.load_bytes.get()),
        ("l1 store".to_owned(), v.l1.store_bytes.get()),
        ("l2 load compulsory".to_owned(), v.l2.load.compulsory.get()),
        ("l2 load capacity".to_owned(), v.l2.load.capacity.get()),
        ("l2 store".to_owned(), v.l2.store.total.get()),
        ("pages per wave".to_owned(), v.tlb.pages_per_wave.get()),
        ("pages per block".to_owned(), v.tlb.pages_per_block.get()),
        ("pages at a time".to_owned(), v.tlb.pages_at_a_time.get()),
        ("scatter".to_owned(), v.scatter.get()),
        ("first loads".to_owned(), v.first_loads.get()),
        ("further runs".to_owned(), v.further_runs.get()),
        ("requests to load".to_owned(), v.requests.load.get()),
        ("requests to store".to_owned(), v.requests.store.get()),
        ("thread stores".to_owned(), v.thread_stores.get()),
        ("atomics per address".to_owned(), v.atomics_per_address.get()),
        ("l1 pressure".to_owned(), v.pressure.l1.get()),
    ];
    memory("dram", &v.dram, &mut all);
    if let Some(llc) = &v.llc {
        memory("llc", llc, &mut all);
    }
    for field in 0..fields.iter().max().map_or(0, |m| m + 1) {
        let of = |f: &&FieldVolumes| fields[usize::from(f.field.0)] == field;
        let (mut dram_load, mut dram_store, mut load, mut store) = (0.0, 0.0, 0.0, 0.0);
        for f in v.fields.iter().filter(of) {
            dram_load += f.dram.load.total.get();
            dram_store += f.dram.store.total.get();
            load += f.l2.load.total.get();
            store += f.l2.store.total.get();
        }
        all.push((format!("l2 load of field {field}"), load));
        all.push((format!("l2 store of field {field}"), store));
        all.push((format!("dram load of field {field}"), dram_load));
        all.push((format!("dram store of field {field}"), dram_store));
    }
    all
}

fn memory(level: &str, m: &MemoryVolumes, all: &mut Vec<(String, f64)>) {
    all.push((format!("{level} load compulsory"), m.load.compulsory.get()));
    for (name, reuse) in ["row", "rows", "planes"].iter().zip(m.load.reuse()) {
        all.push((format!("{level} reuse of {name}"), reuse.get()));
    }
    all.push((format!("{level} reuse of an earlier launch"), m.load.reuse_launch.get()));
    all.push((format!("{level} load capacity"), m.load.capacity.get()));
    all.push((format!("{level} fill"), m.load.partial_store_fill.get()));
    all.push((format!("{level} store compulsory"), m.store.compulsory.get()));
    all.push((format!("{level} store redundant"), m.store.redundant.get()));
}
