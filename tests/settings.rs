//! `wavecast.toml`: what somebody wants each time.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is gone when the test is done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wavecast-settings-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("deeper/still")).unwrap();
        std::fs::copy(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/stream-triad.yaml"),
            path.join("k.yaml"),
        )
        .unwrap();
        Self(path)
    }

    fn says(&self, text: &str) {
        std::fs::write(self.0.join("wavecast.toml"), text).unwrap();
    }

    fn run(&self, below: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
        command
            .current_dir(self.0.join(below))
            .args(arguments)
            .env_remove("WAVECAST_CONFIG")
            .output()
            .unwrap()
    }

    fn text(&self, below: &str, arguments: &[&str]) -> String {
        let output = self.run(below, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_device_is_taken_from_the_nearest_folder_above() {
    let folder = Folder::new("device");
    folder.says("device = 'v100'\n");
    let text = folder.text("deeper/still", &["rank", "../../k.yaml"]);
    assert!(text.contains("(v100-pcie-32gb)"), "{text}");
    // Who says something is asked about that.
    let text = folder.text("", &["rank", "k.yaml", "-d", "h200"]);
    assert!(text.contains("(h200)"), "{text}");
    std::fs::write(folder.0.join("deeper/wavecast.toml"), "device = ['a100', 'h200']\n").unwrap();
    let text = folder.text("deeper/still", &["rank", "../../k.yaml", "--top", "1"]);
    assert!(text.contains("on 2 devices"), "{text}");
    // The help says what holds.
    let help = folder.text("", &["rank", "--help"]);
    assert!(help.contains("[default: v100]"), "{help}");
}

#[test]
fn a_format_is_that_of_the_settings_unless_somebody_says_another() {
    let folder = Folder::new("format");
    folder.says("format = \"json\"\n");
    let json = |text: &str| text.starts_with("[{") || text.starts_with('{');
    assert!(json(&folder.text("", &["predict", "k.yaml", "--block", "256"])));
    assert!(!json(&folder.text("", &["predict", "k.yaml", "--block", "256", "--format", "table"])));
    folder.text("", &["rank", "k.yaml", "-o", "out.csv"]);
    assert!(std::fs::read_to_string(folder.0.join("out.csv")).unwrap().starts_with("kernel,"));
    folder.text("", &["rank", "k.yaml", "-o", "out.svg"]);
    assert!(std::fs::read_to_string(folder.0.join("out.svg")).unwrap().starts_with("<svg"));
}

#[test]
fn a_variable_names_another_file_or_none() {
    let folder = Folder::new("variable");
    folder.says("device = 'v100'\n");
    std::fs::write(folder.0.join("other.toml"), "device = 'h200'\n").unwrap();
    let with = |value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
        command
            .current_dir(&folder.0)
            .args(["rank", "k.yaml"])
            .env("WAVECAST_CONFIG", value)
            .output()
            .unwrap()
    };
    assert!(String::from_utf8_lossy(&with("other.toml").stdout).contains("(h200)"));
    assert!(String::from_utf8_lossy(&with("").stdout).contains("(a100-40gb)"));
    let missing = with("nowhere.toml");
    let error = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(2), "{error}");
    assert!(error.contains("nowhere.toml"), "{error}");
}

#[test]
fn settings_that_make_no_sense_say_where() {
    let folder = Folder::new("wrong");
    for (text, says) in [
        ("devices = 'a100'\n", "unknown field `devices`"),
        ("wide = true\nformat = 'xml'\n", "there is no format `xml`"),
        ("device = [\n", "wavecast.toml:"),
    ] {
        folder.says(text);
        let output = folder.run("", &["rank", "k.yaml"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(says) && error.contains("wavecast.toml"), "{error}");
    }
    folder.says(&" ".repeat(1 << 17));
    let error = String::from_utf8_lossy(&folder.run("", &["devices"]).stderr).into_owned();
    assert!(error.contains("too many for settings"), "{error}");
    // A device that there is not is the same mistake as on the command line.
    folder.says("device = 'a1000'\n");
    let error = String::from_utf8_lossy(&folder.run("", &["rank", "k.yaml"]).stderr).into_owned();
    assert!(error.contains("a1000"), "{error}");
}
