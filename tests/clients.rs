//! Documents in `tests/clients/` describe kernels that real code generators emitted (pystencils,
//! lbmpy, loopy, Devito). `golden.json` holds facts of the emitted kernels, for a few threads each:
//! count, least, greatest and sum of the element offsets per kind and field. It is written by
//! `tools/validate_clients.rs` from the generators' own expressions, which that program evaluates
//! without Wavecast's grammar; here the documents have to reproduce it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use wavecast::kernel::load;
use wavecast::launch::{Candidate, Launch, Program, visit_thread};

#[test]
fn documents_touch_what_the_generators_touch() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");
    let golden: BTreeMap<String, Value> =
        serde_json::from_str(&std::fs::read_to_string(format!("{folder}/golden.json")).unwrap()).unwrap();
    assert_eq!(golden.len(), 12);
    for (name, facts) in &golden {
        let text = std::fs::read_to_string(format!("{folder}/{name}.yaml")).unwrap();
        let loaded = load(name, &text, &Default::default()).unwrap();
        let [kernel] = loaded.kernels.as_slice() else { panic!("{name}: one kernel expected") };
        let threads = facts["threads"].as_array().unwrap();
        assert!(threads.len() >= 3, "{name}: too few threads to prove anything");
        for fact in threads {
            let fold = kernel.launch().folds()[0];
            let candidate = Candidate::new(three(&fact["block_shape"]), fold.into()).unwrap();
            let launch = Launch::new(kernel, candidate).unwrap();
            let program = Program::placed(kernel, candidate).unwrap().at(&launch).unwrap();
            let mut touched: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
            let (block, thread) = (three(&fact["block"]), three(&fact["thread"]));
            visit_thread(
                &program,
                kernel.extents(),
                candidate.block(),
                block.into(),
                thread.into(),
                1 << 20,
                &mut |touch| {
                    let field = &kernel.field(touch.instruction.field).name();
                    let key = format!("{} {field}", touch.instruction.kind.verb());
                    touched.entry(key).or_default().insert(touch.element);
                },
            )
            .unwrap();
            let totals: BTreeMap<String, Value> = touched
                .iter()
                .map(|(key, elements)| {
                    let values = || elements.iter().copied();
                    (
                        key.clone(),
                        json!([values().count(), values().min(), values().max(), values().sum::<i64>()]),
                    )
                })
                .collect();
            assert_eq!(json!(totals), fact["touched"], "{name}, block {block:?}, thread {thread:?}");
        }
    }
}

#[test]
fn documents_lay_fields_out_as_the_generators_do() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");
    let golden: BTreeMap<String, Value> =
        serde_json::from_str(&std::fs::read_to_string(format!("{folder}/golden.json")).unwrap()).unwrap();
    for (name, facts) in &golden {
        let text = std::fs::read_to_string(format!("{folder}/{name}.yaml")).unwrap();
        let loaded = load(name, &text, &Default::default()).unwrap();
        for (field, fact) in facts["fields"].as_object().unwrap() {
            let ours = loaded.kernels[0].fields().iter().find(|f| *f.name() == **field).unwrap();
            let have = json!([ours.dtype().bytes, ours.offset() * ours.dtype().bytes, ours.align()]);
            assert_eq!(have, json!(fact.as_array().unwrap()[..3]), "{name}: {field}");
        }
    }
}

fn three(value: &Value) -> [i64; 3] {
    let numbers: Vec<i64> = value.as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect();
    numbers.try_into().unwrap()
}
