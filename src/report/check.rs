//! What was understood of a kernel: `wavecast check`.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::table::{Align, Table, fit};
use super::units::{bytes, counted, extents, grouped};
use crate::device::Device;
use crate::expr::{Coefficient, Excess, Form, Names, Scale, Show};
use crate::kernel::{Access, AccessKind, BlockRule, Field, Kernel, Loop, Precision, Space, Statement};
use crate::launch::{Candidate, Infeasible, Launch, Occupancy, Program, candidates, occupancy};
use crate::source::Sources;

/// Most accesses and candidates that a person is shown without asking for all.
const SHOWN: usize = 40;

/// What was understood of a kernel: `wavecast/check/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Check {
    /// `wavecast/check/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// Name, domain and parameters.
    pub kernel: KernelSummary,
    /// The arrays.
    pub fields: Vec<FieldSummary>,
    /// What a thread does before folding, in program order.
    pub program: Vec<StatementSummary>,
    /// The condition under which a thread works, beyond the domain.
    pub guard: Option<String>,
    /// The memory instructions of a thread for each fold.
    pub folds: Vec<FoldSummary>,
    /// The launch candidates.
    pub launch: LaunchSummary,
    /// The device against which candidates were checked.
    pub device: Option<DeviceSummary>,
    /// The sets and maps in isl's notation, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<SetsSummary>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// The sets and maps of one candidate in isl's notation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SetsSummary {
    /// The candidate.
    pub config: CandidateSummary,
    /// Threads that work (bx, by, bz the block, tx, ty, tz the thread in it), with their iterations.
    pub threads: String,
    /// Maps from threads to byte addresses of a field whose base lies at 0.
    pub accesses: Vec<SetsAccess>,
}

/// A map from threads to addresses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SetsAccess {
    /// What is done there.
    pub kind: String,
    /// The map.
    pub map: String,
}

/// The program.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tool {
    /// `wavecast`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl Tool {
    /// This program.
    pub fn this() -> Self {
        Self { name: "wavecast", version: env!("CARGO_PKG_VERSION") }
    }
}

/// Name, domain and parameters.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KernelSummary {
    /// The name.
    pub name: String,
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// One line on what it is.
    pub about: Option<String>,
    /// What a work item is called.
    pub unit: String,
    /// Names of the axes in launch order.
    pub axes: Vec<String>,
    /// Work items along the axes.
    pub domain: Vec<i64>,
    /// Work items in all.
    pub work_items: i64,
    /// Parameters after overrides.
    pub params: BTreeMap<String, i64>,
    /// Floating-point operations of a work item; null if not given.
    pub flops: Option<f64>,
    /// Their precision.
    pub precision: Precision,
}

/// An array.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FieldSummary {
    /// The name.
    pub name: String,
    /// Element type.
    pub dtype: String,
    /// Bytes of an element.
    pub element_bytes: i64,
    /// Elements along each index; text where it depends on the block.
    pub shape: Vec<String>,
    /// Elements between neighbours along each index.
    pub strides: Vec<String>,
    /// Elements before the first interior one along each index.
    pub halo: Vec<i64>,
    /// Bytes of one array; null where it depends on the block.
    pub bytes: Option<i64>,
    /// Alignment of the allocation in bytes.
    pub align: i64,
    /// Bytes added to every address.
    pub offset_bytes: i64,
    /// Byte of the first interior element; null where it depends on the block.
    pub first_interior_byte: Option<i64>,
    /// Where it lives.
    pub space: Space,
    /// Number of identical arrays.
    pub multiplicity: i64,
}

/// A step of a thread.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum StatementSummary {
    /// A memory instruction.
    Access(AccessSummary),
    /// A barrier of the block.
    Sync,
    /// A loop.
    Loop(LoopSummary),
}

/// A memory instruction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AccessSummary {
    /// `load`, `store` or `atomic`.
    pub kind: &'static str,
    /// The field.
    pub field: String,
    /// As written, names resolved and simplified.
    pub at: String,
    /// Elements from the field's base, before the field's offset, simplified.
    pub element: String,
    /// Bytes touched.
    pub width: i64,
    /// Only where this holds.
    pub when: Option<String>,
}

