//! What the names of a document mean, at each place of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::expr::{Binding, Builtin, Coord, Environment, LookupTable, LoopId, Scope};
use crate::kernel::model::{Axis, FieldId};
use crate::text::{Decoder, Diagnostic, Span, Spanned, some_of};

/// Words of the grammar that a document cannot redefine.
const RESERVED: [&str; 12] = [
    "tidx",
    "tidy",
    "tidz",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "min",
    "max",
    "pow2",
    "step",
    "sync",
];

/// Most threads of a block along one dimension that are taken seriously anywhere.
pub(super) const MAX_BLOCK: i64 = 1 << 16;

/// A loop variable in scope.
#[derive(Debug, Clone)]
pub(super) struct LoopName {
    pub name: String,
    pub id: LoopId,
    pub interval: Option<(i64, i64)>,
}

/// The names of a document and their meanings.
#[derive(Debug)]
pub(super) struct Symbols {
    /// Parameters, in document order.
    pub params: Vec<(String, i64)>,
    /// Axes in launch order.
    pub axes: Vec<Axis>,
    /// Tables.
    pub tables: BTreeMap<String, Arc<LookupTable>>,
    /// Fields.
    pub fields: BTreeMap<String, FieldId>,
    /// Loops around the place in question, outermost first.
    pub loops: Vec<LoopName>,
    /// Variables of a `for` and their present values.
    pub unrolled: Vec<(String, i64)>,
    /// Something that defines names could not be read, so that an unknown name proves nothing.
    pub unsure: bool,
    /// The grid follows from the domain, so that working threads lie inside it.
    pub threads_follow_domain: bool,
    /// Work items are inside the domain wherever they occur. Not so in the guard of a kernel with a
    /// grid of its own, which holds for its threads outside too.
    pub items_follow_domain: bool,
    /// Why certain coordinates cannot be used at this place.
    pub refusal: Option<fn(Coord) -> Option<&'static str>>,
    values: HashMap<String, i64>,
    defined: BTreeMap<String, &'static str>,
    /// The whole document.
    pub span: Span,
}

impl Symbols {
    pub fn new(span: Span) -> Self {
        Self {
            params: Vec::new(),
            axes: Vec::new(),
            tables: BTreeMap::new(),
            fields: BTreeMap::new(),
            loops: Vec::new(),
            unrolled: Vec::new(),
            unsure: false,
            threads_follow_domain: true,
            items_follow_domain: true,
            refusal: None,
            values: HashMap::new(),
            defined: BTreeMap::new(),
            span,
        }
    }

    /// Takes the parameters and their values.
    pub fn set_params(&mut self, params: Vec<(String, i64)>) {
        self.values = params.iter().cloned().collect();
        self.params = params;
    }

    /// Reports an error, unless it is an unknown name and that may be the fault of another error.
    pub fn report(&self, diagnostic: Diagnostic, decoder: &mut Decoder) {
        let follows = self.unsure && diagnostic.code == "unknown-name" && !decoder.diagnostics.is_empty();
        if !follows {
            decoder.report(diagnostic);
        }
    }

    /// Takes a name into the namespace; reports what is wrong with it.
    pub fn define(&mut self, name: &Spanned<String>, what: &'static str, decoder: &mut Decoder) {
        if !self.check(name, what, decoder) {
            return;
        }
        self.defined.insert(name.value.clone(), what);
    }

    /// Whether a name can be used for something new.
    pub fn check(&self, name: &Spanned<String>, what: &str, decoder: &mut Decoder) -> bool {
        let text = name.value.as_str();
        let identifier = !text.is_empty()
            && !text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let problem = if !identifier {
            let shown = crate::text::shorten(text);
            Some(("name", format!("`{shown}` cannot name {what}: use letters, digits and _")))
        } else if RESERVED.contains(&text) || text.starts_with("get_") {
            Some(("reserved-name", format!("`{text}` has a meaning of its own and cannot name {what}")))
        } else {
            let taken = self.defined.get(text).copied();
            let taken =
                taken.or_else(|| self.loops.iter().any(|l| l.name == text).then_some("a loop variable"));
            let taken = taken.or_else(|| self.unrolled.iter().any(|u| u.0 == text).then_some("a variable"));
            taken.map(|taken| {
                ("name-collision", format!("`{text}` names {taken} already and cannot name {what} too"))
            })
        };
        match problem {
            None => true,
            Some((code, message)) => {
                decoder.report(Diagnostic::error(code, name.span, message));
                false
            }
        }
    }

