//! Names of devices as people and tools write them: `a100`, `NVIDIA A100-SXM4-40GB`, `sm_80`, `10de:20b0`.

use super::embedded::EMBEDDED;
use crate::sorting;

/// Words of names that say nothing of which device is meant.
const NOISE: [&str; 10] =
    ["nvidia", "amd", "geforce", "tesla", "quadro", "instinct", "radeon", "gpu", "graphics", "device"];
/// Most devices that are named where none is known.
const MOST_NEAR: usize = 3;
/// Most single changes that leave a name near to another.
const FARTHEST: usize = 3;
/// Longest name that is compared with others.
const LONGEST: usize = 100;

/// Which devices a name stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// This one.
    One(&'static str),
    /// Each of these.
    Several(Vec<&'static str>),
    /// None; these are named alike.
    None(Vec<&'static str>),
}

/// The device of an id or an alias.
pub(super) fn exact(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let by_id = EMBEDDED.iter().map(|e| e.0).find(|id| *id == lower);
    by_id.or_else(|| heads().find(|head| head.aliases().any(|alias| alias == lower)).map(|head| head.id))
}

/// What a name means: the id or alias of a device, a PCI id, what compilers call it, its full name as drivers report it,
/// or as much of it as leaves one choice.
pub(super) fn meant(name: &str) -> Meant {
    if let Some(id) = exact(name) {
        return Meant::One(id);
    }
    if name.len() > LONGEST {
        return Meant::None(Vec::new());
    }
    let words = words(name);
    let kinds: [&dyn Fn(&Head) -> bool; 4] = [
        &|head| pci_id(name).is_some_and(|id| head.pci().any(|own| own == id)),
        &|head| target(name).is_some_and(|target| head.target() == Some(&target)),
        &|head| head.names().any(|own| same(&words, &own)),
        &|head| head.is_short(&words),
    ];
    for kind in kinds {
        let found: Vec<&str> = heads().filter(kind).map(|head| head.id).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Meant::One(one),
            _ => return Meant::Several(found),
        }
    }
    Meant::None(near(name, &words))
}

/// The full name of a device.
pub(super) fn full_name(id: &str) -> &'static str {
    heads().find(|head| head.id == id).map_or("", |head| head.value("name:"))
}

/// The first lines of a device file, which say what it is called. They are read without the rest, as most names are
/// found before any file is.
#[derive(Clone, Copy)]
struct Head {
    id: &'static str,
    text: &'static str,
}

fn heads() -> impl Iterator<Item = Head> {
    EMBEDDED.iter().map(|&(id, text)| Head { id, text })
}

impl Head {
    /// What follows a key.
    fn value(&self, key: &str) -> &'static str {
        let mut lines = self.text.lines().take_while(|line| !line.starts_with("sources:"));
        lines.find_map(|line| line.strip_prefix(key)).map_or("", str::trim)
    }

    fn list(&self, key: &str) -> impl Iterator<Item = &'static str> {
        let inside = self.value(key).trim_start_matches('[').trim_end_matches(']');
        inside.split(',').map(|item| item.trim().trim_matches('"')).filter(|item| !item.is_empty())
    }

    fn aliases(&self) -> impl Iterator<Item = &'static str> {
        self.list("aliases:")
    }

    fn pci(&self) -> impl Iterator<Item = &'static str> {
        self.list("pci:")
    }

    /// What compilers call it, which may stand in a file that it inherits from.
    fn target(&self) -> Option<&'static str> {
        let mut head = *self;
        loop {
            match head.value("target:") {
                "" => head = heads().find(|other| other.id == head.value("inherit:"))?,
                target => return Some(target),
            }
        }
    }

    /// The words of each of its names.
    fn names(&self) -> impl Iterator<Item = Vec<String>> {
        [self.id, self.value("name:")].into_iter().chain(self.aliases()).map(words)
    }

    /// Whether words are some of its name, with that of the model among them.
    fn is_short(&self, given: &[String]) -> bool {
        let of_id = words(self.id);
        let model = of_id.iter().find(|word| is_model(word)).or(of_id.first());
        let all: Vec<String> = self.names().flatten().collect();
        model.is_some_and(|model| given.contains(model)) && given.iter().all(|word| all.contains(word))
    }
}