/// A loop.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LoopSummary {
    /// Its variable.
    pub variable: String,
    /// First value.
    pub from: String,
    /// Last value that may occur.
    pub to: String,
    /// Distance.
    pub step: String,
    /// Only so many iterations are evaluated.
    pub sample: Option<i64>,
    /// What is repeated.
    pub body: Vec<StatementSummary>,
}

/// The memory instructions of a thread for one fold, each counted once whatever the loop around it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FoldSummary {
    /// Work items of a thread along x, y, z.
    pub fold: [i64; 3],
    /// Load instructions.
    pub loads: usize,
    /// Store instructions.
    pub stores: usize,
    /// Atomic instructions.
    pub atomics: usize,
    /// Loads that were merged with an equal one.
    pub merged_loads: usize,
}

/// The launch candidates.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LaunchSummary {
    /// Block shapes times folds.
    pub candidates: usize,
    /// Block shapes.
    pub blocks: usize,
    /// Folds.
    pub folds: usize,
    /// Candidates that the device can run; null without a device.
    pub feasible: Option<usize>,
    /// The candidates, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configs: Option<Vec<ConfigSummary>>,
    /// Candidates that cannot run, with the reason.
    pub infeasible: Vec<InfeasibleSummary>,
}

/// A candidate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConfigSummary {
    /// Threads of a block along x, y, z.
    pub block: [i64; 3],
    /// Work items of a thread along x, y, z.
    pub fold: [i64; 3],
    /// Blocks along x, y, z.
    pub grid: [i64; 3],
    /// Registers of a thread.
    pub registers: i64,
    /// Shared memory of a block.
    pub shared_bytes: i64,
    /// The occupancy on the device; null without one.
    pub occupancy: Option<OccupancySummary>,
}

/// The occupancy of an SM.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OccupancySummary {
    /// Resident blocks of an SM.
    pub blocks_per_sm: i64,
    /// Resident warps of an SM.
    pub warps_per_sm: i64,
    /// Share of the warps that could be resident.
    pub fraction: f64,
    /// What keeps further blocks out.
    pub limited_by: &'static str,
    /// Resident blocks of the device.
    pub wave_blocks: i64,
    /// Blocks of the grid over resident blocks.
    pub waves: f64,
}

/// A candidate that cannot run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InfeasibleSummary {
    /// Block and fold.
    pub config: CandidateSummary,
    /// Why it cannot run.
    pub reason: String,
    /// A stable name of the reason.
    pub code: &'static str,
}

/// Block and fold.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CandidateSummary {
    /// Threads of a block along x, y, z.
    pub block: [i64; 3],
    /// Work items of a thread along x, y, z.
    pub fold: [i64; 3],
}

/// A device.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DeviceSummary {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// Something that deserves a look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    /// A stable name of the kind of finding.
    pub code: &'static str,
    /// What it is.
    pub message: String,
    /// `file:line:column`, if it stands anywhere.
    #[serde(rename = "where")]
    pub place: Option<String>,
}

/// Collects what was understood of a kernel; `list` asks for every candidate.
pub fn check(kernel: &Kernel, sources: &Sources, device: Option<&Device>, list: bool) -> Check {
    let names = kernel.names();
    Check {
        schema: "wavecast/check/1",
        tool: Tool::this(),
        kernel: kernel_summary(kernel),
        fields: kernel.fields.iter().map(|f| field_summary(f, &names)).collect(),
        program: kernel.body.iter().map(|s| statement_summary(kernel, s, &names)).collect(),
        guard: kernel.guard.as_ref().map(|g| names.cond(g)),
        folds: kernel.launch.folds.iter().filter_map(|&fold| fold_summary(kernel, fold)).collect(),
        launch: launch_summary(kernel, device, list),
        device: device.map(|d| DeviceSummary { id: d.id.clone(), name: d.name.clone() }),
        sets: None,
        warnings: kernel_warnings(kernel, sources),
    }
}

