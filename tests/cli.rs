//! The command line as scripts and people meet it: exit codes, formats, what goes to which stream.

mod program;

use program::{json, stderr, stdout, wavecast};

const COPY: &str = "wavecast: 1
kernel: copy
params: {N: 4096}
fields: {a: {dtype: f64, size: N}, b: {like: a}}
domain: {x: N}
loads: ['a[x]']
stores: ['b[x]']
work: {flops: 0}
launch: {block: [[256], [2048]], registers: 16}
";

#[test]
fn check_shows_what_was_understood() {
    let output = wavecast(&["check", "kernels/star3d25.yaml", "-d", "a100"], "");
    assert!(output.status.success());
    insta::assert_snapshot!("check_star3d25", stdout(&output));
    let output = wavecast(&["check", "kernels/matmul-tiled.yaml", "--candidates", "-d", "v100"], "");
    insta::assert_snapshot!("check_matmul_tiled", stdout(&output));
    let output =
        wavecast(&["check", "tests/clients/star3d7_linear1d.yaml", "kernels/axpy-gridstride.yaml"], "");
    insta::assert_snapshot!("check_quasi_affine_and_loops", stdout(&output));
}

#[test]
fn check_reads_yaml_and_json_from_standard_input() {
    let yaml = wavecast(&["check", "-", "--format", "json"], COPY);
    assert_eq!(yaml.status.code(), Some(0));
    let document = r#"{"wavecast": 1, "kernel": "copy", "params": {"N": 4096},
        "fields": {"a": {"dtype": "f64", "size": "N"}, "b": {"like": "a"}}, "domain": [{"x": "N"}],
        "loads": ["a[x]"], "stores": ["b[x]"], "work": {"flops": 0},
        "launch": {"block": [[256], [2048]], "registers": 16}}"#;
    let json_input = wavecast(&["check", "-", "--format", "json"], document);
    assert_eq!(json(&yaml), json(&json_input), "JSON is YAML");
    assert_eq!(json(&yaml)["schema"], "wavecast/check/1");
}

#[test]
fn check_shows_the_instructions_that_are_given() {
    let given =
        COPY.replace("flops: 0", "flops: 0, instructions: {global: 2, int: N/1000 + 1, control: 0.5}");
    let text = stdout(&wavecast(&["check", "-"], &given));
    assert!(text.contains("\nissues  5 int, 0.5 control, 2 global instructions each\n"), "{text}");
    let found = json(&wavecast(&["check", "-", "--format", "json", "--set", "N=2048"], &given));
    let counts = serde_json::json!({"int": 3.0, "control": 0.5, "global": 2.0});
    assert_eq!(found["kernel"]["instructions"], counts);
    let none = json(&wavecast(&["check", "-", "--format", "json"], COPY));
    assert_eq!(none["kernel"]["instructions"], serde_json::json!({}));
    assert!(!stdout(&wavecast(&["check", "-"], COPY)).contains("issues"));
}

#[test]
fn several_documents_give_an_array_or_lines() {
    let stream = format!("{COPY}---\n{COPY}");
    let array = json(&wavecast(&["check", "-", "--format", "json"], &stream));
    assert_eq!(array.as_array().unwrap().len(), 2);
    let lines = stdout(&wavecast(&["check", "-", "--format", "jsonl"], &stream));
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        assert_eq!(serde_json::from_str::<serde_json::Value>(line).unwrap()["kernel"]["name"], "copy");
    }
}

#[test]
fn set_overrides_and_what_depends_follows() {
    let found = json(&wavecast(&["check", "-", "--format", "json", "--set", "N=2*512"], COPY));
    assert_eq!(found["kernel"]["params"]["N"], 1024);
    assert_eq!(found["fields"][0]["bytes"], 8192);
    let wrong = wavecast(&["check", "-", "--set", "M=3"], COPY);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("no document has a parameter `M`"));
    let bad = wavecast(&["check", "-", "--set", "N=4 +"], COPY);
    assert!(stderr(&bad).contains("--> --set:1:6"), "{}", stderr(&bad));
}

#[test]
fn infeasible_candidates_have_reasons_and_a_code() {
    let found = json(&wavecast(&["check", "-", "--format", "json", "-d", "a100"], COPY));
    assert_eq!(found["launch"]["feasible"], 1);
    let infeasible = &found["launch"]["infeasible"][0];
    assert_eq!(infeasible["code"], "threads-per-block");
    assert_eq!(infeasible["reason"], "threads_per_block 2048 > 1024");
    let none = wavecast(&["check", "-", "-d", "a100"], &COPY.replace("[256], ", ""));
    assert_eq!(none.status.code(), Some(1), "nothing can run");
    assert!(stdout(&none).contains("these cannot"));
}

