//! What candidates of a ranking have in common, so that it is found out once.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use rustc_hash::FxBuildHasher;

use super::estimate::{Estimator, Unpredicted};
use super::work_part::WorkPart;
use crate::effort;
use crate::expr::{Excess, Scale};
use crate::footprint::Uncounted;
use crate::kernel;
use crate::launch::{Actions, Candidate, Infeasible, Launch, Occupancy, Program, occupancy};
use crate::space::Fold;
use crate::traffic::l1::Straight;
use crate::traffic::{Counting, Footprints, Region, WorkItems, footprints};

/// What the candidates of one kernel have in common.
pub(super) struct Shared<'k> {
    estimator: Estimator<'k>,
    /// What the kernel does, said simply, by the dimensions along which a thread has one work item.
    simple: BTreeMap<[bool; 3], Result<Actions<'k>, Excess>>,
    /// The folded program of each fold.
    programs: BTreeMap<Fold, Result<Folded, Excess>>,
    /// What work items touch in any launch, or else by the dimensions along which a thread has one.
    items: Option<Items>,
    unfolded: BTreeMap<[bool; 3], Option<Items>>,
}

/// What work items touch.
struct Items {
    touched: WorkItems,
    /// Different multiples of places that they access, where they do no more than that: such footprints are counted in
    /// microseconds.
    patterns: Option<usize>,
    /// Whether it is certain that footprints of any launch can be counted within the steps that there are.
    certain: bool,
}

impl Items {
    fn new(estimator: &Estimator<'_>, touched: impl Fn() -> Option<WorkItems>) -> Option<Self> {
        let steps = WorkPart::Footprints.steps(estimator.kernel.steps);
        let touched = effort::within(steps, touched)?;
        // By closed forms counting takes at most a twentieth of the steps that there are if nobody asks for fewer.
        let certain = estimator.kernel.steps >= kernel::STEPS as u64
            && estimator.counting == Counting::default()
            && touched.are_soon_counted();
        Some(Self { patterns: touched.patterns(estimator.kernel), touched, certain })
    }
}

/// The folded program of a fold.
struct Folded {
    program: Program<Scale>,
    /// If it is so simple that warps can be counted for certain.
    straight: Option<Straight>,
}

/// A candidate that can run.
pub(super) struct Runnable {
    pub(super) launch: Launch,
    pub(super) occupancy: Occupancy,
}

/// The footprints of a region, counted by whoever needs them first; which candidate that is makes no
/// difference.
#[derive(Default)]
pub(super) struct Slot(OnceLock<(Region, Result<Footprints, Uncounted>)>);

impl<'k> Shared<'k> {
    pub(super) fn new(estimator: Estimator<'k>) -> Self {
        let items = Items::new(&estimator, || WorkItems::new(estimator.kernel, &estimator.counting));
        let (simple, programs, unfolded) = Default::default();
        Self { estimator, simple, programs, items, unfolded }
    }

    /// Finds out whether a candidate can run, and folds the program for it. Candidates with equal keys may have
    /// equal footprints; 0 where footprints are not shared.
    pub(super) fn admit(&mut self, candidate: Candidate) -> Result<u64, Unpredicted> {
        let key = self.key(candidate)?;
        self.admit_with(candidate, key)
    }

    /// A key for what a candidate runs over; which of them can run at all is found out by all threads.
    pub(super) fn key(&self, candidate: Candidate) -> Result<u64, Infeasible> {
        let runnable = self.runnable(candidate)?;
        Ok(FxBuildHasher.hash_one(Region::new(&runnable.launch, runnable.occupancy.wave_blocks)))
    }

    /// As [`Self::admit`], for a candidate that can run and has this key.
    pub(super) fn admit_with(&mut self, candidate: Candidate, key: u64) -> Result<u64, Unpredicted> {
        let Estimator { kernel, device, counting, .. } = self.estimator;
        let steps = WorkPart::Program.steps(kernel.steps);
        let along = candidate.one_item();
        let simple = || effort::within(steps, || Actions::simplified(kernel, along));
        let simple = self.simple.entry(along).or_insert_with(simple);
        let folded = || {
            let simple = simple.as_ref().map_err(|excess| *excess)?;
            let program = effort::within(steps, || Program::of_actions(simple, candidate.fold()))?;
            let straight = Straight::new(kernel, &program, device);
            Ok(Folded { program, straight })
        };
        if let Err(excess) = self.programs.entry(candidate.fold()).or_insert_with(folded) {
            return self.estimator.within(WorkPart::Program, || Err(Infeasible::Address(*excess)));
        }
        if self.items.is_none() {
            let simple = simple.as_ref().ok();
            let of = || Items::new(&self.estimator, || WorkItems::unfolded(simple?, along, &counting));
            self.unfolded.entry(along).or_insert_with(of);
        }
        Ok(if self.items(candidate).is_some() { key } else { 0 })
    }

