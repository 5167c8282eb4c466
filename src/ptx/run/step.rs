//! Runs a thread until it waits for others or ends.

use super::code::{Kind, Slot};
use super::integer::{dot4, insert, lookup, permute};
use super::lane::{Lane, State};
use super::memory::Value;
use super::record::ThreadEvent;
use super::refusal::EntryNotRun;
use super::word::Word;
use super::world::World;

impl Lane {
    /// Runs it until it waits for others or ends.
    pub fn run(&mut self, world: &mut World<'_, '_>) -> Result<(), EntryNotRun> {
        let code = world.code;
        while self.state == State::Ready {
            world.steps.take()?;
            let op = &code.ops[self.step as usize];
            let mut known = true;
            if let Some((slot, when)) = op.guard {
                let guard = self.get(slot);
                known = guard.known;
                if !known {
                    self.forget(code, &op.kind);
                    if op.kind.decides() {
                        (world.sink)(self.thread, ThreadEvent::Guess { step: self.step });
                    }
                }
                if (guard.bits & 1 != 0) != when {
                    if let Kind::Store { reach, .. } = &op.kind
                        && !known
                    {
                        self.perhaps_stored(world, reach)?;
                    }
                    self.step += 1;
                    continue;
                }
            }
            self.execute(world, &op.kind, known)?;
        }
        Ok(())
    }

    /// Does a step; `known` is false where it is not known whether it is done.
    #[inline]
    fn execute(&mut self, world: &mut World<'_, '_>, kind: &Kind, known: bool) -> Result<(), EntryNotRun> {
        let code = world.code;
        match *kind {
            Kind::Nothing => {}
            Kind::Unary { function, exact, to, a } => {
                let a = self.get(a);
                self.set(to, function(a.bits), a.known && exact && known);
            }
            Kind::Binary { function, exact, to, a, b } => {
                let (a, b) = (self.get(a), self.get(b));
                self.set(to, function(a.bits, b.bits), a.known && b.known && exact && known);
            }
            Kind::Ternary { function, exact, to, a, b, c } => {
                let (a, b, c) = (self.get(a), self.get(b), self.get(c));
                let clear = a.known && b.known && c.known && exact && known;
                self.set(to, function(a.bits, b.bits, c.bits), clear);
            }
            Kind::Insert { bits, to, operands } => {
                let ([a, b, c, d], clear) = self.all(operands);
                self.set(to, insert(bits, a, b, c, d), clear && known);
            }
            Kind::Permute { mode, to, operands } => {
                let ([a, b, c], clear) = self.all(operands);
                self.set(to, permute(mode, a, b, c), clear && known);
            }
            Kind::Lookup { to, operands, table } => {
                let ([a, b, c], clear) = self.all(operands);
                self.set(to, lookup(a, b, c, u64::from(table)), clear && known);
            }
            Kind::Dot { signed: [x, y], to, operands } => {
                let ([a, b, c], clear) = self.all(operands);
                self.set(to, dot4(x, y, a, b, c), clear && known);
            }
            Kind::Convert { conversion, to, a } => {
                let a = self.get(a);
                self.set(to, conversion.apply(a.bits), a.known && known);
            }
            Kind::Select { to, a, b, predicate } => {
                let predicate = self.get(predicate);
                let chosen = self.get(if predicate.bits & 1 != 0 { a } else { b });
                self.set(to, chosen.bits, chosen.known && predicate.known && known);
            }
            Kind::Compare { function, to, other, a, b, with } => {
                let (a, b) = (self.get(a), self.get(b));
                let found = function(a.bits, b.bits) & 1;
                let mut clear = a.known && b.known && known;
                let (mut yes, mut no) = (found, found ^ 1);
                if let Some((combine, slot, negated)) = with {
                    let third = self.get(slot);
                    let bit = (third.bits ^ u64::from(negated)) & 1;
                    (yes, no) = (combine(yes, bit), combine(no, bit));
                    clear &= third.known;
                }
                self.set(other, no, clear);
                self.set(to, yes, clear);
            }
            Kind::Carry { bits, subtract, takes, gives, to, a, b } => {
                self.carry((bits, subtract, takes, gives), [to, a, b], known);
            }
            Kind::Pack { bits, to, parts } => self.pack(code.list(parts), bits, to, known),
            Kind::Unpack { bits, parts, a } => {
                let a = self.get(a);
                let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
                for (i, &slot) in (0..).zip(code.list(parts)) {
                    self.set(slot, a.bits >> (bits * i) & mask, a.known && known);
                }
            }
            Kind::Unknown { to } => self.unknown(code.list(to)),
            Kind::Load { ref reach, signed, to, recorded } => {
                self.load(world, reach, signed, to, (known, recorded))?;
            }
            Kind::Store { ref reach, values, recorded } => {
                self.store(world, reach, values, (known, recorded))?;
            }
            Kind::Atomic { ref reach, change, to, a, b } => {
                self.atomic(world, reach, change, [to, a, b], known)?;
            }
            Kind::Copy { ref to, ref from, size } => self.copy(world, to, from, size, known)?,
            Kind::Bulk { ref to, ref from, size } => self.bulk(world, to, from, size, known)?,
            Kind::Rows { ref reach, lanes, to } => {
                self.row(world, reach, lanes, known)?;
                self.unknown(code.list(to));
            }
            // What waits goes on when it is done for all.
            Kind::Warp { .. } => {
                self.state = State::Warp;
                return Ok(());
            }
            ref kind => return self.go(world, kind, known),
        }
        self.step += 1;
        Ok(())
    }

