//! What people read fits terminals of 80 characters.

use wavecast::ask::{
    DeviceSource, Explain, KernelSource, OneLaunch, Pieces, Predict, Predictor, Question, Rank,
};
use wavecast::report::{Answer, View};

const NARROW: View = View { width: Some(80), all: false };

fn source(name: &str) -> KernelSource {
    let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    KernelSource::new(name, std::fs::read_to_string(path).unwrap())
}

/// What a question is answered with on a narrow terminal and on one as wide as it has to be.
fn texts<Q: Question>(question: &Q, kernel: &str) -> (String, String)
where
    Q::Answer: Answer,
{
    let read = source(kernel).read().unwrap();
    let on = Predictor::new(DeviceSource::named("a100")).unwrap();
    let replies = question.answer(&read, &on, &Pieces::default()).unwrap();
    let answer = replies[0].answer().unwrap();
    (answer.fitted(NARROW), answer.fitted(View::default()))
}

fn seen(line: &str) -> usize {
    let mut colour = false;
    let seen = line.chars().filter(|c| {
        colour |= *c == '\u{1b}';
        let seen = !colour;
        colour &= *c != 'm';
        seen
    });
    seen.count()
}

#[track_caller]
fn fits(narrow: &str, wide: &str) {
    for line in narrow.lines() {
        assert!(seen(line) <= 80, "{} characters: {line}\n{narrow}", seen(line));
    }
    assert!(!narrow.contains('…'), "something was cut: {narrow}");
    assert!(wide.lines().any(|line| seen(line) > 80), "nothing had to be done: {wide}");
    assert!(!wide.contains("--wide"), "{wide}");
}

#[test]
fn rankings_keep_what_decides() {
    for kernel in ["star3d25", "star3d7", "transpose-tiled", "lbm-d3q15"] {
        let (narrow, wide) = texts(&Rank { top: Some(5), ..Rank::default() }, kernel);
        fits(&narrow, &wide);
        let head = narrow.lines().find(|line| line.contains("rank")).unwrap();
        for column in ["block", "rate", "rel", "limiter"] {
            assert!(head.contains(column), "{head}");
        }
        assert!(narrow.contains("columns have no room: --wide shows them"), "{narrow}");
    }
}

#[test]
fn explanations_and_predictions_fit() {
    let launch = OneLaunch::default();
    for kernel in ["star3d25", "conv2d-shared", "matmul-tiled"] {
        let (narrow, wide) = texts(&Explain { launch, ..Explain::default() }, kernel);
        fits(&narrow, &wide);
        let (narrow, wide) = texts(&Predict { launch }, kernel);
        fits(&narrow, &wide);
    }
}
