//! What is published beside the program says what the program does: the JSON Schemas of inputs and the fields of
//! outputs in `grammar/`, and the list of shipped kernels in `docs/kernels.md`.

mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use wavecast::kernel::load;
use wavecast::{ask, report};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All kinds that have a schema.
fn kinds() -> Vec<&'static str> {
    report::SCHEMAS.iter().chain(ask::SCHEMAS).map(|s| s.0).collect()
}

/// Names of the files in a folder that end in `ending`, without it.
fn names(folder: &str, ending: &str) -> Vec<String> {
    let files = std::fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<String> = files
        .filter_map(|f| f.unwrap().file_name().to_str()?.strip_suffix(ending).map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// What `wavecast schema KIND` prints.
fn printed(kind: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_wavecast")).args(["schema", kind]).output().unwrap();
    assert!(output.status.success(), "wavecast schema {kind}");
    String::from_utf8(output.stdout).unwrap()
}

/// Formats that people and programs write, whose schemas editors use: they are checked in.
const INPUTS: [&str; 4] = ["kernel", "device", "set", "request"];

/// Where the schema of a kind is kept.
fn schema_file(kind: &str) -> PathBuf {
    let file =
        if INPUTS.contains(&kind) { format!("{kind}.schema.json") } else { format!("outputs/{kind}.json") };
    root().join("grammar").join(file)
}

#[test]
fn the_list_of_schema_fields_is_current() {
    let path = root().join("grammar/outputs.txt");
    let current = outputs();
    if std::env::var_os("WAVECAST_UPDATE").is_some_and(|v| v == "1") {
        std::fs::write(&path, &current).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == current,
        "grammar/outputs.txt is not current. Run `WAVECAST_UPDATE=1 cargo test --lib --test schemas schema`, look at \
         the difference (lines may only be added), and commit it."
    );
}

#[test]
fn the_program_prints_the_schemas_that_are_kept() {
    for kind in kinds() {
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(schema_file(kind)).unwrap()).unwrap();
        assert_eq!(printed(kind), format!("{kept:#}\n"), "{kind}");
    }
}

/// Every field of every document that is written, a line each: the contract with programs that read them.
fn outputs() -> String {
    let mut lines = vec![
        "# Every field of every document that Wavecast writes; `?` where it may be left out. Made from the schemas that\n\
         # `wavecast schema KIND` prints. Lines may be added, never removed."
            .to_owned(),
    ];
    for kind in kinds().into_iter().filter(|kind| !INPUTS.contains(kind)) {
        let schema: Value =
            serde_json::from_str(&std::fs::read_to_string(schema_file(kind)).unwrap()).unwrap();
        let mut fields = Vec::new();
        listed(&schema, &schema, kind, &mut Vec::new(), &mut fields);
        fields.sort();
        fields.dedup();
        lines.push(String::new());
        lines.extend(fields);
    }
    lines.join("\n") + "\n"
}

/// The fields of a part of a schema. `within` are the definitions around it, which may name themselves.
fn listed<'s>(
    schema: &'s Value,
    root: &'s Value,
    path: &str,
    within: &mut Vec<&'s str>,
    out: &mut Vec<String>,
) {
    if let Some(name) = schema["$ref"].as_str() {
        if !within.contains(&name) {
            within.push(name);
            let definition = name.strip_prefix("#/$defs/").map_or(root, |name| &root["$defs"][name]);
            listed(definition, root, path, within, out);
            within.pop();
        }
        return;
    }
    for choice in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
        listed(choice, root, path, within, out);
    }
    if let Some(items) = schema.get("items") {
        listed(items, root, &format!("{path}[]"), within, out);
    }
    if let Some(values) = schema.get("additionalProperties").filter(|v| v.is_object()) {
        listed(values, root, &format!("{path}.*"), within, out);
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{path}.{name}");
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        out.push(format!("{place}{optional}: {}", kind_of(field)));
        listed(field, root, &place, within, out);
    }
}

