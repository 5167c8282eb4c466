//! Shapes as people and programs write them.

use crate::space::Shape;

/// Reads up to three extents from 1 to `most`, such as `256x1x2`, `256,1,2` or `(256, 1, 2)`; missing ones are 1.
/// Programs also write 256.0.
pub fn extents<T: Shape>(text: &str, most: i64) -> Option<T> {
    let inner = text.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']']);
    let parts: Vec<&str> = parts(inner);
    if !(1..=3).contains(&parts.len()) {
        return None;
    }
    let mut extents = [1; 3];
    for (extent, part) in extents.iter_mut().zip(parts) {
        *extent = whole(part).filter(|n| (1..=most).contains(n))?;
    }
    T::shaped(extents)
}

/// What stands between commas, `x` or blanks. Nothing stands before, after or between them but what Python writes of a
/// single extent: `(256,)`.
fn parts(inner: &str) -> Vec<&str> {
    if inner.contains([',', 'x']) {
        inner.strip_suffix(',').unwrap_or(inner).split([',', 'x']).collect()
    } else {
        inner.split_whitespace().collect()
    }
}

/// An integer, which programs also write as 640.0.
pub fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let (number, zeros) = text.split_once('.').unwrap_or((text, ""));
    if zeros.bytes().all(|b| b == b'0') { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Block;

    #[test]
    fn shapes_are_written_in_some_ways() {
        for text in
            ["256x1x2", "256,1,2", "(256, 1, 2)", "[256 1 2]", "256.0x1x2", " 256 , 1 , 2 ", "256 x 1 x 2"]
        {
            assert_eq!(extents(text, 1024), Some(Block::known([256, 1, 2])), "{text}");
        }
        assert_eq!(extents("64", 64), Some(Block::known([64, 1, 1])));
        assert_eq!(extents("(64,)", 64), Some(Block::known([64, 1, 1])));
        for text in ["", "0x1", "1x2x3x4", "a", "-1", "1.5", "()", "65", "1,2,x", "32x", ",4", "2,,4"] {
            assert_eq!(extents::<Block>(text, 64), None, "{text}");
        }
    }
}
