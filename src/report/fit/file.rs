//! Curve files as text.

use crate::curve::Fit;

/// A curve file.
pub fn curve_file(fit: &Fit, command: &str) -> Result<String, serde_yaml::Error> {
    let comment = format!("# Written by `{command}`. docs/fits.md says what the coefficients mean.\n");
    Ok(comment + &serde_yaml::to_string(fit)?)
}
