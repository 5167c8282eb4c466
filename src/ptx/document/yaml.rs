//! Kernel documents as text.

use std::fmt::Write as _;

use super::combine::{combine, grids};
use super::flagged::flagged;
use super::mix::CLASSES;
use super::print::tidy;
use super::reading::Reading;
use crate::ptx::assembled::Assembled;
use crate::ptx::value::BlockAndGrid;
use crate::space::Domain;

/// What a document says beside what was read.
pub(in crate::ptx) struct Frame<'a> {
    pub entry: &'a str,
    pub file: &'a str,
    /// Blocks along x, y, z as expressions of documents, if somebody gave them.
    pub grid: Option<&'a [String]>,
    /// The domain, if somebody gave it.
    pub domain: Option<Domain>,
    pub registers: Option<u32>,
    pub assembled: Option<&'a Assembled>,
}

impl Frame<'_> {
    /// Registers of a thread, and a comment on where the number comes from.
    fn registers(&self, readings: &[Reading]) -> (u32, String) {
        match (self.registers, self.assembled) {
            (Some(given), _) => (given, String::new()),
            (None, Some(Assembled { registers, by, target, .. })) => {
                (*registers, format!(" # {by} for {target}"))
            }
            (None, None) => {
                let most = readings.iter().map(|r| r.registers).max();
                let most = most.expect("a kernel is read for one launch at least");
                (most, " # counted in the PTX; compilers change it".to_owned())
            }
        }
    }

    /// Accesses to local memory that an assembler has added because registers were missing: words that it names.
    fn spills(&self) -> u64 {
        let (stored, loaded) = self.assembled.map_or((0, 0), |assembled| assembled.spilled);
        stored.div_ceil(WORD) + loaded.div_ceil(WORD)
    }
}

/// Bytes of a register.
const WORD: u64 = 4;

/// A name for an axis that no field has.
fn axis(readings: &[Reading], d: usize) -> String {
    let mut name = ["x", "y", "z"][d].to_owned();
    while readings.iter().flat_map(|r| &r.fields).any(|f| f.name == name) {
        name.insert_str(0, "axis_");
    }
    name
}

/// The document of a kernel, for all launches that it was read for.
pub(in crate::ptx) fn document(frame: &Frame<'_>, readings: &[Reading]) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# Read from {}, entry {}, by `wavecast read`.",
        frame.file.replace('\n', " "),
        frame.entry
    );
    for note in flagged(&readings[0]) {
        let _ = writeln!(out, "# {note}");
    }
    for note in &readings[0].notes {
        let _ = writeln!(out, "# {note}");
    }
    let name: String = frame
        .entry
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' })
        .collect();
    let _ = writeln!(out, "wavecast: 1\nkernel: \"{name}\"");
    let launches: Vec<BlockAndGrid> = readings.iter().map(|r| r.launch).collect();
    let domain = domain(readings, frame.domain);
    let general = readings.iter().all(|r| r.general);
    let parts = || readings.iter().map(|r| part(r, &domain)).collect::<Vec<_>>();
    out += &fields(readings);
    let sizes: Vec<String> =
        (0..used(readings)).map(|d| format!("{}: {}", axis(readings, d), domain.sizes[d])).collect();
    let _ = writeln!(out, "domain: {{{}}}", sizes.join(", "));
    // Those that hold for all blocks are the same.
    let together = if general { Some(part(&readings[0], &domain)) } else { combine(&launches, &parts()) };
    let grid = match (domain.follows, frame.grid) {
        (true, _) => None,
        (false, Some(given)) => {
            Some(format!("[{}]", given.iter().map(|g| format!("\"{g}\"")).collect::<Vec<_>>().join(", ")))
        }
        (false, None) => grids(&launches),
    };
    let (registers, from) = frame.registers(readings);
    let dims = used(readings);
    let shape = |l: &BlockAndGrid| {
        let extents: Vec<String> = l.block[..dims].iter().map(i64::to_string).collect();
        format!("[{}]", extents.join(", "))
    };
    if let Some(body) = together.filter(|_| grid.is_some() || domain.follows) {
        out += &tidy(&body);
        out += &work(readings, &domain, frame.spills());
        let blocks: Vec<String> = launches.iter().map(shape).collect();
        let grid = grid.map_or(String::new(), |grid| format!("\n  grid: {grid}"));
        let _ =
            writeln!(out, "launch:\n  block: [{}]{grid}\n  registers: {registers}{from}", blocks.join(", "));
    } else {
        out += "variants:\n";
        for (part, reading) in parts().iter().zip(readings) {
            let l = &reading.launch;
            let _ = writeln!(out, "  - name: \"{} x {} x {}\"", l.block[0], l.block[1], l.block[2]);
            for line in
                tidy(part).lines().chain(work(std::slice::from_ref(reading), &domain, frame.spills()).lines())
            {
                let _ = writeln!(out, "    {line}");
            }
            let grid = if domain.follows { String::new() } else { format!(", grid: {}", grid_text(l)) };
            let _ =
                writeln!(out, "    launch: {{block: [{}]{grid}, registers: {registers}}}{from}", shape(l));
        }
    }
    out
}

fn grid_text(launch: &BlockAndGrid) -> String {
    format!("[{}, {}, {}]", launch.grid[0], launch.grid[1], launch.grid[2])
}

/// The domain of a document.
struct Sized {
    sizes: Domain,
    /// Whether the grid follows from it, and it from the guard.
    follows: bool,
}

