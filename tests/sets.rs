//! Whole sets of measurements: what their columns mean, scores that follow from the rows, what is wrong with them, and
//! fits to several of them.

mod program;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use program::{json, stderr, stdout, wavecast};
use serde_json::Value;
use wavecast::measure::sets::{SampleOptions, SetFile};

const SET: &str = "tests/measured/sets/blur.yaml";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(root().join("tests/measured/sets").join(name)).unwrap()
}

/// Puts the kernel beside set files: once, as another test may be reading it.
fn copy_kernel() {
    static COPIED: std::sync::Once = std::sync::Once::new();
    COPIED.call_once(|| {
        std::fs::copy(root().join("tests/measured/sets/blur.kernel.yaml"), path("blur.kernel.yaml")).unwrap();
    });
}

/// The set file with some lines changed, beside which its kernel lies.
fn changed(name: &str, changes: &[(&str, &str)]) -> PathBuf {
    let mut set = text("blur.yaml");
    for (from, to) in changes {
        assert!(set.contains(from), "{from}");
        set = set.replace(from, to);
    }
    copy_kernel();
    let file = path(name);
    std::fs::write(&file, set).unwrap();
    file
}

fn validated(arguments: &[&str]) -> Value {
    let output = wavecast(&[&["validate"], arguments, &["--format", "json"]].concat(), "");
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output) + &stderr(&output));
    json(&output)
}

fn data() -> String {
    root().join("tests/measured/sets").to_str().unwrap().to_owned()
}

fn of_changed(name: &str, changes: &[(&str, &str)]) -> Value {
    validated(&[changed(name, changes).to_str().unwrap(), "--data", &data()])["sets"][0].clone()
}

fn score<'s>(set: &'s Value, kind: &str, name: &str) -> &'s Value {
    let found = |s: &&Value| s["kind"] == kind && s["name"] == name;
    set["scores"].as_array().unwrap().iter().find(found).unwrap_or_else(|| panic!("no {kind} `{name}`"))
}

