//! What one of several SMs gets of a trace.

/// Every so many blocks of a launch: what one of several SMs gets that take blocks in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Which part, from 0.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

impl Part {
    /// From `2/15`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match numbers {
            Some((number, of)) if number < of && of <= 1 << 16 => Ok(Self { number, of }),
            _ => Err("a part from 0 and how many there are, as in 2/15".to_owned()),
        }
    }

    /// How many of the first `blocks` are its own.
    pub(super) fn count(self, blocks: usize) -> usize {
        blocks.saturating_sub(self.number).div_ceil(self.of)
    }

    /// Its number of a block, if that is one of its blocks.
    pub(super) fn own(self, block: usize) -> Option<usize> {
        (block % self.of == self.number).then_some(block / self.of)
    }
}
