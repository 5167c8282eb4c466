//! A thread, and the accesses that it does.

use super::code::{Change, Code, Kind, List, Reach, Slot, Where};
use super::memory::{Small, Value};
use super::record::AccessOperation;
use super::refusal::EntryNotRun;
use super::word::{F2, Word};
use super::world::{World, located};

/// Whether a thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// It waits at a barrier of this number, for so many threads if it says so.
    Barrier {
        id: u64,
        threads: Option<u64>,
    },
    /// It waits for other lanes of its warp.
    Warp,
    Done,
}

/// A thread.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    /// Its number in the block.
    pub thread: u32,
    pub step: u32,
    pub calls: Vec<u32>,
    pub registers: Vec<Value>,
    pub params: Small,
    pub local: Small,
    pub state: State,
    /// Whether the way here rests on what is known.
    pub sure: bool,
}

impl Lane {
    #[inline]
    pub fn get(&self, slot: Slot) -> Value {
        self.registers[slot as usize]
    }

    #[inline]
    pub fn set(&mut self, slot: Slot, bits: u64, known: bool) {
        self.registers[slot as usize] = Value { bits, known };
    }

    /// What would have been written is not known, nor whether it was.
    pub fn forget(&mut self, code: &Code, kind: &Kind) {
        let mut forgotten = |slot: Slot| self.registers[slot as usize].known = false;
        match kind {
            Kind::Unary { to, .. }
            | Kind::Binary { to, .. }
            | Kind::Ternary { to, .. }
            | Kind::Insert { to, .. }
            | Kind::Permute { to, .. }
            | Kind::Lookup { to, .. }
            | Kind::Dot { to, .. }
            | Kind::Convert { to, .. }
            | Kind::Select { to, .. }
            | Kind::Carry { to, .. }
            | Kind::Pack { to, .. }
            | Kind::Atomic { to, .. }
            | Kind::Warp { to, .. } => forgotten(*to),
            Kind::Compare { to, other, .. } => {
                forgotten(*to);
                forgotten(*other);
            }
            Kind::Unpack { parts: to, .. }
            | Kind::Unknown { to }
            | Kind::Load { to, .. }
            | Kind::Rows { to, .. } => code.list(*to).iter().for_each(|&slot| forgotten(slot)),
            // It may have gone another way.
            Kind::Branch { .. } | Kind::Table { .. } | Kind::Call { .. } | Kind::Return | Kind::Exit => {
                self.sure = false;
            }
            _ => {}
        }
    }

    fn read(&self, world: &World<'_, '_>, at: (Where, u64), bytes: u8) -> Result<Value, EntryNotRun> {
        let found = match at.0 {
            Where::Shared => world.shared.read(at.1, bytes),
            Where::Local => self.local.read(at.1, bytes),
            Where::Param => self.params.read(at.1, bytes),
            Where::Global | Where::Generic => Some(world.global.read(at.1, bytes)),
        };
        found.ok_or_else(|| self.nothing(world, at))
    }

    fn write(
        &mut self,
        world: &mut World<'_, '_>,
        at: (Where, u64),
        bytes: u8,
        value: Value,
    ) -> Result<(), EntryNotRun> {
        let done = match at.0 {
            Where::Shared => world.shared.write(at.1, bytes, value),
            Where::Local => self.local.write(at.1, bytes, value),
            Where::Param => self.params.write(at.1, bytes, value),
            Where::Global | Where::Generic => {
                if !world.global.write(at.1, bytes, value) {
                    return Err(EntryNotRun::TooLarge("what the kernel writes"));
                }
                Some(())
            }
        };
        done.ok_or_else(|| self.nothing(world, at))
    }

    fn nothing(&self, world: &World<'_, '_>, (space, address): (Where, u64)) -> EntryNotRun {
        let memory = match space {
            Where::Shared => "shared",
            Where::Local => "local",
            Where::Param => "parameter",
            Where::Global | Where::Generic => "global",
        };
        EntryNotRun::Address { line: world.line(self.step), address, memory }
    }

    /// Where an access goes, and whether that is known.
    fn at(&self, reach: &Reach) -> ((Where, u64), bool) {
        let base = self.get(reach.base);
        (located(reach, base.bits), base.known)
    }

    fn record(
        &self,
        world: &mut World<'_, '_>,
        operation: AccessOperation,
        at: (Where, u64),
        bytes: u32,
        sure: bool,
    ) -> Result<(), EntryNotRun> {
        world.record(self.thread, self.step, operation, at, bytes, sure && self.sure)
    }

    pub fn load(
        &mut self,
        world: &mut World<'_, '_>,
        reach: &Reach,
        signed: bool,
        to: List,
        (known, recorded): (bool, bool),
    ) -> Result<(), EntryNotRun> {
        let (at, clear) = self.at(reach);
        let sure = clear && known;
        if recorded {
            self.record(
                world,
                AccessOperation::Load,
                at,
                u32::from(reach.bytes) * u32::from(reach.count),
                sure,
            )?;
        }
        let code = world.code;
        for (i, &slot) in (0..).zip(code.list(to)) {
            let place = (at.0, at.1.wrapping_add(u64::from(reach.bytes) * i));
            let value = self.read(world, place, reach.bytes)?;
            let bits = match (signed, reach.bytes) {
                (true, 1) => i8::low(value.bits).word(),
                (true, 2) => i16::low(value.bits).word(),
                (true, 4) => i32::low(value.bits).word(),
                _ => value.bits,
            };
            self.set(slot, bits, value.known && sure);
        }
        Ok(())
    }

