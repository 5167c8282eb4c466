//! Rows of the supplement in which the blank between index and latency was lost: `1025488.000000`.

use super::error::LogError;
use crate::probe::Load;

/// Whether a text is digits with a fraction.
pub(super) fn is_row(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    !whole.is_empty() && digits(whole) && digits(fraction)
}

/// Gives rows their index and latency: the index that the stride asks for between rows that are whole.
pub(super) fn repair(loads: &mut [Load], rows: &[(usize, String)], stride: i64) -> Result<(), LogError> {
    for (at, text) in rows {
        let known = loads.iter().enumerate().filter(|(_, l)| l.latency >= 0.0);
        let nearest = known.min_by_key(|(i, _)| i.abs_diff(*at));
        let expected = nearest.and_then(|(i, l)| {
            let steps = i64::try_from(*at).ok()? - i64::try_from(i).ok()?;
            u32::try_from(i64::from(l.index) + steps * stride).ok()
        });
        let split = expected.and_then(|index| {
            let latency: f32 = text.strip_prefix(&index.to_string())?.parse().ok()?;
            Some(Load { index, latency })
        });
        let (Some(load), Some(place)) = (split, loads.get_mut(*at)) else {
            let expected = "a blank between index and latency, or rows beside it that have one";
            return Err(LogError::Malformed { line: at + 1, expected, found: text.clone() });
        };
        *place = load;
    }
    Ok(())
}
