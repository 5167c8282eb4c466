//! How large indices become: whether 32 bits hold them.

use crate::expr::{Coord, Form, LoopId, Term};
use crate::launch::{Launch, Program};

/// Whether every index, and every part of it, fits into 32 bits in this launch.
pub(super) fn fits(program: &Program<i64>, launch: &Launch) -> bool {
    let mut loops: Vec<i128> = Vec::new();
    for range in &program.loops {
        let of = |form: &Form<i64>| magnitude(form, launch, &loops);
        // One step beyond the end is computed, too.
        let most = of(&range.from).max(of(&range.to)).saturating_add(i128::from(range.step).abs());
        loops.push(most);
    }
    let most = program.instructions.iter().map(|i| magnitude(&i.element, launch, &loops)).max().unwrap_or(0);
    let loops = loops.iter().copied().max().unwrap_or(0);
    let threads = (0..3).map(|d| {
        i128::from(launch.sizes.block[d])
            * i128::from(launch.sizes.grid[d])
            * i128::from(launch.candidate.fold()[d])
    });
    let threads = threads.max().unwrap_or(0);
    most.max(loops).max(threads) < i128::from(i32::MAX)
}

fn magnitude(form: &Form<i64>, launch: &Launch, loops: &[i128]) -> i128 {
    let coord = |c: Coord| match c {
        Coord::ThreadIdx(d) => i128::from(launch.sizes.block[d.index()]),
        Coord::BlockIdx(d) => i128::from(launch.sizes.grid[d.index()]),
        Coord::Loop(LoopId(i)) => loops.get(usize::from(i)).copied().unwrap_or(i128::from(i32::MAX)),
        Coord::Axis(_) | Coord::Thread(_) => i128::from(i32::MAX),
    };
    let term = |t: &Term<i64>| match t {
        Term::Coord(c) => coord(*c),
        Term::Lookup(table, indices) => {
            let entries = table.values.iter().map(|&v| i128::from(v).abs()).max().unwrap_or(0);
            indices.iter().map(|i| magnitude(i, launch, loops)).fold(entries, i128::max)
        }
        other => other.parts().map(|f| magnitude(f, launch, loops)).max().unwrap_or(0),
    };
    let sum = form.terms().iter().map(|(t, c)| term(t).saturating_mul(i128::from(*c).abs()));
    sum.fold(i128::from(*form.constant()).abs(), i128::saturating_add)
}