    pub fn store(
        &mut self,
        world: &mut World<'_, '_>,
        reach: &Reach,
        values: List,
        (known, recorded): (bool, bool),
    ) -> Result<(), EntryNotRun> {
        let (at, clear) = self.at(reach);
        if recorded {
            let bytes = u32::from(reach.bytes) * u32::from(reach.count);
            self.record(world, AccessOperation::Store, at, bytes, clear && known)?;
        }
        let code = world.code;
        for (i, &slot) in (0..).zip(code.list(values)) {
            let place = (at.0, at.1.wrapping_add(u64::from(reach.bytes) * i));
            let value = self.get(slot);
            self.write(world, place, reach.bytes, Value { known: value.known && known && clear, ..value })?;
        }
        Ok(())
    }

    /// What lies where it may have stored is not known.
    pub fn perhaps_stored(&mut self, world: &mut World<'_, '_>, reach: &Reach) -> Result<(), EntryNotRun> {
        let ((space, address), _) = self.at(reach);
        for i in 0..u64::from(reach.bytes) * u64::from(reach.count) {
            let at = (space, address.wrapping_add(i));
            // Where it does not store there need not be anything.
            let Ok(there) = self.read(world, at, 1) else { return Ok(()) };
            if there.known {
                self.write(world, at, 1, Value { known: false, ..there })?;
            }
        }
        Ok(())
    }

    pub fn atomic(
        &mut self,
        world: &mut World<'_, '_>,
        reach: &Reach,
        change: Change,
        [to, a, b]: [Slot; 3],
        known: bool,
    ) -> Result<(), EntryNotRun> {
        let (at, clear) = self.at(reach);
        self.record(world, AccessOperation::Atomic, at, u32::from(reach.bytes), clear && known)?;
        let old = self.read(world, at, reach.bytes)?;
        let (a, b) = (self.get(a), self.get(b));
        let mask = if reach.bytes >= 8 { u64::MAX } else { (1 << (8 * reach.bytes)) - 1 };
        let (old_bits, given) = (old.bits & mask, a.bits & mask);
        let apply = |function: F2| function(old_bits, given);
        let (bits, certain) = match change {
            Change::Function(function) => (apply(function), true),
            Change::Swap => (if old_bits == given { b.bits } else { old_bits }, b.known),
            Change::Increase => (if old_bits >= given { 0 } else { old_bits + 1 }, true),
            Change::Decrease => (if old_bits == 0 || old_bits > given { given } else { old_bits - 1 }, true),
            Change::Unknown => (0, false),
        };
        let certain = certain && old.known && a.known && clear && known;
        self.write(world, at, reach.bytes, Value { bits, known: certain })?;
        // In which order threads come here is not known.
        self.set(to, old.bits, false);
        Ok(())
    }

    pub fn copy(
        &mut self,
        world: &mut World<'_, '_>,
        to: &Reach,
        from: &Reach,
        size: Option<Slot>,
        known: bool,
    ) -> Result<(), EntryNotRun> {
        let ((source, source_clear), (target, target_clear)) = (self.at(from), self.at(to));
        let size = size.map_or(Value { bits: u64::from(from.bytes), known: true }, |slot| self.get(slot));
        let bytes = size.bits.min(u64::from(from.bytes));
        let sure = known && size.known;
        if bytes > 0 {
            self.record(world, AccessOperation::Load, source, u32::low(bytes), sure && source_clear)?;
        }
        self.record(world, AccessOperation::Store, target, u32::from(to.bytes), known && target_clear)?;
        for i in 0..u64::from(to.bytes) {
            let place = |at: (Where, u64)| (at.0, at.1.wrapping_add(i));
            let value =
                if i < bytes { self.read(world, place(source), 1)? } else { Value { bits: 0, known: true } };
            let value = Value { known: value.known && sure && source_clear && target_clear, ..value };
            self.write(world, place(target), 1, value)?;
        }
        Ok(())
    }

    /// Bytes in a row that are copied by themselves while threads go on. When they are there is seen by those that wait,
    /// in an order that is not kept here: none of what was copied is known.
    pub fn bulk(
        &mut self,
        world: &mut World<'_, '_>,
        to: &Reach,
        from: &Reach,
        size: Slot,
        known: bool,
    ) -> Result<(), EntryNotRun> {
        let ((source, source_clear), (target, target_clear)) = (self.at(from), self.at(to));
        let size = self.get(size);
        // Sizes are numbers of 32 bits, whatever stands above them.
        let bytes = u32::low(size.bits);
        let sure = known && size.known;
        if bytes > 0 {
            self.record(world, AccessOperation::Load, source, bytes, sure && source_clear)?;
            self.record(world, AccessOperation::Store, target, bytes, sure && target_clear)?;
        }
        for at in (0..u64::from(bytes)).step_by(usize::from(to.bytes)) {
            // A long copy is as much work as the steps of a thread that does it.
            world.steps.take()?;
            let place = |end: (Where, u64)| (end.0, end.1.wrapping_add(at));
            let value = self.read(world, place(source), from.bytes)?;
            self.write(world, place(target), to.bytes, Value { known: false, ..value })?;
        }
        Ok(())
    }

    /// The row of a matrix that this lane names; what of it each lane gets is not known here.
    pub fn row(
        &mut self,
        world: &mut World<'_, '_>,
        reach: &Reach,
        lanes: u32,
        known: bool,
    ) -> Result<(), EntryNotRun> {
        if self.thread % 32 < lanes {
            let (at, clear) = self.at(reach);
            self.record(world, AccessOperation::Load, at, 16, clear && known)?;
        }
        Ok(())
    }
}
