//! Wavecast in a browser: requests of `serve` as text in, answers as text out.
//!
//! The page and this module share the module's memory and nothing else, so that three functions are all that stands
//! between them: the page asks for room, writes a request there, has it answered, and reads the answer. No generated
//! code is needed for that, and none that would have to be of the same version on both sides.

use std::cell::RefCell;

use wavecast::ask::Session;

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

/// How many bytes the last answer has.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    DESK.with_borrow(|desk| desk.answer.len())
}

#[cfg(test)]
mod tests {
    use super::*;

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
