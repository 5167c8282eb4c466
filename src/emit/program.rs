//! The whole program.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::device::kernel_text;
use super::element::Element;
use super::expression::Writer;
use super::language::{Language, Place};
use super::plan::{Plan, accesses, is_plain};
use super::reference::{of_items, of_threads};
use super::refuse::Unemitted;
use super::words::Words;
use super::{host, magnitude};
use crate::expr::{Coefficient, Form, Scale, Table, Term};
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::{Candidate, Launch};

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
    pub fn of(language: Language) -> Self {
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
    let folds: BTreeSet<[i64; 3]> = launches.iter().map(|l| l.candidate.fold).collect();
    let plans: Vec<Plan> = folds.iter().map(|&f| Plan::of(kernel, f)).collect::<Result<_, _>>()?;
    for plan in &plans {
        refuse_widths(kernel, plan)?;
    }
    let words = Words::of(kernel);
    let writer = Writer { words: &words };
    let real = real_of(kernel);
    let making =
        Making { kernel, launches: &launches, plans: &plans, writer, real, language: settings.language };
    if settings.kernels_only { making.kernels() } else { making.whole(candidates.len()) }
}

/// What no program can be made of.
fn refuse(kernel: &Kernel) -> Result<(), Unemitted> {
    let global = |f: &crate::kernel::Field| matches!(f.space, Space::Global);
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
        let element = Element::of(field, instruction.width)?;
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

struct Making<'m> {
    kernel: &'m Kernel,
    launches: &'m [Launch],
    plans: &'m [Plan],
    writer: Writer<'m>,
    real: &'static str,
    language: Language,
}

