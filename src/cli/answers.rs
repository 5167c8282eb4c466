//! Answers on their way out: each is a document, or says why there is none.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;

use super::Outcome;
use super::captured;
use super::failure::Failure;
use super::output::{Format, OutputArguments};
use super::progress;
use crate::ask::Reply;
use crate::report::{Answer, Layout, View, answers_page, write_json, write_line};

/// Writes replies as they were asked for, and tells a person on standard error what is missing. Status 1 if
/// anything is.
pub(super) fn show_replies<A: Answer>(
    output: &OutputArguments,
    replies: &[Reply<A>],
    all: bool,
) -> Result<ExitCode, Failure> {
    let answers: Vec<&A> = replies.iter().filter_map(Reply::answer).collect();
    match output.format() {
        _ if output.is_picture() => output.write(&picture(&answers)?)?,
        _ if output.is_page() => output.write(&answers_page(&title(&answers), &answers))?,
        Format::Json => {
            captured::keep_text(&answers, all);
            output.write_pieces(|out| write_documents(replies, out))?;
        }
        Format::Jsonl => {
            output.write_pieces(|out| replies.iter().try_for_each(|reply| write_reply(reply, out)))?;
        }
        _ => show_text(output, &answers, all)?,
    }
    say_beside_rows(output, &answers);
    if !output.is_json() {
        replies.iter().for_each(say_errors);
    }
    Ok(if answers.len() < replies.len() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Tells on standard error what the rows of a format do not say.
fn say_beside_rows<A: Answer>(output: &OutputArguments, answers: &[&A]) {
    let rows = match output.format() {
        _ if output.is_picture() || output.is_page() => false,
        Format::Csv | Format::Md => true,
        Format::Jsonl => A::LINES_ARE_RESULTS,
        _ => false,
    };
    if rows {
        answers.iter().flat_map(|a| a.beside_rows()).for_each(|line| progress::say(&line));
    }
}

/// Writes answers as they were asked for.
pub(super) fn show<A: Answer>(output: &OutputArguments, answers: &[A], all: bool) -> Result<(), Failure> {
    match output.format() {
        _ if output.is_picture() => output.write(&picture(&answers.iter().collect::<Vec<_>>())?),
        _ if output.is_page() => {
            let answers: Vec<&A> = answers.iter().collect();
            output.write(&answers_page(&title(&answers), &answers))
        }
        Format::Json => {
            captured::keep_text(&answers.iter().collect::<Vec<_>>(), all);
            output.write_pieces(|out| write_documents(answers, out))
        }
        Format::Jsonl => output.write_pieces(|out| answers.iter().try_for_each(|a| a.write_lines(out))),
        _ => show_text(output, &answers.iter().collect::<Vec<_>>(), all),
    }
}

/// Writes an answer as it was asked for.
pub(super) fn show_one<A: Answer>(output: &OutputArguments, answer: &A) -> Result<(), Failure> {
    show(output, std::slice::from_ref(answer), false)
}

/// Finds an answer and writes it, in one of these formats beside the usual ones.
pub(super) fn answer<A: Answer>(
    output: &OutputArguments,
    further: &[&str],
    find: impl FnOnce() -> Result<A, Failure>,
) -> Outcome {
    output.check(further)?;
    let found = find().map_err(|f| f.for_json(output.is_json()))?;
    show_one(output, &found)?;
    Ok(ExitCode::SUCCESS)
}

fn show_text<A: Answer>(output: &OutputArguments, answers: &[&A], all: bool) -> Result<(), Failure> {
    let view = View { width: output.width(), all };
    match output.format() {
        Format::Csv => output.write_pieces(|out| A::write_csv(answers, out)),
        Format::Md => output.write_pieces(|out| A::write_markdown(answers, out)),
        _ => output.write(&answers.iter().map(|a| a.fitted(view)).collect::<Vec<_>>().join("\n")),
    }
}

/// What a page is called: what its answers are, of which kernels on which devices.
fn title<A: Answer>(answers: &[&A]) -> String {
    let documents: Vec<Value> = answers.iter().filter_map(|a| serde_json::to_value(a).ok()).collect();
    let named = |key: &str| -> Vec<String> {
        let mut names: Vec<String> = documents.iter().filter_map(|d| titled(d.get(key)?)).collect();
        names.dedup();
        names
    };
    let (kernels, devices) = (named("kernel"), named("device"));
    let mut title = A::TITLE.to_owned();
    for (word, names) in [("of", kernels), ("on", devices)] {
        if !names.is_empty() {
            title = format!("{title} {word} {}", names.join(", "));
        }
    }
    title
}

/// The name of what a document is about, with what was changed of it.
fn titled(of: &Value) -> Option<String> {
    let name = of.get("name")?.as_str()?;
    let changed = of.get("changed").and_then(Value::as_object).into_iter().flatten();
    let changes: Vec<String> =
        changed.map(|(path, value)| format!("{path}={}", value.as_str().unwrap_or_default())).collect();
    Some(if changes.is_empty() { name.to_owned() } else { format!("{name} with {}", changes.join(", ")) })
}

fn picture<A: Answer>(answers: &[&A]) -> Result<String, Failure> {
    match answers {
        [one] => one.picture().ok_or_else(|| {
            Failure::message("no-picture", "there is no picture of this result".to_owned(), None)
        }),
        many => {
            let message = format!("{} results do not fit in one picture", many.len());
            Err(Failure::message("usage", message, Some("draw one kernel at a time")))
        }
    }
}

/// One document alone, several as an array; an empty list is an empty array.
fn write_documents<T: Serialize>(documents: &[T], out: &mut dyn Write) -> io::Result<()> {
    match documents {
        [one] => write_json(one, Layout::Indented, out)?,
        many => write_json(many, Layout::Indented, out)?,
    }
    out.write_all(b"\n")
}

fn write_reply<A: Answer>(reply: &Reply<A>, out: &mut dyn Write) -> io::Result<()> {
    match reply {
        Reply::Found(answer) => answer.write_lines(out),
        Reply::Error(error) => write_line(error, out),
    }
}

/// Tells a person what is missing.
pub(super) fn say_errors<A>(reply: &Reply<A>) {
    let Reply::Error(document) = reply else { return };
    for error in &document.errors {
        progress::say(&format!("error: {}", error.message));
        if let Some(help) = &error.help {
            progress::say(&format!("  = help: {help}"));
        }
    }
}
