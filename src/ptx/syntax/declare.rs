//! Declarations of variables and parameters.

use super::ast::{Initial, Linkage, Operand, Param, StateSpace, Type, Variable};
use super::cursor::{Cursor, Parsed, integer};
use super::lexer::Kind;
use super::operand::number;
use crate::text::Span;

/// What stands between a space and the names: alignment and type.
struct Declared {
    align: Option<u64>,
    vector: u64,
    element: Type,
    pointer: Option<(Option<StateSpace>, u64)>,
}

/// Alignment, vector and type, in any order. Types that are none of memory (`.texref`) count as handles of 64 bits.
fn declared(cursor: &mut Cursor<'_>) -> Parsed<Declared> {
    let mut found = Declared { align: None, vector: 1, element: Type { kind: 'b', bits: 64 }, pointer: None };
    while let Some(word) = cursor.dotted() {
        cursor.next();
        match word {
            "align" => {
                let align = cursor.count("an alignment")?;
                match &mut found.pointer {
                    Some((_, of_pointer)) => *of_pointer = align,
                    None => found.align = Some(align),
                }
            }
            "v2" => found.vector = 2,
            "v4" => found.vector = 4,
            "v8" => found.vector = 8,
            "ptr" => found.pointer = Some((None, 1)),
            "attribute" => {
                cursor.expect(b'(')?;
                cursor.skip_past(b')')?;
            }
            _ => {
                if let Some((space, _)) = &mut found.pointer
                    && let Some(named) = StateSpace::named(word)
                {
                    *space = Some(named);
                } else if let Some(element) = Type::named(word) {
                    found.element = element;
                }
            }
        }
    }
    Ok(found)
}

/// `[4][8]`: elements in all, `Some(None)` for `[]`; `None` where there are no brackets.
#[expect(
    clippy::option_option,
    reason = "no brackets, brackets without a length, and a length are three cases"
)]
fn dimensions(cursor: &mut Cursor<'_>) -> Parsed<Option<Option<u64>>> {
    let mut count = None;
    while cursor.take(b'[') {
        let length = if cursor.is(b']') { None } else { Some(cursor.count("a length")?) };
        cursor.expect(b']')?;
        count = match (count, length) {
            (None, length) => Some(length),
            (Some(before), length) => Some(before.zip(length).map(|(a, b): (u64, u64)| a.saturating_mul(b))),
        };
    }
    Ok(count)
}

/// Registers of one declaration, after `.reg`: names, how many each stands for (`None` for a single one), types.
pub(super) fn registers<'a>(cursor: &mut Cursor<'a>) -> Parsed<Vec<(&'a str, Option<u64>, Type)>> {
    let declared = declared(cursor)?;
    let mut names = Vec::new();
    loop {
        let (name, _) = cursor.word("the name of a register")?;
        let count = if cursor.take(b'<') {
            let count = cursor.count("a number of registers")?;
            cursor.expect(b'>')?;
            Some(count)
        } else {
            None
        };
        names.push((name, count, declared.element));
        if !cursor.take(b',') {
            cursor.expect(b';')?;
            return Ok(names);
        }
    }
}

/// Variables of one declaration, after the word of their space.
pub(super) fn variables(
    cursor: &mut Cursor<'_>,
    space: StateSpace,
    linkage: Linkage,
    into: &mut Vec<Variable>,
) -> Parsed<()> {
    let declared = declared(cursor)?;
    loop {
        let (name, span) = cursor.word("the name of a variable")?;
        let dimensions = dimensions(cursor)?;
        let initial = if cursor.take(b'=') { initial(cursor)? } else { Vec::new() };
        let natural = declared.element.bytes().saturating_mul(declared.vector);
        let count = match dimensions {
            None => Some(1),
            // The length of `x[] = {1, 2}` is that of the list.
            Some(None) if !initial.is_empty() => u64::try_from(initial.len()).ok(),
            Some(count) => count,
        };
        into.push(Variable {
            name: name.to_owned(),
            space,
            element: declared.element,
            vector: declared.vector,
            count,
            align: declared.align.unwrap_or(natural),
            linkage,
            initial,
            span,
        });
        if !cursor.take(b',') {
            cursor.expect(b';')?;
            return Ok(());
        }
    }
}

