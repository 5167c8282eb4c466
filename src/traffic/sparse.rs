//! What is left unused of sectors and lines: where threads leave gaps, memory has to complete what is stored, and
//! caches hold less.

use super::counts::FieldCounter;
use super::fields::{Sizes, TouchedField};
use super::waves::Wave;
use crate::expr::{Coord, Dim, Form, Term};
use crate::footprint::{Threads, Uncounted};
use crate::kernel::FieldId;
use crate::quantity::{Bytes, PerWave, Ratio, Share};

/// What a wave leaves unused of one field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gaps {
    /// Bytes of lines over bytes of sectors: what a cache keeps for each byte that is touched.
    pub(super) lines: Ratio,
    /// Bytes of pairs of sectors over bytes of sectors, of what is loaded: a sector whose neighbour is not touched.
    pub(super) pairs: Ratio,
    /// Share of the stored sectors of which some bytes are never stored.
    pub(super) incomplete: Share,
    /// Whether the wave leaves out sectors of the pieces of memory to which it stores.
    pub(super) apart: bool,
}

/// What memory has open at a time when something is written to it, in bytes: stores on an H100 cost the same whether
/// their sectors are 256 or 8,192 bytes apart, and less where they are nearer (docs/fits.md, section 11).
pub(crate) const PIECE: i64 = 256;

impl Gaps {
    const NONE: Self =
        Self { lines: Ratio::new(1.0), pairs: Ratio::new(1.0), incomplete: Share::ZERO, apart: false };
}

/// Bytes of pieces over those of stored sectors beyond which it is worth asking what the whole launch leaves out.
const APART: f64 = 1.5;

/// Whether consecutive threads access consecutive elements of a field, in all its instructions.
fn is_dense(threads: &Threads<'_>, field: FieldId, size: i64) -> bool {
    let mut of_field = threads.program.instructions.iter().filter(|i| i.field == field);
    of_field.all(|i| along_x(&i.element, threads).saturating_mul(size) == i.width)
}

/// How far a form moves from one thread to the next one along x, as far as it moves evenly. Loops that begin at another
/// number in each thread move with it.
fn along_x(form: &Form<i64>, threads: &Threads<'_>) -> i64 {
    let step = |term: &Term<i64>| match term {
        Term::Coord(Coord::ThreadIdx(Dim::X)) => 1,
        Term::Coord(Coord::Loop(id)) => along_x(&threads.program.loops[usize::from(id.0)].from, threads),
        _ => 0,
    };
    form.terms().iter().map(|(term, factor)| factor.saturating_mul(step(term))).sum()
}

impl FieldCounter<'_> {
    /// The gaps of a field in a wave that touches so much of it, and stores so much.
    pub(super) fn gaps(
        &mut self,
        threads: &Threads<'_>,
        field: &TouchedField,
        wave: &Wave,
        sizes: &Sizes,
        [all, loaded, stored]: [Bytes<PerWave>; 3],
    ) -> Result<Gaps, Uncounted> {
        let size = field.element_bytes;
        if all <= Bytes::ZERO || is_dense(threads, field.id, size) {
            return Ok(Gaps::NONE);
        }
        let lines = self.bytes(field.touched(), &wave.blocks, sizes.line)? * field.times() / all.get();
        let mut gaps = Gaps { lines: Ratio::new(lines.max(1.0)), ..Gaps::NONE };
        if loaded > Bytes::ZERO {
            let pairs = self.bytes(field.fetched(), &wave.blocks, sizes.fetch.max(64))? * field.times();
            gaps.pairs = Ratio::new((pairs / loaded.get()).max(1.0));
        }
        if stored > Bytes::ZERO {
            let pieces = self.bytes(&field.stores, &wave.blocks, PIECE)? * field.times();
            // Half of what is left out at both ends of a row is nothing that lies apart.
            gaps.apart = pieces > APART * stored.get();
        }
        if stored > Bytes::ZERO && size < sizes.fetch {
            let bytes = self.bytes(&field.stores, &wave.blocks, size)? * field.times();
            // A sector that is cut by the end of what is stored lacks half of it on average; so does each where every
            // second element is stored, and where more are left out, none is complete either.
            gaps.incomplete = Share::new((2.0 * (1.0 - bytes / stored.get())).clamp(0.0, 1.0));
        }
        Ok(gaps)
    }
}
