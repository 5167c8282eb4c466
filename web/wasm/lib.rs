//! Wavecast in a browser: requests of `serve` as text in, answers as text out.
//!
//! The page and this module share the module's memory and nothing else, so that four functions are all that stands
//! between them: the page asks for room, writes a request there, has it answered, and reads the answer. No generated
//! code is needed for that, and none that would have to be of the same version on both sides.

use std::cell::RefCell;

use serde_json::{Value, json};
use wavecast::ask::Session;
use wavecast::device;
use wavecast::report::DeviceFile;

/// What the page and this module hand each other.
struct Desk {
    session: Session,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::new(Desk {
        session: Session::new(None).without_files(),
        request: Vec::new(),
        answer: Vec::new(),
    });
}

/// Room for a request of so many bytes; the page writes it there.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    DESK.with_borrow_mut(|desk| {
        desk.request.clear();
        desk.request.resize(bytes, 0);
        desk.request.as_mut_ptr()
    })
}

/// Answers the request that was written. The answer stands at the place that is returned, until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> *const u8 {
    DESK.with_borrow_mut(|desk| {
        let request = String::from_utf8_lossy(&desk.request);
        desk.answer = desk.session.ask(&request).into_bytes();
        desk.answer.as_ptr()
    })
}

/// Writes the devices that are known, as the page needs them, to where answers stand.
#[unsafe(no_mangle)]
pub extern "C" fn devices() -> *const u8 {
    DESK.with_borrow_mut(|desk| {
        desk.answer = device_texts().into_bytes();
        desk.answer.as_ptr()
    })
}

/// How many bytes the last answer has.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    DESK.with_borrow(|desk| desk.answer.len())
}

/// The numbers of a device that the page lets people change.
const NUMBERS: [&str; 6] =
    ["sm.count", "clock", "l2.capacity", "l2.effective", "l2.bandwidth", "dram.bandwidth"];

/// Ids, names and numbers of all devices, as JSON.
fn device_texts() -> String {
    let found = device::ids().filter_map(|id| device::find(id, &[]).ok());
    let texts = found.map(|device| {
        let all = serde_json::to_value(DeviceFile::new(&device)).unwrap_or_default();
        let value = |path: &str| {
            let at = path.split('.').try_fold(&all, |at, key| at.get(key))?.get("value")?;
            Some((path.to_owned(), at.clone()))
        };
        let numbers: serde_json::Map<String, Value> = NUMBERS.iter().filter_map(|path| value(path)).collect();
        json!({"id": device.id(), "name": device.name(), "aliases": device.aliases(), "numbers": numbers})
    });
    Value::from(texts.collect::<Vec<_>>()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_has_the_numbers_that_can_be_changed() {
        let all: Vec<Value> = serde_json::from_str(&device_texts()).unwrap();
        assert_eq!(all.len(), device::ids().count());
        for device in all {
            assert_eq!(device["numbers"].as_object().unwrap().len(), NUMBERS.len(), "{}", device["id"]);
        }
    }

    #[test]
    fn a_request_is_answered_where_the_page_reads() {
        let request = br#"{"id": 1, "op": "rank"}"#;
        room(request.len());
        DESK.with_borrow_mut(|desk| desk.request.copy_from_slice(request));
        ask();
        DESK.with_borrow(|desk| assert!(desk.answer.starts_with(br#"{"id":1,"ok":false"#)));
        assert_eq!(answer_bytes(), DESK.with_borrow(|desk| desk.answer.len()));
    }
}
