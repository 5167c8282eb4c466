//! What instructions cost that only warps issue which were not run.

use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::strata::Pair;
use crate::kernel::AccessKind;
use crate::launch::Program;
use crate::quantity::{PerBlock, Sectors, Times};

/// Instructions that none of the warps issues that stand for others, with how often these do.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    instructions: Vec<Passed>,
    /// The first warp that was found to issue each instruction.
    issued_by: Vec<Option<Pair>>,
}

/// An instruction, and how often it is issued.
pub(super) type Passed = (usize, InstructionCounts);

impl Unseen {
    /// Notes that a warp is among those that were found to issue instructions.
    pub(super) fn note(&mut self, pair: Pair, passed: &[InstructionCounts]) {
        self.issued_by.resize(passed.len(), None);
        for (issued_by, passed) in self.issued_by.iter_mut().zip(passed) {
            if passed.issues > Times::ZERO && issued_by.is_none() {
                *issued_by = Some(pair);
            }
        }
    }

    /// Adds what they cost, as much for each issue as elsewhere. Says which warps issue those that no warp was run for.
    pub(super) fn add_to(self, sum: &mut L1Counts) -> Vec<(Pair, Vec<Passed>)> {
        let mut never: Vec<(Pair, Vec<Passed>)> = Vec::new();
        for (position, passed) in self.instructions {
            let known = &mut sum.instructions[position];
            if known.issues > Times::ZERO {
                let mut more = *known;
                more.become_as_often(&passed);
                known.add(&more, 1.0);
            } else if let Some(pair) = self.issued_by[position] {
                match never.iter_mut().find(|(other, _)| *other == pair) {
                    Some((_, all)) => all.push((position, passed)),
                    None => never.push((pair, vec![(position, passed)])),
                }
            }
        }
        never
    }
}

impl L1Counts {
    /// Counts of some warps become those of all, of which it is known how often they issue each instruction.
    pub(super) fn become_as_often(&mut self, passed: &Self, program: &Program<i64>, unseen: &mut Unseen) {
        let mut sectors: Vec<[[Sectors<PerBlock>; 2]; 2]> = vec![Default::default(); self.fields.len()];
        let counts = self.instructions.iter_mut().zip(&passed.instructions);
        for (position, (counts, passed)) in counts.enumerate() {
            let instruction = &program.instructions[position];
            let of_field = &mut sectors[usize::from(instruction.field.0)];
            let of_kind = &mut of_field[usize::from(instruction.kind == AccessKind::Store)];
            of_kind[0] += counts.sectors;
            if counts.issues == Times::ZERO && passed.issues > Times::ZERO {
                unseen.instructions.push((position, *passed));
            }
            counts.become_as_often(passed);
            of_kind[1] += counts.sectors;
        }
        for (field, [loads, stores]) in self.fields.iter_mut().zip(sectors) {
            let times =
                |[some, all]: [Sectors<PerBlock>; 2]| if some > Sectors::ZERO { all / some } else { 1.0 };
            field.times(times(loads), times(stores));
        }
        self.warps = passed.warps;
    }
}

impl FieldCounts {
    fn times(&mut self, loads: f64, stores: f64) {
        self.warp_load_sectors *= loads;
        self.iteration_load_sectors *= loads;
        self.warp_store_sectors *= stores;
    }
}

impl InstructionCounts {
    /// Costs as much for each issue, and has as many issues and lanes as were passed.
    fn become_as_often(&mut self, passed: &Self) {
        if self.issues > Times::ZERO {
            let some = *self;
            *self = Self::default();
            self.add(&some, passed.issues / some.issues);
            self.lanes = passed.lanes;
        }
    }
}
