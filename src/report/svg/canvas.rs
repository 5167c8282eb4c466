//! A drawing that becomes SVG: shapes and texts at places in pixels.

use plotters::prelude::{DrawingBackend, RGBColor, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, FontTransform, ShapeStyle};

/// The backend writes fonts smaller by this factor than they are asked for.
const FONT_SCALE: f64 = 1.24;
/// Width of a letter over the size of its font: a little more than the mean of common sans-serif fonts.
pub(super) const LETTER: f64 = 0.6;

/// Dark grey for texts and axes.
pub(super) const INK: RGBColor = RGBColor(40, 40, 40);
/// For what is less important.
pub(super) const FAINT: RGBColor = RGBColor(110, 110, 110);
/// For lines behind the data.
pub(super) const GRID: RGBColor = RGBColor(225, 225, 225);

/// Size of most texts.
pub(super) const TEXT: f64 = 12.0;

/// A place in pixels, from the upper left corner.
pub(super) type Place = (f64, f64);

/// Which point of a text lies at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// The middle of its left end.
    Left,
    /// Its middle.
    Centre,
    /// The middle of its right end.
    Right,
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) size: f64,
    pub(super) colour: RGBColor,
    pub(super) anchor: Anchor,
    pub(super) bold: bool,
    /// Whether it runs from bottom to top.
    pub(super) upright: bool,
}

impl Style {
    /// Plain text.
    pub(super) fn new(anchor: Anchor) -> Self {
        Self { size: TEXT, colour: INK, anchor, bold: false, upright: false }
    }
}

/// How wide a text is, about.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}

/// A drawing.
pub(super) struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

/// Draws on a canvas of this size. Writing to a string cannot fail, and that is all that the backend does:
/// what it returns need not be looked at.
pub(super) fn picture(size: (f64, f64), draw: impl FnOnce(&mut Canvas<'_>)) -> String {
    let mut text = String::new();
    {
        let (width, height) = (whole(size.0).unsigned_abs(), whole(size.1).unsigned_abs());
        let mut canvas = Canvas { backend: SVGBackend::with_string(&mut text, (width, height)) };
        canvas.bar((0.0, 0.0), size, RGBColor(255, 255, 255));
        draw(&mut canvas);
        let _ = canvas.backend.present();
    }
    text
}

#[expect(clippy::cast_possible_truncation, reason = "cut to what a picture can hold")]
fn whole(n: f64) -> i32 {
    n.round().clamp(-30_000.0, 30_000.0) as i32
}

fn at(place: Place) -> (i32, i32) {
    (whole(place.0), whole(place.1))
}

fn stroke(colour: RGBColor, width: u32) -> ShapeStyle {
    colour.stroke_width(width)
}

impl Canvas<'_> {
    /// A filled rectangle between two corners.
    pub(super) fn bar(&mut self, from: Place, to: Place, colour: RGBColor) {
        let _ = self.backend.draw_rect(at(from), at(to), &colour.filled(), true);
    }

    /// A line through places.
    pub(super) fn line(&mut self, places: &[Place], colour: RGBColor, width: u32) {
        if places.len() > 1 {
            let _ = self.backend.draw_path(places.iter().map(|&p| at(p)), &stroke(colour, width));
        }
    }

    /// A dashed line through places.
    pub(super) fn dashed(&mut self, places: &[Place], colour: RGBColor, width: u32) {
        const DASH: f64 = 6.0;
        let mut used = 0.0;
        for ends in places.windows(2) {
            let &[(x0, y0), (x1, y1)] = ends else { continue };
            let length = (x1 - x0).hypot(y1 - y0);
            let along = |d: f64| (x0 + (x1 - x0) * d / length, y0 + (y1 - y0) * d / length);
            let mut done = 0.0;
            while done < length && length > 0.0 {
                // Dashes go on around corners.
                let phase = used % (2.0 * DASH);
                let (drawn, rest) =
                    if phase < DASH { (true, DASH - phase) } else { (false, 2.0 * DASH - phase) };
                let next = (done + rest.max(0.5)).min(length);
                if drawn {
                    self.line(&[along(done), along(next)], colour, width);
                }
                used += next - done;
                done = next;
            }
        }
    }

    /// A point of the data: one of four shapes.
    pub(super) fn marker(&mut self, (x, y): Place, kind: usize, colour: RGBColor) {
        const R: f64 = 4.0;
        let places = match kind % 4 {
            0 => {
                let _ = self.backend.draw_circle(at((x, y)), 4, &colour.filled(), true);
                return;
            }
            1 => vec![(x - R, y - R), (x + R, y - R), (x + R, y + R), (x - R, y + R)],
            2 => vec![(x, y - R - 1.0), (x + R + 1.0, y + R), (x - R - 1.0, y + R)],
            _ => vec![(x, y - R - 1.0), (x + R + 1.0, y), (x, y + R + 1.0), (x - R - 1.0, y)],
        };
        let _ = self.backend.fill_polygon(places.into_iter().map(at), &colour.filled());
    }

    /// A cross, where there is no value.
    pub(super) fn cross(&mut self, (x, y): Place, colour: RGBColor) {
        const R: f64 = 4.0;
        self.line(&[(x - R, y - R), (x + R, y + R)], colour, 1);
        self.line(&[(x - R, y + R), (x + R, y - R)], colour, 1);
    }

    /// A text.
    pub(super) fn text(&mut self, text: &str, place: Place, style: Style) {
        let weight = if style.bold { FontStyle::Bold } else { FontStyle::Normal };
        let mut font = FontDesc::new(FontFamily::SansSerif, style.size * FONT_SCALE, weight);
        if style.upright {
            font = font.transform(FontTransform::Rotate270);
        }
        let horizontal = match style.anchor {
            Anchor::Left => HPos::Left,
            Anchor::Centre => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        let style = font.color(&style.colour).pos(Pos::new(horizontal, VPos::Center));
        let _ = self.backend.draw_text(text, &style, at(place));
    }
}