/// The sets and maps of a candidate, or why there are none.
#[cfg(feature = "isl")]
pub fn check_sets(kernel: &Kernel, candidate: Candidate) -> Result<SetsSummary, String> {
    let launch = Launch::new(kernel, candidate).map_err(|e| e.to_string())?;
    let program = Program::of(kernel, candidate).and_then(|p| p.at(&launch)).map_err(|e| e.to_string())?;
    let shown = crate::footprint::show_sets(kernel, &launch, &program).map_err(|e| e.to_string())?;
    let accesses = shown.accesses.into_iter().map(|(kind, map)| SetsAccess { kind: kind.to_owned(), map });
    Ok(SetsSummary {
        config: CandidateSummary { block: candidate.block, fold: candidate.fold },
        threads: shown.threads,
        accesses: accesses.collect(),
    })
}

/// The sets and maps of a candidate, or why there are none.
#[cfg(not(feature = "isl"))]
pub fn check_sets(_: &Kernel, _: Candidate) -> Result<SetsSummary, String> {
    Err("this program was built without isl; build it with the default features".to_owned())
}

fn kernel_summary(kernel: &Kernel) -> KernelSummary {
    KernelSummary {
        name: kernel.name.clone(),
        variant: kernel.variant.clone(),
        about: kernel.about.clone(),
        unit: kernel.work.unit.clone(),
        axes: kernel.axes.iter().map(|a| a.name.clone()).collect(),
        domain: kernel.axes.iter().map(|a| a.extent).collect(),
        work_items: kernel.axes.iter().map(|a| a.extent).product(),
        params: kernel.params.iter().cloned().collect(),
        flops: kernel.work.flops,
        precision: kernel.work.precision,
    }
}

fn field_summary(field: &Field, names: &Names) -> FieldSummary {
    let show = |scales: &[Scale]| scales.iter().map(|s| s.show(names)).collect();
    let starts = field.strides.iter().zip(&field.halo);
    let interior = starts
        .into_iter()
        .try_fold(field.offset, |at, (stride, halo)| at.checked_add(stride.as_int()?.checked_mul(*halo)?));
    FieldSummary {
        name: field.name.clone(),
        dtype: field.dtype.name.clone(),
        element_bytes: field.dtype.bytes,
        shape: show(&field.shape),
        strides: show(&field.strides),
        halo: field.halo.clone(),
        bytes: field.elements.as_int().and_then(|n| n.checked_mul(field.dtype.bytes)),
        align: field.align,
        offset_bytes: field.offset.saturating_mul(field.dtype.bytes),
        first_interior_byte: interior.and_then(|n| n.checked_mul(field.dtype.bytes)),
        space: field.space,
        multiplicity: field.multiplicity,
    }
}

fn statement_summary(kernel: &Kernel, statement: &Statement, names: &Names) -> StatementSummary {
    match statement {
        Statement::Sync => StatementSummary::Sync,
        Statement::Access(access) => StatementSummary::Access(access_summary(kernel, access, names)),
        Statement::Loop(id, body) => {
            let Loop { name, from, to, step, sample } = &kernel.loops[usize::from(id.0)];
            StatementSummary::Loop(LoopSummary {
                variable: name.clone(),
                from: names.form(from),
                to: names.form(to),
                step: step.show(names),
                sample: *sample,
                body: body.iter().map(|s| statement_summary(kernel, s, names)).collect(),
            })
        }
    }
}

fn access_summary(kernel: &Kernel, access: &Access, names: &Names) -> AccessSummary {
    let field = &kernel.field(access.field).name;
    let element = names.form(&access.element);
    let at = match &access.indices {
        Some(indices) => {
            let indices: Vec<String> = indices.iter().map(|i: &Form<Scale>| names.form(i)).collect();
            format!("{field}[{}]", indices.join(", "))
        }
        None => match element.strip_prefix('-') {
            Some(rest) => format!("{field} - {rest}"),
            None => format!("{field} + {element}"),
        },
    };
    AccessSummary {
        kind: access.kind.verb(),
        field: field.clone(),
        at,
        element,
        width: access.width,
        when: access.when.as_ref().map(|w| names.cond(w)),
    }
}

