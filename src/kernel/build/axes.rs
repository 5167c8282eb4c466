//! Warns of a domain whose first axis is not the fastest in memory: neighbouring threads then touch a line
//! each, where another order of the axes would let them share lines.

use crate::expr::{Coefficient, Coord, Form, Scale, Term};
use crate::kernel::leaf::Space;
use crate::kernel::model::{Access, BlockRule, Kernel, Statement};
use crate::space::Strides;
use crate::text::{Decoder, Diagnostic, Span};

/// Reports the first axis if every access that tells axes apart is faster along another one.
pub(super) fn check(kernel: &Kernel, place: Option<Span>, decoder: &mut Decoder) {
    if kernel.axes.len() < 2 || !has_neighbours(&kernel.launch.blocks) {
        return;
    }
    let mut slow: Option<Slow> = None;
    let mut fast = false;
    each(&kernel.body, &mut |access| {
        if kernel.field(access.field).space == Space::Shared {
            return;
        }
        match along(&access.element) {
            Along::First => fast = true,
            Along::Other(found) => {
                slow.get_or_insert(found);
            }
            Along::Any => {}
        }
    });
    let Some(Slow { first, other, by }) = slow.filter(|_| !fast) else { return };
    let name = |d: usize| kernel.axes.get(d).map_or("?", |a| a.name.as_str());
    let (x, y) = (name(0), name(other));
    let message = format!(
        "neighbouring threads lie along `{x}`, the first axis, which is not the fastest in memory: from one `{x}` \
         to the next an address moves by {first} elements, from one `{y}` to the next by {by}"
    );
    let help = format!("put `{y}` first in `domain`, or give the fields the other `order`");
    decoder.report(Diagnostic::warning("axis-order", place, message).help(help));
}

/// Distances in elements between neighbours.
struct Slow {
    first: i64,
    /// The axis that is faster, and its distance.
    other: usize,
    by: i64,
}

/// Which axis is the fastest of an address.
enum Along {
    /// It says nothing of that.
    Any,
    First,
    Other(Slow),
}

fn along(form: &Form<Scale>) -> Along {
    let Some(distance) = distances(form) else { return Along::Any };
    let first = distance[0];
    let others = (1..3).filter(|&d| distance[d] > 0).map(|d| (d, distance[d]));
    match others.min_by_key(|o| o.1) {
        Some(_) if first == 0 => Along::Any,
        Some((other, by)) if by < first => Along::Other(Slow { first, other, by }),
        Some(_) => Along::First,
        None => Along::Any,
    }
}

/// By how much an address moves along each axis; `None` if that is no single number.
fn distances(form: &Form<Scale>) -> Option<Strides> {
    let mut distances = Strides::ZERO;
    for (term, coefficient) in form.terms() {
        if let Term::Coord(Coord::Axis(d) | Coord::Thread(d) | Coord::ThreadIdx(d)) = term {
            distances[d.index()] = coefficient.as_int()?.checked_abs()?;
        } else if term.mentions(&|c| matches!(c, Coord::Axis(_) | Coord::Thread(_) | Coord::ThreadIdx(_))) {
            // In a quotient, a minimum or a table.
            return None;
        }
    }
    Some(distances)
}

/// Whether a candidate has more than one thread along the first axis.
fn has_neighbours(blocks: &BlockRule) -> bool {
    match blocks {
        BlockRule::List(shapes) => shapes.iter().any(|s| s[0] > 1),
        BlockRule::Product { along: [x, ..], .. } => x.iter().any(|&n| n > 1),
    }
}

fn each(body: &[Statement], visit: &mut dyn FnMut(&Access)) {
    for statement in body {
        match statement {
            Statement::Access(access) => visit(access),
            Statement::Loop(_, inner) => each(inner, visit),
            Statement::Sync => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::load;

    fn warned(domain: &str, rest: &str) -> bool {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, shape: [64, 32]}}, b: {{like: a}}, c: {{like: a, order: C}}}}\n\
             domain: {domain}\nwork: {{flops: 0}}\n{rest}\n"
        );
        let loaded = load("k", &text, &Default::default()).unwrap();
        loaded.kernels[0].warnings.iter().any(|w| w.code == "axis-order" && w.span.is_some())
    }

    const BLOCK: &str = "launch: {block: [[16, 4]], registers: 8}";

    #[test]
    fn the_first_axis_should_be_the_fastest() {
        let copy = format!("loads: ['a[i, j]']\nstores: ['b[i, j]']\n{BLOCK}");
        assert!(!warned("{i: 64, j: 32}", &copy));
        assert!(warned("{j: 32, i: 64}", &copy));
        let threads = format!("loads: ['a[tidy, tidx]']\n{BLOCK}");
        assert!(warned("{i: 32, j: 32}", &threads));
    }

    #[test]
    fn what_is_slow_in_one_order_and_in_the_other_is_no_mistake() {
        // A transposition; a column of threads; one axis; a row for each block.
        assert!(!warned("{i: 32, j: 32}", &format!("loads: ['a[i, j]']\nstores: ['b[j, i]']\n{BLOCK}")));
        let column = "loads: ['a[i, j]']\nlaunch: {block: [[1, 64]], registers: 8}";
        assert!(!warned("{j: 32, i: 64}", column));
        assert!(!warned("{j: 32}", &format!("loads: ['a[3, j]']\n{BLOCK}")));
        assert!(!warned("{j: 32, i: 64}", &format!("loads: ['c[i, j]']\n{BLOCK}")));
        assert!(!warned("{j: 32, i: 64}", &format!("loads: ['a[i, j % 8]']\n{BLOCK}")));
    }
}