/// What a field holds, in a word or two.
fn kind_of(field: &Value) -> String {
    let choices = || ["anyOf", "oneOf"].iter().filter_map(|key| field[key].as_array()).flatten();
    let mut kinds: Vec<String> = match &field["type"] {
        Value::String(one) => vec![one.clone()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => choices().map(kind_of).collect(),
    };
    if let Some(name) = field["$ref"].as_str() {
        kinds.push(name.rsplit('/').next().unwrap_or(name).to_owned());
    }
    kinds.dedup();
    if kinds.is_empty() { "any".to_owned() } else { kinds.join(" or ") }
}

/// The part of JSON Schema that the generated schemas use. Says where a value is not as described; a key
/// that is not described counts too.
fn mismatch(value: &Value, schema: &Value, root: &Value, path: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let definition = &root["$defs"][name.strip_prefix("#/$defs/")?];
        return mismatch(value, definition, root, path);
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let fits = choices.iter().any(|choice| mismatch(value, choice, root, path).is_none());
        return (!fits).then(|| format!("{path} fits none of {choices:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return Some(format!("{path} is {value}, not {}", schema["const"]));
    }
    if ["type", "properties"].iter().all(|key| schema.get(key).is_none()) {
        // Any value will do.
        return None;
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{path}: the schema knows a type {other}"),
    };
    if !types.iter().filter_map(Value::as_str).any(is) {
        return Some(format!("{path} is {value}, not {}", schema["type"]));
    }
    match value {
        Value::Array(items) => {
            if schema["maxItems"].as_u64().is_some_and(|most| items.len() as u64 > most) {
                return Some(format!("{path} has {} items", items.len()));
            }
            items.iter().find_map(|item| mismatch(item, &schema["items"], root, &format!("{path}[]")))
        }
        Value::Object(map) => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            if let Some(missing) = required.into_iter().find(|key| !map.contains_key(*key)) {
                return Some(format!("{path} has no {missing}"));
            }
            map.iter().find_map(|(key, value)| {
                let place = format!("{path}.{key}");
                let described = schema["properties"].get(key).or(schema.get("additionalProperties"));
                described.map_or_else(
                    || Some(format!("{place} is not described")),
                    |schema| mismatch(value, schema, root, &place),
                )
            })
        }
        _ => None,
    }
}

#[test]
fn printed_documents_are_as_described() {
    let no_launch = ["predict", "kernels/star3d7.yaml", "--block", "4096"];
    for (kind, arguments) in [
        ("ranking", &["rank", "kernels/transpose-tiled.yaml"][..]),
        ("ranking", &["rank", "kernels/laplap2d.yaml", "-d", "rx-6900-xt", "--timing"]),
        ("ranking", &["rank", "kernels/lbm-d3q19.yaml", "-d", "gtx-480"]),
        ("prediction", &["predict", "kernels/star3d25.yaml", "-d", "mi300x"]),
        ("prediction", &["predict", "kernels/star3d7.yaml", "-d", "v100", "--fold", "3,3,3"]),
        ("validation", &["validate", "tests/measured/star3d7.csv"]),
        ("fit", &["fit", "tests/measured/star3d7.csv", "--bootstrap", "5"]),
        (
            "trace-info",
            &["trace", "info", "kernels/transpose-naive.yaml", "--block", "16,16", "--blocks", "2"],
        ),
        ("reuse", &["trace", "reuse", "kernels/transpose-naive.yaml", "--block", "16,16", "--by-rule"]),
        ("cache", &["trace", "cache", "kernels/transpose-naive.yaml", "--block", "16,16", "--blocks", "4"]),
        ("hot", &["trace", "hot", "kernels/transpose-naive.yaml", "--block", "16,16", "--blocks", "4"]),
        (
            "comparison",
            &["compare", "kernels/star2d5.yaml", "--block", "32,8", "-d", "v100", "--warm-waves", "1"],
        ),
        ("probe", &["cache-probe", "tests/cache_probe/small.csv"]),
        ("error", &no_launch),
        ("error", &["rank", "missing.yaml"]),
    ] {
        let output = program::wavecast(&[arguments, &["--format", "json"]].concat(), "");
        let document = program::json(&output);
        assert_eq!(document["schema"], format!("wavecast/{kind}/1"), "{arguments:?}");
        let schema: Value = serde_json::from_str(&printed(kind)).unwrap();
        assert_eq!(mismatch(&document, &schema, &schema, "$"), None, "{arguments:?}");
    }
}

#[test]
fn answers_of_the_server_are_as_described() {
    let schema: Value = serde_json::from_str(&printed("answer")).unwrap();
    let kernel = r#"{"wavecast": 1, "kernel": "k", "fields": {"a": {"dtype": "f64", "size": 64}}, "domain": {"x": 64},
        "loads": ["a[x]"]}"#;
    let session = ask::Session::new(None);
    for op in ["define", "predict", "rank", "no-op"] {
        for kernel in [kernel.to_owned(), format!("[{kernel}, {kernel}]")] {
            let request = format!(r#"{{"id": 1, "op": "{op}", "kernel": {kernel}}}"#);
            let answer: Value = serde_json::from_str(&session.ask(&request)).unwrap();
            assert_eq!(answer["ok"], op != "no-op");
            assert_eq!(mismatch(&answer, &schema, &schema, "$"), None, "{op}");
        }
    }
    let mut wrong: Value = serde_json::from_str(&session.ask("x")).unwrap();
    wrong["error"]["errors"][0]["line"] = "first".into();
    assert!(mismatch(&wrong, &schema, &schema, "$").is_some());
}

#[test]
fn a_document_that_differs_is_noticed() {
    let schema: Value = serde_json::from_str(&printed("error")).unwrap();
    let entry =
        serde_json::json!({"code": "x", "message": "y", "file": null, "line": 1, "column": 2, "help": null});
    let document = |entry: Value| serde_json::json!({"schema": "wavecast/error/1", "errors": [entry]});
    assert_eq!(mismatch(&document(entry.clone()), &schema, &schema, "$"), None);
    for (key, wrong, said) in [
        ("line", Value::from("1"), r#"$.errors[].line is "1", not ["integer","null"]"#),
        ("code", Value::Null, r#"$.errors[].code is null, not "string""#),
        ("more", Value::from(1), "$.errors[].more is not described"),
    ] {
        let mut entry = entry.clone();
        entry[key] = wrong;
        assert_eq!(mismatch(&document(entry), &schema, &schema, "$").as_deref(), Some(said));
    }
    let mut short = document(entry);
    short.as_object_mut().unwrap().remove("errors");
    assert_eq!(mismatch(&short, &schema, &schema, "$").as_deref(), Some("$ has no errors"));
}

#[test]
fn only_inputs_have_schema_files() {
    let mut inputs = INPUTS.to_vec();
    inputs.sort_unstable();
    assert_eq!(names("grammar", ".schema.json"), inputs);
}

/// The table in `docs/kernels.md` names every file of `kernels/` and every kernel in it, and no others.
#[test]
fn shipped_kernels_are_listed() {
    let page = std::fs::read_to_string(root().join("docs/kernels.md")).unwrap();
    let row = |file: &str| {
        let start = format!("| [{file}](../kernels/{file}) |");
        page.lines().find(|line| line.starts_with(&start)).map(str::to_owned)
    };
    let files = names("kernels", ".yaml");
    for file in files.iter().map(|name| format!("{name}.yaml")) {
        let row = row(&file).unwrap_or_else(|| panic!("docs/kernels.md has no row for kernels/{file}"));
        let text = std::fs::read_to_string(root().join("kernels").join(&file)).unwrap();
        for kernel in load(&file, &text, &Default::default()).unwrap().kernels {
            let name = &kernel.name();
            assert!(row.contains(&format!("`{name}`")), "the row of kernels/{file} does not name `{name}`");
            if let Some(variant) = kernel.variant() {
                assert!(
                    row.contains(variant.as_str()),
                    "the row of kernels/{file} does not name the variant {variant}"
                );
            }
        }
    }
    let rows = page.lines().filter(|line| line.starts_with("| [") && line.contains("](../kernels/")).count();
    assert_eq!(rows, files.len(), "docs/kernels.md lists a kernel that is not there");
}
