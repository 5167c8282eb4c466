//! A private wrapper around the bindings.
//!
//! Their types claim to be `Send` and `Sync`, though a context must not be shared between threads:
//! here a context belongs to its thread and nothing that refers to it can leave it. Errors are
//! returned and not printed, and a quota of operations ends what would take too long.

use std::marker::PhantomData;

use isl_rs::{Context, Error, LibISLError, Options, Val};

/// isl's code for "go on after an error", which also keeps it from printing.
const ON_ERROR_CONTINUE: i32 = 1;

/// Why isl gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IslError {
    /// What is asked has no form in isl.
    #[error("{0} cannot be written as an isl set")]
    Unsupported(&'static str),
    /// Counting a set without bounds.
    #[error("a set without bounds cannot be counted")]
    Unbounded,
    /// The quota of elementary operations is used up.
    #[error("isl used up its quota of operations")]
    Quota,
    /// isl reported an error.
    #[error("isl: {0}")]
    Library(String),
}

impl From<LibISLError> for IslError {
    fn from(error: LibISLError) -> Self {
        // The kind of an error is private to the bindings, except in their message.
        let message = error.to_string();
        if message.starts_with("[Quota]") { IslError::Quota } else { IslError::Library(message) }
    }
}

thread_local! {
    static CONTEXT: Context = {
        let context = Context::alloc();
        // Cannot fail: the option exists in every version of isl.
        let _ = Options::set_on_error(&context, ON_ERROR_CONTINUE);
        context
    };
}

/// Access to this thread's context for as long as a closure runs.
pub(super) struct Session<'c> {
    pub(super) context: &'c Context,
    /// Raw pointers keep the session, and with it the borrow of the context, on its thread.
    thread_bound: PhantomData<*const ()>,
}

/// Runs `work` with this thread's context and a quota of elementary operations.
pub(super) fn with_session<T>(
    quota: u64,
    work: impl FnOnce(&Session<'_>) -> Result<T, IslError>,
) -> Result<T, IslError> {
    CONTEXT.with(|context| {
        // The bindings forget to clear some errors, which would then be taken for errors of the next call.
        context.reset_error();
        context.reset_operations();
        context.set_max_operations(quota);
        let result = work(&Session { context, thread_bound: PhantomData });
        context.set_max_operations(0);
        // A question whose answer is yes or no leaves the kind of its error in the context only.
        let over = context.last_error() == Error::Quota;
        result.map_err(|error| if over { IslError::Quota } else { error })
    })
}

impl Session<'_> {
    /// An integer.
    pub(super) fn value(&self, n: i64) -> Result<Val, IslError> {
        Ok(Val::int_from_si(self.context, n)?)
    }

    /// Lifts the quota: text of a set that exists is always to be had, and the bindings cannot
    /// survive its absence.
    pub(super) fn unlimited(&self) {
        self.context.set_max_operations(0);
    }
}
