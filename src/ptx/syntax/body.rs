//! Bodies of functions.

use super::ast::{Function, Guard, Linkage, Operand, PtxInstruction, SourceLine, StateSpace};
use super::cursor::{Cursor, Parsed, integer};
use super::declare::{registers, variables};
use super::lexer::{Kind, Token};
use super::operand::operand;
use super::scope::Scopes;
use crate::text::{Diagnostic, Span};

/// What is known while a body is read.
struct Body<'a> {
    scopes: Scopes<'a>,
    source: Option<SourceLine>,
    /// The braces that each instruction stands in.
    stands_in: Vec<usize>,
}

/// A body with its braces, put into `function`.
pub(super) fn body(cursor: &mut Cursor<'_>, function: &mut Function) -> Parsed<()> {
    cursor.expect(b'{')?;
    let mut body = Body { scopes: Scopes::new(), source: None, stands_in: Vec::new() };
    loop {
        let token = cursor.peek();
        match token.kind {
            Kind::Sign(b'{') => {
                cursor.next();
                body.scopes.enter();
            }
            Kind::Sign(b'}') => {
                cursor.next();
                if !body.scopes.leave() {
                    break;
                }
            }
            Kind::Sign(b';') => {
                cursor.next();
            }
            Kind::Dotted => directive(cursor, function, &mut body)?,
            Kind::Word if cursor.second().kind == Kind::Sign(b':') => label(cursor, function, &mut body)?,
            Kind::Word | Kind::Sign(b'@') => {
                let made = instruction(cursor, &mut body)?;
                body.stands_in.push(body.scopes.current());
                function.instructions.push(made);
            }
            _ => return Err(cursor.unexpected("an instruction")),
        }
    }
    for (instruction, &braces) in function.instructions.iter_mut().zip(&body.stands_in) {
        branch(instruction, &body.scopes, braces)?;
    }
    function.registers = body.scopes.registers;
    function.labels = body.scopes.labels;
    Ok(())
}

/// Puts instructions in the place of labels.
fn branch(instruction: &mut PtxInstruction, scopes: &Scopes<'_>, braces: usize) -> Parsed<()> {
    if !matches!(instruction.name.as_str(), "bra" | "brx") {
        return Ok(());
    }
    for operand in &mut instruction.operands {
        let Operand::Symbol(name, 0) = operand else { continue };
        let Some(target) = scopes.target(braces, name) else {
            let message = format!("there is no label `{}` here", crate::text::shorten(name));
            return Err(Diagnostic::error("ptx-label", instruction.span, message)
                .help("is the file whole? Compile it again"));
        };
        *operand = target;
    }
    Ok(())
}

fn label<'a>(cursor: &mut Cursor<'a>, function: &Function, body: &mut Body<'a>) -> Parsed<()> {
    let (name, span) = cursor.word("a label")?;
    cursor.expect(b':')?;
    if cursor.take_dotted("branchtargets") {
        let mut labels = Vec::new();
        loop {
            labels.push(cursor.word("a label")?.0);
            if !cursor.take(b',') {
                break;
            }
        }
        cursor.expect(b';')?;
        body.scopes.table(name, labels);
        return Ok(());
    }
    if matches!(cursor.dotted(), Some("callprototype" | "calltargets")) {
        return cursor.skip_past(b';');
    }
    if !body.scopes.label(name, function.instructions.len()) {
        let message = format!("the label `{}` stands twice in these braces", crate::text::shorten(name));
        return Err(Diagnostic::error("ptx-label", span, message).help("is the file whole? Compile it again"));
    }
    Ok(())
}

fn directive<'a>(cursor: &mut Cursor<'a>, function: &mut Function, body: &mut Body<'a>) -> Parsed<()> {
    let token = cursor.next();
    let word = &cursor.text_of(token)[1..];
    match word {
        "reg" => {
            for (name, count, ty) in registers(cursor)? {
                match count {
                    Some(count) => body.scopes.declare_range(name, count, ty),
                    None => body.scopes.declare(name, ty),
                }
            }
            Ok(())
        }
        "loc" => {
            body.source = source(cursor).or(body.source);
            cursor.skip_line(token.line);
            Ok(())
        }
        "file" => {
            cursor.skip_line(token.line);
            Ok(())
        }
        "section" => {
            cursor.next();
            cursor.skip_braces()
        }
        "extern" | "visible" | "weak" | "common" => Ok(()),
        _ => match StateSpace::named(word) {
            Some(space) => variables(cursor, space, Linkage::Private, &mut function.variables),
            // `.pragma`, and what is not known.
            None => cursor.skip_past(b';'),
        },
    }
}

/// File and line behind `.loc`.
fn source(cursor: &mut Cursor<'_>) -> Option<SourceLine> {
    let mut number = || {
        let token = cursor.peek();
        let value = (token.kind == Kind::Number).then(|| integer(cursor.text_of(token)))??;
        cursor.next();
        u32::try_from(value).ok()
    };
    Some(SourceLine { file: number()?, line: number()? })
}

fn instruction<'a>(cursor: &mut Cursor<'a>, body: &mut Body<'a>) -> Parsed<PtxInstruction> {
    let first = cursor.peek();
    let guard = if cursor.take(b'@') { Some(guard(cursor, body)?) } else { None };
    let (name, _) = cursor.word("an instruction")?;
    let mut modifiers = Vec::new();
    while let Some(modifier) = cursor.dotted() {
        cursor.next();
        modifiers.push(modifier.to_owned());
    }
    let mut operands = Vec::new();
    while !cursor.is(b';') {
        if !operands.is_empty() {
            cursor.expect(b',')?;
        }
        operands.push(known_or_other(cursor, body)?);
    }
    let span: Span = cursor.since(first);
    cursor.expect(b';')?;
    let (line, source) = (first.line, body.source);
    Ok(PtxInstruction { guard, name: name.to_owned(), modifiers, operands, span, line, source })
}

fn guard(cursor: &mut Cursor<'_>, body: &mut Body<'_>) -> Parsed<Guard> {
    let negated = cursor.take(b'!');
    let (name, span) = cursor.word("a predicate")?;
    let Some(register) = body.scopes.register(name) else {
        let message = format!("there is no register `{}` here", crate::text::shorten(name));
        return Err(
            Diagnostic::error("ptx-register", span, message).help("is the file whole? Compile it again")
        );
    };
    Ok(Guard { register, negated })
}

/// An operand; one in no form that is known is kept as text, if it ends where an operand may.
fn known_or_other<'a>(cursor: &mut Cursor<'a>, body: &mut Body<'a>) -> Parsed<Operand> {
    let first: Token = cursor.peek();
    match operand(cursor, &mut body.scopes) {
        Ok(found) => return Ok(found),
        // What begins like an operand and is none is a mistake.
        Err(wrong) if !matches!(first.kind, Kind::Sign(b'(' | b'~' | b'[')) => return Err(wrong),
        Err(_) => {}
    }
    loop {
        match cursor.peek().kind {
            Kind::End | Kind::Sign(b'{' | b'}') => return Err(cursor.unexpected("an operand")),
            Kind::Sign(b';' | b',') => break,
            _ => {}
        }
        cursor.next();
    }
    let span = cursor.since(first);
    Ok(Operand::Other(cursor.text[span.start as usize..span.end as usize].to_owned()))
}
