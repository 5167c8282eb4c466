//! Kernels.

use super::element::Element;
use super::expression::Writer;
use super::language::Place;
use super::plan::Plan;
use super::refuse::Unemitted;
use super::statements::Statements;
use super::text::Text;
use crate::expr::{Coefficient, Dim};
use crate::kernel::{AccessKind, Field, FieldId, Kernel, Space};
use crate::space::Fold;

/// The name of the kernel of a fold.
pub(super) fn kernel_name(writer: Writer<'_>, fold: Fold) -> String {
    let [x, y, z] = *fold;
    format!("{}_{x}x{y}x{z}", writer.words.kernel)
}

/// Whether a field is written.
pub(super) fn is_stored(kernel: &Kernel, id: FieldId) -> bool {
    super::plan::accesses(&kernel.body).iter().any(|a| a.field == id && a.kind != AccessKind::Load)
}

/// Fields in global memory, with their positions. Those without elements, which some values of parameters make so, are
/// no arrays.
pub(super) fn global_fields(kernel: &Kernel) -> impl Iterator<Item = (FieldId, &Field)> {
    let is_array = |f: &Field| f.space.in_memory() && f.elements.as_int() != Some(0);
    (0..).map(FieldId).zip(&kernel.fields).filter(move |f| is_array(f.1))
}

/// The arrays as parameters.
fn parameters(kernel: &Kernel, writer: Writer<'_>) -> Vec<String> {
    let place = writer.place;
    let mut all = Vec::new();
    for (id, field) in global_fields(kernel) {
        let constant = if is_stored(kernel, id) { "" } else { "const " };
        for name in writer.arrays(kernel, id) {
            all.push(format!("{}{constant}{} *{name}", place.global(), Element::whole(field).name));
        }
    }
    all
}

/// Pointers into the memory of a block, each behind the other.
pub(super) fn shared_arrays(kernel: &Kernel, writer: Writer<'_>, text: &mut Text) {
    let mut before = String::new();
    let shared = (0..).map(FieldId).zip(&kernel.fields).filter(|f| matches!(f.1.space, Space::Shared));
    for (id, field) in shared {
        let Some(name) = writer.arrays(kernel, id).into_iter().next() else { continue };
        let kind = Element::whole(field).name;
        let memory = writer.place.shared();
        let at = if before.is_empty() { String::new() } else { format!(" + {before}") };
        text.line(&format!("{memory}{kind} *{name} = ({memory}{kind} *)(shared{at});"));
        // Each begins on a multiple of 16 bytes.
        let bytes = format!(
            "(({} + {})*{} + 15)/16*16",
            writer.sum(&field.elements),
            field.offset,
            field.dtype.bytes
        );
        before = if before.is_empty() { bytes } else { format!("{before} + {bytes}") };
    }
}

/// Bytes that the shared arrays need for a launch.
pub(super) fn shared_bytes(
    kernel: &Kernel,
    sizes: &crate::expr::LaunchSizes,
) -> Result<i64, crate::expr::Excess> {
    let mut all = 0_i64;
    for field in kernel.fields.iter().filter(|f| matches!(f.space, Space::Shared)) {
        let elements = field.elements.at(sizes)?.saturating_add(field.offset);
        all = all.saturating_add(elements.saturating_mul(field.dtype.bytes).saturating_add(15) / 16 * 16);
    }
    Ok(all)
}

/// Coordinates that a text names.
pub(super) struct Named {
    thread: [bool; 3],
    local: [bool; 3],
    block: [bool; 3],
    block_size: [bool; 3],
    grid_size: [bool; 3],
}

impl Named {
    pub(super) fn found_in(text: &str) -> Self {
        let all = |prefix: &str| Dim::ALL.map(|d| Self::has(text, &format!("{prefix}{}", d.letter())));
        Self {
            thread: all("tid"),
            local: all("lid"),
            block: all("bid"),
            block_size: all("bdim"),
            grid_size: all("gdim"),
        }
    }

