//! Types, small functions and tables that kernels and loops need.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use super::device::Named;
use super::element::Element;
use super::expression::Writer;
use super::language::Place;
use super::magnitude;
use super::plan::accesses;
use super::program::Making;
use super::refuse::Unemitted;
use crate::expr::{Cond, Form, LaunchAtom, LookupTable, Scale, Term};
use crate::kernel::AccessKind;

impl Making<'_> {
    /// Types and the small functions that a text needs.
    pub(super) fn types(&self, writer: Writer<'_>, text: &str) -> Result<String, Unemitted> {
        let place = writer.place;
        let wide = !self.launches.iter().all(|launch| {
            let plan = self.plans.iter().find(|p| p.program.fold == launch.candidate.fold());
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
        Ok(out + &self.helpers(writer, text)?)
    }

    /// Vectors that occur.
    fn vectors(&self) -> Result<BTreeSet<Element>, Unemitted> {
        let mut all = BTreeSet::new();
        for plan in self.plans {
            for instruction in &plan.program.instructions {
                all.insert(Element::new(self.kernel.field(instruction.field), instruction.width)?);
            }
        }
        all.extend(self.kernel.fields.iter().map(Element::whole));
        Ok(all.into_iter().filter(|e| !e.is_scalar()).collect())
    }

    /// Functions and tables of which a text uses something.
    pub(super) fn helpers(&self, writer: Writer<'_>, text: &str) -> Result<String, Unemitted> {
        let mut out = String::new();
        let (place, prefix) = (writer.place, writer.prefix);
        let inline = place.inline();
        let mut function = |returns: &str, name: &str, rest: &str| {
            let name = format!("{prefix}{name}");
            if Named::has(text, &name) {
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
            if Named::has(text, &name) {
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
}

fn each_form(cond: &Cond<Scale>, visit: &mut dyn FnMut(&Form<Scale>)) {
    match cond {
        Cond::Const(_) => {}
        Cond::NonNegative(form) | Cond::Zero(form) => visit(form),
        Cond::All(parts) | Cond::Any(parts) => parts.iter().for_each(|p| each_form(p, visit)),
    }
}

/// Tables that forms look into.
#[derive(Default)]
struct Tables(Vec<Arc<LookupTable>>);

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
            if let LaunchAtom::Term(term) = atom {
                self.term(term);
            }
        }
    }

    fn term(&mut self, term: &Term<Scale>) {
        if let Term::Lookup(table, _) = term
            && !self.0.iter().any(|t| t.name == table.name)
        {
            self.0.push(Arc::clone(table));
        }
        term.parts().for_each(|f| self.form(f));
    }
}