/// The values behind `=`, braces inside braces taken apart.
fn initial(cursor: &mut Cursor<'_>) -> Parsed<Vec<Initial>> {
    let mut values = Vec::new();
    let mut open = 0_usize;
    loop {
        match cursor.peek().kind {
            Kind::Sign(b'{') => {
                open += 1;
                cursor.next();
            }
            Kind::Sign(b'}') if open > 0 => {
                open -= 1;
                cursor.next();
            }
            Kind::Sign(b',') if open > 0 => {
                cursor.next();
            }
            _ => values.push(value(cursor)?),
        }
        if open == 0 {
            return Ok(values);
        }
    }
}

fn value(cursor: &mut Cursor<'_>) -> Parsed<Initial> {
    let first = cursor.peek();
    let negative = cursor.take(b'-');
    let token = cursor.peek();
    let known = match token.kind {
        Kind::Number => number(cursor.text_of(token), negative),
        _ => None,
    };
    if let Some(known) = known {
        cursor.next();
        match known {
            Operand::Integer(value) => return Ok(Initial::Integer(value)),
            Operand::Double(bits) => return Ok(Initial::Double(bits)),
            Operand::Single(bits) => return Ok(Initial::Single(bits)),
            _ => {}
        }
    }
    // An address, perhaps as `generic(x)+4` or `mask(0xFF) x`.
    let mut open = 0_usize;
    loop {
        match cursor.peek().kind {
            Kind::End => return Err(cursor.unexpected("a value")),
            Kind::Sign(b'(') => open += 1,
            Kind::Sign(b')') => open = open.saturating_sub(1),
            Kind::Sign(b',' | b'}' | b';') if open == 0 => break,
            _ => {}
        }
        cursor.next();
    }
    let span = cursor.since(first);
    if cursor.peek().start == first.start {
        return Err(cursor.unexpected("a value"));
    }
    Ok(Initial::Other(cursor.text[span.start as usize..span.end as usize].to_owned()))
}

/// Parameters in parentheses.
pub(super) fn params(cursor: &mut Cursor<'_>) -> Parsed<Vec<Param>> {
    cursor.expect(b'(')?;
    let mut params = Vec::new();
    while !cursor.take(b')') {
        if !params.is_empty() {
            cursor.expect(b',')?;
        }
        // Functions may have registers in the place of parameters.
        if !cursor.take_dotted("param") && !cursor.take_dotted("reg") {
            return Err(cursor.unexpected("a parameter"));
        }
        let declared = declared(cursor)?;
        let (name, span) = cursor.word("the name of a parameter")?;
        let count = dimensions(cursor)?.map(|count| count.unwrap_or(0));
        params.push(Param {
            name: name.to_owned(),
            element: declared.element,
            count,
            align: declared.align.unwrap_or(declared.element.bytes()),
            pointer: declared.pointer,
            span,
        });
    }
    Ok(params)
}

/// A number for each of the three dimensions, 1 where there is none.
pub(super) fn block(cursor: &mut Cursor<'_>) -> Parsed<[u32; 3]> {
    let mut sizes = [1; 3];
    for (i, size) in sizes.iter_mut().enumerate() {
        if i > 0 && !cursor.take(b',') {
            break;
        }
        *size = cursor.small("a number of threads")?;
    }
    Ok(sizes)
}

/// `.file 1 "name"`, after its word.
pub(super) fn file(cursor: &mut Cursor<'_>, line: u32) -> Option<(u32, String)> {
    let number = cursor.peek();
    let name = cursor.second();
    let known = (number.kind == Kind::Number && name.kind == Kind::Text).then(|| {
        let id = integer(cursor.text_of(number)).and_then(|n| u32::try_from(n).ok());
        id.map(|id| (id, cursor.text_of(name).trim_matches('"').to_owned()))
    });
    cursor.skip_line(line);
    known.flatten()
}

/// Where a name stands, for errors about it.
pub(super) fn place(cursor: &Cursor<'_>) -> Span {
    cursor.span(cursor.peek())
}
