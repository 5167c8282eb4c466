//! What varies: `NX=256..1024 step 64`, `l2.effective=10MiB,20MiB`, `block=512x2x1,64x4x4`.

use std::sync::Arc;

use super::value::{MOST_POINTS, VaryValue};
use super::values;
use crate::text::{Diagnostic, Fault, Sources, Span, nearest, shorten};

/// Most things that vary at a time: the axis of a picture and its lines.
const MOST_VARIED: usize = 2;

/// One thing that varies and its values in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// Its name, as it was written.
    pub name: String,
    /// What kind of thing it is.
    pub kind: VaryKind,
    /// At least one.
    pub values: Vec<VaryValue>,
}

/// What kind of thing varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaryKind {
    /// A parameter of the kernel.
    Parameter,
    /// A number of the device.
    Device,
    /// The device itself.
    WholeDevice,
    /// The whole block.
    Block,
    /// One extent of the block.
    BlockExtent(usize),
    /// The whole fold.
    Fold,
    /// One extent of the fold.
    FoldExtent(usize),
}

impl VaryKind {
    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            VaryKind::Parameter => "parameter",
            VaryKind::Device | VaryKind::WholeDevice => "device",
            VaryKind::Block | VaryKind::BlockExtent(_) => "block",
            VaryKind::Fold | VaryKind::FoldExtent(_) => "fold",
        }
    }

    /// What the words for blocks and folds mean.
    fn of_word(name: &str) -> Option<Self> {
        let (group, axis) = name.split_once('.').map_or((name, None), |(g, a)| (g, Some(a)));
        let axis = axis.map(|a| ["x", "y", "z"].iter().position(|&known| known == a));
        match (group, axis) {
            ("device", None) => Some(VaryKind::WholeDevice),
            ("block", None) => Some(VaryKind::Block),
            ("fold", None) => Some(VaryKind::Fold),
            ("block", Some(Some(axis))) => Some(VaryKind::BlockExtent(axis)),
            ("fold", Some(Some(axis))) => Some(VaryKind::FoldExtent(axis)),
            _ => None,
        }
    }
}

/// The words that are neither parameters nor keys of a device.
const WORDS: [&str; 9] =
    ["device", "block", "block.x", "block.y", "block.z", "fold", "fold.x", "fold.y", "fold.z"];

/// The names that can vary.
#[derive(Debug, Clone, Copy)]
struct Known<'a> {
    /// Parameters of the kernel.
    params: &'a [String],
    /// Keys of the device.
    keys: &'a [String],
}

/// Reads what varies, each given as `NAME=VALUES` by an option of this name. `per_value` is how many points each
/// combination of values makes.
///
/// `params` are the parameters of the kernel, `keys` the numbers of the device.
pub fn parse(
    texts: &[String],
    option: &str,
    params: &[String],
    keys: &[String],
    per_value: usize,
) -> Result<Vec<Vary>, Fault> {
    let known = Known { params, keys };
    let mut sources = Sources::new();
    let mut all: Vec<Vary> = Vec::new();
    let mut errors = Vec::new();
    for text in texts {
        let file = sources.add(option, text.as_str());
        let whole = Span::new(file, 0..text.len());
        match one(text, whole, option, known) {
            Ok(vary) if all.iter().any(|v| v.name == vary.name) => {
                errors.push(usage(whole, format!("`{}` varies twice", vary.name)));
            }
            Ok(vary) => all.push(vary),
            Err(error) => errors.push(error),
        }
    }
    if texts.len() > MOST_VARIED {
        let message = format!("{} things vary; at most {MOST_VARIED} can", texts.len());
        let help = "the first is the axis of a picture, the second its lines";
        errors.push(Diagnostic::global("usage", message).help(help));
    }
    let points = all.iter().map(|v| v.values.len()).chain([per_value]).fold(1_usize, usize::saturating_mul);
    if errors.is_empty() && points > MOST_POINTS {
        errors.push(Diagnostic::global(
            "too-many-points",
            format!("the series has {points} points; at most {MOST_POINTS} can be"),
        ));
    }
    if errors.is_empty() { Ok(all) } else { Err(Fault::new(errors, Arc::new(sources))) }
}

fn one(text: &str, whole: Span, option: &str, known: Known<'_>) -> Result<Vary, Diagnostic> {
    let Some((name, list)) = text.split_once('=') else {
        let error = usage(whole, format!("`{}` does not say what to vary", shorten(text)));
        let help = format!("write {option} NAME=VALUES, for example {option} 'NX=256..1024 step 64'");
        return Err(error.help(help));
    };
    let at = Span::new(whole.file, name.len() + 1..text.len());
    let name_span = Span::new(whole.file, 0..name.len());
    let name = name.trim();
    let kind = known.kind(name, name_span)?;
    let values = match kind {
        VaryKind::Parameter => values::integers(list, at, i64::MIN..=i64::MAX)?,
        VaryKind::BlockExtent(_) => values::integers(list, at, values::EXTENTS)?,
        VaryKind::FoldExtent(_) => values::integers(list, at, values::FOLDS)?,
        VaryKind::Block => values::shapes(list, at, &values::EXTENTS, VaryValue::Block)?,
        VaryKind::Fold => values::shapes(list, at, &values::FOLDS, VaryValue::Fold)?,
        VaryKind::Device => values::amounts(list, at)?,
        VaryKind::WholeDevice => values::devices(list, at)?,
    };
    if values.is_empty() {
        let error = Diagnostic::error("empty-range", at, format!("`{name}` has no values here"));
        return Err(error.help("write the smaller bound first, or a negative step"));
    }
    Ok(Vary { name: name.to_owned(), kind, values })
}