fn fold_summary(kernel: &Kernel, fold: [i64; 3]) -> Option<FoldSummary> {
    let program = Program::folded(kernel, fold).ok()?;
    let count = |kind| program.instructions.iter().filter(|i| i.kind == kind).count();
    let unmerged = loads_before_merging(&kernel.body, fold);
    let loads = count(AccessKind::Load);
    Some(FoldSummary {
        fold,
        loads,
        stores: count(AccessKind::Store),
        atomics: count(AccessKind::Atomic),
        merged_loads: unmerged.saturating_sub(loads),
    })
}

/// Loads of all work items of a thread; those in thread coordinates are done once.
fn loads_before_merging(body: &[Statement], fold: [i64; 3]) -> usize {
    let items: usize = fold.iter().map(|&f| usize::try_from(f).unwrap_or(1)).product();
    let is_axis = |c: crate::expr::Coord| matches!(c, crate::expr::Coord::Axis(_));
    let one = |s: &Statement| match s {
        Statement::Loop(_, inner) => loads_before_merging(inner, fold),
        Statement::Access(a) if a.kind == AccessKind::Load => {
            let by_item =
                a.element.mentions(&is_axis) || a.when.as_ref().is_some_and(|w| w.mentions(&is_axis));
            if by_item { items } else { 1 }
        }
        _ => 0,
    };
    body.iter().map(one).sum()
}

fn launch_summary(kernel: &Kernel, device: Option<&Device>, list: bool) -> LaunchSummary {
    let mut summary = LaunchSummary {
        candidates: 0,
        blocks: 0,
        folds: kernel.launch.folds.len(),
        feasible: device.map(|_| 0),
        configs: list.then(Vec::new),
        infeasible: Vec::new(),
    };
    let folds = kernel.launch.folds.iter().copied();
    let foldable: Vec<[i64; 3]> = folds.filter(|&f| Program::folded(kernel, f).is_ok()).collect();
    // Without a device the count alone needs no launch to be worked out.
    let all_fold = foldable.len() == kernel.launch.folds.len();
    if device.is_none() && !list && all_fold && kernel.launch.grid.is_none() {
        summary.candidates = match &kernel.launch.blocks {
            BlockRule::List(shapes) => shapes.len() * summary.folds,
            BlockRule::Product { .. } => candidates(kernel).count(),
        };
    } else {
        for candidate in candidates(kernel) {
            summary.candidates += 1;
            match place(kernel, candidate, device, &foldable) {
                Ok((launch, occupancy)) => {
                    summary.feasible = summary.feasible.map(|n| n + 1);
                    if let Some(configs) = &mut summary.configs {
                        configs.push(config_summary(&launch, occupancy));
                    }
                }
                Err(reason) => summary.infeasible.push(InfeasibleSummary {
                    config: CandidateSummary { block: candidate.block, fold: candidate.fold },
                    code: reason.code(),
                    reason: reason.to_string(),
                }),
            }
        }
    }
    summary.blocks = summary.candidates / summary.folds.max(1);
    summary
}

fn place(
    kernel: &Kernel,
    candidate: Candidate,
    device: Option<&Device>,
    foldable: &[[i64; 3]],
) -> Result<(Launch, Option<Occupancy>), Infeasible> {
    let launch = Launch::new(kernel, candidate)?;
    if !foldable.contains(&candidate.fold) {
        return Err(Infeasible::Address(Excess::TooComplex));
    }
    let occupancy = device.map(|d| occupancy(d, &launch)).transpose()?;
    Ok((launch, occupancy))
}

fn config_summary(launch: &Launch, occupancy: Option<Occupancy>) -> ConfigSummary {
    ConfigSummary {
        block: launch.candidate.block,
        fold: launch.candidate.fold,
        grid: launch.sizes.grid,
        registers: launch.registers,
        shared_bytes: launch.shared_bytes,
        occupancy: occupancy.map(|o| OccupancySummary::of(&o)),
    }
}

