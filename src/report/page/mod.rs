//! Answers as pages for a browser.

mod answers;
mod frame;
mod ranking;

pub use answers::answers_page;
pub use ranking::{ExplainedRanking, LaunchDetails, ranking_page};
