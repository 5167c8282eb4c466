//! What every picture has: a title that says what it is about.

use super::canvas::{Anchor, Canvas, FAINT, LETTER, Style};
use crate::report::prediction::Head;

const TITLE: f64 = 16.0;

/// Title and subtitle at the top of a picture: `what` it shows, and more about it.
pub(super) fn head(canvas: &mut Canvas<'_>, head: &Head, what: &str, about: &str, width: f64) {
    let subject = format!("{} on {}", head.kernel.name, head.device.name);
    titles(canvas, &format!("{subject}: {what}"), [about, &head.model_text()], width);
}

/// The same of several devices, each with curves of its own.
pub(super) fn head_of_devices(canvas: &mut Canvas<'_>, head: &Head, what: &str, about: &str, width: f64) {
    titles(canvas, &format!("{}: {what}", head.kernel.name), [about, &head.how()], width);
}

fn titles(canvas: &mut Canvas<'_>, title: &str, [about, model]: [&str; 2], width: f64) {
    let style = Style { size: TITLE, bold: true, ..Style::new(Anchor::Left) };
    canvas.text(&fitting(title, width - 40.0, TITLE), (20.0, 24.0), style);
    let style = Style { colour: FAINT, ..Style::new(Anchor::Left) };
    for (line, y) in [(about, 46.0), (model, 64.0)] {
        canvas.text(&fitting(line, width - 40.0, style.size), (20.0, y), style);
    }
}

/// A text cut to a width.
fn fitting(text: &str, width: f64, size: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of letters")]
    let most = (width / (size * LETTER)).max(1.0) as usize;
    shortened(text, most)
}

/// A text of at most so many letters; what is cut is marked.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