impl OccupancySummary {
    /// What is shown of an occupancy.
    pub fn of(o: &Occupancy) -> Self {
        Self {
            blocks_per_sm: o.blocks_per_sm,
            warps_per_sm: o.warps_per_sm,
            fraction: o.fraction,
            limited_by: o.limited_by.word(),
            wave_blocks: o.wave_blocks,
            waves: o.waves,
        }
    }
}

/// What deserves a look in a kernel document.
fn kernel_warnings(kernel: &Kernel, sources: &Sources) -> Vec<Warning> {
    let one = |d: &crate::source::Diagnostic| Warning {
        code: d.code,
        message: match &d.help {
            Some(help) => format!("{}; {help}", d.message),
            None => d.message.clone(),
        },
        place: d.span.and_then(|s| sources.locate(s)).map(|p| p.to_string()),
    };
    kernel.warnings.iter().map(one).collect()
}

/// The same of several kernels: variants of a document repeat what the document says.
pub fn kernels_warnings(kernels: &[Kernel], sources: &Sources) -> Vec<Warning> {
    let mut all: Vec<Warning> = Vec::new();
    for warning in kernels.iter().flat_map(|k| kernel_warnings(k, sources)) {
        if !all.contains(&warning) {
            all.push(warning);
        }
    }
    all
}

/// What a person is shown; `all` shows every access and candidate.
pub fn check_text(check: &Check, all: bool, width: Option<usize>) -> String {
    let mut out = String::new();
    let k = &check.kernel;
    let variant = k.variant.as_ref().map(|v| format!(" ({v})")).unwrap_or_default();
    let about = k.about.as_ref().map(|a| format!(": {a}")).unwrap_or_default();
    let _ = writeln!(out, "{}{variant}{about}", k.name);
    let flops = k.flops.map(|f| format!(", {f} {} flops each", k.precision.word())).unwrap_or_default();
    let axes: Vec<String> =
        k.axes.iter().zip(&k.domain).map(|(a, n)| format!("{a} {}", grouped(*n))).collect();
    let total = if axes.len() > 1 { format!(" = {}", grouped(k.work_items)) } else { String::new() };
    let _ = writeln!(out, "domain  {}{total} {}{flops}", axes.join(" x "), k.unit);
    if !k.params.is_empty() {
        let params: Vec<String> = k.params.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let _ = writeln!(out, "params  {}", params.join(", "));
    }
    let _ = writeln!(out, "\nfields");
    out.push_str(&fields_table(&check.fields).text(2, width));
    let _ = writeln!(out, "\none work item");
    if let Some(guard) = &check.guard {
        let _ = writeln!(out, "  only where {guard}");
    }
    let mut lines = Vec::new();
    program_lines(&check.program, 0, &mut lines);
    let shown = if all { lines.len() } else { lines.len().min(SHOWN) };
    let with_address = lines[..shown].iter().filter(|l| !l.1.is_empty());
    let longest = with_address.map(|l| l.0.chars().count()).max().unwrap_or(0);
    for (what, address) in &lines[..shown] {
        let pad = " ".repeat(longest.saturating_sub(what.chars().count()));
        let _ = writeln!(out, "{}", fit(format!("  {what}{pad}  {address}").trim_end(), width));
    }
    if shown < lines.len() {
        let _ = writeln!(out, "  ... {} more lines; --all shows them", lines.len() - shown);
    }
    let _ = writeln!(out, "\none thread");
    for fold in &check.folds {
        let _ = writeln!(out, "  {}", fold_line(fold));
    }
    out.push_str(&launch_text(check, all, width));
    if let Some(sets) = &check.sets {
        let (block, fold) = (extents(&sets.config.block), extents(&sets.config.fold));
        let _ = writeln!(
            out,
            "\nsets    block {block} fold {fold}; bx by bz is the block, tx ty tz the thread in it"
        );
        let _ = writeln!(out, "  threads {}", sets.threads);
        for access in &sets.accesses {
            let _ = writeln!(out, "  {:<7} {}", access.kind, access.map);
        }
    }
    for warning in &check.warnings {
        let place = warning.place.as_ref().map(|p| format!(" ({p})")).unwrap_or_default();
        let _ = writeln!(out, "warning: {}{place}", warning.message);
    }
    out
}