impl Known<'_> {
    fn kind(self, name: &str, span: Span) -> Result<VaryKind, Diagnostic> {
        if self.params.iter().any(|p| p == name) {
            return Ok(VaryKind::Parameter);
        }
        if let Some(kind) = VaryKind::of_word(name) {
            return Ok(kind);
        }
        if self.keys.iter().any(|k| k == name) {
            return Ok(VaryKind::Device);
        }
        let names = || self.params.iter().chain(self.keys).map(String::as_str).chain(WORDS);
        let help = match nearest(name, names()) {
            Some(near) if self.params.is_empty() => format!("did you mean `{near}`?"),
            Some(near) => format!("did you mean `{near}`? parameters: {}", self.params.join(", ")),
            None if self.params.is_empty() => {
                "device, block, block.x, fold, or a key such as l2.effective".to_owned()
            }
            None => format!(
                "parameters: {}; also device, block, block.x, fold, or a key of the device such as l2.effective",
                self.params.join(", ")
            ),
        };
        let message = format!("neither the kernel nor the device has `{}`", shorten(name));
        Err(Diagnostic::error("unknown-param", span, message).help(help))
    }
}

fn usage(span: Span, message: String) -> Diagnostic {
    Diagnostic::error("usage", span, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Vec<Vary>, String> {
        let texts: Vec<String> = texts.iter().map(|&t| t.to_owned()).collect();
        let params = ["NX".to_owned(), "block".to_owned()];
        let keys = ["l2.capacity".to_owned(), "clock".to_owned()];
        parse(&texts, "--vary", &params[..1], &keys, 1).map_err(|fault| fault.to_string())
    }

    fn shown(text: &str) -> (VaryKind, String) {
        let vary = read(&[text]).unwrap().remove(0);
        let values: Vec<String> = vary.values.iter().map(VaryValue::to_string).collect();
        (vary.kind, values.join(" "))
    }

    #[test]
    fn parameters_keys_and_blocks_vary() {
        assert_eq!(shown("NX=1..7 step 3,pow2(8..20)"), (VaryKind::Parameter, "1 4 7 8 16".to_owned()));
        assert_eq!(shown("NX = 4*64, 2"), (VaryKind::Parameter, "256 2".to_owned()));
        assert_eq!(shown("l2.capacity=10MiB, 20 MiB"), (VaryKind::Device, "10 MiB 20 MiB".to_owned()));
        assert_eq!(
            shown("clock=1..1.5 step 0.25 GHz"),
            (VaryKind::Device, "1 GHz 1.25 GHz 1.5 GHz".to_owned())
        );
        assert_eq!(shown("block=512x2x1,64"), (VaryKind::Block, "512x2x1 64x1x1".to_owned()));
        assert_eq!(shown("block.y=pow2(1..4)"), (VaryKind::BlockExtent(1), "1 2 4".to_owned()));
        assert_eq!(shown("device=NVIDIA H200, rtx4090"), (VaryKind::WholeDevice, "h200 rtx-4090".to_owned()));
        assert_eq!(shown("fold.z=1,2"), (VaryKind::FoldExtent(2), "1 2".to_owned()));
    }

    #[test]
    fn a_parameter_goes_before_a_word() {
        let texts = ["block=3".to_owned()];
        let vary = parse(&texts, "--vary", &["block".to_owned()], &[], 1).unwrap();
        assert_eq!(vary[0].kind, VaryKind::Parameter);
    }

    #[test]
    fn errors_say_what_to_write() {
        for (texts, expected) in [
            (vec!["NX"], "does not say what to vary"),
            (vec!["NZ=1..2"], "did you mean `NX`?"),
            (vec!["l2.capcity=1MiB"], "did you mean `l2.capacity`?"),
            (vec!["NX=2..1"], "has no values"),
            (vec!["NX=1..10001"], "at most 10000"),
            (vec!["NX=1..200", "block.x=1..200"], "40000 points; at most 10000"),
            (vec!["NX=1,,2"], "--vary:1:6"),
            (vec!["NX="], "--vary:1:4"),
            (vec!["NX=R"], "unknown name `R`"),
            (vec!["NX=1", "NX=2"], "`NX` varies twice"),
            (vec!["NX=1", "block=2", "clock=1GHz"], "3 things vary"),
            (vec!["block=1x2x3x4"], "at most three"),
            (vec!["block.x=0..4"], "from 1 to 65536"),
            (vec!["device=h100"], "the name of 3 devices"),
            (vec!["device=my.yaml"], "a file is no value of `device`"),
            (vec!["device=a100,"], "a value is missing"),
            (vec!["fold.x=4097"], "from 1 to 4096"),
            (vec!["fold=1x5000"], "from 1 to 4096"),
            (vec!["l2.capacity=512KiB..2MiB"], "one unit"),
            (vec!["l2.capacity=1..2MiB step 0"], "must be greater than 0"),
            (vec!["l2.capacity=1..2MiB step 0.00001MiB"], "at most 10000"),
        ] {
            let error = read(&texts).unwrap_err();
            assert!(error.contains(expected), "{texts:?}: {error}");
        }
    }
}
