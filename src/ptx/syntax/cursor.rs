//! Going through the tokens of a text.

use super::lexer::{Kind, Token};
use crate::text::{Diagnostic, FileId, Span};

/// A parse that goes on, or what was wrong.
pub(super) type Parsed<T> = Result<T, Diagnostic>;

/// Deepest nesting of braces and brackets.
const DEEPEST: u32 = 64;

/// A place between two tokens.
pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub file: FileId,
    tokens: &'a [Token],
    at: usize,
    depth: u32,
}

impl<'a> Cursor<'a> {
    /// Before the first of these tokens, the last of which is the end.
    pub fn new(text: &'a str, file: FileId, tokens: &'a [Token]) -> Self {
        Self { text, file, tokens, at: 0, depth: 0 }
    }

    /// The token that comes next.
    pub fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token after the next one.
    pub fn second(&self) -> Token {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    /// Goes over the next token. The end is never passed.
    pub fn next(&mut self) -> Token {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    pub fn text_of(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    pub fn span(&self, token: Token) -> Span {
        Span::new(self.file, token.start as usize..token.end as usize)
    }

    /// From the start of this token to the last one that was passed.
    pub fn since(&self, first: Token) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)];
        Span::new(self.file, first.start as usize..last.end.max(first.end) as usize)
    }

    pub fn is(&self, sign: u8) -> bool {
        self.peek().kind == Kind::Sign(sign)
    }

    /// Goes over this sign if it comes next.
    pub fn take(&mut self, sign: u8) -> bool {
        let there = self.is(sign);
        self.at += usize::from(there);
        there
    }

    /// Goes over this dotted word (written without its dot) if it comes next.
    pub fn take_dotted(&mut self, word: &str) -> bool {
        let there = self.peek().kind == Kind::Dotted && &self.text_of(self.peek())[1..] == word;
        self.at += usize::from(there);
        there
    }

    /// The next dotted word without its dot, if one comes next; it is not passed.
    pub fn dotted(&self) -> Option<&'a str> {
        (self.peek().kind == Kind::Dotted).then(|| &self.text_of(self.peek())[1..])
    }

    pub fn expect(&mut self, sign: u8) -> Parsed<Token> {
        if self.is(sign) {
            return Ok(self.next());
        }
        Err(self.unexpected(&format!("`{}`", sign as char)))
    }

    /// A word, as a name.
    pub fn word(&mut self, what: &str) -> Parsed<(&'a str, Span)> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return Err(self.unexpected(what));
        }
        self.next();
        Ok((self.text_of(token), self.span(token)))
    }

    /// A whole number that is not negative.
    pub fn count(&mut self, what: &str) -> Parsed<u64> {
        let token = self.peek();
        if token.kind != Kind::Number {
            return Err(self.unexpected(what));
        }
        let Some(value) = integer(self.text_of(token)) else { return Err(self.unexpected(what)) };
        self.next();
        Ok(value)
    }

    pub fn small(&mut self, what: &str) -> Parsed<u32> {
        let token = self.peek();
        let value = self.count(what)?;
        u32::try_from(value).map_err(|_| {
            let message = format!("{value} is too large for {what}");
            Diagnostic::error("ptx-syntax", self.span(token), message)
                .help("is the file damaged? Compile it again")
        })
    }

    pub fn unexpected(&self, what: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", crate::text::shorten(self.text_of(token))),
        };
        Diagnostic::error("ptx-syntax", self.span(token), format!("expected {what}, found {found}"))
            .help("is this a whole text of PTX, as `nvcc -ptx`, NVRTC, clang, Numba or Triton write it?")
    }

    /// Does `work` one level deeper.
    pub fn nested<T>(&mut self, work: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            let message = format!("braces and brackets nest deeper than {DEEPEST} here");
            return Err(Diagnostic::error("ptx-syntax", self.span(self.peek()), message)
                .help("is the file damaged? Compile it again"));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// Goes over everything up to this sign, which is passed too.
    pub fn skip_past(&mut self, sign: u8) -> Parsed<()> {
        while self.peek().kind != Kind::End {
            if self.next().kind == Kind::Sign(sign) {
                return Ok(());
            }
        }
        Err(self.unexpected(&format!("`{}`", sign as char)))
    }

    /// Goes over a pair of braces and what stands in it.
    pub fn skip_braces(&mut self) -> Parsed<()> {
        self.expect(b'{')?;
        let mut open = 1_usize;
        while open > 0 {
            match self.peek().kind {
                Kind::Sign(b'{') => open += 1,
                Kind::Sign(b'}') => open -= 1,
                Kind::End => return Err(self.unexpected("`}`")),
                _ => {}
            }
            self.next();
        }
        Ok(())
    }

    /// Goes over everything on the line of this token.
    pub fn skip_line(&mut self, line: u32) {
        while self.peek().line == line && self.peek().kind != Kind::End {
            self.next();
        }
    }
}

/// The value of a whole number in any notation of PTX.
pub(super) fn integer(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['u', 'U']);
    let lower = digits.as_bytes();
    match lower {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16).ok(),
        [b'0', b'b' | b'B', ..] => u64::from_str_radix(&digits[2..], 2).ok(),
        [b'0', _, ..] => u64::from_str_radix(&digits[1..], 8).ok(),
        _ => digits.parse().ok(),
    }
}
