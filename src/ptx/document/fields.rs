//! Arrays of a kernel as fields of its document.

use rustc_hash::FxHashMap;

use super::statement::{Listed, Status};
use crate::ptx::read::{BaseKind, Reader, Stop};
use crate::ptx::syntax::{StateSpace, Type, Variable};
use crate::ptx::value::gcd;

/// A field.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ptx) struct Field {
    /// Number of the array.
    pub base: u32,
    pub name: String,
    /// The documents' word for where it lies, if it is not global memory.
    pub space: Option<&'static str>,
    /// Bytes of an element.
    pub element: u64,
    /// Its type as documents name it, if it has one.
    pub dtype: Option<&'static str>,
    /// Elements.
    pub size: u64,
}

/// The fields that accesses touch, in the order of their first access.
pub(super) fn fields(reader: &mut Reader<'_>, listed: &[Listed]) -> Result<Vec<Field>, Stop> {
    let mut bases: Vec<u32> = Vec::new();
    for base in listed.iter().filter_map(|l| l.base) {
        if !bases.contains(&base) {
            bases.push(base);
        }
    }
    let mut fields: Vec<Field> = Vec::new();
    for base in bases {
        let mut field = field(reader, base, listed)?;
        // A variable may be called like what a pointer points to.
        while fields.iter().any(|f| f.name == field.name) {
            field.name.push('_');
        }
        fields.push(field);
    }
    Ok(fields)
}

fn field(reader: &mut Reader<'_>, base: u32, listed: &[Listed]) -> Result<Field, Stop> {
    let kind = reader.bases[base as usize].clone();
    let of_it: Vec<&Listed> =
        listed.iter().filter(|l| l.base == Some(base) && l.status != Status::Refused).collect();
    let types: Vec<Type> =
        of_it.iter().filter_map(|l| reader.function.instructions[l.instruction].ty()).collect();
    let mut places = 0;
    // Of accesses that differ by a number only, the one that goes farthest, by what they have in common.
    let mut farthest: Vec<(&Listed, i128)> = Vec::new();
    let mut alike: FxHashMap<_, usize> = FxHashMap::default();
    for access in &of_it {
        let Some(offset) = &access.offset else { continue };
        places = gcd(gcd(places, offset.content()), offset.constant);
        let reach = offset.constant + i128::from(access.width);
        let at = *alike.entry((&offset.terms, &access.cond, &access.loops)).or_insert(farthest.len());
        match farthest.get_mut(at) {
            Some((_, most)) => *most = reach.max(*most),
            None => farthest.push((*access, reach)),
        }
    }
    // Where no access is known, nothing is touched.
    let mut end = 0;
    let mut outermost = 0;
    for (access, reach) in farthest {
        let Some(offset) = &access.offset else { continue };
        reader.know_within(&access.cond, &access.loops);
        let reach = reader.algebra.upper(offset) - offset.constant + reach;
        if reach > end {
            (end, outermost) = (reach, access.instruction);
        }
    }
    let local = matches!(kind, BaseKind::Variable(StateSpace::Local, _));
    // Words of local memory lie apart.
    let most = if local { 4 } else { u64::MAX };
    let smallest = types.iter().map(|t| t.bytes().min(most)).min().unwrap_or(1);
    // Somebody's elements serve where each access begins at one.
    let known = match &kind {
        BaseKind::Param(name, _) => reader.field_element(name),
        BaseKind::Variable(..) => None,
    };
    let begins = |bytes: &u64| *bytes > 0 && places % i128::from(*bytes) == 0;
    // The largest part of the smallest type, if nothing else: all begin at a byte.
    let part = || (1..=smallest).rev().find(|n| smallest.is_multiple_of(*n) && begins(n)).unwrap_or(1);
    let element = known.filter(begins).unwrap_or_else(part);
    let dtype = match &types[..] {
        [first, rest @ ..] if rest.iter().all(|t| t == first) => named(*first),
        _ => None,
    };
    let dtype = dtype.filter(|_| types.first().is_some_and(|t| t.bytes() == element));
    let (name, declared) = match &kind {
        BaseKind::Param(name, _) => (name.clone(), reader.field_bytes(name)),
        BaseKind::Variable(_, name) => {
            let variable = reader.function.variable(name).or_else(|| reader.module.variable(name));
            let bytes = |v: &Variable| match v.space {
                StateSpace::Local => reader.local_bytes(v),
                _ => Some(v.bytes()),
            };
            let name = reader.module.source_name(name).to_owned();
            let far = || Stop::Far(outermost, name.clone());
            let declared = variable.map(|v| bytes(v).ok_or_else(far)).transpose()?;
            (name, declared)
        }
    };
    let touched = u64::try_from(end).map_err(|_| Stop::Far(outermost, name.clone()))?;
    let end = declared.map_or(touched, |declared| touched.max(declared));
    let space = match kind {
        BaseKind::Variable(StateSpace::Shared, _) => Some("shared"),
        BaseKind::Variable(StateSpace::Local, _) => Some("private"),
        _ => None,
    };
    Ok(Field { base, name: plain(&name), space, element, dtype, size: end.div_ceil(element).max(1) })
}

/// A name that documents allow.
fn plain(name: &str) -> String {
    let mut plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, '_');
    }
    let taken = ["tidx", "tidy", "tidz", "min", "max", "pow2", "step", "sync"];
    if taken.contains(&plain.as_str()) || plain.starts_with("get_") {
        plain.push('_');
    }
    plain
}

/// The documents' word for a type.
fn named(ty: Type) -> Option<&'static str> {
    Some(match (ty.kind, ty.bits) {
        ('f', 16) => "f16",
        ('f', 32) => "f32",
        ('f', 64) => "f64",
        ('s', 8) => "i8",
        ('s', 16) => "i16",
        ('s', 32) => "i32",
        ('s', 64) => "i64",
        ('u' | 'b', 8) => "u8",
        ('u' | 'b', 16) => "u16",
        ('u' | 'b', 32) => "u32",
        ('u' | 'b', 64) => "u64",
        _ => return None,
    })
}
