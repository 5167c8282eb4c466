//! Pictures: valid SVG in which no text lies on another or leaves the picture.

use std::path::PathBuf;
use std::process::{Command, Output};

fn wavecast(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap()
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn draw(name: &str, arguments: &[&str]) -> String {
    let path = file(name);
    let output = wavecast(&[arguments, &["-o", path.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty());
    std::fs::read_to_string(path).unwrap()
}

/// A text with the box that it takes.
#[derive(Debug)]
struct Placed {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// The value of an attribute of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    Some(tag[from..].split('"').next()?.to_owned())
}

/// All texts of a picture; letters are taken to be 0.6 of the size of the font wide on average.
fn texts(svg: &str) -> Vec<Placed> {
    let mut all = Vec::new();
    for piece in svg.split("<text").skip(1) {
        let (tag, rest) = piece.split_once('>').unwrap();
        let text = rest.split("</text>").next().unwrap().trim().to_owned();
        let number = |name: &str| attribute(tag, name).unwrap().parse::<f64>().unwrap();
        let (x, y, size) = (number("x"), number("y"), number("font-size"));
        let length = text.chars().count() as f64 * size * 0.6;
        let before = match attribute(tag, "text-anchor").as_deref() {
            Some("middle") => length / 2.0,
            Some("end") => length,
            _ => 0.0,
        };
        let half = size / 2.0;
        // Upright texts are all in the middle of their place.
        all.push(if tag.contains("rotate(") {
            let (top, bottom) = (y - length / 2.0, y + length / 2.0);
            Placed { text, left: x - half, right: x + half, top, bottom }
        } else {
            let left = x - before;
            Placed { text, left, right: left + length, top: y - half, bottom: y + half }
        });
    }
    all
}

fn looks_well(svg: &str) {
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    let open = svg.matches("<text").count();
    assert_eq!(open, svg.matches("</text>").count());
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a place that is none");
    let tag = svg.split('>').next().unwrap();
    let size = |name: &str| attribute(tag, name).unwrap().parse::<f64>().unwrap();
    let (width, height) = (size("width"), size("height"));
    let texts = texts(svg);
    assert!(texts.len() > 10);
    for (i, a) in texts.iter().enumerate() {
        assert!(a.left >= 0.0 && a.right <= width && a.top >= 0.0 && a.bottom <= height, "{a:?} is cut");
        for b in &texts[i + 1..] {
            let apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            assert!(apart, "`{}` lies on `{}`: {a:?}, {b:?}", a.text, b.text);
        }
    }
}

#[test]
fn rankings_are_drawn() {
    let svg = draw("rank.svg", &["rank", "kernels/star3d25.yaml", "-d", "a100"]);
    looks_well(&svg);
    for word in ["star3d25 on NVIDIA A100", "between L2 and DRAM", "bytes per LUP", "1. ", "168. "] {
        assert!(svg.contains(word), "{word}");
    }
    // 168 launches, 24 bars and 7 colours that are explained.
    assert_eq!(svg.matches("<circle").count(), 168 + 24 + 7);
    looks_well(&draw("one.svg", &["rank", "kernels/stream-copy.yaml", "-d", "v100", "--block", "256"]));
    looks_well(&draw("variants.svg", &["rank", "kernels/conv2d-shared.yaml", "-d", "mi210"]));
}

#[test]
fn a_ranking_of_nothing_says_so() {
    let path = file("none.svg");
    let output = wavecast(&["rank", "kernels/star3d7.yaml", "--block", "2048", "-o", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(std::fs::read_to_string(path).unwrap().contains("no candidate can run"));
}

#[test]
fn series_are_drawn() {
    let star = ["sweep", "kernels/star3d25.yaml", "-d", "a100"];
    let with = |name: &str, more: &[&str]| draw(name, &[&star, more].concat());
    let vary =
        ["--vary", "NX=200..800 step 25", "--set", "NY=NX", "--block", "512,2,1", "--block", "16,2,32"];
    let svg = with("planes.svg", &vary);
    looks_well(&svg);
    for word in ["512x2x1", "16x2x32", "DRAM, bytes per LUP", "rate, 10^9 LUP/s"] {
        assert!(svg.contains(word), "{word}");
    }
    looks_well(&with("l2.svg", &["--vary", "l2.effective=10..40 step 5MiB", "--best"]));
    let svg = with("extents.svg", &["--vary", "block.x=pow2(1..2048)", "--vary", "block.y=1,2,4"]);
    looks_well(&svg);
    assert!(svg.contains("cannot run"));
    looks_well(&with("blocks.svg", &["--vary", "block=512x2x1,256x4x1,128x8x1,64x4x4,16x2x32,8x8x16"]));
    looks_well(&with("one-value.svg", &["--vary", "NX=632"]));
    looks_well(&with("many.svg", &["--vary", "NX=512,640", "--threads", "1024"]));
}

#[test]
fn validations_are_drawn() {
    let svg = draw("validate.svg", &["validate", "tests/measured/star3d7.csv"]);
    looks_well(&svg);
    for word in ["star3d7 on", "L2 loads, bytes per work item", "rate, 10^9 items/s", "measured", "cube"] {
        assert!(svg.contains(word), "{word}");
    }
}

#[test]
fn other_commands_draw_nothing() {
    let path = file("check.svg");
    let path = path.to_str().unwrap();
    for arguments in [
        &["check", "kernels/star3d7.yaml"][..],
        &["predict", "kernels/star3d7.yaml", "-d", "a100"],
        &["devices"],
    ] {
        let output = wavecast(&[arguments, &["-o", path]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("draws no picture"), "{arguments:?}");
        assert!(!std::path::Path::new(path).exists());
    }
    let several = wavecast(&["rank", "kernels/star3d7.yaml", "kernels/box3d27.yaml", "-o", path]);
    assert_eq!(several.status.code(), Some(2));
}
