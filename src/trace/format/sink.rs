//! Who takes a trace as it is read.

use super::error::ReadError;
use crate::trace::model::{Header, Tables, Trace, TraceAccess, TraceBuilder, TraceKind};

/// Takes kernel launches access by access.
pub trait Sink {
    /// A launch begins. Where `ordered`, the accesses come in the order in which a machine does them.
    fn begin(&mut self, header: &Header, ordered: bool) -> Result<(), ReadError>;
    /// An access, and what its numbers mean.
    fn access(&mut self, access: TraceAccess, tables: &Tables) -> Result<(), ReadError>;
    /// The launch is over.
    fn end(&mut self, tables: Tables) -> Result<(), ReadError>;
}

/// Holds all launches.
#[derive(Debug, Default)]
pub struct Collector {
    /// Those that are complete.
    pub traces: Vec<Trace>,
    current: Option<TraceBuilder>,
    keep: Option<fn(TraceKind) -> bool>,
}

impl Collector {
    /// Holds some kinds of accesses only.
    pub fn keeping(keep: Option<fn(TraceKind) -> bool>) -> Self {
        Self { keep, ..Self::default() }
    }
}

impl Sink for Collector {
    fn begin(&mut self, header: &Header, ordered: bool) -> Result<(), ReadError> {
        self.current = Some(TraceBuilder::new(header.clone(), ordered));
        Ok(())
    }

    #[inline]
    fn access(&mut self, access: TraceAccess, _: &Tables) -> Result<(), ReadError> {
        if let Some(current) = &mut self.current
            && self.keep.is_none_or(|keep| keep(access.kind))
        {
            current.push(access);
        }
        Ok(())
    }

    fn end(&mut self, tables: Tables) -> Result<(), ReadError> {
        self.traces.extend(self.current.take().map(|builder| builder.finish(tables)));
        Ok(())
    }
}