    /// What the work items of an admitted candidate touch, if no more of the launch matters.
    fn items(&self, candidate: Candidate) -> Option<&Items> {
        self.items.as_ref().or_else(|| self.unfolded[&candidate.one_item()].as_ref())
    }

    /// The launch of a candidate and how many of its blocks run at a time.
    pub(super) fn runnable(&self, candidate: Candidate) -> Result<Runnable, Infeasible> {
        let launch = Launch::new(self.estimator.kernel, candidate)?;
        let occupancy = occupancy(self.estimator.device, &launch)?;
        Ok(Runnable { launch, occupancy })
    }

    /// The program of an admitted candidate.
    pub(super) fn program(&self, launch: &Launch) -> Result<Program<i64>, Unpredicted> {
        match &self.programs[&launch.candidate.fold()] {
            Ok(folded) => self.estimator.within(WorkPart::Program, || folded.program.at(launch)),
            Err(excess) => Err(Infeasible::Address(*excess).into()),
        }
    }

    /// The footprints of an admitted candidate, which it may share with others through a slot.
    pub(super) fn footprints(
        &self,
        of: &Runnable,
        program: &Program<i64>,
        slot: Option<&Slot>,
    ) -> Result<Footprints, Unpredicted> {
        let Estimator { kernel, device, counting, .. } = self.estimator;
        let resident = of.occupancy.wave_blocks;
        match self.items(of.launch.candidate) {
            Some(items) => self.footprints_of(&items.touched, of, slot),
            None => self.counted_once(of, slot, || {
                footprints(kernel, &of.launch, program, device, resident, &counting)
            }),
        }
    }

    /// Whether work items of all admitted candidates only access memory at multiples of their places.
    pub(super) fn is_plain(&self) -> bool {
        let plain = |items: &Items| items.patterns.is_some();
        match &self.items {
            Some(items) => plain(items),
            None => self.unfolded.values().all(|items| items.as_ref().is_some_and(plain)),
        }
    }

    /// What is known of the program of an admitted candidate, if footprints can be counted without it and it is certain
    /// that what its warps do can be counted, too.
    pub(super) fn straight(&self, of: &Runnable) -> Option<&Straight> {
        let patterns = self.items(of.launch.candidate)?.patterns?;
        let straight = self.programs[&of.launch.candidate.fold()].as_ref().ok()?.straight.as_ref()?;
        let kernel = self.estimator.kernel;
        let steps = straight.most_steps(kernel, &of.launch, patterns)?;
        (steps <= WorkPart::L1.steps(kernel.steps)).then_some(straight)
    }

    /// The footprints of such a candidate.
    pub(super) fn footprints_alone(
        &self,
        of: &Runnable,
        slot: Option<&Slot>,
    ) -> Result<Footprints, Unpredicted> {
        let items =
            self.items(of.launch.candidate).expect("what work items of such a candidate touch is known");
        self.footprints_of(&items.touched, of, slot)
    }

    /// Whether it is certain that footprints of such a candidate can be counted, without counting them.
    pub(super) fn footprints_are_certain(&self, candidate: Candidate) -> bool {
        self.items(candidate).is_some_and(|items| items.certain)
    }

    fn footprints_of(
        &self,
        items: &WorkItems,
        of: &Runnable,
        slot: Option<&Slot>,
    ) -> Result<Footprints, Unpredicted> {
        let Estimator { kernel, device, counting, .. } = self.estimator;
        let resident = of.occupancy.wave_blocks;
        self.counted_once(of, slot, || items.footprints(kernel, &of.launch, device, resident, &counting))
    }

