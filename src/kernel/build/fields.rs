//! Arrays: shapes, strides, sizes.

use std::collections::HashMap;

use super::params::{MAX_SIZE, value};
use super::symbols::Symbols;
use crate::expr::{Coefficient, Excess, Expr, Form, Scale, lower};
use crate::kernel::document::FieldDoc;
use crate::kernel::leaf::{Formula, OneOrMany, Order, Space};
use crate::kernel::model::{Field, FieldId};
use crate::text::{Decoder, Diagnostic, Named, Span, Spanned, nearest};

/// Most indices of an array.
const MAX_RANK: usize = 16;
/// Most fields of a document.
const MAX_FIELDS: usize = 10_000;

/// All fields of a document; one that could not be understood is a stand-in, so that ids stay right.
pub(super) fn build(
    docs: Option<&Named<FieldDoc>>,
    symbols: &mut Symbols,
    decoder: &mut Decoder,
) -> Vec<Field> {
    let Some(Named(docs)) = docs else { return Vec::new() };
    if docs.is_empty() && !symbols.unsure {
        decoder.report(Diagnostic::error("no-fields", symbols.span, "the document has no fields"));
    }
    if docs.len() > MAX_FIELDS {
        let message = format!("{} fields; at most {MAX_FIELDS} are read (use `multiplicity`)", docs.len());
        decoder.report(Diagnostic::error("too-many-fields", docs[MAX_FIELDS].0.span, message));
        symbols.unsure = true;
        return Vec::new();
    }
    for (i, (name, _)) in docs.iter().enumerate() {
        symbols.define(name, "a field", decoder);
        symbols.fields.insert(name.value.clone(), FieldId(u16::try_from(i).expect("at most MAX_FIELDS")));
    }
    // Names of shapes are numbers and axes, whatever fields are called.
    let resolved = follow_likes(docs, decoder);
    docs.iter()
        .zip(resolved)
        .map(|((name, _), resolved)| {
            let damaged = resolved.as_ref().is_none_or(|d| !d.damaged.is_empty());
            let field = resolved.and_then(|d| Shaping { name, doc: &d, symbols, decoder }.field());
            if field.is_none() && !damaged && decoder.diagnostics.is_empty() {
                decoder.report(Diagnostic::error(
                    "field",
                    name.span,
                    format!("the field `{}` could not be understood", name.value),
                ));
            }
            field.unwrap_or_else(|| stand_in(&name.value))
        })
        .collect()
}

/// A field in the place of one that could not be understood; errors have been reported by then.
fn stand_in(name: &str) -> Field {
    let dtype = crate::kernel::leaf::DType { name: "u8".to_owned(), bytes: 1 };
    let elements = Scale::int(MAX_SIZE);
    let (shape, strides, halo) = (Vec::new(), Vec::new(), Vec::new());
    let (space, name) = (Space::Global, name.to_owned());
    Field { name, dtype, shape, strides, halo, elements, align: 256, offset: 0, space, multiplicity: 1 }
}

/// How far the keys of a field are known.
enum Likeness {
    Unknown,
    /// On the path that is being followed.
    Open,
    /// Merged with those of the fields it is like; nothing if there is no such field.
    Known(Option<Box<FieldDoc>>),
}

/// The keys of each field with those of the fields it is like. Each field is visited once: chains may
/// be long.
fn follow_likes(docs: &[(Spanned<String>, FieldDoc)], decoder: &mut Decoder) -> Vec<Option<FieldDoc>> {
    let places: HashMap<&str, usize> =
        docs.iter().enumerate().map(|(i, d)| (d.0.value.as_str(), i)).collect();
    let mut known: Vec<Likeness> = docs.iter().map(|_| Likeness::Unknown).collect();
    for start in 0..docs.len() {
        let (mut path, mut at) = (Vec::new(), Some(start));
        let mut whole = true;
        while let Some(i) = at.filter(|&i| matches!(known[i], Likeness::Unknown)) {
            known[i] = Likeness::Open;
            path.push(i);
            at = None;
            let Some(target) = &docs[i].1.like else { break };
            at = places.get(target.value.as_str()).copied();
            let error = match at {
                None if decoder.flooded() => {
                    whole = false;
                    None
                }
                None => Some(unlike(target, docs)),
                Some(next) if matches!(known[next], Likeness::Open) => {
                    Some(circle(target, next, &path, docs))
                }
                Some(_) => None,
            };
            if let Some(error) = error {
                decoder.report(error);
                (at, whole) = (None, false);
            }
        }
        let mut base = match at.map(|i| &known[i]) {
            Some(Likeness::Known(base)) => {
                whole = base.is_some();
                base.clone()
            }
            _ => None,
        };
        for i in path.into_iter().rev() {
            let mut merged = docs[i].1.clone();
            if let Some(base) = &base {
                inherit(&mut merged, base);
            }
            base = whole.then(|| Box::new(merged));
            known[i] = Likeness::Known(base.clone());
        }
    }
    let merged = |l| if let Likeness::Known(doc) = l { doc.map(|d| *d) } else { None };
    known.into_iter().map(merged).collect()
}

