//! JSON Schemas of requests and answers.

crate::report::schemas! {
    ("request", "what `serve` reads, one a line", "request.schema.json", super::RequestLine),
    ("answer", "what `serve` answers, one a line", "outputs/answer.json", super::AnswerLine),
}
