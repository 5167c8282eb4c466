//! From a text to kernels: documents of a stream, variants of a document, overrides.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::build::{Budget, Override, build, request};
use super::code::{Code, CodeRead, CodeRequest, Nobody, ReadCode, filled};
use super::document::KernelDoc;
use super::limits::Limits;
use super::model::Kernel;
use super::variants::{self, Variant};
use crate::expr::parse_expression;
use crate::text::{
    Bounds, Decode, Decoder, Diagnostic, Fault, Node, Origin, Sources, Span, Value, nearest, of_another_kind,
    parse_stream, some_of,
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
    load_with(name, text, options, &Nobody)
}

/// The same, with somebody who reads the code that documents have.
pub fn load_with(name: &str, text: &str, options: &Options, reader: &dyn ReadCode) -> Result<Loaded, Fault> {
    let mut loading = Loading::new(Sources::new(), options);
    let documents = loading.documents(name, text, options);
    let mut kernels = Vec::new();
    loading.each(documents, &mut |loading, number, variant| {
        for tree in loading.trees(variant, reader) {
            kernels.extend(loading.kernel(number, tree));
        }
    });
    loading.finish().map(|sources| Loaded { kernels, sources })
}

/// The kernels of code that was read without a document that asked for it; `sources` has the texts.
pub fn load_read(read: Vec<CodeRead>, sources: Sources, options: &Options) -> Result<Loaded, Fault> {
    let mut loading = Loading::new(sources, options);
    loading.override_with(&options.set);
    let mut kernels = Vec::new();
    for one in read {
        let tree = Tree { variant: one.variant, node: one.document, code: Some((one.code, one.warnings)) };
        kernels.extend(loading.kernel(0, tree));
    }
    loading.finish().map(|sources| Loaded { kernels, sources })
}

/// The name of a variant, and the code that it wants read, if it has some.
type Wanted = (Option<String>, Option<CodeRequest>);

/// The code that the documents of a text want read.
pub fn requests(name: &str, text: &str, options: &Options) -> Result<Vec<Wanted>, Fault> {
    let mut loading = Loading::new(Sources::new(), options);
    let documents = loading.documents(name, text, options);
    let mut all = Vec::new();
    loading.each(documents, &mut |loading, _, variant| {
        let mut decoder = Decoder::default();
        let request = loading.decoded(&variant.node, &mut decoder).and_then(|doc| {
            let asked = doc.code.is_some();
            let request = request(&doc, &loading.overrides, loading.limits, &mut decoder);
            (request.is_some() || !asked).then_some(request)
        });
        loading.errors.extend(decoder.diagnostics.into_iter().filter(is_error));
        all.extend(request.map(|request| (variant.name, request)));
    });
    loading.finish().map(|_| all)
}

/// Texts on their way to kernels.
struct Loading {
    sources: Sources,
    overrides: Vec<Override>,
    limits: Limits,
    budget: Budget,
    /// Parameters of all documents.
    known: BTreeSet<String>,
    errors: Vec<Diagnostic>,
}

/// A document of which a kernel is made.
struct Tree {
    variant: Option<String>,
    node: Node,
    /// Where it was read, with what deserves a look there.
    code: Option<(Code, Vec<Diagnostic>)>,
}

impl Loading {
    fn new(sources: Sources, options: &Options) -> Self {
        let (limits, budget) = (options.limits, Budget::new(options.limits.accesses));
        Self { sources, overrides: Vec::new(), limits, budget, known: BTreeSet::new(), errors: Vec::new() }
    }

    fn override_with(&mut self, set: &[String]) {
        match parse_overrides(set, &mut self.sources) {
            Ok(overrides) => self.overrides = overrides,
            Err(errors) => self.errors.extend(errors),
        }
    }

    /// The documents of a text.
    fn documents(&mut self, name: &str, text: &str, options: &Options) -> Vec<Node> {
        let file = self.sources.add(name, text);
        self.override_with(&options.set);
        let bounds = Bounds { bytes: options.limits.document_bytes, nodes: options.limits.nodes };
        let (documents, unreadable) = parse_stream(text, file, bounds);
        let documents: Vec<Node> = documents.into_iter().flat_map(listed).collect();
        self.errors.extend(unreadable.into_iter().map(raised_by_an_option));
        if let Some(other) = documents.iter().find_map(|d| of_another_kind(d, "wavecast")) {
            self.errors = vec![other];
            return Vec::new();
        }
        if documents.is_empty() && self.errors.is_empty() {
            let message = "there is no kernel document in this text";
            self.errors.push(
                Diagnostic::error("empty", Span::new(file, 0..0), message)
                    .help(
                        "the shortest one: {wavecast: 1, kernel: copy, fields: {a: {dtype: f64, size: 4096}}, domain: {x: 4096}, \
                         loads: [\"a[x]\"]}",
                    ),
            );
        }
        documents
    }

