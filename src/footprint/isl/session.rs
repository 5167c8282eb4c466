//! A private wrapper around the bindings.
//!
//! Their types claim to be `Send` and `Sync`, though a context must not be shared between threads:
//! here a context belongs to its thread and nothing that refers to it can leave it. Errors are
//! returned and not printed, and a quota of operations ends what would take too long.

use std::marker::PhantomData;

use isl_rs::{Context, LibISLError, Options, Val};

/// isl's code for "go on after an error", which also keeps it from printing.
const ON_ERROR_CONTINUE: i32 = 1;

/// Why isl gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IslError {
    /// What is asked has no form in isl.
    #[error("{0} cannot be written as an isl set")]
    Unsupported(&'static str),
    /// isl reported an error, among them that the quota is used up.
    #[error("isl: {0}")]
    Library(String),
}

impl From<LibISLError> for IslError {
    fn from(error: LibISLError) -> Self {
        IslError::Library(error.to_string())
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
        context.reset_operations();
        context.set_max_operations(quota);
        let result = work(&Session { context, thread_bound: PhantomData });
        context.set_max_operations(0);
        result
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