    /// The names that a document gave, by kind. A generator may have made thousands: some of each are shown.
    fn by_kind<'s>(kinds: impl IntoIterator<Item = (&'s str, Vec<&'s str>)>) -> Option<String> {
        let kinds = kinds.into_iter().filter(|(_, names)| !names.is_empty());
        let lines: Vec<String> = kinds.map(|(kind, names)| format!("{kind}: {}", some_of(&names))).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
    }

    fn parameter_names(&self) -> Vec<&str> {
        self.params.iter().map(|p| p.0.as_str()).collect()
    }

    fn number(&self, name: &str) -> Option<i64> {
        let unrolled = self.unrolled.iter().rev().find(|u| u.0 == name).map(|u| u.1);
        unrolled.or_else(|| self.values.get(name).copied())
    }
}

impl Environment for Symbols {
    fn name(&self, name: &str) -> Option<i64> {
        self.number(name)
    }

    fn builtin(&self, _: Builtin) -> Option<i64> {
        None
    }

    fn table(&self, name: &str, indices: &[i64]) -> Option<i64> {
        self.tables.get(name)?.get(indices)
    }

    fn known(&self) -> Vec<&str> {
        let numbers =
            self.params.iter().map(|p| p.0.as_str()).chain(self.unrolled.iter().map(|u| u.0.as_str()));
        numbers.chain(self.tables.keys().map(String::as_str)).collect()
    }

    fn listed(&self) -> Option<String> {
        Self::by_kind([("parameters", self.parameter_names())])
    }
}

impl Scope for Symbols {
    fn resolve(&self, name: &str) -> Option<Binding> {
        if let Some(value) = self.number(name) {
            return Some(Binding::Value(value));
        }
        if let Some(l) = self.loops.iter().find(|l| l.name == name) {
            return Some(Binding::Coord(Coord::Loop(l.id)));
        }
        if let Some(at) = self.axes.iter().position(|a| a.name == name) {
            return Some(Binding::Coord(Coord::Axis(crate::expr::Dim::ALL[at])));
        }
        if let Some(table) = self.tables.get(name) {
            return Some(Binding::Table(table.clone()));
        }
        self.fields.contains_key(name).then_some(Binding::Field)
    }

    fn interval(&self, coord: Coord) -> Option<(i64, i64)> {
        let extent = |d: crate::expr::Dim| self.axes.get(d.index()).map_or(1, |a| a.extent);
        match coord {
            Coord::Axis(d) if self.items_follow_domain => Some((0, extent(d) - 1)),
            // A folded thread works if its first work item is inside.
            Coord::Thread(d) if self.threads_follow_domain => Some((0, extent(d) - 1)),
            Coord::Axis(_) | Coord::Thread(_) => None,
            Coord::ThreadIdx(_) => Some((0, MAX_BLOCK - 1)),
            Coord::BlockIdx(d) if self.threads_follow_domain => Some((0, extent(d) - 1)),
            Coord::BlockIdx(_) => Some((0, (1 << 31) - 1)),
            Coord::Loop(id) => self.loops.iter().find(|l| l.id == id)?.interval,
        }
    }

    fn refuse(&self, coord: Coord) -> Option<&'static str> {
        self.refusal.and_then(|refuse| refuse(coord))
    }

    fn known(&self) -> Vec<&str> {
        let coords =
            self.axes.iter().map(|a| a.name.as_str()).chain(self.loops.iter().map(|l| l.name.as_str()));
        let arrays = self.fields.keys().map(String::as_str);
        Environment::known(self)
            .into_iter()
            .chain(coords)
            .chain(arrays)
            .chain(["tidx", "tidy", "tidz"])
            .collect()
    }

    fn listed(&self) -> Option<String> {
        let unrolled = self.unrolled.iter().map(|u| u.0.as_str());
        Self::by_kind([
            ("axes", self.axes.iter().map(|a| a.name.as_str()).collect()),
            ("variables", unrolled.chain(self.loops.iter().map(|l| l.name.as_str())).collect()),
            ("parameters", self.parameter_names()),
            ("tables", self.tables.keys().map(String::as_str).collect()),
        ])
    }
}