    /// Visits the variants of documents, with the documents' numbers.
    fn each(&mut self, documents: Vec<Node>, visit: &mut dyn FnMut(&mut Self, usize, Variant)) {
        let mut variants_left = self.limits.variants;
        for (number, document) in documents.into_iter().enumerate() {
            let variants = variants::split(document, variants_left, &mut self.errors);
            variants_left -= variants.len().min(variants_left);
            for variant in variants.one_by_one() {
                // A fault that every variant repeats need not be found a thousand times.
                if self.errors.len() > Fault::MOST {
                    return;
                }
                match variant {
                    Ok(variant) => visit(self, number, variant),
                    Err(error) => self.errors.push(error),
                }
            }
        }
    }

    fn decoded(&mut self, node: &Node, decoder: &mut Decoder) -> Option<KernelDoc> {
        let mut doc = KernelDoc::decode(node, decoder)?;
        doc.complete(node, decoder);
        self.known.extend(doc.params.iter().flat_map(|p| &p.0).map(|p| p.0.value.clone()));
        Some(doc)
    }

    /// The documents that a variant comes to: itself, or what was read of its code.
    fn trees(&mut self, variant: Variant, reader: &dyn ReadCode) -> Vec<Tree> {
        if variant.node.get("code").is_none_or(Node::is_null) {
            return vec![Tree { variant: variant.name, node: variant.node, code: None }];
        }
        let mut decoder = Decoder::default();
        let doc = self.decoded(&variant.node, &mut decoder);
        let wanted = doc.and_then(|doc| request(&doc, &self.overrides, self.limits, &mut decoder));
        let failed = decoder.failed();
        self.errors.extend(decoder.diagnostics.into_iter().filter(is_error));
        let Some(wanted) = wanted.filter(|_| !failed) else { return Vec::new() };
        match reader.read(&wanted, &mut self.sources) {
            Err(errors) => {
                self.errors.extend(errors);
                Vec::new()
            }
            Ok(all) => {
                let name = |own: Option<String>| match (&variant.name, own) {
                    (Some(name), Some(own)) => Some(format!("{name}, {own}")),
                    (name, own) => own.or_else(|| name.clone()),
                };
                let tree = |read: CodeRead| Tree {
                    variant: name(read.variant),
                    node: filled(variant.node.clone(), read.document),
                    code: Some((read.code, read.warnings)),
                };
                all.into_iter().map(tree).collect()
            }
        }
    }

    /// The kernel of a document.
    fn kernel(&mut self, document: usize, tree: Tree) -> Option<Kernel> {
        let mut decoder = Decoder::default();
        let decoded = self.decoded(&tree.node, &mut decoder);
        let before = decoder.diagnostics.len();
        let kernel =
            decoded.and_then(|doc| build(doc, &self.overrides, self.limits, &mut self.budget, &mut decoder));
        if before > 0 || decoder.diagnostics.iter().any(is_error) {
            self.errors.extend(decoder.diagnostics.into_iter().filter(is_error));
            return None;
        }
        let (code, mut warnings) = tree.code.unzip();
        let warnings = [warnings.take().unwrap_or_default(), decoder.diagnostics].concat();
        kernel.map(|kernel| Kernel { document, variant: tree.variant, code, warnings, ..kernel })
    }

    /// The texts, or all that is wrong with them.
    fn finish(mut self) -> Result<Arc<Sources>, Fault> {
        // After a flood not all documents were looked at.
        let all = self.errors.len() <= Fault::MOST;
        for o in self.overrides.iter().filter(|o| all && !self.known.contains(&o.name)) {
            let near = nearest(&o.name, self.known.iter().map(String::as_str));
            let message = format!("no document has a parameter `{}`", o.name);
            let error = Diagnostic::error("unknown-param", o.span, message);
            let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
            let help = match (near, known.as_slice()) {
                (_, []) => {
                    "the kernel has no parameters; write numbers that change under `params`".to_owned()
                }
                (Some(near), known) => format!("did you mean `{near}`? parameters: {}", some_of(known)),
                (None, known) => format!("parameters: {}", some_of(known)),
            };
            self.errors.push(error.help(help));
        }
        let sources = Arc::new(self.sources);
        if self.errors.is_empty() { Ok(sources) } else { Err(Fault::new(self.errors, sources)) }
    }
}

/// Says how a limit is raised that a text is beyond.
fn raised_by_an_option(error: Diagnostic) -> Diagnostic {
    let is_limit = error.code == "document-too-large";
    error.maybe_help(is_limit.then(|| "raise it with --limit document-bytes=N if this is meant".to_owned()))
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