fn near(value: &Value, expected: f64) {
    assert!((value.as_f64().unwrap() - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn scores_follow_from_the_rows() {
    let set = &validated(&[SET])["sets"][0];
    assert_eq!((&set["rows"], &set["rows_taken"]), (&93.into(), &92.into()), "one row is not ok");
    let all: Vec<&Value> = set["configurations"].as_array().unwrap().iter().collect();
    assert_eq!(all.len(), 84, "repetitions are one configuration");
    let of = |value: &Value| (value["predicted"].as_f64().unwrap(), value["measured"].as_f64().unwrap());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let error = |some: &[&Value], key: &dyn Fn(&Value) -> Value| {
        let errors: Vec<f64> = some.iter().map(|c| of(&key(c))).map(|(p, m)| (p / m - 1.0).abs()).collect();
        100.0 * mean(&errors)
    };
    let whole = score(set, "all", "");
    near(&whole["time"]["mean_absolute_error_percent"], error(&all, &|c| c["time_s"].clone()));
    let l2 = error(&all, &|c| c["values"]["l2_load"].clone());
    near(&whole["volumes"][0]["mean_absolute_error_percent"], l2);

    // Choices are made within a problem: a size on a device.
    let mut firsts = Vec::new();
    let mut groups = Vec::new();
    for device in ["v100-pcie-32gb", "a100-40gb"] {
        for size in ["1024", "2048"] {
            let mut some: Vec<&&Value> = all
                .iter()
                .filter(|c| c["device"] == device && c["problem"].as_str().unwrap().ends_with(size))
                .collect();
            assert_eq!(some.len(), 21);
            some.sort_by(|a, b| of(&a["time_s"]).0.total_cmp(&of(&b["time_s"]).0));
            let best = some.iter().map(|c| of(&c["time_s"]).1).fold(f64::INFINITY, f64::min);
            firsts.push(100.0 * best / of(&some[0]["time_s"]).1);
            let (shortest, _) = of(&some[0]["time_s"]);
            let tied = some.iter().filter(|c| of(&c["time_s"]).0 <= 1.04 * shortest);
            groups.push(mean(&tied.map(|c| 100.0 * best / of(&c["time_s"]).1).collect::<Vec<_>>()));
        }
    }
    near(&whole["choice"]["first_percent"], mean(&firsts));
    near(&whole["choice"]["first_group_percent"], mean(&groups));
    near(&score(set, "group", "V100")["choice"]["first_percent"], mean(&firsts[..2]));
    assert_eq!(score(set, "part", "no tiles")["predicted"], 28);
    assert_eq!(whole["noise"]["configurations"], 8);
    // Each row is a launch of its own kernel.
    let sizes = |c: &&&Value| c["params"]["SIZE"] == 2048 && c["params"]["R"] == 1;
    assert_eq!(all.iter().filter(sizes).count(), 42);
    assert!(all.iter().any(|c| c["registers"] == 40) && all.iter().any(|c| c["fold"][1] == 4));
    // What is explained is what is furthest off.
    let worst = &set["worst"][0];
    assert!(worst["explanation"].as_str().unwrap().starts_with("limited by "), "{worst}");
}

#[test]
fn every_format_has_the_same_configurations() {
    let run = |arguments: &[&str]| stdout(&wavecast(&[&["validate", SET], arguments].concat(), ""));
    assert_eq!(run(&["--format", "csv"]).lines().count(), 84 + 1);
    assert!(run(&["--format", "md"]).contains("| blur | V100 | 42 |"));
    assert!(run(&[]).contains("random 5") && run(&[]).contains("repeated"));
    assert_eq!(serde_json::from_str::<Value>(&run(&["--format", "jsonl"])).unwrap(), validated(&[SET]));
    for (name, says) in [("blur.svg", "Spearman"), ("blur.html", "<svg"), ("blur-set.md", "## Choices")] {
        let file = path(name);
        run(&["-o", file.to_str().unwrap()]);
        assert!(std::fs::read_to_string(&file).unwrap().contains(says), "{name}");
    }
}

#[test]
fn samples_are_drawn_by_their_seed() {
    let drawn = |seed: &str| -> Vec<String> {
        let set = &validated(&[SET, "--sample", "10", "--seed", seed])["sets"][0];
        assert_eq!(score(set, "group", "A100")["predicted"], 10);
        assert_eq!(score(set, "all", "")["predicted"], 20);
        let names = set["configurations"].as_array().unwrap().iter();
        names.map(|c| format!("{} {}", c["problem"], c["configuration"])).collect()
    };
    assert_eq!(drawn("1"), drawn("1"));
    assert_ne!(drawn("1"), drawn("2"));
    let set = of_changed("sampled.yaml", &[("group: gpu", "group: gpu\nsample: {rows: 10}")]);
    let one = validated(&[SET, "--sample", "10", "--seed", "1"]);
    assert_eq!(set["configurations"], one["sets"][0]["configurations"], "the seed of a file is 1");
}

#[test]
fn a_clock_changes_predictions_and_a_fitted_one_the_factor() {
    let time = |set: &Value| score(set, "all", "")["time_ratio"].as_f64().unwrap();
    let usual = of_changed("usual.yaml", &[]);
    let slow = of_changed("slow.yaml", &[("kernel: blur", "clock: 0.3 GHz\nkernel: blur")]);
    assert!(time(&slow) > 1.5 * time(&usual));
    let same = of_changed("formula.yaml", &[("kernel: blur", "clock: 300000 * 1000\nkernel: blur")]);
    assert_eq!(time(&slow).to_bits(), time(&same).to_bits());
    let fitted = of_changed("fitted.yaml", &[("kernel: blur", "clock: {fitted: true}\nkernel: blur")]);
    let ratio = score(&fitted, "group", "A100")["time_ratio"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
    let factor = fitted["clock_factors"]["a100-40gb"].as_f64().unwrap();
    let on_a100 = usual["configurations"].as_array().unwrap().iter().filter(|c| c["device"] == "a100-40gb");
    let time = |c: &Value, which: &str| c["time_s"][which].as_f64().unwrap();
    let mut ratios: Vec<f64> = on_a100.map(|c| time(c, "measured") / time(c, "predicted")).collect();
    ratios.sort_by(f64::total_cmp);
    let half = ratios.len() / 2;
    assert!((factor - f64::midpoint(ratios[half - 1], ratios[half])).abs() < 1e-9, "the median: {factor}");
    let per = of_changed("per.yaml", &[("group: gpu", "group: gpu\nper: tile")]);
    let of = |set: &Value| set["configurations"][1]["time_s"]["measured"].as_f64().unwrap();
    assert!((of(&usual) / of(&per) - 2.0).abs() < 1e-9, "{} is tile 2", per["configurations"][1]);
}

#[test]
fn rows_are_chosen_derived_and_borrowed() {
    let table =
        "name,a-b,c-d,bx,regs\nplain,1.5,2.5,64,40\nplain,,3.5,128,\nother,9,9,64,24\nother,9,9,128,26\n";
    std::fs::write(path("wide.csv"), table).unwrap();
    let set = "
wavecast-set: 1
id: wide
data: wide.csv
each: {columns: {a-b: {size: 512, way: one}, c-d: {size: 1024, way: two}}, value: ms}
columns:
  none: {column: way, names: {one: 1}}
  us: [none_of_these, ms]
  threads: bx * 2
where: {name: plain, threads: '>= 100'}
when: threads <= 256 && ms > 0
borrow: {regs: {where: {name: other}, same: [[bx]], otherwise: 99}}
device: a100
kernel: blur.kernel.yaml
params: {SIZE: size}
launch: {block: [bx, threads / bx], registers: regs}
measured: {'time [ms]': us}
";
    let read = |set: &str| {
        SetFile::read("wide.yaml", set)
            .and_then(|file| file.launches("wide.csv", table.as_bytes(), SampleOptions::default()))
    };
    let said = read(set).unwrap_err().to_string();
    assert!(said.contains("wide.yaml:8:8: the data have no column `none_of_these`"), "{said}");
    let set = read(&set.replace("none_of_these", "none")).unwrap();
    // The first cell of `us` that says something: 1 for one way, the measured time for the other.
    let found: Vec<(String, i64, Option<i64>, f64)> = set
        .cases
        .iter()
        .map(|case| {
            let launch = &set.launches[case.launch];
            let block = launch.candidate.block();
            assert_eq!(block[1], 2);
            (
                case.config.clone(),
                launch.subject.params["SIZE"],
                launch.registers,
                case.rows[0].values[0].amount().to_owned(),
            )
        })
        .collect();
    let row = |name: &str, size, registers, ms: f64| (name.to_owned(), size, Some(registers), ms * 1e-3);
    assert_eq!(
        found,
        [
            row("size=512 bx=64 threads=128", 512, 40, 1.0),
            row("size=1024 bx=64 threads=128", 1024, 40, 2.5),
            row("size=1024 bx=128 threads=256", 1024, 26, 3.5)
        ]
    );
    assert_eq!((set.facts.rows, set.facts.rows_taken), (4, 3));
}

#[test]
fn packed_tables_are_read() {
    let file = std::fs::File::create(path("blur.csv.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(text("blur.csv").as_bytes()).unwrap();
    packed.finish().unwrap();
    let set = changed("packed.yaml", &[("data: blur.csv", "data: blur.csv.gz")]);
    let found = validated(&[set.to_str().unwrap()]);
    assert_eq!(found["sets"][0]["configurations"], validated(&[SET])["sets"][0]["configurations"]);
}

#[test]
fn mistakes_have_places() {
    let refused = |name: &str, changes: &[(&str, &str)], says: &[&str]| {
        let output = wavecast(&["validate", changed(name, changes).to_str().unwrap(), "--data", &data()], "");
        assert_eq!(output.status.code(), Some(2), "{name}: {}", stdout(&output));
        for part in says {
            assert!(stderr(&output).contains(part), "{name}: {part}: {}", stderr(&output));
        }
    };
    refused(
        "column.yaml",
        &[("SIZE: size", "SIZE: sise")],
        &["column.yaml:10:16", "`sise`", "did you mean `size`?"],
    );
    refused("unit.yaml", &[("time [ms]", "time [m]")], &["unit.yaml:13:3", "`m` is no unit"]);
    refused("key.yaml", &[("group: gpu", "groop: gpu")], &["key.yaml:17:1", "did you mean `group`?"]);
    refused("missing.yaml", &[("id: blur\n", "")], &["needs the key `id`"]);
    refused("version.yaml", &[("set: 1", "set: 2")], &["wavecast-set: 1"]);
    refused("empty.yaml", &[("status: ok", "status: never")], &["no row of 93 is taken"]);
    refused("data.yaml", &[("blur.csv", "none.csv")], &["data.yaml:6:7", "none.csv", "--data FOLDER"]);
    refused(
        "number.yaml",
        &[("status: ok", "status: too many threads"), ("SIZE: size", "SIZE: status")],
        &["no row"],
    );
    refused("text.yaml", &[("SIZE: size", "SIZE: status")], &["blur.csv:2:", "`ok` is no number", "`where`"]);
    refused("whole.yaml", &[("SIZE: size", "SIZE: time_ms")], &["blur.csv:2:", "SIZE is 0.0", "no integer"]);
    refused("device.yaml", &[("V100: v100-pcie-32gb, ", "")], &["blur.csv:2:1", "`V100` stands for"]);
    refused("gpu.yaml", &[("A100: a100-40gb", "A100: a100-41gb")], &["a100-41gb", "did you mean"]);
    refused("kernel.yaml", &[("blur.kernel.yaml", "none")], &["`none`", "--kernel FILE"]);
    refused("param.yaml", &[("R: 1", "RR: 1")], &["RR"]);
    refused("clock.yaml", &[("group: gpu", "clock: size\ngroup: gpu")], &["blur.csv:2:6", "1024 Hz"]);
    refused("condition.yaml", &[("status: ok", "size: '> x'")], &["condition.yaml:7:16", "`> x`"]);
    refused(
        "sample.yaml",
        &[("group: gpu", "sample: {rows: 0}\ngroup: gpu")],
        &["sample.yaml:17:9", "at least one row"],
    );
    // What no row is to blame for: the place of the formula, once, with a row for an example.
    for (name, changes, says) in [
        (
            "clock_unit.yaml",
            ("group: gpu", "clock: 1.2\ngroup: gpu"),
            ["clock_unit.yaml:17:8", "a clock of 1.2 Hz"],
        ),
        (
            "registers.yaml",
            ("registers: registers", "registers: -1"),
            ["registers.yaml:11:65", "the number of registers is -1"],
        ),
    ] {
        refused(name, &[changes], &[says[0], says[1], "as in ", "blur.csv:2: ", "mend the formula"]);
        let output = wavecast(&["validate", path(name).to_str().unwrap(), "--data", &data()], "");
        assert_eq!(stderr(&output).matches("error").count(), 1, "{}", stderr(&output));
    }
    let both = wavecast(&["validate", SET, "tests/measured/star3d7.csv"], "");
    assert!(both.status.code() == Some(2) && stderr(&both).contains("together"), "{}", stderr(&both));
    let half = wavecast(&["validate", SET, "--half", "1"], "");
    assert!(half.status.code() == Some(2) && stderr(&half).contains("--sample"), "{}", stderr(&half));
}

#[test]
fn empty_parts_and_impossible_launches_are_said() {
    let set = changed(
        "parts.yaml",
        &[("tile: 1}\nfixed", "tile: 7}\nfixed"), ("block: [block_x,", "block: [16 * block_x,")],
    );
    let output = wavecast(&["validate", set.to_str().unwrap(), "--data", &data()], "");
    let said = stdout(&output);
    assert!(said.contains("no row belongs to the part `no tiles`"), "{said}");
    assert!(
        said.contains("configurations cannot be predicted") && said.contains("threads_per_block"),
        "{said}"
    );
}

#[test]
fn many_rows_are_no_matter() {
    let mut table = "gpu,size,block_x,block_y,tile,time_ms,registers,l2_sectors,status\n".to_owned();
    for i in 0..50_000 {
        let _ = writeln!(table, "A100,{},{},1,1,{},32,1,ok", 1024 + i % 5000, 32 + i / 5000, 1 + i % 7);
    }
    let file = SetFile::read("blur.yaml", &text("blur.yaml")).unwrap();
    let sample = SampleOptions { rows: Some(5), seed: None };
    let set = file.launches("many.csv", table.as_bytes(), sample).unwrap();
    assert_eq!(
        (set.facts.rows, set.facts.rows_taken, set.cases.len()),
        (50_000, 50_000, 5),
        "all belong to the part"
    );
    for hurtful in
        ["", "\n\n", "gpu", "gpu\nA100\n", "\u{0}\n\u{0}", &"a,".repeat(100_000), "gpu,size\n\"A100"]
    {
        assert!(file.launches("hurtful.csv", hurtful.as_bytes(), sample).is_err());
    }
    for hurtful in ["", "[]", "wavecast-set: 1", "wavecast-set: 1\nlaunch: {block: []}", &"[".repeat(10_000)]
    {
        assert!(SetFile::read("hurtful.yaml", hurtful).is_err(), "{hurtful}");
    }
}

#[test]
fn what_is_missing_in_a_set_file_is_written_out() {
    let set = "wavecast-set: 1\nid: a\ndata: a.csv\ndevice: v100\nkernel: a.yaml\nlaunch: {block: [bx]}\n\
               measured: {'time [us]': t}\n";
    assert!(SetFile::read("a.yaml", set).is_ok());
    for (key, example) in [
        ("id", "id: blur"),
        ("data", "data: blur.csv"),
        ("device", "device: {column: gpu, names: {V100: v100}}"),
        ("kernel", "kernel: blur.kernel.yaml"),
        ("launch", "launch: {block: [block_x, block_y], registers: registers}"),
        ("measured", "measured: {\"time [ms]\": time_ms}"),
    ] {
        let others: Vec<&str> = set.lines().filter(|l| !l.starts_with(&format!("{key}:"))).collect();
        let without = others.join("\n") + "\n";
        let told = SetFile::read("a.yaml", &without).unwrap_err().to_string();
        assert!(told.contains(&format!("needs the key `{key}`")), "{told}");
        assert!(told.contains(example) && !told.contains("docs/"), "{told}");
    }
    // The example that is shown is understood.
    let shown =
        set.replace("launch: {block: [bx]}", "launch: {block: [block_x, block_y], registers: registers}");
    assert!(SetFile::read("a.yaml", &shown).is_ok());
    let told = SetFile::read("a.yaml", &set.replace('\'', "")).unwrap_err().to_string();
    assert!(told.contains("quote keys") && told.contains("{\"time [us]\": t}"), "{told}");
    assert!(told.contains("or write each key on a line of its own"), "{told}");
    assert!(SetFile::read("a.yaml", &set.replace("{'time [us]': t}", "\n  time [us]: t")).is_ok());
}

#[test]
fn sets_that_come_with_wavecast_are_understood() {
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("sets")).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        if file.is_dir() {
            continue;
        }
        count += 1;
        let set = SetFile::read(&name, &std::fs::read_to_string(&file).unwrap());
        let set = set.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(format!("{}.yaml", set.id()), name);
        assert!(!set.data().starts_with('/'), "{name}: data are named from --data");
    }
    assert!(count > 15);
}

/// Times that the model makes with coefficients which differ from those that ship.
#[test]
fn fits_find_what_holds_for_all_devices_and_for_each() {
    let table = |name: &str, factor: f64| {
        let set = &validated(&[SET])["sets"][0];
        let mut rows = "gpu,size,block_x,block_y,tile,time_ms,registers,l2_sectors,status\n".to_owned();
        for c in set["configurations"].as_array().unwrap() {
            let gpu = if c["device"] == "a100-40gb" { "A100" } else { "V100" };
            let ms = 1e3 * factor * c["time_s"]["predicted"].as_f64().unwrap();
            let (block, size) = (&c["block"], &c["params"]["SIZE"]);
            let _ = writeln!(
                rows,
                "{gpu},{size},{},{},{},{ms},{},1,ok",
                block[0], block[1], c["fold"][1], c["registers"]
            );
        }
        std::fs::write(path(name), rows).unwrap();
    };
    table("fit.csv", 1.2);
    let no_volumes = ("  l2_load [B]: 32 * l2_sectors\n", "");
    let first =
        changed("fit-1.yaml", &[("data: blur.csv", "data: fit.csv"), no_volumes, ("ok}", "ok, size: 1024}")]);
    let second =
        changed("fit-2.yaml", &[("data: blur.csv", "data: fit.csv"), no_volumes, ("ok}", "ok, size: 2048}")]);
    let folder = path("fit-files");
    std::fs::create_dir_all(&folder).unwrap();
    let files = [first.to_str().unwrap(), second.to_str().unwrap()];
    let more = ["--leave-one-out", "--format", "json", "-o", folder.to_str().unwrap()];
    let output = wavecast(&[&["fit"], &files[..], &more].concat(), "");
    assert!(output.status.success(), "{}", stderr(&output));
    let fit = json(&output);
    assert_eq!(fit["schema"], "wavecast/set-fit/1");
    for set in fit["sets"].as_array().unwrap() {
        let error = |way: &str| set[way][2]["time"]["mean_absolute_error_percent"].as_f64().unwrap();
        assert!(
            (error("before") - 100.0 / 6.0).abs() < 0.1,
            "times are 1.2 times as long: {}",
            error("before")
        );
        assert!(error("fitted") < 2.0, "{}", error("fitted"));
        assert!(error("left_out") < 8.0 && error("left_out") >= error("fitted"), "{}", error("left_out"));
    }
    let of = |name: &str| -> Vec<&Value> {
        fit["time"].as_array().unwrap().iter().filter(|t| t["name"] == name).collect()
    };
    assert_eq!(of("dram_one_way").len(), 2, "one for each device");
    assert!(of("dram_one_way").iter().all(|t| t["device"].is_string()));
    assert_eq!(of("turnaround").len(), 1, "one for all");
    // Each device gets its file, and what they share is the same.
    let read = |device: &str| {
        let name = format!("{device}.yaml");
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        wavecast::curve::read(&name, &text).unwrap()
    };
    let (v100, a100) = (read("v100-pcie-32gb"), read("a100-40gb"));
    assert!(v100.volumes == a100.volumes && v100.time.turnaround == a100.time.turnaround);
    assert_ne!(v100.time.dram_one_way, a100.time.dram_one_way);
    let one = path("one.yaml");
    let output = wavecast(&[&["fit"], &files[..], &["-o", one.to_str().unwrap()]].concat(), "");
    assert!(output.status.code() == Some(2) && stderr(&output).contains("folder"), "{}", stderr(&output));
    // The other set has nothing of the A100, whose own numbers then follow from its file.
    let only = ("ok}", "ok, size: 2048, gpu: V100}");
    let third = changed("fit-3.yaml", &[("data: blur.csv", "data: fit.csv"), no_volumes, only]);
    let fit = |files: [&PathBuf; 2]| {
        let files = files.map(|f| f.to_str().unwrap());
        let more = ["--leave-one-out", "--fit-rows", "20", "--bootstrap", "0", "--format", "json"];
        let output = wavecast(&[&["fit"], &files[..], &more].concat(), "");
        assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
        json(&output)
    };
    let words = |list: &Value| -> Vec<String> { serde_json::from_value(list.clone()).unwrap() };
    let found = fit([&first, &third]);
    let [both, v100] = [0, 1].map(|i| &found["sets"][i]);
    let own = ["dram_one_way", "thread_cycles", "launch_seconds", "dispatch_cycles"];
    let of_device = words(&both["of_device"]);
    assert!(own.iter().all(|name| of_device.contains(&format!("{name} of a100-40gb"))), "{of_device:?}");
    assert!(words(&v100["of_device"]).iter().all(|name| name.ends_with("v100-pcie-32gb")));
    assert!(words(&both["kept"]).contains(&"translation_cycles".to_owned()), "{}", both["kept"]);
    assert!(both["coefficients"]["turnaround"].is_f64());
    assert_eq!(both["fitted"][2]["predicted"], both["before"][2]["predicted"], "all are scored");
    // Sets of the same rows are left out together, and then nothing is left.
    let same = &fit([&first, &first])["sets"][0];
    assert!(same["left_out"].is_null() && words(&same["kept"]).is_empty(), "{same}");
}

/// A condition with an empty cell holds of no row, and it is said how many that leaves out: two sets of ours lost four of
/// their kernels so.
#[test]
fn rows_that_a_condition_says_nothing_of_are_counted() {
    std::fs::write(path("unsaid.csv"), "bx,mask,us\n64,,3.5\n128,5,3.5\n256,,3.5\n256,300,3.5\n64,,\n")
        .unwrap();
    copy_kernel();
    let set = |when: &str| {
        let text = format!(
            "wavecast-set: 1\nid: unsaid\ndata: unsaid.csv\nwhen: {when}\ndevice: a100\nkernel: blur.kernel.yaml\n\
             params: {{SIZE: 512}}\nlaunch: {{block: [bx, 1], registers: 32}}\nmeasured: {{'time [us]': us}}\n\
             config: [bx, mask]\nproblem: []\n"
        );
        let file = path(&format!("unsaid-{}.yaml", when.len()));
        std::fs::write(&file, text).unwrap();
        validated(&[file.to_str().unwrap(), "--data", path("").to_str().unwrap()])
    };
    let some = set("bx > mask");
    assert_eq!([&some["sets"][0]["rows_taken"], &some["sets"][0]["rows_unsaid"]], [1, 2], "one has no time");
    let warning =
        some["warnings"].as_array().unwrap().iter().find(|w| w["code"] == "condition-unsaid").unwrap();
    assert!(warning["message"].as_str().unwrap().contains("2 rows"), "{warning}");
    // A fit to sets has the same warning. Tables of other tests lie elsewhere.
    let tables = path("gaps");
    std::fs::create_dir_all(&tables).unwrap();
    let rows = text("blur.csv");
    std::fs::write(tables.join("blur.csv"), &rows).unwrap();
    std::fs::write(tables.join("gaps.csv"), rows + "V100,1024,8,8,,0.04,32,335996,ok\n").unwrap();
    let gaps = [
        ("data: blur.csv", "data: gaps.csv"),
        ("where: {status: ok}", "where: {status: ok}\nwhen: tile > 0"),
    ];
    let files = [changed("gaps-1.yaml", &gaps), changed("gaps-2.yaml", &[]), tables];
    let [one, other, tables] = files.each_ref().map(|p| p.to_str().unwrap());
    let arguments =
        ["fit", one, other, "--data", tables, "--format", "json", "--bootstrap", "0", "-o", tables];
    let fit = wavecast(&arguments, "");
    let fit = json(&fit);
    let unsaid: Vec<u64> =
        fit["sets"].as_array().unwrap().iter().map(|s| s["rows_unsaid"].as_u64().unwrap()).collect();
    assert_eq!(unsaid, [1, 0]);
    assert_eq!(fit["warnings"][0]["code"], "condition-unsaid");
    let all = set("bx >= 64");
    assert_eq!([&all["sets"][0]["rows_taken"], &all["sets"][0]["rows_unsaid"]], [4, 0]);
    assert!(all["warnings"].as_array().unwrap().is_empty());
}
