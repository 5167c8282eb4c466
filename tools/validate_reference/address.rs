//! From the reference program's address texts (Python, as sympy reads it) to Wavecast's forms over
//! thread coordinates.

use std::fmt::Write;

use wavecast::expr::{Binding, Coord, Form, LaunchSizes, Scope, lower, parse_expression};
use wavecast::text::{FileId, Origin, Span};

use super::records::{Address, FieldDef, three};

/// The accesses of one field, without repetitions: the reference program keeps a set of them.
#[derive(Debug, Clone)]
pub struct Accesses {
    pub name: String,
    /// Indices of each access, fastest first, over global thread coordinates.
    pub indices: Vec<[Form<i64>; 3]>,
    /// First byte of each access in linear addresses.
    pub bytes: Vec<Form<i64>>,
    pub datatype: i64,
    pub multiplicity: i64,
}

impl Accesses {
    /// Parses a field; an error is the reason why its records are listed.
    pub fn parse(field: &FieldDef) -> Result<Self, String> {
        let dimensions = three(&field.dimensions, "the array")?;
        let datatype = field.datatype.0;
        if datatype < 1 {
            return Err(format!("elements of {datatype} bytes"));
        }
        let mut indices: Vec<[Form<i64>; 3]> = Vec::with_capacity(field.addresses.len());
        for address in &field.addresses {
            let three = parse_address(address)?;
            if !indices.contains(&three) {
                indices.push(three);
            }
        }
        let bytes = indices
            .iter()
            .map(|i| linear(i, dimensions, field.alignment.0, datatype).ok_or("an address over 64 bits"))
            .collect::<Result<_, _>>()?;
        Ok(Self { name: field.name.clone(), indices, bytes, datatype, multiplicity: field.multiplicity.0 })
    }
}

/// (alignment + x + y*nx + z*nx*ny) * datatype.
fn linear(index: &[Form<i64>; 3], dimensions: [i64; 3], alignment: i64, datatype: i64) -> Option<Form<i64>> {
    let plane = dimensions[0].checked_mul(dimensions[1])?;
    let y = index[1].times(&dimensions[0]).ok()?;
    let z = index[2].times(&plane).ok()?;
    let element = Form::int(alignment).plus(&index[0]).ok()?.plus(&y).ok()?.plus(&z).ok()?;
    element.times(&datatype).ok()
}

fn parse_address(address: &Address) -> Result<[Form<i64>; 3], String> {
    let texts: &[String] = match address {
        Address::Flat(text) => std::slice::from_ref(text),
        Address::Indices(list) => list,
    };
    if texts.is_empty() || texts.len() > 3 {
        // The program silently takes the first three: a fault of its own.
        return Err(format!("an address with {} dimensions", texts.len()));
    }
    let mut forms = [Form::int(0), Form::int(0), Form::int(0)];
    for (form, text) in forms.iter_mut().zip(texts) {
        *form = parse_index(text)?;
    }
    Ok(forms)
}

/// An index over `tidx`, `tidy`, `tidz`.
pub fn parse_index(text: &str) -> Result<Form<i64>, String> {
    let ours = translate(text)?;
    let origin = Origin::verbatim(Span::new(FileId(0), 0..ours.len()));
    let tree = parse_expression(&ours, origin).map_err(|d| format!("address `{text}`: {}", d.message))?;
    let form = lower(&tree, &NoNames).map_err(|d| format!("address `{text}`: {}", d.message))?;
    if form.mentions(&|c| !matches!(c, Coord::Thread(_))) {
        return Err(format!("address `{text}` mentions more than tidx, tidy, tidz"));
    }
    // A block of one thread turns block and thread coordinates into the global one.
    let sizes = LaunchSizes::ONE;
    let placed = form.at(&sizes).map_err(|_| format!("address `{text}` does not fit into 64 bits"))?;
    let global = |c| match c {
        Coord::ThreadIdx(d) => Some(Coord::Thread(d)),
        Coord::BlockIdx(_) => None,
        other => Some(other),
    };
    placed.rename(&global).map_err(|_| format!("address `{text}` does not fit into 64 bits"))
}

struct NoNames;

impl Scope for NoNames {
    fn resolve(&self, _: &str) -> Option<Binding> {
        None
    }

    fn interval(&self, _: Coord) -> Option<(i64, i64)> {
        None
    }

    fn known(&self) -> Vec<&str> {
        vec!["tidx", "tidy", "tidz"]
    }
}

/// Python's floor division and sympy's `floor(a/b)` and `Mod(a, b)` in the words of our grammar. A true
/// quotient has no floor of its own: it is refused.
pub fn translate(text: &str) -> Result<String, String> {
    let refuse = |what: &str| Err(format!("address `{text}`: {what}"));
    if text.contains("**") {
        return refuse("a power");
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("//") {
            out.push('/');
            rest = after;
        } else if let Some((inner, after)) = call(rest, "floor") {
            // floor(a/b) with one quotient, the last operation.
            let Some((a, b)) = inner.rsplit_once('/') else { return refuse("a floor without a quotient") };
            let whole = |s: &str| s.chars().all(|c| c.is_ascii_digit() || c == ' ');
            let single = balanced(a) && !a.contains(['+', '-', '/', '%']) || parenthesised(a);
            if !single || !whole(b) {
                return refuse("a floor of more than one quotient");
            }
            let _ = write!(out, "(({})/{})", translate(a)?, b.trim());
            rest = after;
        } else if let Some((inner, after)) = call(rest, "Mod") {
            let Some((a, b)) = inner.rsplit_once(',') else { return refuse("Mod of one argument") };
            let _ = write!(out, "(({})%({}))", translate(a)?, translate(b)?);
            rest = after;
        } else if c == '/' {
            return refuse("a quotient without floor");
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(out)
}

/// The argument text of `name(...)` at the front, and what follows.
fn call<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let inner = text.strip_prefix(name)?.strip_prefix('(')?;
    let mut depth = 1;
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&inner[..at], &inner[at + 1..]));
        }
    }
    None
}

fn balanced(text: &str) -> bool {
    text.matches('(').count() == text.matches(')').count()
}

fn parenthesised(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('(')
        && text.strip_prefix('(').and_then(|_| call(text, "")).is_some_and(|c| c.1.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, x: i64, y: i64) -> i64 {
        let form = parse_index(text).unwrap();
        let value = |c| match c {
            Coord::Thread(d) => Some([x, y, 0][d.index()]),
            _ => None,
        };
        form.evaluate(&value).unwrap()
    }

    #[test]
    fn python_and_sympy_spellings() {
        assert_eq!(at("tidx*3 + 1", 5, 0), 16);
        assert_eq!(at("tidx//4", 7, 0), 1);
        assert_eq!(at("floor(tidx/4) + tidy", 7, 2), 3);
        assert_eq!(at("floor((tidx - 1)/4)", 0, 0), -1);
        assert_eq!(at("Mod(tidx, 4)", 7, 0), 3);
        assert_eq!(at("tidx % 4", 7, 0), 3);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for text in
            ["tidx/2", "tidx**2", "floor(tidx/2 + 1/2)", "w[tidx]", "tidx*tidy", "threadIdx.x", "tidx +"]
        {
            assert!(parse_index(text).is_err(), "{text}");
        }
    }
}
