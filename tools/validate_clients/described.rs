//! What a document and a client say before any thread runs: fields, domain, numbers of instructions.

use serde_json::Value;

use wavecast::kernel::{AccessKind, Kernel};
use wavecast::launch::Program;

use super::Outcome;
use super::emitted::{array, text};

/// Fields: elements, places and spaces.
pub fn compare_fields(client: &Value, kernel: &Kernel) -> Outcome<()> {
    for theirs in array(&client["fields"]) {
        let name = text(&theirs["name"]);
        let ours = kernel.fields().iter().find(|f| *f.name() == name).ok_or(format!("no field {name}"))?;
        let pairs = [
            ("element bytes", ours.dtype().bytes, &theirs["dtype_bytes"]),
            ("offset bytes", ours.offset() * ours.dtype().bytes, &theirs["base_offset_bytes"]),
            ("alignment", *ours.align(), &theirs["base_alignment_bytes"]),
        ];
        for (what, have, want) in pairs {
            if Some(have) != want.as_i64() {
                return Err(format!("{what} of {name}: {have} in the document, {want} in the client"));
            }
        }
        let space = theirs.get("space").map_or("global".to_owned(), text);
        if ours.space().word() != space {
            return Err(format!(
                "space of {name}: {} in the document, {space} in the client",
                ours.space().word()
            ));
        }
    }
    if kernel.fields().len() != array(&client["fields"]).len() {
        return Err("another number of fields".into());
    }
    Ok(())
}

/// The domain, and the work items of a thread.
pub fn compare_domain(client: &Value, kernel: &Kernel) -> Outcome<()> {
    let ours: i64 = kernel.extents().iter().product();
    let theirs: i64 = array(&client["domain"]).iter().filter_map(Value::as_i64).product();
    let per_thread: i64 = kernel.launch().folds()[0].iter().product();
    let expected = client.get("lups_per_thread").and_then(Value::as_i64).unwrap_or(1);
    if ours != theirs || per_thread != expected {
        return Err(format!(
            "domain or fold: {ours} and {per_thread} in the document, {theirs} and {expected} in the client"
        ));
    }
    Ok(())
}

/// Distinct addresses of a thread, which is what a compiler loads.
pub fn compare_counts(client: &Value, program: &Program<wavecast::expr::Scale>) -> Outcome<()> {
    for (kind, key) in [(AccessKind::Load, "loads_per_thread"), (AccessKind::Store, "stores_per_thread")] {
        let ours = program.instructions.iter().filter(|i| i.kind == kind).count();
        let theirs = client[key].as_u64().unwrap_or(0);
        if ours as u64 != theirs {
            return Err(format!("{ours} {kind:?} instructions in the document, {theirs} in the client"));
        }
    }
    Ok(())
}
