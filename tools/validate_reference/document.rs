//! A kernel document from a record, as a generator would send it: through `wavecast::kernel::load`.

use serde_json::{Map, Value, json};
use wavecast::kernel::{FieldId, Kernel, load};

use super::address::{Accesses, translate};
use super::case::Case;
use super::records::{Address, FieldDef, Record, three};

/// The kernel of a record in threads: the record's addresses are those of threads, folding included, so
/// its domain is the threads that have work.
pub fn kernel(record: &Record, case: &Case) -> Result<Kernel, String> {
    let mut fields = Map::new();
    let mut accesses = |list: &[FieldDef], letter: char| -> Result<Vec<String>, String> {
        let mut texts = Vec::new();
        for (number, field) in list.iter().enumerate() {
            let name = format!("{letter}{number}");
            let shape = three(&field.dimensions, "the array")?;
            let about = json!({"dtype": field.datatype.0, "shape": shape, "offset": field.alignment.0});
            fields.insert(name.clone(), about);
            for address in &field.addresses {
                let text = format!("{name}[{}]", indices(address)?);
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        Ok(texts)
    };
    let loads = accesses(&record.input.load_fields, 'L')?;
    let stores = accesses(&record.input.store_fields, 'S')?;
    let threads = [0, 1, 2].map(|d| (case.domain[d] - 1) / case.fold[d] + 1);
    let mut document = json!({
        "wavecast": 1,
        "kernel": "record",
        "fields": fields,
        "domain": [{"x": threads[0]}, {"y": threads[1]}, {"z": threads[2]}],
        "launch": {"block": [case.block]},
    });
    for (key, list) in [("loads", loads), ("stores", stores)] {
        if !list.is_empty() {
            document[key] = Value::from(list);
        }
    }
    let loaded = load("record", &document.to_string(), &Default::default());
    let mut kernels = loaded.map_err(|fault| format!("our document is refused: {fault}"))?.kernels;
    kernels.pop().ok_or_else(|| "no kernel in our document".to_owned())
}

/// Three indices, 0 where the record leaves one out.
fn indices(address: &Address) -> Result<String, String> {
    let texts: &[String] = match address {
        Address::Flat(text) => std::slice::from_ref(text),
        Address::Indices(list) => list,
    };
    let mut ours: Vec<String> = texts.iter().map(|t| translate(t)).collect::<Result<_, _>>()?;
    ours.resize(3, "0".to_owned());
    Ok(ours.join(", "))
}

/// Fields of a kernel made here: loads first, then stores.
pub fn field_of(position: usize, loads: &[Accesses], store: bool) -> Option<FieldId> {
    u16::try_from(if store { loads.len() + position } else { position }).ok().map(FieldId)
}
