//! Brackets that pair, before anything else is read.

use crate::text::{Diagnostic, Origin, shorten};

/// Deepest nesting of parentheses, brackets and calls.
pub(super) const MAX_NESTING: usize = 64;

/// Brackets must pair, and not nest without end: the parser recurses into them.
pub(super) fn check_brackets(text: &str, origin: Origin) -> Result<(), Diagnostic> {
    let split =
        "YAML splits unquoted text at every comma inside [] and {}: put the whole expression in quotes";
    let mut open = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => open.push((i, if c == '(' { ')' } else { ']' })),
            ')' | ']' => match open.pop() {
                Some((_, wanted)) if wanted == c => {}
                _ => {
                    let message = format!("`{c}` closes nothing in `{}`", shorten(text));
                    return Err(Diagnostic::error("unbalanced", origin.span(i..i + 1), message).help(split));
                }
            },
            _ => {}
        }
        if open.len() > MAX_NESTING {
            let message = format!("brackets nest deeper than {MAX_NESTING} levels");
            return Err(Diagnostic::error("expression-too-deep", origin.span(i..i + 1), message));
        }
    }
    match open.last() {
        None => Ok(()),
        Some(&(i, wanted)) => {
            let c = &text[i..=i];
            let message = format!("`{c}` is never closed by `{wanted}` in `{}`", shorten(text));
            Err(Diagnostic::error("unbalanced", origin.span(i..i + 1), message).help(split))
        }
    }
}