/// Whether a word names a model, such as `a100` or `3090`, rather than a size of memory.
fn is_model(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit()) && !word.ends_with("gb") && !word.starts_with("hbm")
}

/// The words of a name that tell devices apart, in small letters.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let all = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    all.filter(|word| !NOISE.contains(word)).map(str::to_owned).collect()
}

/// Whether two names have the same words in any order, or the same letters without regard to what parts them.
fn same(a: &[String], b: &[String]) -> bool {
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        sorting::sort_by_key(&mut words, |word: &String| word.clone());
        words
    };
    !a.is_empty() && (sorted(a) == sorted(b) || a.concat() == b.concat())
}

/// A PCI id in the form `10de:20b0`: given so, in brackets as lspci does, or as `0x20B010DE` of nvidia-smi.
fn pci_id(name: &str) -> Option<String> {
    let lower = name.trim().to_lowercase();
    let bare = lower.trim_start_matches('[').trim_end_matches(']');
    let hex = |text: &str| text.len() == 4 && text.chars().all(|c| c.is_ascii_hexdigit());
    if let Some((vendor, device)) = bare.split_once(':') {
        let device = device.trim_start_matches("0x");
        let vendor = vendor.trim_start_matches("0x");
        return (hex(vendor) && hex(device)).then(|| format!("{vendor}:{device}"));
    }
    let (device, vendor) = bare.strip_prefix("0x")?.split_at_checked(4)?;
    (hex(vendor) && hex(device)).then(|| format!("{vendor}:{device}"))
}

/// What compilers call a device: `sm_80`, also as `compute_80` or `sm_90a`, and `gfx90a` also with what follows a colon.
fn target(name: &str) -> Option<String> {
    let lower = name.trim().to_lowercase();
    if lower.starts_with("gfx") {
        return lower.split(':').next().map(str::to_owned);
    }
    let number = lower.strip_prefix("sm_").or_else(|| lower.strip_prefix("compute_"))?;
    Some(format!("sm_{}", number.trim_end_matches(['a', 'f'])))
}

