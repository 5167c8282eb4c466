//! What a server has beside answers.

/// A text that a server has at a path.
#[derive(Debug, Clone)]
pub struct ServedText {
    /// Where, such as `/`.
    pub path: &'static str,
    /// What it is, such as `text/html`.
    pub kind: &'static str,
    /// The text.
    pub text: String,
}