fn unlike(target: &Spanned<String>, docs: &[(Spanned<String>, FieldDoc)]) -> Diagnostic {
    let near = nearest(&target.value, docs.iter().map(|d| d.0.value.as_str()));
    let message = format!("there is no field `{}` to be like", crate::text::shorten(&target.value));
    Diagnostic::error("like", target.span, message).maybe_help(near.map(|n| format!("did you mean `{n}`?")))
}

fn circle(
    target: &Spanned<String>,
    next: usize,
    path: &[usize],
    docs: &[(Spanned<String>, FieldDoc)],
) -> Diagnostic {
    const SHOWN: usize = 20;
    let around = path.iter().skip_while(|&&i| i != next);
    let mut names: Vec<&str> = around.map(|&i| docs[i].0.value.as_str()).collect();
    if names.len() > SHOWN {
        names.truncate(SHOWN);
        names.push("...");
    }
    let message = format!("the fields {} are like each other in a circle", names.join(", "));
    Diagnostic::error("like", target.span, message)
}

/// Keys that are absent come from `from`; a shape of one's own replaces all that describes shape.
fn inherit(into: &mut FieldDoc, from: &FieldDoc) {
    if into.shape.is_none() && into.size.is_none() {
        into.shape.clone_from(&from.shape);
        into.size.clone_from(&from.size);
        if into.order.is_none() && into.strides.is_none() {
            into.strides.clone_from(&from.strides);
        }
    }
    if into.order.is_none() && into.strides.is_none() {
        into.order = from.order;
    }
    into.dtype = into.dtype.take().or_else(|| from.dtype.clone());
    into.halo = into.halo.take().or_else(|| from.halo.clone());
    into.align = into.align.take().or_else(|| from.align.clone());
    into.offset = into.offset.take().or_else(|| from.offset.clone());
    into.space = into.space.or(from.space);
    into.multiplicity = into.multiplicity.take().or_else(|| from.multiplicity.clone());
    into.damaged.extend(&from.damaged);
}

/// Works out one field.
struct Shaping<'a> {
    name: &'a Spanned<String>,
    doc: &'a FieldDoc,
    symbols: &'a mut Symbols,
    decoder: &'a mut Decoder,
}

