//! The structures of `tests/probe_specs.yaml`.

use serde_json::{Map, Value};
use wavecast::probe::simulate::{ProbeSpec, read_spec};
use wavecast::text::{Bounds, Sources, from_tree, parse_stream};

fn file() -> Value {
    let text = include_str!("../probe_specs.yaml");
    let file = Sources::new().add("probe_specs.yaml", text);
    let (documents, errors) = parse_stream(text, file, Bounds::of_bytes(text.len()));
    assert_eq!((documents.len(), errors), (1, vec![]));
    from_tree(&documents[0], "specs").unwrap()
}

fn with_noise(file: &Value, name: &str, spec: &Value, seed: u64) -> ProbeSpec {
    let mut spec = spec.as_object().unwrap().clone();
    for (key, value) in file["noise"].as_object().unwrap() {
        spec.entry(key).or_insert_with(|| value.clone());
    }
    spec.insert("name".into(), name.into());
    spec.insert("seed".into(), seed.into());
    let text = serde_json::to_string(&spec).unwrap();
    read_spec(name, &text).unwrap_or_else(|fault| panic!("{text}\n{fault}"))
}

/// The structures of the papers.
pub fn named() -> Vec<ProbeSpec> {
    let file = file();
    let all = file["named"].as_array().unwrap().clone();
    let one = |entry: &Value| with_noise(&file, entry["name"].as_str().unwrap(), &entry["spec"], 1);
    all.iter().map(one).collect()
}

/// Numbers for the random structures: Splitmix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn percent(&mut self, percent: &Value) -> bool {
        self.below(100) < percent.as_u64().unwrap()
    }

    /// One of a list.
    fn of(&mut self, list: &Value) -> Value {
        let list = list.as_array().unwrap();
        let at = usize::try_from(self.below(list.len() as u64)).unwrap();
        list[at].clone()
    }

    /// A whole number of a range.
    fn whole(&mut self, range: &Value) -> u64 {
        let (low, high) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
        low + self.below(high - low + 1)
    }

    /// A number of a range.
    fn real(&mut self, range: &Value) -> f64 {
        let (low, high) = (range[0].as_f64().unwrap(), range[1].as_f64().unwrap());
        low + (high - low) * self.unit()
    }

    /// A whole number whose logarithm is spread evenly.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between low and high")]
    fn logarithmic(&mut self, low: u64, high: u64) -> u64 {
        let (low, high) = (low as f64, high as f64 + 0.999);
        (low * (high / low).powf(self.unit())) as u64
    }

    /// A key of a mapping from keys to weights.
    fn weighted(&mut self, weights: &Value) -> String {
        let weights = weights.as_object().unwrap();
        let mut ticket = self.below(weights.values().map(|w| w.as_u64().unwrap()).sum());
        for (key, weight) in weights {
            let weight = weight.as_u64().unwrap();
            if ticket < weight {
                return key.clone();
            }
            ticket -= weight;
        }
        unreachable!("the ticket is less than the sum")
    }
}

/// The random structures, with the seed of the file or another.
pub fn random(seed: Option<u64>) -> Vec<ProbeSpec> {
    let file = file();
    let ranges = &file["random"];
    let mut draw = Draw(seed.unwrap_or_else(|| ranges["seed"].as_u64().unwrap()));
    (0..ranges["count"].as_u64().unwrap()).map(|i| one(&file, ranges, &mut draw, i)).collect()
}

/// Random structures with sectors, further policies and clocks with steps among them.
pub fn wider(seed: u64, count: u64) -> Vec<ProbeSpec> {
    let file = file();
    let mut ranges = file["random"].as_object().unwrap().clone();
    ranges.extend(file["wider"].as_object().unwrap().clone());
    let mut draw = Draw(seed);
    (0..count).map(|i| one(&file, &Value::Object(ranges.clone()), &mut draw, i)).collect()
}

fn one(file: &Value, ranges: &Value, draw: &mut Draw, number: u64) -> ProbeSpec {
    let mut spec = Map::new();
    let mut put = |key: &str, value: Value| {
        spec.insert(key.into(), value);
    };
    let (least, most_sets) = (ranges["sets"][0].as_u64().unwrap(), ranges["sets"][1].as_u64().unwrap());
    let mapping = draw.of(&ranges["mapping"]).as_str().unwrap().to_owned();
    let mut sets = 1 << draw.logarithmic(1, 256).ilog2().min(most_sets.ilog2());
    if matches!(mapping.as_str(), "bits" | "table") && draw.below(4) == 0 {
        sets = draw.logarithmic(least, most_sets);
    }
    let replacement = draw.weighted(&ranges["replacement"]);
    let most_ways = ranges["ways"][1].as_u64().unwrap().min(ranges["most_lines"].as_u64().unwrap() / sets);
    let mut ways = draw.logarithmic(ranges["ways"][0].as_u64().unwrap(), most_ways);
    let unequal = draw.percent(&ranges["unequal_percent"]) && replacement != "plru";
    if replacement == "plru" {
        ways = 1 << ways.ilog2();
    }
    let mut most = ways;
    if unequal {
        let all: Vec<u64> = (0..sets).map(|_| (ways + draw.below(ways + 1)).min(most_ways)).collect();
        most = all.iter().copied().max().unwrap();
        put("ways", serde_json::to_value(all).unwrap());
    } else {
        put("ways", ways.into());
        put("sets", sets.into());
    }
    if replacement == "weighted" {
        let weights: Vec<u64> = (0..most).map(|_| draw.whole(&ranges["weights"])).collect();
        put("weights", serde_json::to_value(weights).unwrap());
    }
    match mapping.as_str() {
        "spatial" => put("run", draw.of(&ranges["spatial_runs"])),
        "xor" => {
            // A low bit of its own for each bit of the set, and higher bits at random, up to bit 15.
            let bits = u64::from(sets.ilog2());
            let high = 0xffff & !((1 << bits) - 1);
            let masks: Vec<String> =
                (0..bits).map(|b| format!("{:#x}", 1 << b | draw.next() & draw.next() & high)).collect();
            put("masks", serde_json::to_value(masks).unwrap());
        }
        _ => {}
    }
    let line = draw.of(&ranges["line"]);
    put("line", line.clone());
    put("mapping", mapping.into());
    put("replacement", replacement.into());
    let mut sectors = None;
    if ranges.get("sectors").is_some() && draw.percent(&ranges["sector_percent"]) {
        let sector = line.as_u64().unwrap() / draw.of(&ranges["sectors"]).as_u64().unwrap();
        sectors = Some(sector.max(ranges["least_sector"].as_u64().unwrap()));
    }
    if let Some(sector) = sectors {
        put("sector", sector.into());
    } else if draw.percent(&ranges["prefetch_percent"]) {
        put("prefetch", draw.whole(&ranges["prefetch"]).into());
        put("trigger", draw.of(&ranges["trigger"]));
    }
    let mut hits = &ranges["hit"];
    if ranges.get("step").is_some() && draw.percent(&ranges["step_percent"]) {
        hits = &ranges["step_hit"];
        put("step", ranges["step"].clone());
        if draw.percent(&ranges["still_percent"]) {
            put("noise", 0.0.into());
        }
    }
    let hit = draw.real(hits);
    put("hit", hit.into());
    put("miss", (hit * draw.real(&ranges["miss_factor"])).into());
    with_noise(file, &format!("random-{number}"), &Value::Object(spec), number + 1)
}
