//! The nom parser. Each function is the rule of the same name in `grammar/expression.ebnf`.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, multispace0, satisfy};
use nom::combinator::{cut, opt, peek, recognize, value};
use nom::multi::{many0, separated_list1};
use nom::sequence::{delimited, pair, preceded, terminated};
use nom::{IResult, Parser};

use super::ast::{Builtin, Dim, Expr, Func, Kind, Op, Range};
use super::brackets::check_brackets;
use super::syntax::Syntax;
use super::threads::{OPENCL, vector_member};
use crate::text::{Diagnostic, Origin, nearest};

/// Longest expression in bytes.
const MAX_LENGTH: usize = 1 << 16;

/// Parses a whole text as an expression or condition.
pub fn parse_expression(text: &str, origin: Origin) -> Result<Expr, Diagnostic> {
    run(text, origin, Grammar::expression)
}

/// Parses a whole text as a range.
pub fn parse_range(text: &str, origin: Origin) -> Result<Range, Diagnostic> {
    run(text, origin, Grammar::range)
}

type Parsed<'a, T> = IResult<&'a str, T, Syntax<'a>>;

/// The operators of a level of precedence.
type Operator<'a> = fn(&'a str) -> Parsed<'a, Op>;

fn run<'a, T>(
    text: &'a str,
    origin: Origin,
    rule: impl Fn(&Grammar, &'a str) -> Parsed<'a, T>,
) -> Result<T, Diagnostic> {
    let grammar = Grammar { origin, length: text.len() };
    let whole = origin.span(0..text.len());
    if text.len() > MAX_LENGTH {
        let message = format!("the expression has {} characters; at most {MAX_LENGTH} are read", text.len());
        return Err(Diagnostic::error("expression-too-long", whole, message));
    }
    check_brackets(text, origin)?;
    match preceded(multispace0, |i| rule(&grammar, i)).parse(text) {
        Ok(("", parsed)) => Ok(parsed),
        Ok((rest, _)) => Err(Syntax::at(rest, "an operator or the end").unexpected(text, origin)),
        Err(nom::Err::Error(e) | nom::Err::Failure(e)) => Err(e.unexpected(text, origin)),
        Err(nom::Err::Incomplete(_)) => {
            Err(Diagnostic::error("syntax", whole, "the expression is incomplete"))
        }
    }
}

/// Followed by white space, as every token is.
fn token<'a>(text: &'static str) -> impl Fn(&'a str) -> Parsed<'a, &'a str> {
    move |i| terminated(tag(text), multispace0).parse(i)
}

/// Makes a failure to match say what was expected.
fn expect<'a, T>(
    expected: &'static str,
    mut parser: impl Parser<&'a str, Output = T, Error = Syntax<'a>>,
) -> impl FnMut(&'a str) -> Parsed<'a, T> {
    move |i| match parser.parse(i) {
        Err(nom::Err::Error(_)) => Err(nom::Err::Failure(Syntax::at(i, expected))),
        other => other,
    }
}

fn or_operator(i: &str) -> Parsed<'_, Op> {
    value(Op::Or, token("||")).parse(i)
}

fn and_operator(i: &str) -> Parsed<'_, Op> {
    value(Op::And, token("&&")).parse(i)
}

fn comparison_operator(i: &str) -> Parsed<'_, Op> {
    alt((
        value(Op::Le, token("<=")),
        value(Op::Ge, token(">=")),
        value(Op::Eq, token("==")),
        value(Op::Ne, token("!=")),
        value(Op::Lt, token("<")),
        value(Op::Gt, token(">")),
    ))
    .parse(i)
}

fn shift_operator(i: &str) -> Parsed<'_, Op> {
    alt((value(Op::Shl, token("<<")), value(Op::Shr, token(">>")))).parse(i)
}

fn sum_operator(i: &str) -> Parsed<'_, Op> {
    alt((value(Op::Add, token("+")), value(Op::Sub, token("-")))).parse(i)
}

fn product_operator(i: &str) -> Parsed<'_, Op> {
    alt((value(Op::Mul, token("*")), value(Op::Div, token("/")), value(Op::Rem, token("%")))).parse(i)
}

fn identifier(i: &str) -> Parsed<'_, &str> {
    recognize(pair(
        satisfy(|c| c.is_ascii_alphabetic() || c == '_'),
        take_while(|c: char| c.is_ascii_alphanumeric() || c == '_'),
    ))
    .parse(i)
}

struct Grammar {
    origin: Origin,
    length: usize,
}

impl Grammar {
    fn offset(&self, rest: &str) -> usize {
        self.length - rest.len()
    }

    /// An expression that began at `start` and ended before `end`, white space left out.
    fn made(&self, kind: Kind, start: &str, end: &str) -> Expr {
        let consumed = &start[..start.len() - end.len()];
        let from = self.offset(start);
        Expr { kind, span: self.origin.span(from..from + consumed.trim_end().len()) }
    }

