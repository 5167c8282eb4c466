//! The whole program.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::device::kernel_text;
use super::element::Element;
use super::expression::Writer;
use super::host;
use super::language::{Language, Place};
use super::plan::{Plan, accesses, is_plain};
use super::reference::{of_items, of_threads};
use super::refuse::Unemitted;
use super::words::Words;
use crate::expr::{Coefficient, Scale};
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::{Candidate, Launch, outside};
use crate::space::Fold;
use crate::text::csv_cell;

/// Most arrays of a kernel: CUDA's arguments have 4096 bytes, of which a sum and a pointer take some.
const MOST_ARRAYS: i64 = 500;

/// What a program is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Its language.
    pub language: Language,
    /// Only the kernels, for a compiler that tells their registers.
    pub kernels_only: bool,
}

impl Settings {
    /// A whole program in a language.
    pub fn new(language: Language) -> Self {
        Self { language, kernels_only: false }
    }
}

/// The file of a kernel's program.
pub fn file_name(kernel: &Kernel, language: Language) -> String {
    let variant = kernel.variant.as_deref().map(|v| format!("-{v}")).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = format!("{}{variant}", kernel.name).chars().map(plain).collect();
    format!("{name}.{}", language.extension())
}

/// Generates a program that runs candidates of a kernel. Candidates that cannot be launched are left out.
pub fn emit(kernel: &Kernel, candidates: &[Candidate], settings: &Settings) -> Result<String, Unemitted> {
    refuse(kernel)?;
    let mut refused = None;
    let mut launches = Vec::new();
    for &candidate in candidates {
        match Launch::new(kernel, candidate) {
            Ok(launch) => launches.push(launch),
            Err(why) => refused = Some(why),
        }
    }
    if launches.is_empty() {
        return Err(refused.map_or(Unemitted::NoCandidate, Unemitted::Infeasible));
    }
    if let Some(outside) = launches.iter().find_map(|launch| outside(kernel, launch)) {
        return Err(Unemitted::OutOfBounds(outside.told(kernel)));
    }
    let folds: BTreeSet<Fold> = launches.iter().map(|l| l.candidate.fold()).collect();
    let plans: Vec<Plan> = folds.iter().map(|&f| Plan::new(kernel, f)).collect::<Result<_, _>>()?;
    for plan in &plans {
        refuse_widths(kernel, plan)?;
    }
    let words = Words::new(kernel);
    let place = if settings.language == Language::OpenCl { Place::OpenCl } else { Place::Gpu };
    let writer = Writer { words: &words, place, prefix: "" };
    let real = real_of(kernel);
    let making =
        Making { kernel, launches: &launches, plans: &plans, writer, real, language: settings.language };
    if settings.kernels_only { making.kernels() } else { making.whole(candidates.len()) }
}

/// What no program can be made of.
fn refuse(kernel: &Kernel) -> Result<(), Unemitted> {
    let global = |f: &crate::kernel::Field| f.space.in_memory();
    if !accesses(&kernel.body).iter().any(|a| global(kernel.field(a.field))) {
        return Err(Unemitted::NoAccess);
    }
    if let Some(warning) = kernel.warnings.iter().find(|w| w.code == "out-of-bounds") {
        return Err(Unemitted::OutOfBounds(warning.message.clone()));
    }
    let arrays: i64 = kernel.fields.iter().filter(|f| global(f)).map(|f| f.multiplicity.max(1)).sum();
    if arrays > MOST_ARRAYS {
        return Err(Unemitted::TooManyArrays(arrays, MOST_ARRAYS));
    }
    Ok(())
}

/// Widths that no instruction has, and wide accesses that may lie across two places.
fn refuse_widths(kernel: &Kernel, plan: &Plan) -> Result<(), Unemitted> {
    for instruction in &plan.program.instructions {
        let field = kernel.field(instruction.field);
        let element = Element::new(field, instruction.width)?;
        let whole = field.dtype.bytes % element.bytes == 0;
        let steps = |c: &Scale| {
            let all = std::iter::once(c.constant()).chain(c.products().iter().map(|p| p.1));
            all.into_iter().all(|n| n.wrapping_mul(field.dtype.bytes) % element.bytes == 0)
        };
        let form = &instruction.element;
        let even = steps(form.constant())
            && form.terms().iter().all(|t| steps(&t.1))
            && steps(&Scale::int(field.offset));
        if !whole && !even {
            let (field, bytes) = (field.name.clone(), element.bytes);
            return Err(Unemitted::Misaligned { field, bytes });
        }
    }
    Ok(())
}

