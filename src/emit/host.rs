//! The host part: tables of arrays and launches, and the fixed text that works on them.

use super::device::{global_fields, is_stored, kernel_name, shared_bytes};
use super::element::Element;
use super::expression::Writer;
use super::language::Language;
use super::plan::Plan;
use super::reference::reference_name;
use super::refuse::Unemitted;
use super::text::Text;
use crate::expr::Excess;
use crate::kernel::Kernel;
use crate::launch::{Launch, Program, visit_thread};
use crate::space::{BlockIndex, Thread};

const COMMON: &str = include_str!("templates/common.txt");
const CUDA: &str = include_str!("templates/cuda.txt");
const OPENCL: &str = include_str!("templates/opencl.txt");

/// Accesses of a thread beyond which counting stops.
const MOST: usize = 1 << 20;

/// The arrays of the host, as variables and as a table.
pub(super) fn arrays(
    kernel: &Kernel,
    writer: Writer<'_>,
    real: &str,
    room: u32,
) -> Result<String, Unemitted> {
    let mut text = Text::default();
    let mut rows = Vec::new();
    // Those of global fields are numbers.
    let nothing = crate::expr::LaunchSizes::ONE;
    for (id, field) in global_fields(kernel) {
        let whole = Element::whole(field);
        let elements = field.elements.at(&nothing)?;
        // Negative offsets reach before the first element.
        let before = field.offset.min(0).checked_neg().ok_or(Excess::Overflow)?;
        let count = elements.checked_add(field.offset.max(0)).and_then(|n| n.checked_add(before));
        let per_element = field.dtype.bytes / whole.bytes;
        let count = count.and_then(|n| n.checked_mul(per_element)).ok_or(Excess::Overflow)?;
        let stored = is_stored(kernel, id);
        for name in &writer.words.fields[usize::from(id.0)] {
            text.line(&format!("static {} *host_{name};", whole.name));
            if stored {
                text.line(&format!("static unsigned char *done_{name};"));
            }
            let done = if stored { format!("&done_{name}") } else { "NULL".to_owned() };
            let kind = if whole.is_real() { 'f' } else { 'i' };
            rows.push(format!(
                "{{\"{name}\", (void **)&host_{name}, {done}, {count}, {}, {}, '{kind}', {}, {}, {}, NULL, NULL}}",
                whole.bytes,
                whole.lanes,
                field.align.max(1),
                before.saturating_mul(per_element),
                // With less than two bits, hardly anything could be told apart.
                room.clamp(2, whole.bits()),
            ));
        }
    }
    text.line("static const real start = 1;");
    text.line(&format!(
        "enum {{ ARRAYS = {}, REAL_IS_DOUBLE = {} }};",
        rows.len(),
        i32::from(real == "double")
    ));
    text.line("// Name, host memory, what the loop below has computed of it, elements, bytes and numbers of one, kind,");
    text.line("// alignment, elements before the first one, bits of the numbers that it is filled with.");
    text.open("static array arrays[ARRAYS] = {");
    for row in rows {
        text.line(&format!("{row},"));
    }
    text.close("};");
    Ok(text.finish())
}

/// The launches as a table.
pub(super) fn launches(
    kernel: &Kernel,
    launches: &[Launch],
    plans: &[Plan],
    accesses: &[usize],
) -> Result<String, Unemitted> {
    let mut text = Text::default();
    text.line(&format!("enum {{ LAUNCHES = {} }};", launches.len()));
    text.line("// Kernel, fold, block, grid, bytes of shared memory, accesses of a thread.");
    text.open("static const launch launches[LAUNCHES] = {");
    for (launch, accesses) in launches.iter().zip(accesses) {
        let fold = launch.candidate.fold();
        let Some(number) = plans.iter().position(|p| p.program.fold == fold) else {
            continue;
        };
        let triple = |[x, y, z]: [i64; 3]| format!("{{{x}, {y}, {z}}}");
        let shared = launch.shared_bytes.max(shared_bytes(kernel, &launch.sizes)?);
        text.line(&format!(
            "{{{number}, {}, {}, {}, {shared}, {accesses}}},",
            triple(*fold),
            triple(*launch.sizes.block),
            triple(*launch.sizes.grid),
        ));
    }
    text.close("};");
    Ok(text.finish())
}

/// Accesses of a thread of each launch.
pub(super) fn accesses(
    kernel: &Kernel,
    launches: &[Launch],
    plans: &[Plan],
) -> Result<Vec<usize>, Unemitted> {
    let of = |launch: &Launch| {
        let plan = plans.iter().find(|p| p.program.fold == launch.candidate.fold());
        plan.map_or(Ok(1), |plan| accesses_of(kernel, launch, &plan.program))
    };
    launches.iter().map(of).collect()
}

/// Accesses of a thread in the middle of the grid, about.
fn accesses_of(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<crate::expr::Scale>,
) -> Result<usize, Unemitted> {
    let program = program.at(launch)?;
    let mut count = 0_usize;
    let middle = BlockIndex::along(|d| launch.sizes.grid[d] / 2);
    let visited =
        visit_thread(&program, kernel.extents(), launch.sizes.block, middle, Thread::ZERO, MOST, &mut |_| {
            count += 1;
        });
    // One that is too long to be counted counts as long.
    Ok(if visited.is_err() { MOST } else { count.max(1) })
}

/// The functions of the host, by kernel.
pub(super) fn functions(
    writer: Writer<'_>,
    plans: &[Plan],
    plain: bool,
    checked: bool,
    language: Language,
) -> String {
    let mut text = Text::default();
    let name = |plan: &Plan| kernel_name(writer, plan.program.fold);
    let all = |of: &dyn Fn(&Plan) -> String| plans.iter().map(of).collect::<Vec<_>>().join(", ");
    text.line(&format!("enum {{ KERNELS = {}, CHECKED = {} }};", plans.len(), i32::from(checked)));
    if language == Language::OpenCl {
        text.line(&format!(
            "static const char *const kernel_names[KERNELS] = {{{}}};",
            all(&|p| format!("\"{}\"", name(p)))
        ));
    } else {
        text.line(&format!(
            "static const void *const kernels[KERNELS] = {{{}}};",
            all(&|p| format!("(const void *){}", name(p)))
        ));
    }
    let reference = |p: &Plan| {
        if checked { reference_name(writer, plain, p.program.fold) } else { "NULL".to_owned() }
    };
    text.line(&format!("static const check_function references[KERNELS] = {{{}}};", all(&reference)));
    let most = plans.iter().map(|p| p.sums).max().unwrap_or(1);
    text.line(&format!("enum {{ MOST_ITEMS = {most} }};"));
    text.finish()
}

/// What all programs share.
pub(super) fn fixed(language: Language) -> String {
    match language {
        Language::Cuda => CUDA.replace("@NAME@", "CUDA").replace("@ATTRIBUTE@", "cudaDevAttr") + COMMON,
        Language::Hip => {
            let text = CUDA.replace("@NAME@", "HIP").replace("@ATTRIBUTE@", "hipDeviceAttribute");
            text.replace("cuda", "hip").replace("hipDeviceProp ", "hipDeviceProp_t ") + COMMON
        }
        Language::OpenCl => OPENCL.to_owned() + COMMON,
    }
}
