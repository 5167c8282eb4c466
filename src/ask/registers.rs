//! Where the number of registers of compiled code comes from.

use std::sync::Arc;

use crate::ptx::{Assembled, Compiled, RegistersTold};
use crate::text::Diagnostic;

/// Where the number of registers of compiled code comes from, where nothing else says it.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum CodeRegisters {
    /// It is counted in the PTX.
    #[default]
    Counted,
    /// So many.
    Given(u32),
    /// From an assembler; it is counted where this says nothing.
    Assembled(AskAssembler),
}

/// What an assembler makes of an entry of a text, if it is asked and takes it.
pub type Assembling =
    dyn Fn(&Compiled, &str, Option<&str>) -> Result<Option<Assembled>, Diagnostic> + Send + Sync;

/// Somebody who asks an assembler.
#[derive(Clone)]
pub struct AskAssembler(pub Arc<Assembling>);

impl std::fmt::Debug for AskAssembler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AskAssembler")
    }
}

impl PartialEq for AskAssembler {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl CodeRegisters {
    /// What there is to say of an entry of a text.
    pub fn of_entry(
        &self,
        compiled: &Compiled,
        text: &str,
        entry: Option<&str>,
    ) -> Result<RegistersTold, Diagnostic> {
        Ok(match self {
            CodeRegisters::Counted => RegistersTold::default(),
            CodeRegisters::Given(n) => RegistersTold { registers: Some(*n), assembled: None },
            CodeRegisters::Assembled(AskAssembler(ask)) => {
                RegistersTold { registers: None, assembled: ask(compiled, text, entry)? }
            }
        })
    }
}
