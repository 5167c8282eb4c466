//! From a decoded document to a [`Kernel`]: names resolved, shapes computed, accesses unrolled and
//! lowered. Every step reports all faults it finds and leaves what it could understand to the next.

mod accesses;
mod address;
mod axes;
mod bounds;
mod code;
mod fields;
mod launch;
mod loops;
mod params;
mod symbols;
mod template;
mod visits;

pub(super) use code::request;

use super::document::KernelDoc;
use super::identity::Identity;
use super::leaf::{Number, Precision};
use super::limits::Limits;
use super::model::{Field, Kernel, Statement, Work};
use super::work::{Instructions, InstructionsDoc, WorkDoc};
use crate::effort::spend_on;
use crate::expr::Expr;
use crate::text::{Decoder, Diagnostic, Severity, Span};
use symbols::Symbols;

/// A parameter given on the command line.
#[derive(Debug, Clone)]
pub(super) struct Override {
    /// Which parameter.
    pub name: String,
    /// Its value.
    pub value: Expr,
    /// Where it was given.
    pub span: Span,
}

/// Steps of unrolling per access: an access of ten terms in three indices takes about fifty.
const STEPS_PER_ACCESS: usize = 64;

/// What is left of the limits that documents share.
#[derive(Debug)]
pub(super) struct Budget {
    /// Accesses that may still be expanded.
    accesses: usize,
    /// Steps that may still be taken for that, in time and memory.
    steps: usize,
}

impl Budget {
    /// The budget for so many accesses.
    pub fn new(accesses: usize) -> Self {
        Self { accesses, steps: accesses.saturating_mul(STEPS_PER_ACCESS) }
    }

    /// Takes accesses and steps, if so many are left.
    fn take(&mut self, accesses: usize, steps: usize) -> bool {
        // Work that is stopped from outside ends here, too.
        let may_go_on = spend_on(accesses.saturating_add(steps), 1).is_ok();
        match (self.accesses.checked_sub(accesses), self.steps.checked_sub(steps)) {
            (Some(accesses), Some(steps)) if may_go_on => {
                *self = Self { accesses, steps };
                true
            }
            _ => false,
        }
    }
}

/// The kernel of a document, or nothing after reporting why not.
pub(super) fn build(
    doc: KernelDoc,
    overrides: &[Override],
    limits: Limits,
    budget: &mut Budget,
    decoder: &mut Decoder,
) -> Option<Kernel> {
    let version = doc.wavecast.as_ref()?;
    if version.value != 1 {
        let message = format!("version {} of the kernel format; this program reads version 1", version.value);
        decoder.report(Diagnostic::error("version", version.span, message));
        return None;
    }
    let mut symbols = Symbols::new(doc.span);
    symbols.unsure = ["params", "tables", "fields", "domain"].iter().any(|key| doc.damaged.contains(key));
    params::resolve(doc.params.as_ref(), overrides, &mut symbols, decoder);
    params::tables(doc.tables.as_ref(), &mut symbols, decoder);
    params::axes(doc.domain.as_ref(), &mut symbols, decoder);
    let grid_given = doc.launch.as_ref().is_some_and(|l| l.grid.is_some());
    symbols.threads_follow_domain = !grid_given;
    let fields = fields::build(doc.fields.as_ref(), &mut symbols, decoder);
    let (body, loops) = loops::body(&doc, &mut symbols, &fields, budget, decoder);
    symbols.items_follow_domain = !grid_given;
    let guard = doc.guard.as_ref().and_then(|g| accesses::condition(&g.0, &symbols, decoder));
    symbols.items_follow_domain = true;
    let work = work(doc.work.as_ref(), &fields, &body, &symbols, decoder);
    let launch = launch::build(doc.launch.as_ref(), &fields, &body, &symbols, limits, decoder);
    if decoder.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return None;
    }
    let mut kernel = Kernel {
        name: doc.kernel?.value,
        about: doc.about,
        document: 0,
        variant: None,
        params: symbols.params,
        axes: symbols.axes,
        fields,
        body,
        loops,
        guard,
        work: work?,
        launch: launch?,
        code: None,
        steps: u64::try_from(limits.steps).unwrap_or(u64::MAX),
        warnings: Vec::new(),
        by_threads: Vec::new(),
        identity: Identity::default(),
    };
    bounds::check(&kernel, decoder);
    kernel.by_threads = bounds::by_threads(&kernel);
    axes::check(&kernel, doc.domain.as_ref().and_then(|d| d.0.first()).map(|axis| axis.0.span), decoder);
    Some(kernel)
}

