//! Numbers at the beginning of a text.

/// A decimal number and what follows it.
#[inline]
pub(super) fn decimal(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut length = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        // Up to 19 digits cannot overflow.
        value = if length < 19 {
            value.wrapping_mul(10).wrapping_add(u64::from(digit))
        } else {
            value.checked_mul(10)?.checked_add(u64::from(digit))?
        };
        length += 1;
    }
    (length > 0).then(|| (value, &text[length..]))
}

/// A decimal number with a sign.
pub(super) fn signed(text: &[u8]) -> Option<(i64, &[u8])> {
    match text.strip_prefix(b"-") {
        Some(rest) => decimal(rest).and_then(|(n, rest)| Some((i64::try_from(n).ok()?.checked_neg()?, rest))),
        None => decimal(text).and_then(|(n, rest)| Some((i64::try_from(n).ok()?, rest))),
    }
}

/// A hexadecimal number, with or without `0x`, and what follows it.
#[inline]
pub(super) fn hex(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let mut value = 0_u64;
    let mut length = 0;
    for &byte in text {
        let Some(digit) = char::from(byte).to_digit(16) else { break };
        if value >> 60 != 0 {
            return None;
        }
        value = value << 4 | u64::from(digit);
        length += 1;
    }
    (length > 0).then(|| (value, &text[length..]))
}

/// What follows one or more blanks.
#[inline]
pub(super) fn blank(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b" ").or_else(|| text.strip_prefix(b"\t"))?;
    Some(skip_blanks(rest))
}

/// What follows blanks, if there are any.
#[inline]
pub(super) fn skip_blanks(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    text
}

/// The word up to a blank, and what follows the blanks.
pub(super) fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = skip_blanks(text);
    let end = text.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], skip_blanks(&text[end..])))
}

/// Three numbers with commas between them, as in `16,8,1`.
pub(super) fn triple(text: &[u8]) -> Option<([u32; 3], &[u8])> {
    let mut out = [0; 3];
    let mut rest = text;
    for (i, n) in out.iter_mut().enumerate() {
        if i > 0 {
            rest = skip_blanks(rest.strip_prefix(b",")?);
        }
        let (value, after) = decimal(rest)?;
        *n = u32::try_from(value).ok()?;
        rest = after;
    }
    Some((out, rest))
}

/// A decimal number behind what is there. Traces are mostly numbers: formatting takes several times as long.
#[expect(clippy::cast_possible_truncation, reason = "digits are small")]
pub(super) fn put_digits(text: &mut Vec<u8>, mut value: u64) {
    let mut digits = [b'0'; 20];
    let mut from = digits.len();
    // Two at a time: dividing is what takes the time.
    while value > 99 {
        let two = (value % 100) as u8;
        value /= 100;
        from -= 2;
        digits[from..from + 2].copy_from_slice(&[b'0' + two / 10, b'0' + two % 10]);
    }
    let left = value as u8;
    from -= 1;
    digits[from] = b'0' + left % 10;
    if left > 9 {
        from -= 1;
        digits[from] = b'0' + left / 10;
    }
    text.extend_from_slice(&digits[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are_formatted() {
        let tens = std::iter::successors(Some(1_u64), |n| n.checked_mul(10));
        for value in tens.flat_map(|n| [n - 1, n, n + 1]).chain([0, u64::MAX]) {
            let mut text = Vec::new();
            put_digits(&mut text, value);
            assert_eq!(String::from_utf8(text).unwrap(), value.to_string());
        }
    }

    #[test]
    fn numbers_stop_where_they_end_and_do_not_overflow() {
        assert_eq!(decimal(b"12 x"), Some((12, &b" x"[..])));
        assert_eq!(decimal(b"18446744073709551615"), Some((u64::MAX, &b""[..])));
        assert_eq!(decimal(b"18446744073709551616"), None);
        assert_eq!(decimal(b"x"), None);
        assert_eq!(hex(b"0xFfg"), Some((255, &b"g"[..])));
        assert_eq!(hex(b"ffffffffffffffff"), Some((u64::MAX, &b""[..])));
        assert_eq!(hex(b"1ffffffffffffffff"), None);
        assert_eq!(signed(b"-60 4"), Some((-60, &b" 4"[..])));
        assert_eq!(triple(b"1,2,3)"), Some(([1, 2, 3], &b")"[..])));
        assert_eq!(triple(b"1,2"), None);
        assert_eq!(word(b" ab  c"), Some((&b"ab"[..], &b"c"[..])));
    }
}