    /// Whether a variable occurs in a text.
    pub(super) fn has(text: &str, name: &str) -> bool {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
            !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
        })
    }

    /// Declarations from what the language calls them.
    pub(super) fn declare(&self, place: Place, text: &mut Text) {
        for d in Dim::ALL {
            let (i, letter) = (d.index(), d.letter());
            let spelled = |cuda: &str, opencl: &str| match place {
                Place::OpenCl => format!("(index_t){opencl}({i})"),
                _ => format!("(index_t){cuda}.{letter}"),
            };
            let local = spelled("threadIdx", "get_local_id");
            let block = spelled("blockIdx", "get_group_id");
            let size = spelled("blockDim", "get_local_size");
            let lines = [
                (self.local[i], format!("lid{letter} = {local}")),
                (self.block[i], format!("bid{letter} = {block}")),
                (self.block_size[i], format!("bdim{letter} = {size}")),
                (self.grid_size[i], format!("gdim{letter} = {}", spelled("gridDim", "get_num_groups"))),
                (self.thread[i], format!("tid{letter} = {block}*{size} + {local}")),
            ];
            for (_, line) in lines.iter().filter(|l| l.0) {
                text.line(&format!("const index_t {line};"));
            }
        }
    }
}

/// The kernel of a fold.
pub(super) fn kernel_text(
    kernel: &Kernel,
    plan: &Plan,
    writer: Writer<'_>,
    real: &'static str,
) -> Result<String, Unemitted> {
    let place = writer.place;
    let clipped = plan.program.instructions.iter().all(|i| i.clipped);
    let guarded = kernel.guard.is_some();
    // A thread must not leave before a barrier that others wait at.
    let returned = clipped && !plan.syncs && (!guarded || plan.program.items.len() == 1);
    let statements = Statements { kernel, plan, writer, real, returned };
    let mut body = Text::default();
    body.open("");
    shared_arrays(kernel, writer, &mut body);
    conditions(&statements, &mut body);
    for item in 0..plan.sums {
        body.line(&format!("real sum{item} = start;"));
        if statements.is_latest(item) {
            body.line(&format!("real last{item} = start;"));
        }
    }
    statements.nodes(&plan.nodes, &mut body)?;
    for item in (0..plan.sums).filter(|&i| plan.unused[i]) {
        // Sums are never negative, which no compiler knows.
        body.line(&format!("if (sum{item} == -1) sink[0] = sum{item};"));
    }
    let body = body.finish();
    let mut text = Text::default();
    let mut parameters = parameters(kernel, writer);
    parameters.push("real start".to_owned());
    parameters.push(format!("{}real *sink", place.global()));
    let uses_shared = kernel.fields.iter().any(|f| matches!(f.space, Space::Shared));
    if uses_shared && place == Place::OpenCl {
        parameters.push("__local unsigned char *shared".to_owned());
    }
    let [x, y, z] = *plan.program.fold;
    let many = x * y * z;
    text.line(&format!(
        "// {x}x{y}x{z}: {many} work item{} for each thread.",
        if many > 1 { "s" } else { "" }
    ));
    let name = kernel_name(writer, plan.program.fold);
    let head = if place == Place::OpenCl { "__kernel void " } else { "extern \"C\" __global__ void " };
    text.open(&format!("{head}{name}({}) {{", parameters.join(", ")));
    if uses_shared && place == Place::Gpu {
        text.line("extern __shared__ __align__(16) unsigned char shared[];");
    }
    Named::found_in(&body).declare(place, &mut text);
    let mut whole = text.finish();
    whole.push_str(body.trim_start_matches('\n'));
    if !plan.unused.contains(&true) {
        whole.push_str("    (void)sink;\n");
    }
    whole.push_str("}\n");
    Ok(whole)
}

/// Which work items of the thread work.
pub(super) fn conditions(statements: &Statements<'_>, text: &mut Text) {
    let plan = statements.plan;
    let needed: Vec<usize> = plan
        .program
        .instructions
        .iter()
        .filter(|i| i.clipped)
        .flat_map(|i| i.items.iter().map(|i| statements.like(usize::from(i))))
        .collect();
    if statements.returned {
        text.line(&format!("if (!({})) return;", statements.working(0).join(" && ")));
    }
    for item in 0..plan.program.items.len() {
        let stands = needed.contains(&item) && !(statements.returned && item == 0);
        if stands {
            let truth = if statements.writer.place == Place::Host { "int" } else { "bool" };
            text.line(&format!("const {truth} in{item} = {};", statements.working(item).join(" && ")));
        }
    }
}
