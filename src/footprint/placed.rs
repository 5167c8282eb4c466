//! Arms of accesses under boxes of threads, as rectangles of rows: the short way of the closed form, where
//! boxes lie in rows and planes as they should. Anything else goes the long way (`linear`).

use std::cell::RefCell;
use std::ops::Range;

use super::arms::{Arm, Box3, DIMS};
use super::cells::{Cells, count_few};
use super::dense::count_dense;
use super::division::{quotient, remainder};
use super::lone::count_lone;
use super::query::Refusal;
use super::ranges::{MOST, Rectangles};
use super::remembered::remembered;
use super::rows::Rectangle;
use super::spread::{STEPS_OF_RECTANGLE, Spread};
use crate::effort::spend_on;

/// An arm under the boxes of its spread, and its first and last byte.
#[derive(Debug, Clone, Copy)]
struct Item {
    spread: usize,
    arm: usize,
    ends: [i64; 2],
}

impl Item {
    fn arm<'a>(&self, spreads: &[Spread<'a>]) -> &'a Arm {
        &spreads[self.spread].list.all[self.arm]
    }
}

/// What is needed while counting, kept for the next count.
#[derive(Debug, Default)]
struct Scratch {
    items: Vec<Item>,
    rectangles: Rectangles,
    cells: Cells,
    /// Items that were counted together, and their lines.
    known: Vec<(Range<usize>, u64)>,
    /// First and last bytes.
    dense: Vec<[i64; 2]>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Distinct lines of all spreads; `None` where that takes the long way.
pub(super) fn count(spreads: &[Spread<'_>], boxes: &[Box3], line: i64) -> Result<Option<u64>, Refusal> {
    if let [one] = spreads
        && let Some(lines) = count_lone(one, boxes, line)?
    {
        // It takes no longer to count than to look up.
        return Ok(Some(lines));
    }
    remembered(|key| write_down(spreads, boxes, line, key), || count_longer(spreads, boxes, line))
}

/// All that a count follows from. Boxes that lie as others do, at another place but at the same one within a line, have as
/// many lines.
fn write_down(spreads: &[Spread<'_>], boxes: &[Box3], line: i64, key: &mut Vec<i64>) {
    let levels = spreads.first().map_or(&[][..], |of| &of.arms.levels);
    let together = spreads.iter().all(|of| of.arms.levels == levels);
    let from = boxes.first().filter(|_| together).map_or([0; DIMS], |first| first.first);
    let bytes = levels
        .iter()
        .zip(from)
        .try_fold(0_i64, |sum, (level, first)| sum.checked_add(level.stride.checked_mul(first)?));
    let (from, bytes) = bytes.map_or(([0; DIMS], 0), |bytes| (from, bytes));
    key.extend([line, remainder(bytes, line)]);
    for of in spreads {
        key.extend([of.arms.number, of.width, i64::try_from(of.boxes.len()).unwrap_or(i64::MAX)]);
        for one in &boxes[of.boxes.clone()] {
            // Along levels that there are not, boxes have one thread.
            for ((first, from), count) in one.first.iter().zip(from).zip(one.count) {
                key.extend([first.wrapping_sub(from), count]);
            }
        }
    }
}

fn count_longer(spreads: &[Spread<'_>], boxes: &[Box3], line: i64) -> Result<Option<u64>, Refusal> {
    SCRATCH.with_borrow_mut(|scratch| match count_dense(&mut scratch.dense, spreads, boxes, line)? {
        Some(lines) => Ok(Some(lines)),
        None => count_with(scratch, spreads, boxes, line),
    })
}

/// The same by rows and planes.
fn count_with(
    scratch: &mut Scratch,
    spreads: &[Spread<'_>],
    boxes: &[Box3],
    line: i64,
) -> Result<Option<u64>, Refusal> {
    if let [of] = spreads
        && let Some(alike) = of.apart(line)
    {
        count_apart(scratch, spreads, alike, boxes, line)
    } else {
        count_clusters(scratch, spreads, boxes, line)
    }
}

/// The same for arms of one spread that lie apart, as the directions of a lattice Boltzmann kernel do: of those that lie
/// alike one is counted.
fn count_apart(
    Scratch { rectangles, cells, .. }: &mut Scratch,
    spreads: &[Spread<'_>],
    alike: &[(usize, u64)],
    boxes: &[Box3],
    line: i64,
) -> Result<Option<u64>, Refusal> {
    let of = &spreads[0];
    spend_on(alike.len() * of.boxes.len(), STEPS_OF_RECTANGLE)?;
    if !of.is_near() {
        return Ok(None);
    }
    let mut total = 0;
    for &(arm, number) in alike {
        let these = [Item { spread: 0, arm, ends: of.ends }];
        let Some([row, height]) = lay(spreads, boxes, &these, line, rectangles) else { return Ok(None) };
        let Some(lines) = count_few(cells, rectangles, row, height, line)? else { return Ok(None) };
        total += number * lines;
    }
    Ok(Some(total))
}

/// The same where arms may meet.
fn count_clusters(
    scratch: &mut Scratch,
    spreads: &[Spread<'_>],
    boxes: &[Box3],
    line: i64,
) -> Result<Option<u64>, Refusal> {
    let Scratch { items, rectangles, cells, known, .. } = scratch;
    items.clear();
    known.clear();
    for (spread, of) in spreads.iter().enumerate() {
        let list = &of.list.all;
        spend_on(list.len() * of.boxes.len(), STEPS_OF_RECTANGLE)?;
        for (number, arm) in list.iter().enumerate() {
            let Some(ends) = of.ends_of(arm) else { return Ok(None) };
            items.push(Item { spread, arm: number, ends });
        }
    }
    if !items.is_sorted_by_key(|item| item.ends[0]) {
        items.sort_unstable_by_key(|item| (item.ends[0], item.spread));
    }
    let mut total = 0;
    let mut from = 0;
    while from < items.len() {
        // What lies apart is counted apart.
        let (mut to, mut end) = (from, i64::MIN);
        while to < items.len() && (to == from || quotient(items[to].ends[0], line) <= end) {
            end = end.max(quotient(items[to].ends[1], line));
            to += 1;
        }
        let these = &items[from..to];
        spend_on(1 + (known.len() + these.len()) / 4, 1)?;
        let alike = known.iter().find(|(other, _)| alike(spreads, these, &items[other.clone()], line));
        total += if let Some((_, lines)) = alike {
            *lines
        } else {
            let lay = lay(spreads, boxes, these, line, rectangles);
            let Some([row, height]) = lay else { return Ok(None) };
            let Some(lines) = count_few(cells, rectangles, row, height, line)? else { return Ok(None) };
            known.push((from..to, lines));
            lines
        };
        from = to;
    }
    Ok(Some(total))
}

/// Whether some items are others, moved by whole lines.
fn alike(spreads: &[Spread<'_>], a: &[Item], b: &[Item], line: i64) -> bool {
    let distance = b[0].arm(spreads).base - a[0].arm(spreads).base;
    let same = |(p, q): (&Item, &Item)| {
        let (of_p, of_q) = (p.arm(spreads), q.arm(spreads));
        p.spread == q.spread && of_p.more == of_q.more && of_q.base - of_p.base == distance
    };
    a.len() == b.len() && remainder(distance, line) == 0 && a.iter().zip(b).all(same)
}

/// Lays items into rows and planes. Returns bytes from row to row and rows from plane to plane, as far as there are
/// such; `None` if they do not lie in rows and planes.
fn lay(
    spreads: &[Spread<'_>],
    boxes: &[Box3],
    items: &[Item],
    line: i64,
    out: &mut Rectangles,
) -> Option<[Option<i64>; 2]> {
    let levels = &spreads[items[0].spread].arms.levels;
    if items.iter().any(|item| spreads[item.spread].arms.levels != *levels) {
        return None;
    }
    if items.iter().map(|item| spreads[item.spread].boxes.len()).sum::<usize>() > MOST {
        return None;
    }
    let of_item = |item: &Item| spreads[item.spread].swallowed(item.arm(spreads), line);
    let inside = items.iter().map(of_item).min()?;
    let outside = &levels[inside..];
    let height = match outside {
        [] | [_] => None,
        [row, plane] if plane.stride % row.stride == 0 => Some(plane.stride / row.stride),
        _ => return None,
    };
    out.clear();
    for item in items {
        let (of, arm) = (&spreads[item.spread], item.arm(spreads));
        for one in &boxes[of.boxes.clone()] {
            let mut bytes = [arm.rest, arm.rest + of.width - 1];
            for (l, level) in levels[..inside].iter().enumerate() {
                let first = level.stride * (one.first[l] + arm.at[l]);
                bytes[0] += first;
                bytes[1] += first + level.stride * (one.count[l] - 1 + arm.more[l]);
            }
            let along = |l: usize| {
                let first = one.first[l] + arm.at[l];
                [first, first + one.count[l] + arm.more[l]]
            };
            let y = if outside.is_empty() { [0, 1] } else { along(inside) };
            let z = if outside.len() < 2 { [0, 1] } else { along(inside + 1) };
            out.push(Rectangle { y, z, bytes });
        }
    }
    let row = outside.first().map(|row| row.stride);
    let ([first_byte, last_byte], [first_y, end_y]) = (out.bytes.ends(), out.y.ends());
    let fits =
        row.is_none_or(|row| last_byte - first_byte < row) && height.is_none_or(|h| end_y - first_y <= h);
    if !fits {
        return None;
    }
    // Rows and planes are numbered from the first ones that are touched; bytes keep their places in lines.
    let [first_z, _] = out.z.ends();
    let mut begin = 0;
    for (level, first) in outside.iter().zip([first_y, first_z]) {
        begin += remainder(level.stride * first, line);
    }
    out.bytes.shift(begin - (first_byte - remainder(first_byte, line)));
    if row.is_some() {
        out.y.shift(-first_y);
        out.z.shift(-first_z);
    }
    Some([row, height])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::effort::{left, within};
    use crate::footprint::arms::{Arms, add_lines};
    use crate::random::Random;

    /// The same as [`count`] without what is remembered.
    fn count_anew(spreads: &[Spread<'_>], boxes: &[Box3], line: i64) -> Option<u64> {
        let lone = if let [one] = spreads { count_lone(one, boxes, line).unwrap() } else { None };
        lone.or_else(|| count_longer(spreads, boxes, line).unwrap())
    }

    /// Random accesses under random boxes, in random strides, and all of their lines one by one.
    #[test]
    fn arms_count_as_enumeration_does() {
        let mut draw = Random::new(11);
        let mut below = |n: i64| i64::try_from(draw.remainder(n.unsigned_abs().into())).unwrap();
        let (mut counted, mut by_both) = (0, 0);
        for round in 0..2000 {
            let size = 1 << below(5);
            let line = 32 << (below(8) % 5 * 2);
            let x = below(2) * size * (1 + below(2) * below(9));
            let row = size * (1 + below(40));
            let plane = row * (1 + below(12));
            let orders = [[x, 0, 0], [x, row, 0], [row, x, plane], [x, plane, row], [x, row, plane]];
            let strides = orders[usize::try_from(below(5)).unwrap()];
            let apart = below(2) * below(4) * plane * 40;
            let (mut all, mut boxes, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
            let mut lines = BTreeSet::new();
            for _ in 0..=below(2) {
                let mut bases: Vec<i64> = (0..=below(7))
                    .map(|_| [size, row, plane, apart, 3].map(|unit| unit * (below(5) - 2)).iter().sum())
                    .collect();
                bases.sort_unstable();
                bases.dedup();
                let arms = Arms::new(strides.into(), &bases, [1; 3]).unwrap();
                let first = boxes.len();
                for _ in 0..=below(3) {
                    let threads = [(); 3].map(|()| (below(7), 1 + below(6)));
                    boxes.push(Box3::new(threads, &arms.levels));
                    add_lines(&mut lines, &bases, strides, threads, [size, line]);
                }
                all.push(arms);
                ranges.push(first..boxes.len());
            }
            // The second time it is remembered, and the third time all of it lies further.
            let steps: i64 = [row, plane][usize::try_from(below(2)).unwrap()] * line;
            let further = |one: &Box3| {
                let mut one = *one;
                one.first = [0, 1, 2].map(|l| one.first[l] + if l == 1 { steps } else { 0 });
                one
            };
            let moved: Vec<Box3> = boxes.iter().map(further).collect();
            within(1 << 30, || {
                for boxes in [&boxes, &boxes, &moved] {
                    let spread =
                        |(arms, range): (_, &Range<usize>)| Spread::new(arms, boxes, range.clone(), size);
                    let spreads: Vec<Spread<'_>> =
                        all.iter().zip(&ranges).map(|s| spread(s).unwrap()).collect();
                    let before = left();
                    let found = count(&spreads, boxes, line).unwrap();
                    let taken = before - left();
                    if let Some(found) = found {
                        counted += 1;
                        assert_eq!(
                            found,
                            lines.len() as u64,
                            "{round}: {strides:?} {line} {all:?} {boxes:?}"
                        );
                        assert_eq!(count_anew(&spreads, boxes, line), Some(found));
                        assert_eq!(before - left(), 2 * taken);
                        // The longer way, also where there is a shorter one.
                        let longer = count_longer(&spreads, boxes, line).unwrap();
                        assert!(longer.is_none_or(|lines| lines == found), "{round}: {longer:?} {found}");
                        by_both += usize::from(longer.is_some());
                    }
                }
            });
        }
        assert!(counted > 3000 && by_both > 3000, "{counted} {by_both}");
    }
}