fn fields_table(fields: &[FieldSummary]) -> Table {
    let left = ["field", "type", "shape", "space", "interior starts at"];
    let columns = ["field", "type", "shape", "halo", "size", "align", "space", "interior starts at"];
    let mut table =
        Table::new(columns.map(|c| (c, if left.contains(&c) { Align::Left } else { Align::Right })));
    for f in fields {
        let times = if f.multiplicity > 1 { format!("{} x ", f.multiplicity) } else { String::new() };
        let halo = match f.halo.as_slice() {
            [first, rest @ ..] if rest.iter().all(|h| h == first) => first.to_string(),
            widths => extents(widths),
        };
        let interior = f.first_interior_byte.map(|at| {
            let rest = at.rem_euclid(128);
            let line = if rest == 0 {
                "on a 128-byte line".to_owned()
            } else {
                format!("{rest} past a 128-byte line")
            };
            format!("byte {}, {line}", grouped(at))
        });
        table.row([
            f.name.clone(),
            f.dtype.clone(),
            extents(&f.shape),
            halo,
            f.bytes.map_or_else(|| "by block".to_owned(), |n| format!("{times}{}", bytes(n))),
            bytes(f.align),
            f.space.word().to_owned(),
            interior.unwrap_or_default(),
        ]);
    }
    table
}

/// Each statement and, for accesses in array form, the address it comes to.
fn program_lines(program: &[StatementSummary], depth: usize, out: &mut Vec<(String, String)>) {
    let indent = "  ".repeat(depth);
    for statement in program {
        match statement {
            StatementSummary::Sync => out.push((format!("{indent}sync"), String::new())),
            StatementSummary::Access(a) => {
                let when = a.when.as_ref().map(|w| format!(" when {w}")).unwrap_or_default();
                let address =
                    if a.at.ends_with(']') { format!("= {} + {}{when}", a.field, a.element) } else { when };
                out.push((format!("{indent}{:<6} {}", a.kind, a.at), address));
            }
            StatementSummary::Loop(l) => {
                let step = if l.step == "1" { String::new() } else { format!(" step {}", l.step) };
                let sample = l.sample.map(|n| format!(", {n} iterations evaluated")).unwrap_or_default();
                out.push((
                    format!("{indent}for {} in {}..{}{step}{sample}", l.variable, l.from, l.to),
                    String::new(),
                ));
                program_lines(&l.body, depth + 1, out);
            }
        }
    }
}

fn fold_line(fold: &FoldSummary) -> String {
    let mut parts = vec![counted(fold.loads, "load"), counted(fold.stores, "store")];
    if fold.atomics > 0 {
        parts.push(counted(fold.atomics, "atomic"));
    }
    let merged = if fold.merged_loads > 0 {
        format!(" ({} merged)", counted(fold.merged_loads, "load"))
    } else {
        String::new()
    };
    format!("fold {}: {}{merged}", extents(&fold.fold), parts.join(", "))
}