impl Making<'_> {
    fn place(&self) -> Place {
        if self.language == Language::OpenCl { Place::OpenCl } else { Place::Gpu }
    }

    /// The kernels with what they need.
    fn kernels(&self) -> Result<String, Unemitted> {
        let mut out = String::new();
        for plan in self.plans {
            out.push('\n');
            out += &kernel_text(self.kernel, plan, self.writer, self.place(), self.real)?;
        }
        Ok(self.types(self.place(), &out)? + &out)
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
            out += &self.types(Place::Host, &loops)?;
        } else {
            out += &self.helpers(Place::Host, "host_", &loops)?;
        }
        out += &self.descriptions();
        out += STRUCTURES;
        out += &host::arrays(self.kernel, self.writer, self.real)?;
        out.push('\n');
        out += &host::launches(self.kernel, self.launches, self.plans)?;
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
            let unfolded = Plan::of(self.kernel, [1; 3])?;
            return Ok((
                Some(vec![self.hosted(of_items(self.kernel, &unfolded, self.writer, self.real)?)]),
                true,
            ));
        }
        let all: Result<Vec<Option<String>>, Unemitted> =
            self.plans.iter().map(|p| of_threads(self.kernel, p, self.writer, self.real)).collect();
        let all: Option<Vec<String>> = all?.into_iter().collect();
        Ok((all.map(|a| a.into_iter().map(|t| self.hosted(t)).collect()), false))
    }

    /// Functions of the host have names of their own where device functions stand beside them.
    fn hosted(&self, text: String) -> String {
        if self.language == Language::OpenCl {
            return text;
        }
        ["floor_div(", "floor_mod(", "lesser(", "greater(", "total_", "all_", "table_"]
            .iter()
            .fold(text, |text, name| text.replace(name, &format!("host_{name}")))
    }

    /// Whether what one thread loads may be what another stores.
    fn is_racy(&self) -> bool {
        let all = accesses(&self.kernel.body);
        all.iter().any(|store| {
            let field = self.kernel.field(store.field);
            store.kind != AccessKind::Load
                && matches!(field.space, Space::Global)
                && all.iter().any(|load| {
                    load.field == store.field
                        && load.kind == AccessKind::Load
                        && load.element != store.element
                })
        })
    }

    /// Types and the small functions that a text needs.
    fn types(&self, place: Place, text: &str) -> Result<String, Unemitted> {
        let wide = !self.launches.iter().all(|launch| {
            let plan = self.plans.iter().find(|p| p.program.fold == launch.candidate.fold);
            plan.is_some_and(|p| p.program.at(launch).is_ok_and(|p| magnitude::fits(&p, launch)))
        });
        let long = if place == Place::OpenCl { "long" } else { "long long" };
        let mut out = String::new();
        if place == Place::OpenCl && self.kernel.fields.iter().any(|f| f.dtype.bytes >= 8) {
            out += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
        }
        if place == Place::OpenCl
            && accesses(&self.kernel.body).iter().any(|a| a.kind == AccessKind::Atomic && a.width == 8)
        {
            out += "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n";
        }
        let index = if wide { long } else { "int" };
        let _ = writeln!(out, "typedef {index} index_t;");
        let _ = writeln!(out, "typedef {} real; // of sums", self.real);
        let _ = writeln!(out, "typedef {long} int64;\ntypedef unsigned {long} uint64;");
        if place == Place::Host {
            for element in self.vectors()? {
                let _ = writeln!(
                    out,
                    "typedef struct {{ {} {}; }} {};",
                    element.scalar,
                    element.parts().join(", "),
                    element.name
                );
            }
        }
        Ok(out + &self.helpers(place, "", text)?)
    }

    /// Vectors that occur.
    fn vectors(&self) -> Result<BTreeSet<Element>, Unemitted> {
        let mut all = BTreeSet::new();
        for plan in self.plans {
            for instruction in &plan.program.instructions {
                all.insert(Element::of(self.kernel.field(instruction.field), instruction.width)?);
            }
        }
        all.extend(self.kernel.fields.iter().map(Element::whole));
        Ok(all.into_iter().filter(|e| !e.is_scalar()).collect())
    }

    /// Functions and tables of which a text uses something.
    fn helpers(&self, place: Place, prefix: &str, text: &str) -> Result<String, Unemitted> {
        let mut out = String::new();
        let inline = place.inline();
        let mut function = |returns: &str, name: &str, rest: &str| {
            let name = format!("{prefix}{name}");
            if text.contains(&format!("{name}(")) {
                let _ = writeln!(out, "{inline}{returns} {name}{rest}");
            }
        };
        let two = "(index_t a, index_t b)";
        function("index_t", "floor_div", &format!("{two} {{ return a / b - (a % b < 0); }}"));
        function("index_t", "floor_mod", &format!("{two} {{ return a % b < 0 ? a % b + b : a % b; }}"));
        function("index_t", "lesser", &format!("{two} {{ return a < b ? a : b; }}"));
        function("index_t", "greater", &format!("{two} {{ return a > b ? a : b; }}"));
        for element in self.vectors()? {
            let (name, parts) = (element.name, element.parts());
            let sum = parts.iter().map(|p| format!("(real)v.{p}")).collect::<Vec<_>>().join(" + ");
            function("real", &format!("total_{name}"), &format!("({name} v) {{ return {sum}; }}"));
            let cast = if element.is_real() { "" } else { "(int64)" };
            let set =
                parts.iter().map(|p| format!("v.{p} = ({}){cast}a;", element.scalar)).collect::<Vec<_>>();
            let rest = format!("(real a) {{ {name} v; {} return v; }}", set.join(" "));
            function(name, &format!("all_{name}"), &rest);
        }
        let memory = match place {
            Place::Gpu => "__constant__",
            Place::OpenCl => "__constant",
            Place::Host => "static const",
        };
        let mut tables = Tables::default();
        self.every_form(&mut |form| tables.form(form));
        for table in tables.0 {
            let name = format!("{prefix}table_{}", table.name);
            if text.contains(&format!("{name}[")) {
                let entries: Vec<String> = table.values.iter().map(ToString::to_string).collect();
                let _ = writeln!(out, "{memory} int {name}[{}] = {{{}}};", entries.len(), entries.join(", "));
            }
        }
        Ok(out)
    }

    /// All forms of the kernels.
    fn every_form(&self, visit: &mut dyn FnMut(&Form<Scale>)) {
        for plan in self.plans {
            let p = &plan.program;
            for range in &p.loops {
                visit(&range.from);
                visit(&range.to);
            }
            for instruction in &p.instructions {
                visit(&instruction.element);
                instruction.when.iter().for_each(|w| each_form(w, visit));
            }
            p.items.iter().filter_map(|i| i.guard.as_ref()).for_each(|g| each_form(g, visit));
        }
    }

    fn head(&self, considered: usize) -> String {
        let k = self.kernel;
        let mut out = format!("// {}", k.name);
        if let Some(variant) = &k.variant {
            let _ = write!(out, ", variant {variant}");
        }
        if let Some(about) = &k.about {
            let _ = write!(out, ": {}", about.replace('\n', " "));
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
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
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
            quoted(&k.name),
            quoted(k.variant.as_deref().unwrap_or(""))
        )
    }
}

fn each_form(cond: &crate::expr::Cond<Scale>, visit: &mut dyn FnMut(&Form<Scale>)) {
    use crate::expr::Cond;
    match cond {
        Cond::Const(_) => {}
        Cond::NonNegative(form) | Cond::Zero(form) => visit(form),
        Cond::All(parts) | Cond::Any(parts) => parts.iter().for_each(|p| each_form(p, visit)),
    }
}

/// Tables that forms look into.
#[derive(Default)]
struct Tables(Vec<std::sync::Arc<Table>>);

impl Tables {
    fn form(&mut self, form: &Form<Scale>) {
        for (term, factor) in form.terms() {
            self.scale(factor);
            self.term(term);
        }
        self.scale(form.constant());
    }

    fn scale(&mut self, scale: &Scale) {
        for atom in scale.products().iter().flat_map(|p| &p.0) {
            if let crate::expr::LaunchAtom::Term(term) = atom {
                self.term(term);
            }
        }
    }

    fn term(&mut self, term: &Term<Scale>) {
        if let Term::Lookup(table, _) = term
            && !self.0.iter().any(|t| t.name == table.name)
        {
            self.0.push(std::sync::Arc::clone(table));
        }
        term.parts().into_iter().for_each(|f| self.form(f));
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
    void *device, *first;
} array;

typedef struct {
    int kernel;
    long long fold[3], block[3], grid[3], shared, accesses;
} launch;

typedef void (*check_function)(const launch *, const index_t *, real *, real *, unsigned char *);

";
