//! Numbers as programs write them in different countries: `1,234.5`, `1.234,5`, `1 234,5`.

/// Which letter stands before the fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Decimal {
    /// 1,234.5
    #[default]
    Point,
    /// 1.234,5
    Comma,
}

/// What the numbers of a file tell of their decimal separator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    point: bool,
    comma: bool,
    /// Numbers such as 27.595, which can be read both ways.
    doubtful: bool,
}

impl Evidence {
    /// Looks at a cell; what is no number tells nothing.
    pub(super) fn add(&mut self, text: &str) {
        let text = text.trim().trim_start_matches(['-', '+']);
        if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',')
            || text.contains(['(', 'x'])
        {
            return;
        }
        let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
        if !mantissa
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b' ' | b'\'') || !b.is_ascii())
        {
            return;
        }
        let (points, commas) = (count(mantissa, '.'), count(mantissa, ','));
        match (points, commas) {
            (0, 0) => {}
            (0, 1) => self.single(mantissa, ',', text.len() > mantissa.len()),
            (1, 0) => self.single(mantissa, '.', text.len() > mantissa.len()),
            (0, _) => self.point = true,
            (_, 0) => self.comma = true,
            // The last separator is that of the fraction.
            _ if mantissa.rfind('.') > mantissa.rfind(',') => self.point = true,
            _ => self.comma = true,
        }
    }

    /// One separator: of thousands only if three digits follow it and one to three stand before.
    fn single(&mut self, mantissa: &str, separator: char, has_exponent: bool) {
        let (before, after) = mantissa.split_once(separator).unwrap_or((mantissa, ""));
        let is_group = after.len() == 3 && (1..=3).contains(&before.len()) && !before.starts_with('0');
        if is_group && !has_exponent {
            self.doubtful = true;
        } else if separator == '.' {
            self.point = true;
        } else {
            self.comma = true;
        }
    }

    /// Whether it is clear, and so many lines have not contradicted it that one program wrote all of them.
    pub(super) fn is_settled(self, lines: usize) -> bool {
        const ENOUGH: usize = 20_000;
        self.point != self.comma && lines > ENOUGH
    }

    /// The separator, unless numbers contradict each other or can all be read both ways.
    pub(super) fn decide(self) -> Result<Decimal, &'static str> {
        match (self.point, self.comma) {
            (true, true) => Err("some numbers of this file have a decimal point, others a decimal comma"),
            (false, true) => Ok(Decimal::Comma),
            (false, false) if self.doubtful => {
                Err("numbers such as 27.595 can be read in two ways, and none of this file tells which")
            }
            (_, false) => Ok(Decimal::Point),
        }
    }
}

fn count(text: &str, letter: char) -> usize {
    text.matches(letter).count()
}

/// Reads a number; groups may be set apart by the other separator, blanks or apostrophes.
pub(super) fn number(text: &str, decimal: Decimal) -> Option<f64> {
    let text = text.trim();
    let value: Option<f64> = if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        let (fraction, group) = if decimal == Decimal::Point { ('.', ',') } else { (',', '.') };
        let mut plain = String::with_capacity(text.len());
        for c in text.chars() {
            if c == fraction {
                plain.push('.');
            } else if c != group && !matches!(c, ' ' | '\'' | '\u{a0}' | '\u{202f}' | '\u{2019}') {
                plain.push(c);
            }
        }
        plain.parse().ok()
    };
    value.filter(|v| v.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(cells: &[&str]) -> Result<Decimal, &'static str> {
        let mut evidence = Evidence::default();
        for cell in cells {
            evidence.add(cell);
        }
        evidence.decide()
    }

    #[test]
    fn the_separator_follows_from_the_numbers() {
        for (cells, expected) in [
            (&["27.595.520"][..], Decimal::Comma),
            (&["65,77", "27.595"], Decimal::Comma),
            (&["1,234,567", "12.345"], Decimal::Point),
            (&["0.123"], Decimal::Point),
            (&["1234.567"], Decimal::Point),
            (&["1.234e+05"], Decimal::Point),
            (&["1.234,5"], Decimal::Comma),
            (&["12", "", "n/a", "(256, 1, 1)", "8x1", "void f<1,2>"], Decimal::Point),
        ] {
            assert_eq!(decide(cells), Ok(expected), "{cells:?}");
        }
        assert!(decide(&["27.595", "1,234"]).unwrap_err().contains("two ways"));
        assert!(decide(&["65,77", "65.7"]).unwrap_err().contains("others"));
    }

    #[test]
    fn numbers_are_read() {
        for (text, decimal, expected) in [
            ("27.595.520", Decimal::Comma, 27_595_520.0),
            ("65,77", Decimal::Comma, 65.77),
            ("1,234,567.5", Decimal::Point, 1_234_567.5),
            ("1\u{202f}234,5", Decimal::Comma, 1234.5),
            ("1'234.5", Decimal::Point, 1234.5),
            ("-1.5e3", Decimal::Point, -1500.0),
            ("42", Decimal::Comma, 42.0),
        ] {
            let found = number(text, decimal).unwrap();
            assert!((found - expected).abs() < 1e-9, "{text}: {found}");
        }
        for text in ["", "n/a", "inf", "nan", "1.2.3x", "--"] {
            assert_eq!(number(text, Decimal::Point), None, "{text}");
        }
    }
}