    fn expression<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        self.chain(i, Self::and, (or_operator, &['|']))
    }

    fn and<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        self.chain(i, Self::comparison, (and_operator, &['&']))
    }

    fn comparison<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        let (rest, compared) = self.chain(i, Self::shift, (comparison_operator, &['<', '>', '=', '!']))?;
        if let Kind::Chain(_, links) = &compared.kind
            && links.len() > 1
            && links[0].0.precedence() == Op::Lt.precedence()
        {
            let help = "comparisons do not chain; write `a < b && b < c`".to_owned();
            return Syntax { help: Some(help), ..Syntax::at(i, "one comparison") }.fail();
        }
        Ok((rest, compared))
    }

    fn shift<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        self.chain(i, Self::sum, (shift_operator, &['<', '>']))
    }

    fn sum<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        self.chain(i, Self::product, (sum_operator, &['+', '-']))
    }

    fn product<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        self.chain(i, Self::unary, (product_operator, &['*', '/', '%']))
    }

    /// Operands of one precedence level and the operators between them, which begin with one of these signs.
    fn chain<'a>(
        &self,
        i: &'a str,
        operand: fn(&Self, &'a str) -> Parsed<'a, Expr>,
        (operator, signs): (Operator<'a>, &[char]),
    ) -> Parsed<'a, Expr> {
        let (rest, first) = operand(self, i)?;
        // Of six levels above each other, most have no operator.
        if !rest.starts_with(signs) {
            return Ok((rest, first));
        }
        let (rest, links) = many0(pair(operator, expect("an operand", |i| operand(self, i)))).parse(rest)?;
        if links.is_empty() {
            return Ok((rest, first));
        }
        Ok((rest, self.made(Kind::Chain(Box::new(first), links), i, rest)))
    }

    /// Signs cancel in pairs here, so that the tree's depth does not grow with their number.
    fn unary<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        if !i.starts_with(['+', '-', '!']) {
            return self.postfix(i);
        }
        let (after, signs) = many0(terminated(satisfy(|c| "+-!".contains(c)), multispace0)).parse(i)?;
        if signs.is_empty() {
            return self.postfix(after);
        }
        let (rest, operand) = expect("an operand", |i| self.postfix(i)).parse(after)?;
        let (nots, minuses) =
            (signs.iter().filter(|&&c| c == '!').count(), signs.iter().filter(|&&c| c == '-').count());
        if nots > 0 && nots < signs.len() {
            let help = "`!` negates a condition, `-` a number".to_owned();
            return Syntax { help: Some(help), ..Syntax::at(i, "one kind of sign") }.fail();
        }
        let kind = match (nots % 2, minuses % 2) {
            (1, _) => Kind::Not(Box::new(operand)),
            (_, 1) => Kind::Neg(Box::new(operand)),
            _ => operand.kind,
        };
        Ok((rest, self.made(kind, i, rest)))
    }

    fn postfix<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        let (rest, base) = self.primary(i)?;
        if !rest.starts_with('[') {
            return Ok((rest, base));
        }
        let indices = delimited(
            token("["),
            separated_list1(token(","), expect("an index", |i| self.expression(i))),
            expect("`,` or `]`", token("]")),
        );
        let (rest, groups) = many0(indices).parse(rest)?;
        // a[i][j] is a[i, j].
        let indices: Vec<Expr> = groups.into_iter().flatten().collect();
        if indices.is_empty() {
            return Ok((rest, base));
        }
        Ok((rest, self.made(Kind::Index(Box::new(base), indices), i, rest)))
    }

    fn primary<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        if i.starts_with('(') {
            let (rest, inner) = self.parenthesised(i)?;
            return Ok((rest, self.made(inner.kind, i, rest)));
        }
        if i.starts_with(|c: char| c.is_ascii_digit()) {
            return self.integer(i);
        }
        if let Ok((after, name)) = identifier(i) {
            return self.named(i, after, name);
        }
        Err(nom::Err::Error(Syntax::at(i, "an operand")))
    }

    fn parenthesised<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        let inner = expect("an operand", |i| self.expression(i));
        delimited(token("("), inner, expect("an operator or `)`", token(")"))).parse(i)
    }

    fn integer<'a>(&self, i: &'a str) -> Parsed<'a, Expr> {
        let hexadecimal = preceded(alt((tag("0x"), tag("0X"))), take_while1(|c: char| c.is_ascii_hexdigit()));
        let (rest, number) = match hexadecimal.map(|d| i64::from_str_radix(d, 16)).parse(i) {
            Ok(found) => found,
            Err(nom::Err::Error(Syntax { .. })) => {
                take_while1(|c: char| c.is_ascii_digit()).map(str::parse::<i64>).parse(i)?
            }
            Err(other) => return Err(other),
        };
        // C's suffixes mean nothing here, where every integer has 64 bits.
        let (rest, _) = take_while(|c| "uUlL".contains(c)).parse(rest)?;
        if rest.starts_with('.') && !rest.starts_with("..") {
            let help = "only integers occur in addresses; scale the expression instead".to_owned();
            return Syntax { help: Some(help), ..Syntax::at(rest, "an integer, not a decimal fraction") }
                .fail();
        }
        if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            let decimal = rest.starts_with(['e', 'E']);
            let help = decimal.then(|| "write integers out, or as `1 << 30`".to_owned());
            return Syntax { help, ..Syntax::at(rest, "an operator after the number") }.fail();
        }
        let (rest, _) = multispace0(rest)?;
        let Ok(number) = number else {
            return Syntax::at(i, "an integer of at most 63 bits").fail();
        };
        Ok((rest, self.made(Kind::Int(number), i, rest)))
    }

    /// What begins with a name: a coordinate, a call, or just the name.
    fn named<'a>(&self, i: &'a str, after: &'a str, name: &'a str) -> Parsed<'a, Expr> {
        if after.starts_with('.')
            && let Ok((rest, member)) =
                preceded(terminated(char('.'), peek(satisfy(|c| c != '.'))), identifier).parse(after)
        {
            let (rest, _) = multispace0(rest)?;
            return match vector_member(name, member) {
                Ok(builtin) => Ok((rest, self.made(Kind::Builtin(builtin), i, rest))),
                Err(help) => Syntax { help: Some(help), ..Syntax::at(i, "a coordinate") }.fail(),
            };
        }
        let (after, _) = multispace0(after)?;
        if after.starts_with('(') {
            return self.call(i, after, name);
        }
        let kind = match name {
            "tidx" => Kind::Builtin(Builtin::GlobalThread(Dim::X)),
            "tidy" => Kind::Builtin(Builtin::GlobalThread(Dim::Y)),
            "tidz" => Kind::Builtin(Builtin::GlobalThread(Dim::Z)),
            _ => Kind::Name(name.to_owned()),
        };
        Ok((after, self.made(kind, i, after)))
    }

    fn call<'a>(&self, i: &'a str, after: &'a str, name: &str) -> Parsed<'a, Expr> {
        let argument = expect("an argument", |i| self.expression(i));
        let arguments =
            delimited(token("("), separated_list1(token(","), argument), expect("`,` or `)`", token(")")));
        let (rest, mut arguments) = cut(arguments).parse(after)?;
        let wrong = |expected, help: String| Syntax { help: Some(help), ..Syntax::at(i, expected) }.fail();
        if let Some(function) = [("min", Func::Min), ("max", Func::Max)].iter().find(|f| f.0 == name) {
            let (Some(b), Some(a), None) = (arguments.pop(), arguments.pop(), arguments.pop()) else {
                return wrong("two arguments", format!("nest the calls: {name}(a, {name}(b, c))"));
            };
            return Ok((rest, self.made(Kind::Call(function.1, Box::new(a), Box::new(b)), i, rest)));
        }
        let Some((_, make)) = OPENCL.iter().find(|f| f.0 == name) else {
            let known = OPENCL.iter().map(|f| f.0).chain(["min", "max"]);
            let help = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "known functions: min, max, get_global_id and its relatives".to_owned(),
            };
            return wrong("a known function", help);
        };
        match arguments.as_slice() {
            [Expr { kind: Kind::Int(d @ 0..=2), .. }] => {
                let dim = match d {
                    0 => Dim::X,
                    1 => Dim::Y,
                    _ => Dim::Z,
                };
                Ok((rest, self.made(Kind::Builtin(make(dim)), i, rest)))
            }
            _ => wrong("a dimension 0, 1 or 2", format!("write {name}(0), {name}(1) or {name}(2)")),
        }
    }

    fn range<'a>(&self, i: &'a str) -> Parsed<'a, Range> {
        if let Ok((rest, _)) = pair(token("pow2"), peek(char('('))).parse(i) {
            let bounds = pair(
                expect("the smallest power", |i| self.expression(i)),
                preceded(expect("`..`", token("..")), expect("the largest power", |i| self.expression(i))),
            );
            let (rest, (from, to)) =
                cut(delimited(token("("), bounds, expect("`)`", token(")")))).parse(rest)?;
            return Ok((rest, Range::Pow2 { from, to }));
        }
        let (rest, from) = self.expression(i)?;
        let to = preceded(token(".."), expect("the last value", |i| self.expression(i)));
        let (rest, Some(to)) = opt(to).parse(rest)? else { return Ok((rest, Range::Single(from))) };
        let step = preceded(token("step"), expect("the step", |i| self.expression(i)));
        let (rest, step) = opt(step).parse(rest)?;
        Ok((rest, Range::Span { from, to, step }))
    }
}
