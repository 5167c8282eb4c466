//! The clock that work is measured by. A module of WebAssembly without a host of its own has none, and asking the one
//! of the standard library would end it: there no time passes, so that nothing runs out of it.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use still::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod still {
    use std::time::Duration;

    /// The only moment there is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
    pub(crate) struct Instant(Duration);

    impl Instant {
        /// Now.
        pub(crate) fn now() -> Self {
            Self(Duration::ZERO)
        }

        /// Some time from now, if that can be said.
        pub(crate) fn checked_add(self, time: Duration) -> Option<Self> {
            self.0.checked_add(time).map(Self)
        }

        /// What passed since: nothing.
        pub(crate) fn elapsed(self) -> Duration {
            Duration::ZERO
        }
    }
}