fn launch_text(check: &Check, all: bool, width: Option<usize>) -> String {
    let l = &check.launch;
    let mut out = format!(
        "\nlaunch  {}: {} x {}\n",
        counted(l.candidates, "candidate"),
        counted(l.blocks, "block"),
        counted(l.folds, "fold")
    );
    if let (Some(device), Some(feasible)) = (&check.device, l.feasible) {
        let cannot = l.candidates - feasible;
        let _ = write!(
            out,
            "        {} of them can run on {} ({})",
            grouped(i64::try_from(feasible).unwrap_or(i64::MAX)),
            device.name,
            device.id
        );
        out.push_str(if cannot > 0 { ", these cannot:\n" } else { "\n" });
    }
    let limit = if all { usize::MAX } else { SHOWN };
    for i in l.infeasible.iter().take(limit) {
        let _ = writeln!(
            out,
            "        block {} fold {}: {}",
            extents(&i.config.block),
            extents(&i.config.fold),
            i.reason
        );
    }
    if l.infeasible.len() > limit {
        let _ = writeln!(out, "        ... {} more; --all shows them", l.infeasible.len() - limit);
    }
    if let Some(configs) = &l.configs {
        let shown = configs.len().min(limit);
        out.push_str(&configs_table(&configs[..shown]).text(2, width));
        if shown < configs.len() {
            let _ = writeln!(out, "  ... {} more; --all shows them", configs.len() - shown);
        }
    }
    out
}

const KERNEL_COLUMNS: [(&str, Align); 2] = [("kernel", Align::Left), ("variant", Align::Left)];

const CONFIG_COLUMNS: [(&str, Align); 11] = [
    ("block", Align::Right),
    ("fold", Align::Right),
    ("grid", Align::Right),
    ("threads", Align::Right),
    ("registers", Align::Right),
    ("shared", Align::Right),
    ("blocks/SM", Align::Right),
    ("warps/SM", Align::Right),
    ("occupancy", Align::Right),
    ("limited by", Align::Left),
    ("waves", Align::Right),
];

fn configs_table(configs: &[ConfigSummary]) -> Table {
    let mut table = Table::new(CONFIG_COLUMNS);
    for config in configs {
        table.row(config_cells(config));
    }
    table
}

fn config_cells(c: &ConfigSummary) -> [String; 11] {
    let o = c.occupancy.as_ref();
    let text = |value: Option<String>| value.unwrap_or_default();
    [
        extents(&c.block),
        extents(&c.fold),
        extents(&c.grid),
        c.block.iter().product::<i64>().to_string(),
        c.registers.to_string(),
        c.shared_bytes.to_string(),
        text(o.map(|o| o.blocks_per_sm.to_string())),
        text(o.map(|o| o.warps_per_sm.to_string())),
        text(o.map(|o| format!("{:.3}", o.fraction))),
        text(o.map(|o| o.limited_by.to_owned())),
        text(o.map(|o| format!("{:.2}", o.waves))),
    ]
}

/// The candidates of several kernels as one table if they were asked for, otherwise the accesses.
pub fn check_table(checks: &[Check]) -> Table {
    if checks.iter().any(|c| c.launch.configs.is_some()) {
        let mut table = Table::new([KERNEL_COLUMNS.as_slice(), CONFIG_COLUMNS.as_slice()].concat());
        for check in checks {
            let variant = check.kernel.variant.clone().unwrap_or_default();
            for config in check.launch.configs.iter().flatten() {
                table.row(
                    [check.kernel.name.clone(), variant.clone()].into_iter().chain(config_cells(config)),
                );
            }
        }
        return table;
    }
    let columns = ["kernel", "variant", "kind", "field", "at", "element", "width", "when", "loops"];
    let mut table = Table::new(columns.map(|c| (c, if c == "width" { Align::Right } else { Align::Left })));
    for check in checks {
        accesses_into(&mut table, &check.kernel, &check.program, &mut Vec::new());
    }
    table
}

fn accesses_into(
    table: &mut Table,
    kernel: &KernelSummary,
    program: &[StatementSummary],
    loops: &mut Vec<String>,
) {
    for statement in program {
        match statement {
            StatementSummary::Sync => {}
            StatementSummary::Access(a) => table.row([
                kernel.name.clone(),
                kernel.variant.clone().unwrap_or_default(),
                a.kind.to_owned(),
                a.field.clone(),
                a.at.clone(),
                a.element.clone(),
                a.width.to_string(),
                a.when.clone().unwrap_or_default(),
                loops.join(" "),
            ]),
            StatementSummary::Loop(l) => {
                loops.push(l.variable.clone());
                accesses_into(table, kernel, &l.body, loops);
                loops.pop();
            }
        }
    }
}
