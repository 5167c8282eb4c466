//! What was understood of a kernel, for people.

use std::fmt::Write;

use super::document::{Check, ConfigSummary, FieldSummary, FoldSummary, KernelSummary, StatementSummary};
use crate::launch::Occupancy;
use crate::report::answer::{Answer, View};
use crate::report::table::{Align, Table, fit};
use crate::report::units::{bytes, counted, extents, grouped};

impl Answer for Check {
    fn text(&self, view: View) -> String {
        check_text(self, view.all, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        check_table(answers)
    }
}

/// Most accesses and candidates that a person is shown without asking for all.
const SHOWN: usize = 40;

/// What a person is shown; `all` shows every access and candidate.
fn check_text(check: &Check, all: bool, width: Option<usize>) -> String {
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
    if !k.instructions.is_empty() {
        let counts: Vec<String> =
            k.instructions.iter().map(|(class, n)| format!("{n} {}", class.word())).collect();
        let _ = writeln!(out, "issues  {} instructions each", counts.join(", "));
    }
    if !k.params.is_empty() {
        let params: Vec<String> = k.params.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let _ = writeln!(out, "params  {}", params.join(", "));
    }
    if let Some(code) = &check.code {
        let blocks = counted(code.blocks.len(), "block");
        let _ = writeln!(out, "code    entry {} of {}, read for {blocks}", code.entry, code.file);
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
        let (block, fold) = (extents(&*sets.config.block()), extents(&*sets.config.fold()));
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
        Table::new(columns.map(|c| (c, if left.contains(&c) { Align::Left } else { Align::Right })))
            .with_minor(&["align", "halo", "interior starts at"]);
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
                let mut address =
                    if a.at.ends_with(']') { format!("= {} + {}{when}", a.field, a.element) } else { when };
                if let Some(line) = a.line {
                    let source = a.source.as_ref().map(|source| format!(", {source}")).unwrap_or_default();
                    let _ = write!(address, " # line {line}{source}");
                }
                out.push((format!("{indent}{:<6} {}", a.kind, a.at), address));
            }
            StatementSummary::Loop(l) => {
                let step = if l.step == "1" { String::new() } else { format!(" step {}", l.step) };
                let sample =
                    l.sample.map(|n| format!(", sample of {n}, though all are counted")).unwrap_or_default();
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
    format!("fold {}: {}{merged}", extents(&*fold.fold), parts.join(", "))
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
            grouped(feasible),
            device.title(),
            device.id
        );
        out.push_str(if cannot > 0 { ", these cannot:\n" } else { "\n" });
    }
    let limit = if all { usize::MAX } else { SHOWN };
    for i in l.infeasible.iter().take(limit) {
        let _ = writeln!(
            out,
            "        block {} fold {}: {}",
            extents(&*i.config.block()),
            extents(&*i.config.fold()),
            i.reason
        );
    }
    if l.infeasible.len() > limit {
        let _ = writeln!(out, "        ... {} more; --all shows them", l.infeasible.len() - limit);
    }
    if let Some(configs) = &l.configs {
        let shown = configs.len().min(limit);
        let mut table = Table::new(config_heads());
        configs[..shown].iter().for_each(|config| table.row(config_cells(config)));
        out.push_str(&table.text(2, width));
        if shown < configs.len() {
            let _ = writeln!(out, "  ... {} more; --all shows them", configs.len() - shown);
        }
    }
    out
}

/// A column of candidates.
type ConfigColumn = (&'static str, Align, fn(&ConfigSummary) -> String);

const CONFIG_COLUMNS: [ConfigColumn; 11] = [
    ("block", Align::Right, |c| extents(&*c.launch.candidate.block())),
    ("fold", Align::Right, |c| extents(&*c.launch.candidate.fold())),
    ("grid", Align::Right, |c| extents(&*c.launch.sizes.grid)),
    ("threads", Align::Right, |c| c.launch.threads_per_block().to_string()),
    ("registers", Align::Right, |c| c.launch.registers.to_string()),
    ("shared", Align::Right, |c| c.launch.shared_bytes.to_string()),
    ("blocks/SM", Align::Right, |c| resident(c, |o| o.blocks_per_sm.to_string())),
    ("warps/SM", Align::Right, |c| resident(c, |o| o.warps_per_sm.to_string())),
    ("occupancy", Align::Right, |c| resident(c, |o| format!("{:.3}", o.fraction))),
    ("limited by", Align::Left, |c| resident(c, |o| o.limited_by.word().to_owned())),
    ("waves", Align::Right, |c| resident(c, |o| format!("{:.2}", o.waves))),
];

/// What there is to say where a device is known.
fn resident(config: &ConfigSummary, cell: fn(&Occupancy) -> String) -> String {
    config.occupancy.as_ref().map(cell).unwrap_or_default()
}

fn config_heads() -> impl Iterator<Item = (&'static str, Align)> {
    CONFIG_COLUMNS.iter().map(|&(head, align, _)| (head, align))
}

fn config_cells(config: &ConfigSummary) -> impl Iterator<Item = String> {
    CONFIG_COLUMNS.iter().map(move |(_, _, cell)| cell(config))
}

/// The candidates of several kernels as one table if they were asked for, otherwise the accesses.
fn check_table(checks: &[&Check]) -> Table {
    if checks.iter().any(|c| c.launch.configs.is_some()) {
        let mut table =
            Table::new(["kernel", "variant"].map(|c| (c, Align::Left)).into_iter().chain(config_heads()));
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