    /// Does a step after which another may follow than the next.
    fn go(&mut self, world: &mut World<'_, '_>, kind: &Kind, known: bool) -> Result<(), EntryNotRun> {
        let code = world.code;
        match *kind {
            Kind::Branch { to } => {
                self.sure &= known;
                self.step = to;
                return Ok(());
            }
            Kind::Table { targets, index } => {
                let index = self.get(index);
                self.sure &= known && index.known;
                if !index.known {
                    (world.sink)(self.thread, ThreadEvent::Guess { step: self.step });
                }
                // An index that is not known may be anything.
                let chosen = if index.known { u32::low(index.bits) } else { 0 };
                let Some(&to) = code.list(targets).get(chosen as usize) else {
                    let what = "`brx` goes beyond its list".to_owned();
                    return Err(EntryNotRun::Instruction { line: world.line(self.step), what });
                };
                self.step = to;
                return Ok(());
            }
            Kind::Call { to } => {
                self.sure &= known;
                self.calls.push(self.step + 1);
                self.step = to;
                return Ok(());
            }
            Kind::Return => {
                self.sure &= known;
                match self.calls.pop() {
                    Some(back) => self.step = back,
                    None => self.state = State::Done,
                }
                return Ok(());
            }
            Kind::Exit => {
                self.state = State::Done;
                return Ok(());
            }
            Kind::Barrier { id, threads, waits, .. } => {
                let id = self.get(id).bits & 15;
                if waits {
                    (world.sink)(self.thread, ThreadEvent::Barrier);
                    let threads = threads.map(|slot| self.get(slot).bits & 0xffff_ffff);
                    // The barrier lets it go on behind it.
                    self.state = State::Barrier { id, threads };
                    return Ok(());
                }
                world.arrived.push(id);
            }
            Kind::Trap => return Err(EntryNotRun::Trap(world.line(self.step))),
            Kind::Refused { number } => {
                let what = code.refused[number as usize].clone();
                return Err(EntryNotRun::Instruction { line: world.line(self.step), what });
            }
            // All others are done already.
            _ => {}
        }
        self.step += 1;
        Ok(())
    }

    /// Values of several registers, and whether all are known.
    fn all<const N: usize>(&self, slots: [Slot; N]) -> ([u64; N], bool) {
        let values = slots.map(|slot| self.get(slot));
        (values.map(|v| v.bits), values.iter().all(|v| v.known))
    }

    fn unknown(&mut self, slots: &[Slot]) {
        for &slot in slots {
            self.set(slot, 0, false);
        }
    }

    fn pack(&mut self, parts: &[Slot], bits: u32, to: Slot, known: bool) {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let mut whole = Value { bits: 0, known };
        for (i, &slot) in (0..).zip(parts) {
            let part = self.get(slot);
            whole.bits |= (part.bits & mask) << (bits * i);
            whole.known &= part.known;
        }
        self.set(to, whole.bits, whole.known);
    }

    fn carry(
        &mut self,
        (bits, subtract, takes, gives): (u32, bool, bool, bool),
        [to, a, b]: [Slot; 3],
        known: bool,
    ) {
        let carry = self.get(super::code::CARRY);
        let (a, b) = (self.get(a), self.get(b));
        let mask = if bits >= 64 { u128::from(u64::MAX) } else { (1 << bits) - 1 };
        let wide = |v: Value| u128::from(v.bits) & mask;
        let taken = if takes { u128::from(carry.bits & 1) } else { 0 };
        // A borrow leaves the bit above the word set, as a carry does.
        let sum = if subtract {
            wide(a).wrapping_sub(wide(b)).wrapping_sub(taken)
        } else {
            wide(a) + wide(b) + taken
        };
        let clear = a.known && b.known && known && (carry.known || !takes);
        if gives {
            self.set(super::code::CARRY, (sum >> bits & 1).word(), clear);
        }
        self.set(to, (sum & mask).word(), clear);
    }
}
