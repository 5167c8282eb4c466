//! From a text to kernels: documents of a stream, variants of a document, overrides.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::build::{Budget, Override, build};
use super::document::KernelDoc;
use super::limits::Limits;
use super::model::Kernel;
use super::variants;
use crate::expr::parse_expression;
use crate::text::{
    Bounds, Decode, Decoder, Diagnostic, Fault, FileId, Node, Origin, Sources, Span, Value, nearest,
    parse_stream,
};

/// Most variants that a message lists.
const MOST_NAMED: usize = 20;

/// What may differ between two readings of the same text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Parameters to override, as `NAME=VALUE`.
    pub set: Vec<String>,
    /// How much may be read and expanded.
    pub limits: Limits,
}

/// Kernels and the texts that their spans point into.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// One per document, or per variant of a document.
    pub kernels: Vec<Kernel>,
    /// The texts.
    pub sources: Arc<Sources>,
}

impl Loaded {
    /// Positions of the kernels that are one of these variants; of all kernels if none is named. Each name
    /// has to be that of a variant.
    pub fn positions(&self, variants: &[String]) -> Result<Vec<usize>, Fault> {
        let all = self.kernels.iter().enumerate();
        let known: BTreeSet<&str> = self.kernels.iter().filter_map(|k| k.variant.as_deref()).collect();
        let unknown: Vec<Diagnostic> =
            variants.iter().filter(|v| !known.contains(v.as_str())).map(|v| no_variant(v, &known)).collect();
        if !unknown.is_empty() {
            return Err(Fault::new(unknown, self.sources.clone()));
        }
        let named = |k: &Kernel| k.variant.as_ref().is_some_and(|v| variants.contains(v));
        Ok(all.filter(|(_, k)| variants.is_empty() || named(k)).map(|(i, _)| i).collect())
    }

    /// The same kernels without those of other variants.
    pub fn only(mut self, variants: &[String]) -> Result<Self, Fault> {
        let wanted = self.positions(variants)?;
        let mut number = 0..;
        self.kernels.retain(|_| number.next().is_some_and(|i: usize| wanted.binary_search(&i).is_ok()));
        Ok(self)
    }
}

fn no_variant(name: &str, known: &BTreeSet<&str>) -> Diagnostic {
    let message = format!("there is no variant `{}`", crate::text::shorten(name));
    let near = nearest(name, known.iter().copied()).map(|n| format!("did you mean `{n}`? "));
    // A generator may have sent thousands.
    let mut list: Vec<&str> = known.iter().copied().take(MOST_NAMED).collect();
    if known.len() > MOST_NAMED {
        list.push("...");
    }
    let help = match list.as_slice() {
        [] => "the kernel has no variants".to_owned(),
        list => format!("{}variants: {}", near.unwrap_or_default(), list.join("; ")),
    };
    Diagnostic::global("unknown-variant", message).help(help)
}

/// Reads all kernels of a YAML or JSON text; `name` is what messages call it.
///
/// ```
/// let text = "
/// wavecast: 1
/// kernel: copy
/// fields: {a: {dtype: f64, size: 1024}, b: {like: a}}
/// domain: {x: 1024}
/// loads: ['a[x]']
/// stores: ['b[x]']
/// ";
/// let loaded = wavecast::kernel::load("copy.yaml", text, &Default::default()).unwrap();
/// assert_eq!(loaded.kernels[0].body().len(), 2);
/// ```
pub fn load(name: &str, text: &str, options: &Options) -> Result<Loaded, Fault> {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let overrides = parse_overrides(&options.set, &mut sources);
    let sources = Arc::new(sources);
    let mut errors = Vec::new();
    let overrides = overrides.unwrap_or_else(|e| {
        errors.extend(e);
        Vec::new()
    });
    let kernels = load_all(text, file, &overrides, options.limits, &mut errors);
    if errors.is_empty() { Ok(Loaded { kernels, sources }) } else { Err(Fault::new(errors, sources)) }
}

