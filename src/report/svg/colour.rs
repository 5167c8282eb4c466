//! Colours: of lines, of parts of a bar, and of block shapes.

use crate::space::Block;
use plotters::style::RGBColor;

/// Colours of lines that most people can tell apart (Okabe and Ito, "Color Universal Design", 2008,
/// without the yellow that is hard to see on white).
const LINES: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
];

/// The colour of the n-th line.
pub(super) fn of_line(n: usize) -> RGBColor {
    LINES[n % LINES.len()]
}

/// The colour of a block: red where it is wide, green where it is tall, blue where it is deep (section
/// 5.1 of the paper: logarithms of the extents over those of 256, 256 and 64).
pub(super) fn of_block(block: Block) -> RGBColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 255")]
    let channel = |extent: i64, full: f64| {
        let share = (extent.max(1) as f64).ln() / full.ln();
        (share.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    RGBColor(channel(block[0], 256.0), channel(block[1], 256.0), channel(block[2], 64.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_colours_of_the_paper() {
        assert_eq!(of_block(Block::known([1024, 1, 1])), RGBColor(255, 0, 0), "wide is red");
        assert_eq!(of_block(Block::known([1, 256, 1])), RGBColor(0, 255, 0), "tall is green");
        assert_eq!(of_block(Block::known([1, 1, 64])), RGBColor(0, 0, 255), "deep is blue");
        assert_eq!(of_block(Block::known([16, 16, 8])), RGBColor(128, 128, 128), "a cube is grey");
    }
}