/// Dimensions that a document needs.
fn used(readings: &[Reading]) -> usize {
    let many = |d: usize| readings.iter().any(|r| r.launch.block[d] > 1 || r.launch.grid[d] > 1);
    (1..3).rev().find(|d| many(*d)).map_or(1, |d| d + 1)
}

fn domain(readings: &[Reading], told: Option<Domain>) -> Sized {
    let mut sizes = told.map_or([1; 3], Into::into);
    let mut follows = true;
    for (d, size) in sizes.iter_mut().enumerate() {
        let threads = |r: &Reading| r.launch.block[d] * r.launch.grid[d];
        if told.is_none() {
            *size = readings[0].domain[d].unwrap_or_else(|| threads(&readings[0]));
        }
        let bound = *size;
        for reading in readings {
            let own = reading.domain[d].unwrap_or_else(|| threads(reading));
            let blocks = (own + reading.launch.block[d] - 1) / reading.launch.block[d];
            follows &= own == bound && blocks == reading.launch.grid[d];
        }
    }
    if !follows && told.is_none() {
        // All launches do the same job; it is measured in the threads of the smallest.
        for (d, size) in sizes.iter_mut().enumerate() {
            let least =
                readings.iter().map(|r| r.domain[d].unwrap_or(r.launch.block[d] * r.launch.grid[d])).min();
            *size = least.unwrap_or(1);
        }
    }
    Sized { sizes: Domain::known(sizes), follows }
}

/// Guard and body of one reading.
fn part(reading: &Reading, domain: &Sized) -> String {
    let guard = if domain.follows { &reading.inner_guard } else { &reading.guard };
    let bytes: usize = reading.body.iter().map(|line| line.len() + 3).sum();
    let mut out = String::with_capacity(bytes + 64);
    if let Some(guard) = guard {
        let _ = writeln!(out, "guard: \"{guard}\"");
    }
    out += if reading.body.is_empty() { "body: []\n" } else { "body:\n" };
    for line in &*reading.body {
        for part in ["  ", line, "\n"] {
            out += part;
        }
    }
    out
}

fn fields(readings: &[Reading]) -> String {
    let mut out = "fields:\n".to_owned();
    let mut known: Vec<&str> = Vec::new();
    for field in readings.iter().flat_map(|r| &r.fields) {
        if known.contains(&field.name.as_str()) {
            continue;
        }
        known.push(&field.name);
        let same = readings.iter().flat_map(|r| &r.fields).filter(|f| f.name == field.name);
        let size = same.map(|f| f.size).max().unwrap_or(1);
        let dtype = field.dtype.map_or_else(|| field.element.to_string(), str::to_owned);
        let space = field.space.map_or(String::new(), |space| format!(", space: {space}"));
        let _ = writeln!(out, "  {}: {{dtype: {dtype}, size: {size}{space}}}", field.name);
    }
    if known.is_empty() { "fields: {}\n".to_owned() } else { out }
}

/// `work`: on average over the launches, for a thread of the domain; `spills` are those of each thread.
fn work(readings: &[Reading], domain: &Sized, spills: u64) -> String {
    let items: f64 = domain.sizes.iter().map(|s| *s as f64).product();
    let share = |r: &Reading| {
        let working = |d: usize| r.domain[d].unwrap_or(r.launch.block[d] * r.launch.grid[d]);
        let threads: f64 = (0..3).map(|d| working(d) as f64).product();
        threads / items / readings.len() as f64
    };
    let mean = |of: &dyn Fn(&Reading) -> f64| {
        let sum: f64 = readings.iter().map(|r| of(r) * share(r)).sum();
        let rounded = (sum * 1000.0).round() / 1000.0;
        if (rounded - rounded.round()).abs() < 0.0005 { format!("{rounded:.0}") } else { rounded.to_string() }
    };
    let flops = |bits: u32| move |r: &Reading| r.mix.flops.get(&bits).copied().unwrap_or(0.0);
    // The precision in which most time is spent: halves are done twice as fast as singles, these twice as fast as doubles.
    let weight = |bits: u32| readings.iter().map(|r| flops(bits)(r)).sum::<f64>() * f64::from(bits);
    let best = [16, 32, 64].into_iter().max_by(|a, b| weight(*a).total_cmp(&weight(*b))).unwrap_or(32);
    let precision = if weight(best) > 0.0 { format!(", precision: f{best}") } else { String::new() };
    let has = |n: &str| n != "local" || readings.iter().any(|r| r.mix.classes.contains_key(n));
    let counts: Vec<String> = CLASSES
        .iter()
        .filter(|n| has(n))
        .map(|n| format!("{n}: {}", mean(&|r| r.mix.classes.get(n).copied().unwrap_or(0.0))))
        .collect();
    let local = if spills > 0 { format!(", local: {}", mean(&|_| spills as f64)) } else { String::new() };
    let tensor = readings.iter().any(|r| r.mix.classes.contains_key("tensor"));
    let without = if tensor { " # without those of tensor cores" } else { "" };
    let estimated = readings.iter().any(|r| !r.mix.exact);
    let estimated = if estimated {
        " # flops and instructions are estimated: of threads and iterations at random"
    } else {
        ""
    };
    format!(
        "work:\n  unit: thread\n  flops: {}{without}{}\n  instructions: {{{}{local}}}{estimated}\n",
        mean(&flops(best)),
        precision.replace(", ", "\n  "),
        counts.join(", ")
    )
}
