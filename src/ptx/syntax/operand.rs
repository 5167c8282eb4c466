//! Operands of instructions.

use super::ast::{Base, Operand, RegisterId, Special};
use super::cursor::{Cursor, Parsed, integer};
use super::lexer::Kind;
use super::scope::Scopes;
use crate::expr::Dim;

/// An operand, or several with `|` between them.
pub(super) fn operand(cursor: &mut Cursor<'_>, scopes: &mut Scopes<'_>) -> Parsed<Operand> {
    let first = single(cursor, scopes)?;
    if cursor.take(b'|') {
        let second = single(cursor, scopes)?;
        return Ok(Operand::Pair(Box::new(first), Box::new(second)));
    }
    Ok(first)
}

fn single(cursor: &mut Cursor<'_>, scopes: &mut Scopes<'_>) -> Parsed<Operand> {
    match cursor.peek().kind {
        Kind::Word => word(cursor, scopes),
        Kind::Number | Kind::Sign(b'-' | b'+') => constant(cursor),
        Kind::Sign(b'{') => list(cursor, scopes, b'{', b'}').map(Operand::Vector),
        Kind::Sign(b'(') => list(cursor, scopes, b'(', b')').map(Operand::List),
        Kind::Sign(b'[') => brackets(cursor, scopes),
        Kind::Sign(b'!') => {
            cursor.next();
            Ok(Operand::Not(Box::new(cursor.nested(|c| single(c, scopes))?)))
        }
        _ => Err(cursor.unexpected("an operand")),
    }
}

fn list(cursor: &mut Cursor<'_>, scopes: &mut Scopes<'_>, open: u8, close: u8) -> Parsed<Vec<Operand>> {
    cursor.expect(open)?;
    let mut items = Vec::new();
    while !cursor.take(close) {
        if !items.is_empty() {
            cursor.expect(b',')?;
        }
        items.push(cursor.nested(|c| operand(c, scopes))?);
    }
    Ok(items)
}

fn word(cursor: &mut Cursor<'_>, scopes: &mut Scopes<'_>) -> Parsed<Operand> {
    let (name, _) = cursor.word("a name")?;
    if name == "_" {
        return Ok(Operand::Nothing);
    }
    if let Some(id) = scopes.register(name) {
        return Ok(component(cursor, id));
    }
    if name.starts_with('%') {
        let part = cursor.dotted().filter(|part| dimension(part).is_some());
        if part.is_some() {
            cursor.next();
        }
        return Ok(match special(name, part) {
            Some(special) => Operand::Special(special),
            None => Operand::Machine(part.map_or(name.to_owned(), |part| format!("{name}.{part}"))),
        });
    }
    Ok(Operand::Symbol(name.to_owned(), offset(cursor)?))
}

/// A register, or with `.x` a component of it.
fn component(cursor: &mut Cursor<'_>, id: RegisterId) -> Operand {
    let index = cursor.dotted().and_then(|part| ["x", "y", "z", "w"].iter().position(|p| *p == part));
    match index {
        Some(index) => {
            cursor.next();
            Operand::Component(id, [0, 1, 2, 3][index])
        }
        None => Operand::Register(id),
    }
}

fn dimension(part: &str) -> Option<Dim> {
    Dim::ALL.into_iter().find(|dim| part.chars().eq([dim.letter()]))
}

fn special(name: &str, part: Option<&str>) -> Option<Special> {
    let dim = part.and_then(dimension);
    Some(match name {
        "%tid" => Special::Tid(dim?),
        "%ntid" => Special::Ntid(dim?),
        "%ctaid" => Special::Ctaid(dim?),
        "%nctaid" => Special::Nctaid(dim?),
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        _ => return None,
    })
}

/// `+ 8`, `- 8`, `+-8`, or nothing.
fn offset(cursor: &mut Cursor<'_>) -> Parsed<i64> {
    let mut sum = 0_i64;
    while cursor.is(b'+') || cursor.is(b'-') {
        let mut negative = false;
        while cursor.is(b'+') || cursor.is(b'-') {
            negative ^= cursor.next().kind == Kind::Sign(b'-');
        }
        let value = cursor.count("a number of bytes")?.cast_signed();
        sum = if negative { sum.wrapping_sub(value) } else { sum.wrapping_add(value) };
    }
    Ok(sum)
}

fn constant(cursor: &mut Cursor<'_>) -> Parsed<Operand> {
    let mut negative = false;
    while cursor.is(b'+') || cursor.is(b'-') {
        negative ^= cursor.next().kind == Kind::Sign(b'-');
    }
    let token = cursor.peek();
    if token.kind != Kind::Number {
        return Err(cursor.unexpected("a number"));
    }
    let text = cursor.text_of(token);
    let found = number(text, negative);
    if found.is_none() {
        return Err(cursor.unexpected("a number of PTX"));
    }
    cursor.next();
    Ok(found.unwrap_or(Operand::Nothing))
}

/// A number in any notation.
pub(super) fn number(text: &str, negative: bool) -> Option<Operand> {
    let bits = |digits: &str, length: usize| {
        (digits.len() == length).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
    };
    if let Some(digits) = text.strip_prefix("0f").or(text.strip_prefix("0F")) {
        let bits = u32::try_from(bits(digits, 8)?).ok()?;
        return Some(Operand::Single(if negative { bits ^ (1 << 31) } else { bits }));
    }
    if let Some(digits) = text.strip_prefix("0d").or(text.strip_prefix("0D")) {
        let bits = bits(digits, 16)?;
        return Some(Operand::Double(if negative { bits ^ (1 << 63) } else { bits }));
    }
    if let Some(value) = integer(text) {
        let value = value.cast_signed();
        return Some(Operand::Integer(if negative { value.wrapping_neg() } else { value }));
    }
    let decimal = text.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    let value: f64 = decimal.then(|| text.parse().ok()).flatten()?;
    Some(Operand::Double((if negative { -value } else { value }).to_bits()))
}

fn brackets(cursor: &mut Cursor<'_>, scopes: &mut Scopes<'_>) -> Parsed<Operand> {
    cursor.expect(b'[')?;
    let first = cursor.nested(|c| single(c, scopes))?;
    if cursor.is(b',') {
        let mut items = vec![first];
        while cursor.take(b',') {
            items.push(cursor.nested(|c| single(c, scopes))?);
        }
        cursor.expect(b']')?;
        return Ok(Operand::Brackets(items));
    }
    let address = match first {
        Operand::Register(id) => Operand::Address(Base::Register(id), offset(cursor)?),
        Operand::Symbol(name, at) => Operand::Address(Base::Symbol(name), at.wrapping_add(offset(cursor)?)),
        Operand::Integer(value) => Operand::Address(Base::Nothing, value.wrapping_add(offset(cursor)?)),
        other => Operand::Brackets(vec![other]),
    };
    cursor.expect(b']')?;
    Ok(address)
}
