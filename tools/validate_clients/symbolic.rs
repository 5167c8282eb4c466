//! The generators' symbolic notation, with exact fractions.

use std::collections::BTreeMap;

use num_rational::Ratio;

use super::Outcome;

type Fraction = Ratio<i128>;

/// The integer that an expression of the generators is.
pub fn integer(source: &str, names: &BTreeMap<String, i128>) -> Outcome<i128> {
    let mut parser = Symbolic { rest: source.trim(), names };
    let value = parser.sum()?;
    if !parser.rest.is_empty() || !value.is_integer() {
        return Err(format!("`{source}` is {value}, rest `{}`", parser.rest));
    }
    Ok(value.to_integer())
}

/// Evaluates the generators' symbolic notation: `/` divides exactly, `floor` and `Mod` are functions.
struct Symbolic<'s> {
    rest: &'s str,
    names: &'s BTreeMap<String, i128>,
}

impl Symbolic<'_> {
    fn take(&mut self, symbol: char) -> bool {
        let found = self.rest.starts_with(symbol);
        if found {
            self.rest = self.rest[1..].trim_start();
        }
        found
    }

    fn sum(&mut self) -> Outcome<Fraction> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Outcome<Fraction> {
        let mut value = self.operand()?;
        loop {
            if self.take('*') {
                value *= self.operand()?;
            } else if self.take('/') {
                value /= self.operand()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn operand(&mut self) -> Outcome<Fraction> {
        if self.take('-') {
            return Ok(-self.operand()?);
        }
        if self.take('(') {
            let value = self.sum()?;
            return if self.take(')') { Ok(value) } else { Err(format!("`)` expected at `{}`", self.rest)) };
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if let Ok(number) = word.parse::<i128>() {
            return Ok(number.into());
        }
        if !self.take('(') {
            let value = self.names.get(word).ok_or(format!("unknown name `{word}`"))?;
            return Ok((*value).into());
        }
        let first = self.sum()?;
        let second = if self.take(',') { Some(self.sum()?) } else { None };
        if !self.take(')') {
            return Err(format!("`)` expected at `{}`", self.rest));
        }
        match (word, second) {
            ("floor", None) => Ok(first.floor()),
            ("Mod", Some(by)) => Ok(first - (first / by).floor() * by),
            _ => Err(format!("unknown function `{word}`")),
        }
    }
}