#[test]
fn errors_go_to_stderr_for_people_and_to_stdout_for_programs() {
    let broken = COPY.replace("loads", "load");
    let text = wavecast(&["check", "-"], &broken);
    assert_eq!(text.status.code(), Some(2));
    assert!(stdout(&text).is_empty());
    assert!(stderr(&text).contains("did you mean `loads`?"));
    assert!(!stderr(&text).contains('\u{1b}'), "no colours into a pipe");
    let program = wavecast(&["check", "-", "--format", "json"], &broken);
    assert_eq!(program.status.code(), Some(2));
    let error = json(&program);
    assert_eq!(error["schema"], "wavecast/error/1");
    let first = &error["errors"][0];
    assert_eq!(
        (&first["code"], &first["line"], &first["column"]),
        (&"unknown-key".into(), &6.into(), &1.into())
    );
    for arguments in [["check", "missing.yaml", "--format", "json"], ["check", "-", "-d", "a1000"]] {
        assert_eq!(wavecast(&arguments, COPY).status.code(), Some(2));
    }
}

#[test]
fn results_can_go_to_files_by_extension() {
    let folder = std::env::temp_dir().join(format!("wavecast-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, start) in
        [("c.json", "{\n  \"schema\""), ("c.csv", "kernel,variant,kind"), ("c.md", "| kernel |")]
    {
        let path = folder.join(name);
        let output = wavecast(&["check", "-", "-o", path.to_str().unwrap()], COPY);
        assert!(output.status.success() && output.stdout.is_empty());
        assert!(std::fs::read_to_string(path).unwrap().starts_with(start), "{name}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    let refused = wavecast(&["check", "-", "-o", "/no/such/folder/c.json"], COPY);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn devices_are_listed_and_shown_as_files_that_read_back() {
    let list = stdout(&wavecast(&["devices"], ""));
    assert_eq!(list.lines().filter(|l| l.contains(" GHz ")).count(), 73);
    let yaml = stdout(&wavecast(&["devices", "show", "a100-80gb", "--device-set", "l2.capacity=80MiB"], ""));
    assert!(yaml.contains("value: 80 MiB\n    source: given"), "{yaml}");
    assert!(yaml.contains("inherited: a100-40gb"));
    let path = std::env::temp_dir().join(format!("wavecast-device-{}.yaml", std::process::id()));
    std::fs::write(&path, &yaml).unwrap();
    let again = wavecast(&["devices", "show", path.to_str().unwrap()], "");
    std::fs::remove_file(path).unwrap();
    assert_eq!(stdout(&again), yaml, "{}", stderr(&again));
}

#[test]
fn schemas_and_completions_are_printed() {
    for kind in ["kernel", "device", "check", "error"] {
        assert!(json(&wavecast(&["schema", kind], ""))["properties"].is_object(), "{kind}");
    }
    assert_eq!(wavecast(&["schema", "nothing"], "").status.code(), Some(2));
    // Clap looks at the whole tree of commands only here, and only in a build with debug assertions.
    let completions = wavecast(&["completions", "bash"], "");
    assert!(stdout(&completions).contains("_wavecast"), "{}", stderr(&completions));
}

#[test]
fn limits_protect_and_can_be_raised() {
    let wide = COPY.replace("['a[x]']", "[{for: {i: 0..999}, at: 'a[x + i - i]'}]");
    let refused = wavecast(&["check", "-", "--limit", "accesses=500"], &wide);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--limit accesses=N"), "{}", stderr(&refused));
    assert!(wavecast(&["check", "-"], &wide).status.success());
    assert!(stderr(&wavecast(&["check", "-", "--limit", "acesses=5"], COPY)).contains("accesses"));
}

#[cfg(feature = "isl")]
#[test]
fn sets_are_shown_in_isl_notation() {
    let output = wavecast(&["check", "-", "--show-sets"], &COPY.replace("N: 4096", "N: 4000"));
    let text = stdout(&output);
    let sets = &text[text.find("\nsets").unwrap()..];
    insta::assert_snapshot!("show_sets", sets);
    let grid_stride = stdout(&wavecast(&["check", "kernels/axpy-gridstride.yaml", "--show-sets"], ""));
    assert!(grid_stride.contains("mod 221184 = 0"), "{grid_stride}");
}

#[cfg(not(feature = "isl"))]
#[test]
fn sets_need_isl_and_say_so() {
    let output = wavecast(&["check", "-", "--show-sets"], COPY);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("built without isl"));
}
