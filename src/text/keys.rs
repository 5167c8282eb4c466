//! Keys that appear twice in a mapping.

use super::{Diagnostic, Entry, Fault, shorten};

/// Keys of a mapping that are compared pair by pair.
const FEW: usize = 12;

/// Drops and reports entries whose key an earlier one has.
pub(super) fn drop_repeated(entries: &mut Vec<Entry>, errors: &mut Vec<Diagnostic>) {
    // Most mappings are so short that looking at each pair is the quickest way.
    let is_new = |i: usize| entries[..i].iter().all(|before| before.key != entries[i].key);
    if entries.len() <= FEW && (1..entries.len()).all(is_new) {
        return;
    }
    let mut by_key: Vec<usize> = (0..entries.len()).collect();
    // Equal keys stay in the order of the document.
    by_key.sort_by(|&a, &b| entries[a].key.as_str().cmp(&entries[b].key));
    let mut repeated: Vec<usize> =
        by_key.windows(2).filter(|w| entries[w[0]].key == entries[w[1]].key).map(|w| w[1]).collect();
    if repeated.is_empty() {
        return;
    }
    repeated.sort_unstable();
    // More than a fault shows need not be remembered.
    for &i in repeated.iter().take((Fault::MOST + 1).saturating_sub(errors.len())) {
        let message = format!("the key `{}` appears twice in this mapping", shorten(&entries[i].key));
        let help = "keep one of them; the second is not taken as an override";
        errors.push(Diagnostic::error("duplicate-key", entries[i].key_span, message).help(help));
    }
    let (mut at, mut dropped) = (0, repeated.iter().peekable());
    entries.retain(|_| {
        at += 1;
        dropped.next_if(|&&i| i == at - 1).is_none()
    });
}