/// The type of sums: double precision where an element needs it.
fn real_of(kernel: &Kernel) -> &'static str {
    let long = kernel.fields.iter().any(|f| Element::whole(f).is_long() || f.dtype.bytes > 8);
    if long { "double" } else { "float" }
}

/// What programs are made of.
pub(super) struct Making<'m> {
    pub(super) kernel: &'m Kernel,
    pub(super) launches: &'m [Launch],
    pub(super) plans: &'m [Plan],
    pub(super) writer: Writer<'m>,
    pub(super) real: &'static str,
    pub(super) language: Language,
}

impl Making<'_> {
    /// The kernels with what they need.
    fn kernels(&self) -> Result<String, Unemitted> {
        let mut out = String::new();
        for plan in self.plans {
            out.push('\n');
            out += &kernel_text(self.kernel, plan, self.writer, self.real)?;
        }
        Ok(self.types(self.writer, &out)? + &out)
    }

    fn whole(&self, considered: usize) -> Result<String, Unemitted> {
        let mut out = self.head(considered);
        let opencl = self.language == Language::OpenCl;
        if opencl {
            out += "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n";
            out += INCLUDES;
            out += "\nstatic const char *const kernel_source =\n";
            for line in self.kernels()?.lines() {
                let _ = writeln!(out, "    \"{}\\n\"", line.replace('\\', "\\\\").replace('"', "\\\""));
            }
            out += "    ;\n";
        } else {
            // A compiler at run time has no headers, and needs none for the kernels.
            let header = if self.language == Language::Hip { "hip/hip_runtime.h" } else { "cuda_runtime.h" };
            let _ = write!(out, "#ifndef __CUDACC_RTC__\n#include <{header}>\n{INCLUDES}#endif\n\n");
            out += &self.kernels()?;
            out += "\n#ifndef __CUDACC_RTC__\n";
        }
        let (references, plain) = self.references()?;
        let loops = references.iter().flatten().fold(String::new(), |all, one| all + one + "\n");
        out += "\n// ---- The host ----\n\n";
        if opencl {
            out += &self.types(self.host_writer(), &loops)?;
        } else {
            out += &self.helpers(self.host_writer(), &loops)?;
        }
        out += &self.descriptions();
        out += STRUCTURES;
        let accesses = host::accesses(self.kernel, self.launches, self.plans)?;
        let room = self.room(accesses.iter().copied().max().unwrap_or(1));
        out += &host::arrays(self.kernel, self.writer, self.real, room)?;
        out.push('\n');
        out += &host::launches(self.kernel, self.launches, self.plans, &accesses)?;
        out.push('\n');
        out += &loops;
        out += &host::functions(self.writer, self.plans, plain, references.is_some(), self.language);
        out += &host::fixed(self.language);
        if !opencl {
            out += "#endif\n";
        }
        Ok(out)
    }

    /// The loops that results are compared with, and whether one serves all kernels; none where the order of
    /// threads decides what is stored.
    fn references(&self) -> Result<(Option<Vec<String>>, bool), Unemitted> {
        if self.is_racy() {
            return Ok((None, false));
        }
        if is_plain(self.kernel) {
            let unfolded = Plan::new(self.kernel, Fold::ONE)?;
            return Ok((Some(vec![of_items(self.kernel, &unfolded, self.host_writer(), self.real)?]), true));
        }
        let all: Result<Vec<Option<String>>, Unemitted> =
            self.plans.iter().map(|p| of_threads(self.kernel, p, self.host_writer(), self.real)).collect();
        Ok((all?.into_iter().collect(), false))
    }

    fn host_writer(&self) -> Writer<'_> {
        self.writer.on_host(self.language)
    }

    /// Bits that numbers in arrays may have, so that sums of so many accesses are exact in any order.
    fn room(&self, accesses: usize) -> u32 {
        let mantissa: u32 = if self.real == "double" { 53 } else { 24 };
        let instructions = self.plans.iter().flat_map(|p| &p.program.instructions);
        let most = instructions.map(|i| {
            let field = self.kernel.field(i.field);
            Element::new(field, i.width).map_or(1, |e| e.lanes).saturating_mul(field.multiplicity.max(1))
        });
        let terms =
            (accesses as u64).saturating_mul(most.max().unwrap_or(1).unsigned_abs()).saturating_add(1);
        mantissa.saturating_sub(u64::BITS - terms.leading_zeros())
    }

    /// Whether what one thread loads may be what another stores.
    fn is_racy(&self) -> bool {
        let all = accesses(&self.kernel.body);
        all.iter().any(|store| {
            let field = self.kernel.field(store.field);
            store.kind != AccessKind::Load
                && field.space == Space::Global
                && all.iter().any(|load| {
                    load.field == store.field
                        && load.kind == AccessKind::Load
                        && load.element != store.element
                })
        })
    }

    fn head(&self, considered: usize) -> String {
        let k = self.kernel;
        // A comment ends with its line, unless that ends with a backslash.
        let plain = |text: &str| text.replace(|c: char| c.is_control() || c == '\\', " ");
        let mut out = format!("// {}", plain(&k.name));
        if let Some(variant) = &k.variant {
            let _ = write!(out, ", variant {}", plain(variant));
        }
        if let Some(about) = &k.about {
            let _ = write!(out, ": {}", plain(about));
        }
        let sizes: Vec<String> = k.axes.iter().map(|a| format!("{} {}", a.name, a.extent)).collect();
        let build = match self.language {
            Language::Cuda => "nvcc -O3 -arch=native FILE -o bench",
            Language::Hip => "hipcc -O3 FILE -o bench",
            Language::OpenCl => "cc -std=c99 -O2 FILE -o bench -lOpenCL",
        };
        let left = considered - self.launches.len();
        let _ = write!(
            out,
            "\n// Generated by Wavecast {}. Work items: {}. Every load is added to what is stored.\n\
             // Build: {build}; ./bench --help tells the rest.\n",
            env!("CARGO_PKG_VERSION"),
            sizes.join(", ")
        );
        if left > 0 {
            let _ = writeln!(out, "// {left} candidates that cannot be launched are left out.");
        }
        if self.is_racy() {
            out += "// What one thread loads another may store: results depend on their order and are not checked.\n";
        }
        out.push('\n');
        out
    }

    fn descriptions(&self) -> String {
        let k = self.kernel;
        // As a cell of the measurements, in a string of C.
        let cell = |text: &str| {
            csv_cell(text).replace('\\', "\\\\").replace('"', "\\\"").replace(|c: char| c.is_control(), " ")
        };
        let heads = k.params.iter().fold(String::new(), |all, p| all + "param." + &p.0 + ",");
        let values = k.params.iter().fold(String::new(), |all, p| all + &p.1.to_string() + ",");
        let compiler = match self.language {
            Language::Cuda => "\"CUDA \" TEXT(CUDART_VERSION)",
            Language::Hip => "\"HIP \" TEXT(HIP_VERSION)",
            Language::OpenCl => "\"OpenCL\"",
        };
        format!(
            "\nstatic const char KERNEL[] = \"{}\", VARIANT[] = \"{}\";\n\
             static const char PARAM_HEAD[] = \"{heads}\", PARAM_VALUES[] = \"{values}\";\n\
             #define TEXT_OF(a) #a\n#define TEXT(a) TEXT_OF(a)\n\
             static const char COMPILER[] = {compiler};\n",
            cell(&k.name),
            cell(k.variant.as_deref().unwrap_or(""))
        )
    }
}

const INCLUDES: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";

const STRUCTURES: &str = "
typedef struct {
    const char *name;
    void **host;
    unsigned char **done;
    long long count;
    int bytes, lanes;
    char kind;
    long long align, before;
    int bits;
    void *device, *first;
} array;

typedef struct {
    int kernel;
    long long fold[3], block[3], grid[3], shared, accesses;
} launch;

typedef void (*check_function)(const launch *, const index_t *, real *, real *, unsigned char *);

";
