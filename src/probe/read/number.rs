//! Numbers of the rows that logs have millions of.

/// An unsigned integer and what follows it.
pub(super) fn integer(text: &[u8]) -> Option<(u32, &[u8])> {
    let mut value: u32 = 0;
    let mut at = 0;
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        value = value.checked_mul(10)?.checked_add(u32::from(digit))?;
        at += 1;
    }
    (at > 0).then(|| (value, &text[at..]))
}

/// A number with or without a fraction; nothing else.
pub(super) fn real(text: &[u8]) -> Option<f64> {
    let (whole, rest) = integer(text)?;
    let Some(fraction) = rest.strip_prefix(b".") else {
        return rest.is_empty().then_some(f64::from(whole));
    };
    let mut value = f64::from(whole);
    let mut scale = 0.1;
    for byte in fraction {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value += scale * f64::from(digit);
        scale *= 0.1;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        assert_eq!(integer(b"12,3"), Some((12, &b",3"[..])));
        assert_eq!(integer(b"99999999999"), None);
        assert_eq!(real(b"250.5"), Some(250.5));
        assert_eq!((real(b"250"), real(b"2e3"), real(b"")), (Some(250.0), None, None));
    }
}
