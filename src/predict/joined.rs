//! How the terms of a launch make its time: what hides behind what.

use super::inputs::Inputs;
use super::parts::Terms;
use crate::curve::TimeFit;
use crate::quantity::{Seconds, Share};

/// The work of a launch, ready to be joined to a time.
pub(super) struct Joint<'a> {
    of: &'a Inputs<'a>,
    fit: &'a TimeFit,
    /// Arithmetic, L1 and issue of the average SM.
    busy: [Seconds; 3],
    /// What the busiest thread waits for in loops.
    waits: Seconds,
    /// The way from and to memory: bytes and latency.
    memory: Seconds,
    terms: &'a Terms,
    /// The exponent under which an SM and memory are joined.
    norm: f64,
    blocks_per_sm: f64,
    /// How many ways to memory a block takes beside its work.
    ways: f64,
}

impl<'a> Joint<'a> {
    /// Of terms whose waits are those of loops alone.
    pub(super) fn new(of: &'a Inputs<'a>, fit: &'a TimeFit, waits: Seconds, terms: &'a Terms) -> Self {
        // Bytes wait for a wave's latency, wherever they come from.
        let bytes = norm(&[terms.l2, terms.dram], fit.limiter_norm.value);
        let memory = norm(&[bytes, terms.latency], fit.latency_norm.value);
        let resident = of.occupancy.resident_per_sm(of.device, of.working_blocks);
        // Between barriers a block loads or computes: one hides less of the other.
        let synced = of.path.kept_apart > Share::ZERO;
        let ways = match resident {
            1 if of.occupancy.blocks_per_sm == 1 => 1.0,
            1 => fit.block_ways.value.min(1.0),
            _ if synced => fit.synced_block_ways.value,
            _ => fit.block_ways.value,
        };
        Self {
            of,
            fit,
            busy: [terms.fp, terms.l1, terms.issue],
            waits,
            memory,
            terms,
            norm: if synced { fit.barrier_norm.value } else { fit.limiter_norm.value },
            blocks_per_sm: resident as f64,
            ways,
        }
    }

    /// The seconds of [`all`](Self::all) alone, but for rounding: a third of the powers.
    pub(super) fn seconds(&self) -> Seconds {
        let (core, _) = self.at(self.of.imbalance());
        self.with_side(self.first_wave() + self.until_last(core))
    }

    /// All that follows from joining.
    pub(super) fn all(&self) -> Joined {
        let ((even, blocks), (core, _)) = (self.at(1.0), self.at(self.of.imbalance()));
        let first_wave = self.first_wave();
        let tail = first_wave + self.until_last(core) - even;
        let seconds = self.with_side(even + tail);
        let blocks = if blocks > Seconds::ZERO {
            seconds - self.with_side(even - blocks + tail)
        } else {
            Seconds::ZERO
        };
        Joined { seconds, first_wave, tail, blocks }
    }

    /// A slot of an SM stays empty until the last warp of its block ends and the next block is in.
    fn until_last(&self, core: Seconds) -> Seconds {
        core * (1.0 + self.fit.few_blocks.value / self.blocks_per_sm)
    }

    /// What goes on beside the SMs.
    fn with_side(&self, core: Seconds) -> Seconds {
        norm(&[core, self.terms.tlb, self.terms.dispatch], self.fit.side_norm.value)
    }

    /// SMs and memory together where SMs have so many times the average of blocks; and how much of that is because
    /// blocks take places on SMs one after the other.
    fn at(&self, imbalance: f64) -> (Seconds, Seconds) {
        let (of, fit) = (self.of, self.fit);
        let waves = of.waves(imbalance) / of.waves(1.0);
        let busy = self.busy.map(|time| time * imbalance);
        let together = norm(&busy, fit.core_norm.value);
        // Where nothing waits, that is all.
        let of_sm = if self.waits > Seconds::ZERO { self.of_sm(&busy, waves) } else { together };
        // One block after the other takes a place on an SM: none is through before its own work is done and what it
        // loads has come, whatever other blocks do in the meantime.
        let block = together * (1.0 / self.blocks_per_sm) + of.way(fit) * (waves * self.ways);
        let all = |of_sm| norm(&[of_sm, self.memory, self.terms.fetch * imbalance], self.norm);
        let hidden = all(of_sm);
        let shown = if block > of_sm { all(block) - hidden } else { Seconds::ZERO };
        (hidden + shown, shown)
    }

    /// What warps of an SM do side by side hides less of each other than what other parts of the device do.
    /// Blocks that run at the same time wait at the same time.
    fn of_sm(&self, busy: &[Seconds; 3], waves: f64) -> Seconds {
        let waits = of_warp(self.of, self.waits, busy, waves);
        norm(&[busy[0], busy[1], busy[2], waits], self.fit.core_norm.value)
    }

    /// What the first wave has nothing to hide behind. Between barriers a block computes from what all of it has loaded
    /// before. Elsewhere accesses are part of the loading, and in loops only what is loaded first has nothing beside it.
    fn first_wave(&self) -> Seconds {
        let (of, fit) = (self.of, self.fit);
        let first = |computing: Seconds, share: Share| {
            computing.min(self.memory * share) * (fit.first_wave.value / of.waves(1.0))
        };
        let apart = of.path.kept_apart;
        let mut all = Seconds::ZERO;
        if apart > Share::ZERO {
            all += first(self.of_sm(&self.busy, 1.0), apart);
        }
        let rounds = of.path.rounds.get();
        if apart < Share::ALL && rounds > 0.0 {
            let [fp, _, issue] = self.busy;
            let beside = first(norm(&[fp, issue], fit.core_norm.value), apart.rest());
            all += beside * (1.0 / rounds);
        }
        all
    }
}

/// What joining comes to.
pub(super) struct Joined {
    /// Of the launch, but for starting it.
    pub(super) seconds: Seconds,
    /// The parts of a time of the same names.
    pub(super) first_wave: Seconds,
    pub(super) tail: Seconds,
    pub(super) blocks: Seconds,
}

/// Nothing is on the way for a warp while it computes or is in the L1 itself. Where no loop waits, that is part of
/// what a block takes beside its way to memory.
pub(super) fn of_warp(of: &Inputs<'_>, waits: Seconds, busy: &[Seconds; 3], waves: f64) -> Seconds {
    if waits > Seconds::ZERO { waits * waves + alone(of, busy) } else { Seconds::ZERO }
}

/// What a warp takes by itself of units that it shares with the others of its scheduler and of its SM.
fn alone(of: &Inputs<'_>, [fp, l1, issue]: &[Seconds; 3]) -> Seconds {
    let warps = of.occupancy.resident_warps(of.device, of.working_blocks) as f64;
    fp.max(*issue) * (1.0 / (warps / of.schedulers()).max(1.0)) + *l1 * (1.0 / warps)
}

fn norm(parts: &[Seconds], p: f64) -> Seconds {
    let most = parts.iter().copied().fold(Seconds::ZERO, Seconds::max);
    if most <= Seconds::ZERO {
        return Seconds::ZERO;
    }
    // Powers of 0 and 1 are what they are without work.
    let power = |x: f64, p: f64| {
        #[expect(clippy::float_cmp, reason = "just these")]
        let known = (x == 0.0 && p > 0.0) || x == 1.0;
        if known { x } else { x.powf(p) }
    };
    most * power(parts.iter().map(|&t| power(t / most, p)).sum::<f64>(), 1.0 / p)
}
