//! The key `code` of kernel documents: compiled code in the place of accesses, in every command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A folder with documents and PTX, which goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wavecast-{}-code-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// One of the kernels of `tests/ptx`, with a change.
    fn ptx(&self, from: &str, to: &str, change: impl Fn(String) -> String) {
        self.write(to, &change(ptx(from)));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of a test that failed does no harm.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn ptx(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx").join(file)).unwrap()
}

fn wavecast(arguments: &[&str]) -> Output {
    let root = env!("CARGO_MANIFEST_DIR");
    Command::new(env!("CARGO_BIN_EXE_wavecast")).current_dir(root).args(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = wavecast(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn stderr(arguments: &[&str]) -> String {
    let output = wavecast(arguments);
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[arguments, &["--format", "json"]].concat())).unwrap()
}

const SAXPY: &str = "\
wavecast: 1
kernel: saxpy
params: {N: 1048576}
fields: {x: {dtype: f32, size: N}, y: {like: x}}
code: {ptx: saxpy.ptx, entry: saxpy, args: {0: N, 1: 2.0, saxpy_param_2: x, 3: y}}
domain: {i: N}
launch: {block: [[64], [128], [256]], grid: ['(N + blockDim.x - 1) / blockDim.x']}
";

/// A folder with the document above, changed, and its code.
fn saxpy(name: &str, change: impl Fn(String) -> String) -> (Folder, String) {
    let folder = Folder::new(name);
    folder.ptx("nvrtc/saxpy.ptx", "saxpy.ptx", |text| text);
    let path = folder.write("saxpy.yaml", &change(SAXPY.to_owned()));
    (folder, path)
}

#[test]
fn code_says_what_a_written_document_says() {
    let (folder, path) = saxpy("written", |text| text);
    let body = "body: ['load x + tidx', 'load y + tidx', 'store y + tidx']\nwork: {unit: thread, flops: 2, instructions: \
        {fp64: 0, fp32: 1, fp16: 0, tensor: 0, int: 10, special: 0, convert: 0, control: 2, shared: 0, global: 3}}";
    let lines: Vec<&str> =
        SAXPY.lines().map(|line| if line.starts_with("code") { body } else { line }).collect();
    let written = folder.write("written.yaml", &lines.join("\n").replace(", grid: [", ", registers: 9} # ["));
    let ranked = |path: &str, more: &[&str]| {
        let all = json(&[&["rank", path, "-d", "a100"], more].concat());
        (all["results"].clone(), all["kernel"].clone())
    };
    assert_eq!(ranked(&path, &[]), ranked(&written, &[]));
    let half = ["--set", "N=524288"];
    assert_eq!(ranked(&path, &half), ranked(&written, &half));
    assert_ne!(ranked(&path, &half).0, ranked(&path, &[]).0);
    // The same kernel without a document.
    let ptx = [
        "rank",
        "tests/ptx/nvrtc/saxpy.ptx",
        "-d",
        "a100",
        "--arg",
        "0=1048576",
        "--arg",
        "2=x",
        "--arg",
        "3=y",
    ];
    let bare = json(&[&ptx[..], &["--block", "64", "--block", "128", "--block", "256"]].concat());
    assert_eq!(bare["results"], ranked(&path, &[]).0);
}

#[test]
fn a_parameter_that_varies_has_the_code_read_again() {
    let (_folder, path) = saxpy("sweep", |text| text);
    let all = json(&["sweep", &path, "-d", "a100", "--vary", "N=1000,2000", "--block", "128"]);
    let domains: Vec<&Value> = all["points"].as_array().unwrap().iter().map(|p| &p["domain"]).collect();
    assert_eq!(domains, [&json!([1000]), &json!([2000])], "{all}");
    // Also for blocks that the document does not list.
    let all = json(&["sweep", &path, "-d", "a100", "--vary", "block=96x1x1,160x1x1"]);
    for (point, block) in all["points"].as_array().unwrap().iter().zip([96, 160]) {
        assert_eq!(point["result"]["config"]["block"], json!([block, 1, 1]), "{all}");
    }
}

#[test]
fn what_is_left_out_is_as_the_code_says() {
    let folder = Folder::new("least");
    folder.ptx("nvrtc/saxpy.ptx", "saxpy.ptx", |text| text);
    let path = folder.write(
        "least.yaml",
        "{wavecast: 1, kernel: s, code: {ptx: saxpy.ptx, args: [1000, 2.0, x, y + 8]}, work: {unit: element}}",
    );
    let check = json(&["check", &path]);
    assert_eq!(check["kernel"]["domain"], json!([1000]));
    assert_eq!((&check["kernel"]["unit"], &check["kernel"]["flops"]), (&json!("element"), &json!(2.0)));
    let sizes: Vec<(&Value, &Value)> =
        check["fields"].as_array().unwrap().iter().map(|f| (&f["name"], &f["bytes"])).collect();
    assert_eq!(sizes, [(&json!("x"), &json!(4000)), (&json!("y"), &json!(4008))]);
    assert_eq!(check["launch"]["blocks"], 5);
    // 8 bytes behind the beginning are two elements.
    assert_eq!(check["program"][2]["element"], "tidx + 2");
    let at = |k: usize| check["program"][k]["line"].as_u64().unwrap();
    let text = ptx("nvrtc/saxpy.ptx");
    let line = |k: usize| text.lines().nth(usize::try_from(at(k)).unwrap() - 1).unwrap();
    assert!(line(0).contains("ld.global.f32") && line(2).contains("st.global.f32"));
    assert_eq!(check["code"]["blocks"].as_array().unwrap().len(), 5);
}

#[test]
fn lines_of_sources_are_named() {
    let folder = Folder::new("lines");
    folder.ptx("nvrtc/saxpy.ptx", "saxpy.ptx", |text| {
        let text = text.replace(".address_size 64", ".address_size 64\n.file 1 \"/home/me/saxpy.cu\"");
        text.replace("\tst.global", "\t.loc 1 7 5\n\tst.global")
    });
    let path =
        folder.write("s.yaml", "{wavecast: 1, kernel: s, code: {ptx: saxpy.ptx, args: [1000, 2, x, y]}}");
    let text = stdout(&["check", &path]);
    assert!(text.contains("store  y + tidx   # line 47, saxpy.cu:7"), "{text}");
    assert!(text.contains("code    entry saxpy of "), "{text}");
    assert_eq!(json(&["check", &path])["program"][2]["source"], "saxpy.cu:7");
}

#[test]
fn blocks_that_the_code_does_not_allow_are_left_out() {
    let folder = Folder::new("blocks");
    let demand = |what: &'static str| move |text: String| text.replacen(")\n{", &format!(")\n{what}\n{{"), 1);
    folder.ptx("nvrtc/saxpy.ptx", "saxpy.ptx", demand(".reqntid 128, 1, 1"));
    folder.ptx("nvrtc/saxpy.ptx", "most.ptx", demand(".maxntid 128, 1, 1"));
    let path = folder.write("saxpy.yaml", SAXPY);
    let check = json(&["check", &path, "--candidates"]);
    assert_eq!(check["launch"]["candidates"], 1);
    assert_eq!(check["launch"]["configs"][0]["block"], json!([128, 1, 1]));
    let warning = &check["warnings"][0];
    assert_eq!(warning["code"], "code-blocks");
    assert!(warning["message"].as_str().unwrap().contains("2 of 3 blocks"), "{warning}");
    let most = folder.write("most.yaml", &SAXPY.replace("saxpy.ptx", "most.ptx"));
    assert_eq!(json(&["check", &most])["launch"]["candidates"], 2);
    // Launch bounds are the reason why nothing is known of larger blocks.
    let larger = wavecast(&["predict", &most, "-d", "a100", "--block", "256"]);
    let said = String::from_utf8_lossy(&larger.stderr).into_owned();
    assert!(said.contains("only, as its launch bounds allow at most 128 threads (`.maxntid`"), "{said}");
    let other = wavecast(&["rank", &path, "-d", "a100", "--block", "64"]);
    let said = String::from_utf8(other.stdout).unwrap();
    assert_eq!(other.status.code(), Some(1));
    assert!(said.contains("read for blocks of 128x1x1 only") && said.contains(".reqntid"), "{said}");
}

#[test]
fn other_blocks_are_read_when_they_are_asked_for() {
    let (_folder, path) = saxpy("other", |text| text);
    let all = json(&["rank", &path, "-d", "a100", "--block", "96", "--block", "160"]);
    assert_eq!(all["summary"]["feasible"], 2, "{all}");
    let one = json(&["predict", &path, "-d", "a100", "--block", "96"]);
    assert_eq!(one["result"]["config"]["grid"], json!([10923, 1, 1]));
    // Its neighbours are those of the document.
    let text = stdout(&["explain", &path, "-d", "a100", "--block", "96"]);
    assert!(text.contains("The fastest of 3 others is block 256x1x1"), "{text}");
    let threads = json(&["rank", &path, "-d", "a100", "--threads", "192"]);
    assert_eq!(threads["results"][0]["config"]["block"], json!([192, 1, 1]));
}

/// A tile whose size is that of the block: a variant for each block.
const TRANSPOSE: &str = "\
wavecast: 1
kernel: transpose
params: {N: 1024}
fields: {in: {dtype: f32, shape: [N, N]}, out: {like: in}}
code: {ptx: transpose.ptx, args: ARGS}
domain: {x: N, y: N}
launch: {block: [[32, 8], [32, 16]], grid: [N/32, N/32]}
";

#[test]
fn several_files_are_variants() {
    let folder = Folder::new("variants");
    folder.ptx("nvrtc/saxpy.ptx", "a.ptx", |text| text);
    folder.ptx("clang/saxpy.ptx", "b.ptx", |text| text);
    let listed = SAXPY.replace(
        "ptx: saxpy.ptx, entry: saxpy, args: {0: N, 1: 2.0, saxpy_param_2: x, 3: y}",
        "ptx: [a.ptx, b.ptx], args: [N, 2, x, y]",
    );
    let path = folder.write("listed.yaml", &listed);
    let names = |path: &str| {
        let all = json(&["check", path]);
        let name = |k: &Value| k["kernel"]["variant"].as_str().unwrap().to_owned();
        all.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(&path), ["a", "b"]);
    let variants = SAXPY.replace(
        "ptx: saxpy.ptx, entry: saxpy, args: {0: N, 1: 2.0, saxpy_param_2: x, 3: y}",
        "args: [N, 2, x, y]",
    ) + "variants: [{name: nvidia, code: {ptx: a.ptx}}, {name: clang, code: {ptx: b.ptx}, launch: {block: [[96]]}}]\n";
    let path = folder.write("variants.yaml", &variants);
    assert_eq!(names(&path), ["nvidia", "clang"]);
    let ranked = json(&["rank", &path, "-d", "a100"]);
    assert_eq!(ranked["summary"]["candidates"], 4);
    assert_eq!(json(&["check", &path, "--variant", "clang"])["code"]["blocks"], json!([[96, 1, 1]]));
}

#[test]
fn what_is_wrong_has_its_place() {
    let wrong = |change: &dyn Fn(String) -> String| {
        let (_folder, path) = saxpy("wrong", change);
        let error = stderr(&["check", &path]);
        error.replace(&path, "saxpy.yaml")
    };
    let with = |from: &'static str, to: &'static str| {
        move |text: String| {
            assert!(text.contains(from));
            text.replace(from, to)
        }
    };
    let cases: [(&str, &str, &str, &str); 11] = [
        ("0: N", "n: N", "entry `saxpy` has no parameter `n`", "saxpy.yaml:5:48"),
        ("0: N", "0: NN", "unknown name `NN`", "saxpy.yaml:5:48"),
        ("0: N", "0: 4294967296", "does not fit into the parameter `saxpy_param_0`", "saxpy.yaml:5:48"),
        ("0: N", "0: x", "no pointer", "saxpy.yaml:5:48"),
        ("saxpy.ptx", "nosuch.ptx", "cannot read ", "saxpy.yaml:5:13"),
        ("entry: saxpy", "entry: axpy", "there is no entry `axpy`", "saxpy.yaml:5:7"),
        ("dtype: f32", "dtype: f64", "elements of 8 bytes", "saxpy.yaml:5:7"),
        ("domain:", "loads: ['x[i]']\ndomain:", "`code` or `loads`, not both", "saxpy.yaml:5:7"),
        ("3: y}", "3: y}, trips: {a: 3}", "`a` is no line of PTX", "saxpy.yaml:5"),
        ("launch: {", "launch: {fold: [[2]], ", "`launch.fold` says nothing of code", "saxpy.yaml:7:9"),
        ("3: y}", "3: y}, tripz: {1: 3}", "unknown key `tripz`", "saxpy.yaml:5"),
    ];
    for (from, to, message, place) in cases {
        let error = wrong(&with(from, to));
        assert!(error.contains(message) && error.contains(place), "{to}: {error}");
    }
    // The grid follows from nothing, and the number is why.
    let error = wrong(&|text| {
        let text = text.replace("0: N", "0: -5").replace("domain: {i: N}\n", "");
        text.replace(", grid: ['(N + blockDim.x - 1) / blockDim.x']", "")
    });
    assert!(error.contains("the parameter 0 is -5") && error.contains("saxpy.ptx:13"), "{error}");
    let error = stderr(&["rank", "tests/ptx/nvrtc/saxpy.ptx", "-d", "a100", "--arg", "0=-5"]);
    assert!(error.contains("the parameter 0 is -5"), "{error}");
    // What cannot be read is pointed at in the PTX.
    let folder = Folder::new("refused");
    folder.ptx("nvrtc/gather.ptx", "gather.ptx", |text| text);
    let path = folder.write(
        "gather.yaml",
        "{wavecast: 1, kernel: g, code: {ptx: gather.ptx}, domain: {i: 1024}, launch: {block: [[128]]}}",
    );
    let error = stderr(&["check", &path]);
    assert!(error.contains("could not be read") && error.contains("gather.ptx:"), "{error}");
    assert!(stderr(&["check", &path, "--format", "json"]).is_empty());
    let errors: Value =
        serde_json::from_slice(&wavecast(&["check", &path, "--format", "json"]).stdout).unwrap();
    assert_eq!(errors["errors"][0]["code"], "not-read");
}

#[test]
fn a_domain_with_more_items_than_threads_is_noticed() {
    let (_folder, path) = saxpy("idle", |text| {
        let text = text.replace("domain: {i: N}", "domain: {i: 4*N}");
        text.replace(", grid: ['(N + blockDim.x - 1) / blockDim.x']", "")
    });
    let check = json(&["check", &path]);
    assert_eq!(check["warnings"][0]["code"], "code-grid", "{check}");
    assert_eq!(check["guard"], "-tidx + 1048575 >= 0");
    // With a grid of its own there is a quarter of a thread for each.
    let (_folder, path) = saxpy("quarter", |text| text.replace("domain: {i: N}", "domain: {i: 4*N}"));
    let check = json(&["check", &path]);
    assert_eq!(check["warnings"], json!([]));
    let one = json(&["predict", &path, "-d", "a100", "--block", "256"]);
    assert_eq!(one["result"]["volumes"]["l1"]["load_bytes"], 2.0);
}

#[test]
fn tiles_of_fixed_size_are_read_for_their_blocks() {
    let folder = Folder::new("tiles");
    folder.ptx("nvrtc/transpose_padded.ptx", "transpose.ptx", |text| text);
    let all = stdout(&["read", "tests/ptx/nvrtc/transpose_padded.ptx"]);
    let numbers = all.lines().filter(|l| l.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    let pointers = numbers.filter(|l| l.contains("u64")).count();
    assert_eq!(pointers, 2, "{all}");
    let path = folder.write("t.yaml", &TRANSPOSE.replace("ARGS", "{0: out, 1: in, 2: N, 3: N}"));
    let check = wavecast(&["check", &path]);
    let said = String::from_utf8_lossy(&check.stdout).into_owned() + &String::from_utf8_lossy(&check.stderr);
    assert!(check.status.success(), "{said}");
    let bare = stderr(&["rank", "tests/ptx/nvrtc/transpose_padded.ptx", "-d", "a100"]);
    assert!(bare.contains("shared arrays of fixed size") && bare.contains("--block"), "{bare}");
}

/// Blocks whose threads leave a shared array of fixed size, or load what none of them has stored there, are left out.
#[test]
fn tiles_fit_some_blocks() {
    let read = |file: &str, args: &[&str]| stdout(&[&["read", file, "--entry"], args].concat());
    let transposed = read(
        "tests/ptx/nvrtc/transpose_padded.ptx",
        &["transpose_padded", "--arg", "2=1024", "--arg", "3=1024", "--grid", "32,32"],
    );
    assert!(transposed.contains("block: [[32, 8]]"), "{transposed}");
    assert!(transposed.contains("of the usual ones are left out"), "{transposed}");
    let matmul =
        read("tests/ptx/nvrtc/matmul_tile.ptx", &["matmul_tile", "--arg", "3=1024", "--grid", "64,64"]);
    assert!(matmul.contains("block: [[16, 16]]"), "{matmul}");
}

#[test]
fn tiles_are_read_for_the_block_that_is_asked_for() {
    let file = "tests/ptx/nvrtc/transpose_padded.ptx";
    let sizes = ["--arg", "2=1024", "--arg", "3=1024", "--grid", "32,32"];
    let ranked = json(&[&["rank", file, "-d", "a100", "--block", "32,8"], &sizes[..]].concat());
    assert_eq!(ranked["results"][0]["config"]["block"], json!([32, 8, 1]));
    let one = json(&[&["predict", file, "-d", "a100", "--block", "32,8"], &sizes[..]].concat());
    assert_eq!(one["result"]["config"]["grid"], json!([32, 32, 1]));
}

#[test]
fn threads_of_code_are_run() {
    let (_folder, path) = saxpy("touches", |text| text);
    let all = stdout(&["touches", &path, "--block", "128", "--at", "3:5"]);
    let lines: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["field"], &lines[0]["line"]), (3, &json!("x"), &json!(41)));
    assert_eq!(lines[2]["offset_bytes"], (3 * 128 + 5) * 4);
    // The grid is that of the document: the last block has no more than it needs.
    let error = stderr(&["touches", &path, "--set", "N=1000", "--block", "128", "--at", "8:0"]);
    assert!(error.contains("has no block [8, 0, 0]"), "{error}");
    let trace = stdout(&["trace", "synth", &path, "--set", "N=100", "--block", "64"]);
    assert_eq!(trace.lines().filter(|l| l.contains("saxpy:")).count(), 300);
}

#[test]
fn grids_follow_where_threads_are_run() {
    let file = "tests/ptx/nvrtc/saxpy.ptx";
    let given = ["--block", "64", "--arg", "0=1000", "--arg", "1=2.5", "--arg", "2=x", "--arg", "3=y"];
    let touches = |more: &[&str]| wavecast(&[&["touches", file], &given[..], more].concat());
    let last = String::from_utf8(touches(&["--at", "15:39"]).stdout).unwrap();
    assert_eq!(last.lines().count(), 3, "{last}");
    let beyond = touches(&["--at", "16:0"]);
    assert!(String::from_utf8_lossy(&beyond.stderr).contains("has no block [16, 0, 0]"));
    let said = touches(&["--grid", "ceil(arg0 / blockDim.x) + 1", "--at", "16:0"]);
    assert!(said.status.success() && said.stdout.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
    let all = stdout(&[&["trace", "synth", file], &given[..], &["--grid", "ceil(arg0/blockDim.x)"]].concat());
    assert_eq!(all.lines().filter(|l| l.contains("saxpy:")).count(), 3000);
}

#[test]
fn other_commands_take_code_too() {
    let (folder, path) = saxpy("others", |text| text.replace("N: 1048576", "N: 65536"));
    let program = stdout(&["emit", &path, "--kernels-only"]);
    assert!(program.contains("__global__") && program.contains("y["), "{program}");
    let compared = json(&["compare", &path, "-d", "a100", "--block", "256"]);
    assert_eq!(compared["schema"], "wavecast/comparison/1", "{compared}");
    let measured = format!(
        "kernel,device,block,time [ms],param.N\n{path},a100,128,0.01,65536\n{path},a100,256,0.01,32768\n"
    );
    let measured = folder.write("measured.csv", &measured);
    let output = wavecast(&["validate", &measured, "--format", "json"]);
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let validation: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(validation["summary"]["predicted"], 2, "{validation}");
}

#[test]
fn texts_without_a_file_have_the_code_in_them() {
    let ask = |code: Value, op: &str, options: Value| -> Value {
        let kernel = json!({"wavecast": 1, "kernel": "saxpy", "params": {"N": 4096}, "code": code,
            "fields": {"x": {"dtype": "f32", "size": "N"}, "y": {"like": "x"}}, "domain": {"i": "N"},
            "launch": {"block": [[64], [128]]}});
        let request = json!({"op": op, "device": "a100", "kernel": kernel, "options": options});
        serde_json::from_str(&wavecast::ask::Session::new(None).ask(&request.to_string())).unwrap()
    };
    let args = json!(["N", 2.0, "x", "y"]);
    let inline = json!({"ptx": ptx("nvrtc/saxpy.ptx"), "args": args});
    let ranked = ask(inline.clone(), "rank", json!({"set": {"N": 8192}}));
    assert_eq!(ranked["ok"], true, "{ranked}");
    assert_eq!(ranked["result"]["kernel"]["domain"], json!([8192]));
    assert_eq!(
        ask(inline, "predict", json!({"block": 96}))["result"]["result"]["config"]["block"],
        json!([96, 1, 1])
    );
    // Whoever asks a server may be somebody else than whoever owns the files.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ptx/nvrtc/saxpy.ptx");
    let named = ask(json!({"ptx": file, "args": args}), "rank", json!({}));
    assert_eq!(named["error"]["errors"][0]["code"], "files-not-allowed", "{named}");
}

#[test]
fn sources_and_machine_code_are_told_what_to_do() {
    let folder = Folder::new("foreign");
    let cu = folder.write("kernel.cu", "__global__ void k() {}\n");
    for command in
        [&["rank", &cu, "-d", "a100"][..], &["read", &cu], &["check", &cu], &["touches", &cu, "--at", "0:0"]]
    {
        let error = stderr(command);
        let ptx = cu.replace(".cu", ".ptx");
        for line in [
            format!("nvcc -ptx -arch=sm_80 {cu} -o {ptx}\n"),
            format!(
                "python3 -c \"import wavecast.cuda as w; print(w.compile('{cu}', arch=80).ptx)\" > {ptx}\n"
            ),
            format!("clang -S --cuda-device-only --cuda-gpu-arch=sm_80 {cu} -o {ptx}\n"),
        ] {
            assert!(error.contains(&line), "{command:?}: {error}");
        }
    }
    let mut cubin = b"\x7fELF\x02\x01\x01".to_vec();
    cubin.resize(64, 0);
    cubin[18] = 190;
    let path = folder.0.join("kernel.cubin");
    std::fs::write(&path, cubin).unwrap();
    let error = stderr(&["read", path.to_str().unwrap()]);
    assert!(error.contains("is a cubin") && error.contains("nvcc -ptx"), "{error}");
}

#[test]
fn a_reading_says_which_blocks_there_are() {
    let given = ["read", "tests/ptx/nvrtc/saxpy.ptx", "--entry", "saxpy", "--arg", "0=1000", "--block", "64"];
    let read = json(&given);
    assert_eq!(read["blocks"], json!({"required": null, "largest": null, "read": [[64, 1, 1]]}));
    assert_eq!(read["accesses"][0]["loops"], json!([]));
}

#[test]
fn documents_say_how_often_loops_of_data_run() {
    let folder = Folder::new("trips");
    folder.ptx("nvrtc/spmv_csr.ptx", "spmv.ptx", |text| text);
    let text = ptx("nvrtc/spmv_csr.ptx");
    let line = |what: &str| text.lines().position(|l| l.contains(what)).unwrap() + 1;
    let (first, second) = (line("ld.global.u32 \t%r19"), line("ld.global.u32 \t%r22"));
    let document = |more: &str| {
        format!(
            "{{wavecast: 1, kernel: spmv, params: {{N: 8}}, code: {{ptx: spmv.ptx, args: [1000, start, col, val, x, y]{more}}},\n\
             domain: {{row: 1000}}, launch: {{block: [[128]]}}}}"
        )
    };
    let bare = stderr(&["check", &folder.write("bare.yaml", &document(""))]);
    assert!(
        bare.contains(&format!("`--trips {first}=N` says it")) && bare.contains("keys of `code`"),
        "{bare}"
    );
    let told = document(&format!(", trips: {{{first}: 1, {second}: N/4}}"));
    let told = stderr(&["check", &folder.write("told.yaml", &told)]);
    // What is left are the addresses that columns say.
    assert!(!told.contains("--trips") && told.contains("reads it from memory"), "{told}");
}