/// Instructions in the code of a thread that a document may say: more than any GPU loads.
const LONGEST_CODE: f64 = 1e9;

fn work(
    doc: Option<&WorkDoc>,
    fields: &[Field],
    body: &[Statement],
    symbols: &Symbols,
    decoder: &mut Decoder,
) -> Option<Work> {
    let empty = WorkDoc::default();
    let doc = doc.unwrap_or(&empty);
    let flops = match &doc.flops {
        None => None,
        Some(flops) => Some(amount(flops, doc.span, ("flops", "operations"), symbols, decoder)?),
    };
    let instructions = instructions(doc.instructions.as_ref(), symbols, decoder)?;
    let code_length = match &doc.code_length {
        None => None,
        Some(length) => Some(amount(length, doc.span, ("code-length", "instructions"), symbols, decoder)?),
    };
    if code_length.is_some_and(|length| length > LONGEST_CODE) {
        let message = format!("the code of a thread has {LONGEST_CODE} instructions at most");
        let error = Diagnostic::error("code-length", doc.span, message);
        decoder
            .report(error.help("count what stands in the code, loops once; leave it out if it is not known"));
        return None;
    }
    let unit = doc.unit.clone().unwrap_or_else(|| "LUP".to_owned());
    let precision = doc.precision.unwrap_or_else(|| {
        let mut used = vec![false; fields.len()];
        accesses::used(body, &mut used);
        widest(fields.iter().zip(used).filter(|f| f.1).map(|f| f.0))
    });
    Some(Work { unit, flops, precision, instructions, code_length })
}

/// A number of at least 0, or nothing after reporting why there is none; what is not a formula stands at `span`.
fn amount(
    number: &Number,
    span: Span,
    (code, things): (&'static str, &str),
    symbols: &Symbols,
    decoder: &mut Decoder,
) -> Option<f64> {
    let (value, span) = match number {
        Number::Float(value) => (*value, span),
        Number::Formula(formula) => (params::value(&formula.0, symbols, decoder)? as f64, formula.0.span),
    };
    if value < 0.0 {
        let message = format!("a work item cannot do fewer than 0 {things}");
        decoder.report(Diagnostic::error(code, span, message).help("leave the key out if it is not known"));
        return None;
    }
    Some(value)
}

fn instructions(
    doc: Option<&InstructionsDoc>,
    symbols: &Symbols,
    decoder: &mut Decoder,
) -> Option<Instructions> {
    let counts = doc.iter().flat_map(|doc| &doc.0).map(|(class, number, span)| {
        let things = format!("`{}` instructions", class.word());
        Some((*class, amount(number, *span, ("instructions", &things), symbols, decoder)?))
    });
    // Each is looked at before the first failure counts: every fault is reported.
    let counts: Vec<Option<_>> = counts.collect();
    Instructions::new(counts.into_iter().collect::<Option<Vec<_>>>()?)
}

/// The precision of the widest of these floating-point fields.
fn widest<'f>(fields: impl Iterator<Item = &'f Field>) -> Precision {
    let types: Vec<&str> = fields.map(|f| f.dtype.name.as_str()).collect();
    let has = |names: &[&str]| types.iter().any(|t| names.contains(t));
    match () {
        () if has(&["f64", "c128"]) => Precision::F64,
        () if has(&["f32", "c64"]) => Precision::F32,
        () if has(&["f16"]) => Precision::F16,
        () => Precision::F64,
    }
}
