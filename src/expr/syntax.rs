//! Where an expression is none, and what is said of it.

use nom::IResult;
use nom::error::{ErrorKind, ParseError};

use crate::text::{Diagnostic, Origin, shorten};

/// Where parsing stopped, and what would have been right there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Syntax<'a> {
    /// The text from there on.
    pub rest: &'a str,
    pub expected: &'static str,
    pub help: Option<String>,
}

impl<'a> Syntax<'a> {
    pub fn at(rest: &'a str, expected: &'static str) -> Self {
        Self { rest, expected, help: None }
    }

    pub fn fail<T>(self) -> IResult<&'a str, T, Self> {
        Err(nom::Err::Failure(self))
    }

    /// What is said of a text that was parsed up to here.
    pub fn unexpected(&self, text: &str, origin: Origin) -> Diagnostic {
        let at = text.len() - self.rest.len();
        let found = match self.rest.chars().next() {
            None => "the end".to_owned(),
            Some(c) => format!(
                "`{}`",
                self.rest.get(..2).filter(|t| is_symbol(t)).map_or(c.to_string(), str::to_owned)
            ),
        };
        let help = self.help.clone().or_else(|| {
            let operand = self.expected == "an operand";
            let message = match self.rest.as_bytes().first()? {
                b'=' => "comparison is `==`",
                b'*' if operand => "nothing is dereferenced: an access is `field[...]` or `field + offset`",
                b'&' if operand => "no address is taken: an access is `field[...]` or `field + offset`",
                b'&' | b'|' => "conditions are joined with `&&` and `||`; bitwise operators are not supported: use `%` and `/`",
                b'?' => "there is no conditional operator: use `min`, `max`, or an access with `when`",
                b'^' | b'~' => "bitwise operators are not supported: use `%`, `/`, `*`",
                _ => return None,
            };
            Some(message.to_owned())
        });
        let width = self.rest.chars().next().map_or(0, char::len_utf8);
        let span = origin.span(at..at + width);
        let message = format!("expected {}, found {found} in `{}`", self.expected, shorten(text.trim()));
        Diagnostic::error("syntax", span, message).maybe_help(help)
    }
}

impl<'a> ParseError<&'a str> for Syntax<'a> {
    fn from_error_kind(rest: &'a str, _: ErrorKind) -> Self {
        Self::at(rest, "an operand")
    }

    fn append(_: &'a str, _: ErrorKind, other: Self) -> Self {
        other
    }

    fn or(self, other: Self) -> Self {
        // The alternative that came further knows better what was meant.
        if other.rest.len() < self.rest.len() { other } else { self }
    }
}

fn is_symbol(text: &str) -> bool {
    ["&&", "||", "==", "!=", "<=", ">=", "<<", ">>", ".."].contains(&text)
}