    /// What counting finds, or has found for whoever shares the slot.
    fn counted_once(
        &self,
        of: &Runnable,
        slot: Option<&Slot>,
        count: impl Fn() -> Result<Footprints, Uncounted>,
    ) -> Result<Footprints, Unpredicted> {
        let resident = of.occupancy.wave_blocks;
        let steps = WorkPart::Footprints.steps(self.estimator.kernel.steps);
        let count = || effort::within(steps, &count);
        let region = Region::new(&of.launch, resident);
        let counted = match slot.map(|slot| slot.0.get_or_init(|| (region, count()))) {
            Some((same, counted)) if *same == region => counted.clone(),
            // Alone, or another region that happens to have the same key.
            _ => count(),
        };
        self.estimator.within(WorkPart::Footprints, || counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::effort::{left, within};
    use crate::kernel::Options;
    use crate::launch::candidates;
    use crate::random::Random;
    use crate::space::Block;

    fn text_of(name: &str) -> String {
        let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    }

    /// A kernel that loads from some places of a field of odd rows, and blocks for it.
    fn with_loads(loads: &str) -> String {
        format!(
            "wavecast: 1\nkernel: k\nparams: {{N: 501, M: 90}}\ndomain: {{x: N, y: M, z: 40}}\n\
             fields:\n  a: {{dtype: f64, shape: [N + 64, M + 64, 104], halo: 32}}\n  b: {{dtype: f64, size: 40000000}}\n\
             loads: [{loads}]\nstores: ['b + x + 600*y + 60000*z']\n\
             launch: {{block: [[32, 4, 2], [31, 3, 1], [8, 8, 4], [128, 1, 1], [2, 64, 2]]}}\n"
        )
    }

    /// Most steps that footprints of some launches take that may be left out before these are counted, and how many
    /// launches that were.
    fn most_steps(text: &str, set: &[&str], device: &str) -> (u64, usize) {
        let options = Options { set: set.iter().map(|s| (*s).to_owned()).collect(), ..Options::default() };
        let kernel = kernel::load("k", text, &options).unwrap().kernels.remove(0);
        let device = device::find(device, &[]).unwrap();
        let estimator = Estimator::new(&kernel, &device);
        let mut shared = Shared::new(estimator);
        let odd = [[31, 3, 1], [7, 13, 5], [1, 1, 64], [999, 1, 1], [1, 1000, 1], [33, 5, 3]];
        let odd = odd.map(|block| Candidate::shaped(Block::known(block), Fold::ONE));
        let (mut most, mut looked_at) = (0, 0);
        for candidate in candidates(&kernel).step_by(7).chain(odd) {
            if shared.admit(candidate).is_err() || !shared.footprints_are_certain(candidate) {
                continue;
            }
            let of = shared.runnable(candidate).unwrap();
            let items = shared.items(candidate).unwrap();
            let all = 1 << 40;
            let resident = of.occupancy.wave_blocks;
            let counting = estimator.counting;
            let used = within(all, || {
                let count = items.touched.footprints(&kernel, &of.launch, &device, resident, &counting);
                assert!(count.is_ok());
                all - left()
            });
            (most, looked_at) = (used.max(most), looked_at + 1);
        }
        (most, looked_at)
    }

    /// So that a launch may be left out before its footprints are counted.
    #[test]
    fn what_is_certain_takes_few_steps() {
        // Places that have nothing in common, and others that lie in other rows than these.
        let mut draw = Random::new(3);
        let mut place = || [(); 3].map(|()| draw.below(60).cast_signed() - 30);
        let places = (0..46).map(|_| place()).map(|[x, y, z]| format!("'a[x + {x}, y + {y}, z + {z}]'"));
        let scattered = with_loads(&places.collect::<Vec<_>>().join(", "));
        let backwards = with_loads("'a[N - x, y, z]'");
        let transposed = with_loads("'a[x, y, z]', 'b + 600*x + y'");
        let kernels = [
            (text_of("star3d7"), &[][..]),
            (text_of("star3d7"), &["NX=637", "NY=509", "NZ=11"]),
            (text_of("star3d25"), &[]),
            (text_of("star3d25"), &["NX=5001", "NY=3"]),
            (text_of("lbm-d3q19"), &["NX=253"]),
            (text_of("lbm-d3q15"), &[]),
            (text_of("star2d5"), &[]),
            (text_of("vec3"), &[]),
            (text_of("stream-triad"), &[]),
            (scattered, &[]),
        ];
        let allowed = WorkPart::Footprints.steps(kernel::STEPS as u64) / 20;
        for (text, set) in &kernels {
            for device in ["v100", "mi300x"] {
                let (most, looked_at) = most_steps(text, set, device);
                assert!(looked_at > 0 && most < allowed, "{most} {looked_at}: {text}");
            }
        }
        for text in [backwards, transposed] {
            assert_eq!(most_steps(&text, &[], "a100").1, 0, "{text}");
        }
    }
}
