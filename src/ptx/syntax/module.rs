//! Whole texts: what stands outside of bodies.

use super::ast::{Function, FunctionKind, Linkage, Module, StateSpace};
use super::body::body;
use super::cursor::{Cursor, Parsed};
use super::declare::{block, file, params, place, variables};
use super::lexer::{Kind, tokens};
use crate::text::{Diagnostic, FileId, Span};

/// The module that a text says. `file` is the number that places in it carry.
///
/// ```
/// use wavecast::ptx::syntax::{Operand, parse};
///
/// let text = ".version 8.0 .target sm_80 .address_size 64
///     .visible .entry none(.param .u64 p) { .reg .b32 %r<3>; add.s32 %r1, %r2, -1; ret; }";
/// let module = parse(text, Default::default())?;
/// let add = &module.function("none").unwrap().instructions[0];
/// assert_eq!((add.full_name().as_str(), &add.operands[2]), ("add.s32", &Operand::Integer(-1)));
/// # Ok::<(), wavecast::text::Diagnostic>(())
/// ```
pub fn parse(text: &str, file: FileId) -> Result<Module, Diagnostic> {
    if u32::try_from(text.len()).is_err() {
        let message = format!("the text has {} bytes; less than 4 GiB are read", text.len());
        return Err(Diagnostic::global("ptx-too-long", message).help("give only the module of the kernel"));
    }
    let tokens = tokens(text, file)?;
    let mut cursor = Cursor::new(text, file, &tokens);
    let mut module = Module {
        version: (0, 0),
        target: Vec::new(),
        address_bits: 64,
        variables: Vec::new(),
        functions: Vec::new(),
        files: Vec::new(),
    };
    if cursor.dotted() != Some("version") {
        return Err(cursor.unexpected("`.version`, with which PTX begins"));
    }
    while cursor.peek().kind != Kind::End {
        directive(&mut cursor, &mut module)?;
    }
    Ok(module)
}

fn directive(cursor: &mut Cursor<'_>, module: &mut Module) -> Parsed<()> {
    let mut linkage = Linkage::Private;
    loop {
        let token = cursor.peek();
        if token.kind != Kind::Dotted {
            if cursor.take(b';') {
                return Ok(());
            }
            return Err(cursor.unexpected("a directive"));
        }
        cursor.next();
        match &cursor.text_of(token)[1..] {
            "visible" => linkage = Linkage::Visible,
            "extern" => linkage = Linkage::Extern,
            "weak" => linkage = Linkage::Weak,
            "common" => linkage = Linkage::Common,
            "version" => return version(cursor, module),
            "target" => loop {
                module.target.push(cursor.word("an architecture such as sm_80")?.0.to_owned());
                if !cursor.take(b',') {
                    return Ok(());
                }
            },
            "address_size" => {
                module.address_bits = cursor.small("32 or 64")?;
                return Ok(());
            }
            "file" => {
                module.files.extend(file(cursor, token.line));
                return Ok(());
            }
            "loc" => {
                cursor.skip_line(token.line);
                return Ok(());
            }
            "section" => {
                cursor.next();
                return cursor.skip_braces();
            }
            "entry" => return function(cursor, module, FunctionKind::Entry, linkage),
            "func" => return function(cursor, module, FunctionKind::Func, linkage),
            word => {
                return match StateSpace::named(word) {
                    Some(space) => variables(cursor, space, linkage, &mut module.variables),
                    // `.pragma`, `.alias`, and what is not known.
                    None => cursor.skip_past(b';'),
                };
            }
        }
    }
}

fn version(cursor: &mut Cursor<'_>, module: &mut Module) -> Parsed<()> {
    let token = cursor.peek();
    let parts = cursor.text_of(token).split_once('.');
    let Some(version) = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))) else {
        return Err(cursor.unexpected("a version such as 8.0"));
    };
    cursor.next();
    module.version = version;
    Ok(())
}

fn function(
    cursor: &mut Cursor<'_>,
    module: &mut Module,
    kind: FunctionKind,
    linkage: Linkage,
) -> Parsed<()> {
    while matches!(cursor.dotted(), Some("attribute")) {
        cursor.next();
        cursor.skip_past(b')')?;
    }
    let returns = if cursor.is(b'(') { params(cursor)? } else { Vec::new() };
    let (name, span) = cursor.word("the name of a function")?;
    let params = if cursor.is(b'(') { params(cursor)? } else { Vec::new() };
    let mut function = Function {
        kind,
        name: name.to_owned(),
        linkage,
        returns,
        params,
        required_block: None,
        largest_block: None,
        most_registers: None,
        body: false,
        registers: Vec::new(),
        variables: Vec::new(),
        instructions: Vec::new(),
        labels: Vec::new(),
        span,
    };
    properties(cursor, &mut function)?;
    if !cursor.take(b';') {
        if module.functions.iter().any(|f| f.body && f.name == function.name) {
            return Err(twice(name, span));
        }
        if !cursor.is(b'{') {
            return Err(cursor.unexpected("`{` or `;`"));
        }
        function.body = true;
        body(cursor, &mut function)?;
    }
    module.functions.push(function);
    Ok(())
}

fn twice(name: &str, span: Span) -> Diagnostic {
    let message = format!("there are two functions `{}`", crate::text::shorten(name));
    Diagnostic::error("ptx-twice", span, message).help("give a file with one module")
}

/// What stands between the parameters and the body.
fn properties(cursor: &mut Cursor<'_>, function: &mut Function) -> Parsed<()> {
    while let Some(word) = cursor.dotted() {
        let at = place(cursor);
        cursor.next();
        match word {
            "reqntid" => function.required_block = Some(sizes(cursor, at)?),
            "maxntid" => function.largest_block = Some(sizes(cursor, at)?),
            "maxnreg" => function.most_registers = Some(cursor.small("a number of registers")?),
            "pragma" => cursor.skip_past(b';')?,
            // `.minnctapersm 2`, `.noreturn`, `.maxclusterrank 8` and what is to come.
            _ => {
                while matches!(cursor.peek().kind, Kind::Number | Kind::Sign(b',') | Kind::Text) {
                    cursor.next();
                }
            }
        }
    }
    Ok(())
}

fn sizes(cursor: &mut Cursor<'_>, at: Span) -> Parsed<[u32; 3]> {
    let sizes = block(cursor)?;
    if sizes.contains(&0) {
        return Err(Diagnostic::error("ptx-block", at, "a block of no threads").help("is the file damaged?"));
    }
    Ok(sizes)
}