/// Devices with a name that is like this one, the nearest first.
fn near(name: &str, given: &[String]) -> Vec<&'static str> {
    let lower = name.to_lowercase();
    let most = (lower.chars().count().div_ceil(3)).min(FARTHEST);
    let ranked = heads().filter_map(|head| {
        let shared = head.names().flatten().any(|word| is_model(&word) && given.contains(&word));
        let names = head.aliases().chain([head.id]);
        let distance = names.map(|own| strsim::damerau_levenshtein(&lower, own)).min()?;
        (shared || distance <= most).then_some((!shared, distance, head.id))
    });
    let mut ranked: Vec<(bool, usize, &str)> = ranked.collect();
    sorting::sort_by_key(&mut ranked, |r| (r.0, r.1));
    ranked.into_iter().take(MOST_NEAR).map(|r| r.2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str) -> &'static str {
        match meant(name) {
            Meant::One(id) => id,
            other => panic!("{name}: {other:?}"),
        }
    }

    fn several(name: &str) -> Vec<&'static str> {
        match meant(name) {
            Meant::Several(ids) => ids,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn names_that_tools_report_are_understood() {
        for (name, id) in [
            ("NVIDIA A100-SXM4-40GB", "a100-40gb"),
            ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
            ("NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"),
            ("Tesla V100-SXM2-32GB", "v100-sxm2-32gb"),
            ("Tesla V100-PCIE-32GB", "v100-pcie-32gb"),
            ("NVIDIA GeForce RTX 3090", "rtx-3090"),
            ("GeForce RTX 3060", "rtx-3060"),
            ("NVIDIA GeForce RTX 3060 Ti", "rtx-3060-ti"),
            ("NVIDIA GeForce RTX 3060 Laptop GPU", "rtx-3060-laptop"),
            ("NVIDIA H100 80GB HBM3", "h100-sxm"),
            ("NVIDIA H100 PCIe", "h100-pcie"),
            ("NVIDIA H100 NVL", "h100-nvl"),
            ("NVIDIA H200", "h200"),
            ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
            ("Tesla V100-SXM2-16GB", "v100-sxm2-16gb"),
            ("Tesla T4", "t4"),
            ("NVIDIA L4", "l4"),
            ("NVIDIA B200", "b200"),
            ("NVIDIA GH200 480GB", "gh200"),
            ("NVIDIA GeForce RTX 4070 Ti SUPER", "rtx-4070-ti-super"),
            ("NVIDIA GeForce RTX 5090", "rtx-5090"),
            ("AMD Radeon RX 7900 XTX", "rx-7900-xtx"),
            ("AMD Radeon RX 7900 XT", "rx-7900-xt"),
            ("NVIDIA RTX A6000", "rtx-a6000"),
            ("NVIDIA TITAN RTX", "titan-rtx"),
            ("AMD Instinct MI250X", "mi250x-gcd"),
            ("AMD Instinct MI300X", "mi300x"),
            ("AMD Radeon RX 6900 XT", "rx-6900-xt"),
            ("AMD Radeon PRO W6600", "radeon-pro-w6600"),
            ("rtx3090", "rtx-3090"),
            ("H100SXM", "h100-sxm"),
            ("a100", "a100-40gb"),
        ] {
            assert_eq!(one(name), id, "{name}");
        }
    }

    #[test]
    fn pci_ids_and_targets_are_understood() {
        for id in ["10de:20b0", "[10DE:20B0]", "0x20B010DE", "10de:0x20b0"] {
            assert_eq!(one(id), "a100-40gb", "{id}");
        }
        assert_eq!(one("gfx908:sramecc+:xnack-"), "mi100");
        assert_eq!(one("1002:740f"), "mi210");
        assert_eq!(several("1002:744c"), ["rx-7900-xtx", "rx-7900-xt", "rx-7900-gre"]);
        assert!(several("sm_80").contains(&"a100-40gb") && several("sm_80").contains(&"a100-80gb"));
        assert_eq!(several("sm_90a"), several("compute_90"));
        assert!(several("gfx90a").contains(&"mi210"));
    }

    #[test]
    fn who_leaves_a_choice_gets_it() {
        assert!(several("h100").starts_with(&["h100-pcie", "h100-sxm"]));
        assert!(several("NVIDIA H100").contains(&"h100-sxm"));
        assert!(several("3060").contains(&"rtx-3060-laptop"));
    }

    #[test]
    fn unknown_names_are_like_some() {
        assert_eq!(meant("a1000"), Meant::None(vec!["a100-40gb", "rtx-a6000", "rtx-a4000"]));
        assert!(
            matches!(meant("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), Meant::None(near) if near.contains(&"h100-sxm"))
        );
        for nothing in ["", "nvidia", "pcie", "40gb", "ti", "/", ":", "0x", "sm_", "gfx", "ÄÖ\u{1F600}"] {
            assert!(matches!(meant(nothing), Meant::None(_)), "{nothing}: {:?}", meant(nothing));
        }
        assert_eq!(meant(&"a100 ".repeat(10_000)), Meant::None(Vec::new()));
    }

    /// No two devices share a name, and the name of each is enough.
    #[test]
    fn every_name_of_a_device_finds_it() {
        for head in heads() {
            for name in [head.id, head.value("name:")].into_iter().chain(head.aliases()) {
                assert_eq!(one(name), head.id, "{name}");
            }
            for id in head.pci() {
                assert_eq!(pci_id(id).as_deref(), Some(id), "{}", head.id);
                assert!(matches!(meant(id), Meant::One(_) | Meant::Several(_)), "{id}");
            }
        }
    }
}
