//! From a kernel to the document of what was understood of it.

use super::document::{
    AccessSummary, Check, CodeSummary, ConfigSummary, DeviceSummary, FieldSummary, FoldSummary,
    InfeasibleSummary, KernelSummary, LaunchSummary, LoopSummary, SetsSummary, StatementSummary, Tool,
    Warning,
};
use crate::device::Device;
use crate::expr::{Coefficient, Excess, Form, Names, Scale, Show};
use crate::kernel::{Access, AccessKind, BlockRule, Field, Kernel, Loop, Statement};
use crate::launch::{Candidate, Infeasible, Launch, Occupancy, Program, candidates, occupancy};
use crate::space::Fold;
use crate::text::Sources;

/// Collects what was understood of a kernel; `list` asks for every candidate.
pub fn check(kernel: &Kernel, sources: &Sources, device: Option<&Device>, list: bool) -> Check {
    let names = kernel.names();
    Check {
        schema: "wavecast/check/1",
        tool: Tool::this(),
        kernel: kernel_summary(kernel),
        code: kernel.code.as_ref().map(|code| CodeSummary {
            file: code.name.clone(),
            entry: code.entry.clone(),
            blocks: code.blocks.clone(),
        }),
        fields: kernel.fields.iter().map(|f| field_summary(f, &names)).collect(),
        program: kernel.body.iter().map(|s| statement_summary(kernel, s, &names, sources)).collect(),
        guard: kernel.guard.as_ref().map(|g| names.cond(g)),
        folds: kernel.launch.folds.iter().filter_map(|&fold| fold_summary(kernel, fold)).collect(),
        launch: launch_summary(kernel, device, list),
        device: device.map(DeviceSummary::new),
        sets: None,
        warnings: kernel_warnings(kernel, sources),
    }
}

/// The sets and maps of a candidate, or why there are none.
#[cfg(feature = "isl")]
pub fn check_sets(kernel: &Kernel, candidate: Candidate) -> Result<SetsSummary, String> {
    let launch = Launch::new(kernel, candidate).map_err(|e| e.to_string())?;
    let program =
        Program::placed(kernel, candidate).and_then(|p| p.at(&launch)).map_err(|e| e.to_string())?;
    let shown = crate::footprint::show_sets(kernel, &launch, &program).map_err(|e| e.to_string())?;
    let accesses = shown
        .accesses
        .into_iter()
        .map(|(kind, map)| super::document::SetsAccess { kind: kind.to_owned(), map });
    Ok(SetsSummary { config: candidate, threads: shown.threads, accesses: accesses.collect() })
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
        instructions: kernel.work.instructions.given().collect(),
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

fn statement_summary(
    kernel: &Kernel,
    statement: &Statement,
    names: &Names,
    sources: &Sources,
) -> StatementSummary {
    match statement {
        Statement::Sync => StatementSummary::Sync,
        Statement::Access(access) => StatementSummary::Access(access_summary(kernel, access, names, sources)),
        Statement::Loop(id, body) => {
            let Loop { name, from, to, step, sample } = &kernel.loops[usize::from(id.0)];
            StatementSummary::Loop(LoopSummary {
                variable: name.clone(),
                from: names.form(from),
                to: names.form(to),
                step: step.show(names),
                sample: *sample,
                body: body.iter().map(|s| statement_summary(kernel, s, names, sources)).collect(),
            })
        }
    }
}

fn access_summary(kernel: &Kernel, access: &Access, names: &Names, sources: &Sources) -> AccessSummary {
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
    let code = kernel.code.as_ref().filter(|code| code.text == access.span.file);
    let line = code.and_then(|_| sources.locate(access.span)).map(|place| place.line);
    let source = line.and_then(|line| code?.lines.get(&u32::try_from(line).ok()?).cloned());
    AccessSummary {
        kind: access.kind.verb(),
        field: field.clone(),
        at,
        element,
        width: access.width,
        when: access.when.as_ref().map(|w| names.cond(w)),
        line,
        source,
    }
}

fn fold_summary(kernel: &Kernel, fold: Fold) -> Option<FoldSummary> {
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
fn loads_before_merging(body: &[Statement], fold: Fold) -> usize {
    let items: usize = fold.iter().map(|&f| usize::try_from(f).expect("a fold is at least 1")).product();
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
    let foldable: Vec<Fold> = folds.filter(|&f| Program::folded(kernel, f).is_ok()).collect();
    // Without a device the count alone needs no launch to be worked out.
    let all_fold = foldable.len() == kernel.launch.folds.len();
    let follows = kernel.launch.grid.is_none() && kernel.launch.units_per_thread.is_none();
    if device.is_none() && !list && all_fold && follows {
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
                        configs.push(ConfigSummary { launch, occupancy });
                    }
                }
                Err(reason) => summary.infeasible.push(InfeasibleSummary {
                    config: candidate,
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
    foldable: &[Fold],
) -> Result<(Launch, Option<Occupancy>), Infeasible> {
    let launch = Launch::new(kernel, candidate)?;
    if !foldable.contains(&candidate.fold()) {
        return Err(Infeasible::Address(Excess::TooComplex));
    }
    let occupancy = device.map(|d| occupancy(d, &launch)).transpose()?;
    Ok((launch, occupancy))
}

/// What deserves a look in a kernel document.
fn kernel_warnings(kernel: &Kernel, sources: &Sources) -> Vec<Warning> {
    let one = |d: &crate::text::Diagnostic| Warning {
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