fn load_all(
    text: &str,
    file: FileId,
    overrides: &[Override],
    limits: Limits,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Kernel> {
    let (documents, unreadable) =
        parse_stream(text, file, Bounds { bytes: limits.document_bytes, nodes: limits.nodes });
    let documents: Vec<Node> = documents.into_iter().flat_map(listed).collect();
    errors.extend(unreadable);
    if documents.is_empty() && errors.is_empty() {
        let message = "there is no kernel document in this text";
        errors.push(
            Diagnostic::error("empty", Span::new(file, 0..0), message)
                .help(
                    "the shortest one: {wavecast: 1, kernel: copy, fields: {a: {dtype: f64, size: 4096}}, domain: {x: 4096}, \
                     loads: [\"a[x]\"]}",
                ),
        );
    }
    let mut kernels = Vec::new();
    let mut budget = Budget::new(limits.accesses);
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut variants_left = limits.variants;
    for (number, document) in documents.into_iter().enumerate() {
        let variants = variants::split(document, variants_left, errors);
        variants_left -= variants.len().min(variants_left);
        for variant in variants.one_by_one() {
            // A fault that every variant repeats need not be found a thousand times.
            if errors.len() > Fault::MOST {
                return kernels;
            }
            let variant = match variant {
                Ok(variant) => variant,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            let mut decoder = Decoder::default();
            let decoded = KernelDoc::decode(&variant.node, &mut decoder);
            let before = decoder.diagnostics.len();
            let kernel = decoded.and_then(|doc| {
                known.extend(doc.params.iter().flat_map(|p| &p.0).map(|p| p.0.value.clone()));
                build(doc, overrides, limits, &mut budget, &mut decoder)
            });
            let failed = before > 0 || decoder.diagnostics.iter().any(is_error);
            if failed {
                errors.extend(decoder.diagnostics.into_iter().filter(is_error));
            } else if let Some(kernel) = kernel {
                let (document, warnings) = (number, decoder.diagnostics);
                kernels.push(Kernel { document, variant: variant.name, warnings, ..kernel });
            }
        }
    }
    for o in overrides.iter().filter(|o| !known.contains(&o.name)) {
        let near = nearest(&o.name, known.iter().map(String::as_str)).map(|n| format!("did you mean `{n}`?"));
        let message = format!("no document has a parameter `{}`", o.name);
        errors.push(Diagnostic::error("unknown-param", o.span, message).maybe_help(near));
    }
    kernels
}

/// A program that has several kernels may send a JSON array of them.
fn listed(document: Node) -> Vec<Node> {
    match document.value {
        Value::List(items) if items.iter().all(|i| matches!(i.value, Value::Map(_))) => items,
        _ => vec![document],
    }
}

fn is_error(d: &Diagnostic) -> bool {
    d.severity == crate::text::Severity::Error
}

fn parse_overrides(set: &[String], sources: &mut Sources) -> Result<Vec<Override>, Vec<Diagnostic>> {
    let mut overrides = Vec::new();
    let mut errors = Vec::new();
    for text in set {
        let file = sources.add("--set", text.as_str());
        let whole = Span::new(file, 0..text.len());
        let Some((name, value)) = text.split_once('=') else {
            let message = format!("`{}` does not say what to set", crate::text::shorten(text));
            errors.push(
                Diagnostic::error("usage", whole, message)
                    .help("write --set NAME=VALUE, for example --set NX=1024"),
            );
            continue;
        };
        let start = name.len() + 1;
        match parse_expression(value, Origin::verbatim(Span::new(file, start..text.len()))) {
            Ok(value) => overrides.push(Override { name: name.trim().to_owned(), value, span: whole }),
            Err(e) => errors.push(e),
        }
    }
    if errors.is_empty() { Ok(overrides) } else { Err(errors) }
}
