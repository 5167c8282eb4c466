//! What all threads of a block see.

use super::code::{Code, Reach, Where};
use super::layout::{FIELD_BITS, LOCAL_WINDOW, Layout, PARAM_WINDOW, SHARED_WINDOW, field_at};
use super::memory::{Global, Small};
use super::record::{AccessOperation, Memory, ThreadAccess, ThreadEvent};
use super::refusal::EntryNotRun;

/// Steps after which it is looked whether they are too many.
const PORTION: u64 = 4096;

/// What all threads of a block see.
pub(super) struct World<'w, 'f> {
    pub code: &'w Code,
    pub layout: &'w Layout,
    pub global: &'w mut Global<'f>,
    pub shared: Small,
    pub steps: &'w mut Steps,
    pub sink: &'w mut dyn FnMut(u32, ThreadEvent),
    /// Numbers of barriers that threads came to without waiting.
    pub arrived: Vec<u64>,
}

/// How many steps may be done, and were.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    pub most: u64,
    pub done: u64,
    left: u64,
}

impl Steps {
    pub fn new(most: u64) -> Self {
        Self { most, done: 0, left: 0 }
    }

    #[inline]
    pub fn take(&mut self) -> Result<(), EntryNotRun> {
        if self.left == 0 {
            self.portion()?;
        }
        self.left -= 1;
        Ok(())
    }

    #[cold]
    fn portion(&mut self) -> Result<(), EntryNotRun> {
        if self.done >= self.most {
            return Err(EntryNotRun::Steps(self.most));
        }
        crate::effort::spend(PORTION)?;
        self.done += PORTION;
        self.left = PORTION;
        Ok(())
    }
}

/// Space and address of an access.
#[inline]
pub(super) fn located(reach: &Reach, base: u64) -> (Where, u64) {
    let address = base.wrapping_add_signed(reach.offset);
    match reach.space {
        Where::Global => (Where::Global, address),
        Where::Generic => match address >> FIELD_BITS << FIELD_BITS {
            SHARED_WINDOW => (Where::Shared, address - SHARED_WINDOW),
            LOCAL_WINDOW => (Where::Local, address - LOCAL_WINDOW),
            PARAM_WINDOW => (Where::Param, address - PARAM_WINDOW),
            _ => (Where::Global, address),
        },
        // Addresses of these have 32 bits.
        small => (small, address & 0xffff_ffff),
    }
}

impl World<'_, '_> {
    /// Line of a step.
    pub fn line(&self, step: u32) -> u32 {
        self.code.origins[step as usize].line
    }

    /// Writes an access down, if it is one to memory.
    pub fn record(
        &mut self,
        thread: u32,
        step: u32,
        operation: AccessOperation,
        (space, address): (Where, u64),
        bytes: u32,
        sure: bool,
    ) -> Result<(), EntryNotRun> {
        let (memory, field, offset) = match space {
            Where::Param => return Ok(()),
            Where::Shared => {
                let (number, offset) = self.layout.shared_at(address);
                (Memory::Shared, number, offset)
            }
            Where::Local => (Memory::Local, 0, address.cast_signed()),
            Where::Global | Where::Generic => {
                let found = field_at(address).filter(|(field, _)| *field < self.layout.constant.len());
                let Some((field, offset)) = found else {
                    return Err(EntryNotRun::Address { line: self.line(step), address, memory: "global" });
                };
                let constant = self.layout.constant[field];
                (if constant { Memory::Constant } else { Memory::Global }, field, offset)
            }
        };
        let field = u32::try_from(field).map_err(|_| EntryNotRun::TooLarge("the list of fields"))?;
        (self.sink)(
            thread,
            ThreadEvent::Access(ThreadAccess { step, operation, memory, field, offset, bytes, sure }),
        );
        Ok(())
    }
}
