//! What is predicted of one launch.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::parts::Time;
use crate::footprint::Engine;
use crate::launch::{Launch, Occupancy};
use crate::quantity::{ItemCount, ItemsPerSecond, PerLaunch};
use crate::traffic::l1::L1Counts;
use crate::traffic::{Footprints, ThreadPath, Volumes};

/// The result for one launch: what a ranking shows of it. It has nothing left of what was counted, so that
/// only a [`Prediction`] can be given other coefficients:
///
/// ```compile_fail
/// # use wavecast::predict::{Estimator, Ranked};
/// fn again(estimator: &Estimator<'_>, ranked: &mut Ranked) {
///     estimator.refit(&mut ranked.prediction, estimator.curves.fit); // a `Summary`, not a `Prediction`
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Block, fold, grid, registers.
    pub launch: Launch,
    /// Resident blocks and waves.
    pub occupancy: Occupancy,
    /// Bytes at each boundary.
    pub volumes: Volumes,
    /// Seconds and their parts.
    pub time: Time,
    /// Work items of the domain.
    pub items: ItemCount<PerLaunch>,
    /// Blocks that have work: others end at once.
    pub working_blocks: i64,
    /// How volumes were counted.
    pub counting: HowCounted,
    /// What a thread does one after the other.
    pub path: ThreadPath,
}

impl Summary {
    /// Work items per second.
    pub fn rate(&self) -> ItemsPerSecond {
        self.items / self.time.seconds
    }
}

/// How distinct lines were counted.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HowCounted {
    /// The engines that counted, each once.
    #[serde(serialize_with = "words")]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub engines: Vec<Engine>,
    /// Whether all counts are exact; estimates come with a warning.
    pub exact: bool,
    /// Number of counts.
    pub counts: usize,
    /// How many of them a second engine confirmed; 0 without `--verify`.
    pub verified: usize,
    /// Whether some warps, blocks or iterations stood for all of them.
    #[serde(skip)]
    pub warps_sampled: bool,
    /// Why they are not exact.
    #[serde(skip)]
    pub estimated: Estimated,
}

/// Why counts are not exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Estimated {
    /// Distinct lines were looked for at random.
    pub lines: bool,
    /// Blocks differ in what they do or touch, and some stood for all of them.
    pub blocks: bool,
}

fn words<S: Serializer>(engines: &[Engine], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(engines.iter().map(|e| e.word()))
}

/// What was counted of a launch, before any hit rate or coefficient is applied.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counted {
    pub(super) l1: L1Counts,
    pub(super) footprints: Footprints,
    pub(super) path: ThreadPath,
}

impl Counted {
    pub(super) fn how(&self) -> HowCounted {
        let Self { l1, footprints, .. } = self;
        HowCounted {
            engines: footprints.engines.clone(),
            exact: !footprints.sampled && !footprints.blocks_sampled,
            estimated: Estimated { lines: footprints.sampled, blocks: footprints.blocks_sampled },
            counts: footprints.counts,
            verified: footprints.verified,
            warps_sampled: l1.sampled,
        }
    }
}

/// A summary with all that was counted for it, so that other coefficients can be applied
/// ([`Estimator::refit`](super::Estimator::refit)) and single accesses looked at. Copies share what was counted.
/// Reads as its summary, which only the estimator changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    pub(super) summary: Summary,
    pub(super) counted: Arc<Counted>,
}

impl Prediction {
    /// The result alone.
    pub fn into_summary(self) -> Summary {
        self.summary
    }

    /// What was counted in L1.
    pub fn l1(&self) -> &L1Counts {
        &self.counted.l1
    }

    /// What was counted of blocks and waves.
    pub fn footprints(&self) -> &Footprints {
        &self.counted.footprints
    }

    /// Leaves out what single instructions do in L1, which takes the most room and is for explanations only.
    #[must_use]
    pub fn without_instructions(mut self) -> Self {
        let l1 = &mut Arc::make_mut(&mut self.counted).l1;
        (l1.instructions, l1.blocks) = (Vec::new(), Vec::new());
        self
    }
}

impl Deref for Prediction {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.summary
    }
}
