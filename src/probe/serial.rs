//! How single numbers are written.

use serde::Serializer;

/// A share, in percent.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(super) fn percent<S: Serializer>(share: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(100.0 * share)
}

/// Masks of bits, in hexadecimal.
pub(super) fn hexadecimal<S: Serializer>(masks: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(masks.iter().map(|m| format!("{m:#x}")))
}