impl Shaping<'_> {
    fn field(mut self) -> Option<Field> {
        let doc = self.doc;
        if !doc.damaged.is_empty() {
            return None;
        }
        let name = self.name.value.clone();
        let Some(dtype) = doc.dtype.clone() else {
            return self.fail(
                self.name.span,
                format!("the field `{name}` needs a `dtype`"),
                "for example dtype: f64",
            );
        };
        let space = doc.space.unwrap_or(Space::Global);
        let shape = self.shape(space)?;
        let halo = self.halo(shape.len())?;
        let strides = self.strides(&shape, space)?;
        let elements = self.elements(&shape, &strides)?;
        let align = self.number(doc.align.as_ref(), 256, 1, "align")?;
        let offset = self.number(doc.offset.as_ref(), 0, -MAX_SIZE, "offset")?;
        let multiplicity = self.number(doc.multiplicity.as_ref(), 1, 1, "multiplicity")?;
        let bytes =
            elements.as_int().map_or(Some(0), |e| e.checked_mul(dtype.bytes)?.checked_mul(multiplicity));
        if bytes.is_none_or(|b| b > MAX_SIZE) {
            return self.fail(
                self.name.span,
                format!("the field `{name}` has more than 2^62 bytes"),
                "check its shape",
            );
        }
        Some(Field { name, dtype, shape, strides, halo, elements, align, offset, space, multiplicity })
    }

    fn fail<T>(&mut self, span: Span, message: String, help: &str) -> Option<T> {
        self.decoder.report(Diagnostic::error("field", span, message).help(help));
        None
    }

    fn number(&mut self, formula: Option<&Formula>, default: i64, least: i64, key: &str) -> Option<i64> {
        let Some(Formula(e)) = formula else { return Some(default) };
        let number = value(e, self.symbols, self.decoder)?;
        if (least..=MAX_SIZE).contains(&number) {
            return Some(number);
        }
        self.fail(
            e.span,
            format!("`{key}` is {number}; it must be at least {least}"),
            "write another number, or leave it out",
        )
    }

    fn shape(&mut self, space: Space) -> Option<Vec<Scale>> {
        let formulas = match (&self.doc.shape, &self.doc.size) {
            (Some(shape), None) => shape.as_slice(),
            (None, Some(size)) => std::slice::from_ref(size),
            (Some(_), Some(size)) => {
                return self.fail(
                    size.0.span,
                    "a field has a `shape` or a `size`, not both".into(),
                    "leave one out",
                );
            }
            (None, None) => {
                let message = format!("the field `{}` needs a `shape` or a `size`", self.name.value);
                return self.fail(self.name.span, message, "for example shape: [NX, NY]");
            }
        };
        if formulas.is_empty() || formulas.len() > MAX_RANK {
            let message = format!("an array of {} dimensions; 1 to {MAX_RANK} are possible", formulas.len());
            return self.fail(self.name.span, message, "write shape: [NX, NY]");
        }
        // A field of size 0 is one that parameters have removed.
        let least = i64::from(self.doc.size.is_none());
        formulas.iter().map(|f| self.extent(&f.0, space, least, "an extent")).collect()
    }

    /// A number, or for a shared field something that depends on the block.
    fn extent(&mut self, e: &Expr, space: Space, least: i64, what: &str) -> Option<Scale> {
        self.symbols.refusal = Some(|_| Some("shapes and strides are the same for all threads"));
        let lowered = lower(e, self.symbols);
        self.symbols.refusal = None;
        let scale = match lowered {
            Ok(form) => form.as_scale().cloned(),
            Err(error) => {
                self.symbols.report(error, self.decoder);
                return None;
            }
        };
        match scale.as_ref().map(|s| (s, s.as_int())) {
            Some((s, Some(n))) if (least..=MAX_SIZE).contains(&n) => Some(s.clone()),
            Some((_, Some(n))) => self.fail(
                e.span,
                format!("{what} of `{}` is {n}; it must be at least {least}", self.name.value),
                "check the sizes",
            ),
            Some((s, None)) if space == Space::Shared => Some(s.clone()),
            _ => {
                let message =
                    format!("`{e}` depends on the launch, but the field `{}` is global", self.name.value);
                self.fail(e.span, message, "only fields with `space: shared` may use blockDim")
            }
        }
    }

    fn halo(&mut self, rank: usize) -> Option<Vec<i64>> {
        let formulas = match &self.doc.halo {
            None => return Some(vec![0; rank]),
            Some(OneOrMany::One(one)) => vec![one; rank],
            Some(OneOrMany::Many(many)) => many.iter().collect(),
        };
        if formulas.len() != rank {
            let message = format!("{} halo widths are given for {rank} dimensions", formulas.len());
            return self.fail(
                formulas.first().map_or(self.name.span, |f| f.0.span),
                message,
                "give one number, or one per index",
            );
        }
        formulas.into_iter().map(|f| self.number(Some(f), 0, 0, "halo")).collect()
    }

    fn strides(&mut self, shape: &[Scale], space: Space) -> Option<Vec<Scale>> {
        if let Some(strides) = &self.doc.strides {
            if strides.len() != shape.len() {
                let message = format!("{} strides are given for {} dimensions", strides.len(), shape.len());
                return self.fail(self.name.span, message, "give one stride per index, in elements");
            }
            if self.doc.order.is_some() {
                return self.fail(
                    self.name.span,
                    "a field has `strides` or an `order`, not both".into(),
                    "leave one out",
                );
            }
            return strides.iter().map(|s| self.extent(&s.0, space, 0, "a stride")).collect();
        }
        let mut strides = vec![Scale::int(1); shape.len()];
        let mut pitch = Scale::int(1);
        let fastest_first: Vec<usize> = match self.doc.order.unwrap_or(Order::First) {
            Order::First => (0..shape.len()).collect(),
            Order::Last => (0..shape.len()).rev().collect(),
        };
        for i in fastest_first {
            strides[i] = pitch.clone();
            pitch = self.sized(pitch.times(&shape[i]))?;
        }
        Some(strides)
    }

    /// Elements from the first to the last: sum of (extent - 1) * stride, plus 1.
    fn elements(&mut self, shape: &[Scale], strides: &[Scale]) -> Option<Scale> {
        let mut last = Scale::int(0);
        for (extent, stride) in shape.iter().zip(strides) {
            let step = extent.plus(&Scale::int(-1)).and_then(|e| e.times(stride)).and_then(|e| e.plus(&last));
            last = self.sized(step)?;
        }
        self.sized(last.plus(&Scale::int(1)))
    }

    fn sized(&mut self, size: Result<Scale, Excess>) -> Option<Scale> {
        match size {
            Ok(size) if size.as_int().is_none_or(|n| n <= MAX_SIZE) => Some(size),
            _ => {
                let message = format!("the field `{}` has more than 2^62 elements", self.name.value);
                self.fail(self.name.span, message, "check its shape")
            }
        }
    }
}

/// The linear element of indices: sum of (index + halo) * stride.
pub(super) fn linear(field: &Field, indices: &[Form<Scale>]) -> Result<Form<Scale>, Excess> {
    let mut total = Form::int(0);
    for ((index, stride), halo) in indices.iter().zip(&field.strides).zip(&field.halo) {
        total = total.plus(&index.plus(&Form::int(*halo))?.times(stride)?)?;
    }
    Ok(total)
}
