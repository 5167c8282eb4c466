//! Bytes of lines as bits: which of them a request is for.

/// Which bytes of a line of 2^`shift` bytes lie from `first` to `last`; of a longer line than 128 bytes, which 128ths of
/// it are covered.
pub(super) fn bytes_of_line(shift: u32, line: u64, first: u64, last: u64) -> u128 {
    let (begin, step) = (line << shift, shift.saturating_sub(7));
    let end = (1_u64 << shift.min(7)) - 1;
    let from = (first.saturating_sub(begin) + (1 << step) - 1) >> step;
    let to = (last - begin + 1) >> step;
    let to = to.min(end + 1);
    if from >= to {
        return 0;
    }
    let below = |n: u64| if n >= 128 { u128::MAX } else { (1 << n) - 1 };
    below(to) & !below(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_lines_are_those_that_are_accessed() {
        let of = |shift, first, last| bytes_of_line(shift, first >> shift, first, last);
        assert_eq!(of(7, 128, 135), 0xFF);
        assert_eq!(of(7, 0, 127), u128::MAX);
        assert_eq!(bytes_of_line(7, 1, 124, 131), 0xF, "the part in the second line");
        assert_eq!(of(7, 124, 131), 0xF << 124, "and in the first");
        assert_eq!(of(6, 60, 63), 0xF << 60);
        // Of a line of 512 bytes, each bit stands for four: only whole ones count.
        assert_eq!(of(9, 512, 519), 0b11);
        assert_eq!(of(9, 514, 521), 0b10);
        assert_eq!(of(9, 514, 516), 0);
    }
}
