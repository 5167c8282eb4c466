//! The C interface of Wavecast: `include/wavecast.h` says what each function does.
//!
//! Nothing here decides anything: texts are handed to [`wavecast::ask`], whose answers are handed
//! back. All `unsafe` of the project is in this file; each has its reason beside it. No panic crosses
//! the border: a function that panicked answers with an error document.

use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use wavecast::ask::{Operation, RequestLine, RequestOptions, Session};
use wavecast::report::{ErrorDocument, json_line};

/// `WAVECAST_OK` of the header.
const OK: c_int = 0;
/// `WAVECAST_ERROR` of the header.
const ERROR: c_int = 2;
/// The name under which a handle's session knows its kernel.
const NAME: &str = "kernel";
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

/// A kernel that was read: `wavecast_kernel` of the header.
pub struct Kernel {
    session: Session,
}

/// The version of Wavecast; the text is the library's own.
#[unsafe(no_mangle)]
pub extern "C" fn wavecast_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Reads kernels.
///
/// # Safety
///
/// `text` is null or a text with an end; `kernel` and `error` are null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavecast_parse(
    text: *const c_char,
    kernel: *mut *mut Kernel,
    error: *mut *mut c_char,
) -> c_int {
    // SAFETY: the caller promises that `text` is null or ends with a zero byte.
    let text = unsafe { text_of("text", text) };
    let read = guarded(|| {
        let session = Session::new(None);
        let (name, kernel_text) = (Some(NAME.to_owned()), Some(text?));
        let request = RequestLine::new(Operation::Define, RequestOptions::default());
        session.answer(RequestLine { name, kernel_text, ..request })?;
        Ok(Box::new(Kernel { session }))
    });
    let (handle, message, code) = match read {
        Ok(read) => (Box::into_raw(read), ptr::null_mut(), OK),
        Err(document) => (ptr::null_mut(), owned(json_line(&document)), ERROR),
    };
    if kernel.is_null() {
        // SAFETY: the handle was made above, if it is one; nobody else will free it.
        unsafe { wavecast_kernel_free(handle) };
    } else {
        // SAFETY: the caller promises that a pointer that is not null can be written to.
        unsafe { kernel.write(handle) };
    }
    // SAFETY: as above.
    unsafe { give(error, message) };
    code
}

/// A function that answers a question about a kernel.
macro_rules! question {
    ($(#[$about:meta])* $name:ident, $operation:ident) => {
        $(#[$about])*
        ///
        /// # Safety
        ///
        /// `kernel` is null or a handle of [`wavecast_parse`] that was not freed; `device` and `options` are null
        /// or texts with an end; `result` is null or can be written to.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            kernel: *const Kernel,
            device: *const c_char,
            options: *const c_char,
            result: *mut *mut c_char,
        ) -> c_int {
            // SAFETY: the caller promises what `about` needs.
            unsafe { about(Operation::$operation, kernel, device, options, result) }
        }
    };
}

question!(
    /// Ranks the launches of a kernel.
    wavecast_rank, Rank
);
question!(
    /// Predicts one launch of a kernel.
    wavecast_predict, Predict
);
question!(
    /// Explains one launch of a kernel.
    wavecast_explain, Explain
);
question!(
    /// A series over something that varies.
    wavecast_sweep, Sweep
);
question!(
    /// Shows what was understood of a kernel.
    wavecast_check, Check
);

/// Gives back a text.
///
/// # Safety
///
/// `text` is null or came out of a function of this library, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavecast_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it was made by `owned`, as the caller promises.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Gives back a kernel.
///
/// # Safety
///
/// `kernel` is null or came out of `wavecast_parse`, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavecast_kernel_free(kernel: *mut Kernel) {
    if !kernel.is_null() {
        // SAFETY: it was made by `wavecast_parse`, as the caller promises.
        drop(unsafe { Box::from_raw(kernel) });
    }
}

/// Answers a question about a kernel.
///
/// # Safety
///
/// As [`wavecast_rank`] says.
unsafe fn about(
    op: Operation,
    kernel: *const Kernel,
    device: *const c_char,
    options: *const c_char,
    result: *mut *mut c_char,
) -> c_int {
    // SAFETY: the caller promises that these are null or end with a zero byte.
    let (device, options) = unsafe { (optional("device", device), optional("options", options)) };
    // SAFETY: the caller promises that the handle is null or lives; it is only read, from any thread.
    let kernel = unsafe { kernel.as_ref() };
    let answered = guarded(|| {
        let kernel = kernel.ok_or_else(|| wrong("kernel", "is null"))?;
        let options =
            options?.map_or_else(|| Ok(RequestOptions::default()), |text| RequestOptions::read(&text))?;
        let (kernel_ref, device) = (Some(NAME.to_owned()), device?);
        let request = RequestLine { kernel_ref, device, ..RequestLine::new(op, options) };
        Ok(json_line(&kernel.session.answer(request)?))
    });
    let (text, code) = match answered {
        Ok(text) => (text, OK),
        Err(document) => (json_line(&document), ERROR),
    };
    // SAFETY: the caller promises that `result` is null or can be written to.
    unsafe { give(result, owned(text)) };
    code
}

/// A text of the caller.
///
/// # Safety
///
/// `text` is null or ends with a zero byte.
unsafe fn text_of(name: &str, text: *const c_char) -> Result<String, ErrorDocument> {
    // SAFETY: as promised.
    unsafe { optional(name, text) }?.ok_or_else(|| wrong(name, "is null"))
}

/// A text of the caller that may be null.
///
/// # Safety
///
/// `text` is null or ends with a zero byte.
unsafe fn optional(name: &str, text: *const c_char) -> Result<Option<String>, ErrorDocument> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map(|t| Some(t.to_owned())).map_err(|e| {
        let at = e.valid_up_to();
        wrong(name, &format!("is not UTF-8 text (byte {at})"))
    })
}

/// Hands a text to the caller, who frees it, or frees it where nobody wants it.
///
/// # Safety
///
/// `to` is null or can be written to; `text` is null or was made by [`owned`].
unsafe fn give(to: *mut *mut c_char, text: *mut c_char) {
    if to.is_null() {
        // SAFETY: as promised.
        unsafe { wavecast_free(text) };
    } else {
        // SAFETY: as promised.
        unsafe { to.write(text) };
    }
}

fn owned(text: String) -> *mut c_char {
    // JSON writes a zero character as an escape, so that there is none inside.
    CString::new(text).unwrap_or_default().into_raw()
}

fn wrong(name: &str, what: &str) -> ErrorDocument {
    ErrorDocument::single(
        "argument",
        format!("the argument `{name}` {what}"),
        Some("see wavecast.h".to_owned()),
    )
}

/// A panic must not reach C. A session catches its own; this is for the rest.
fn guarded<T>(work: impl FnOnce() -> Result<T, ErrorDocument>) -> Result<T, ErrorDocument> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(ErrorDocument::single(
            "internal",
            "internal error".to_owned(),
            Some("please report it".to_owned()),
        ))
    })
}
