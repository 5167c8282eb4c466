//! Limits that protect the tool, as they are raised.

use super::asker::Asker;
use crate::kernel::Limits;
use crate::text::{Fault, shorten};

/// The limits that are changed by `NAME=N` texts.
pub fn limits(texts: &[String], asker: Asker) -> Result<Limits, Fault> {
    let mut limits = Limits::default();
    for text in texts {
        let set = text.split_once('=').and_then(|(name, value)| {
            let value = value.trim().replace('_', "").parse().ok()?;
            limits.set(name.trim(), value).then_some(())
        });
        set.ok_or_else(|| {
            let message = format!("`{}` is not a limit and a number", asker.given("limit", shorten(text)));
            let help = format!("write NAME=N with one of: {}", Limits::NAMES.join(", "));
            asker.wrong(message, Some(&help))
        })?;
    }
    Ok(limits)
}
