//! Sorting of short lists that are sorted once. What the standard library makes for each kind of list and each order
//! takes some 10 KB of the program and its share of the build; this is made once for all of them. Where millions are
//! sorted, or a few again and again, the standard library's own is twice as fast.

use std::cmp::Ordering;

/// Sorts a list; what is equal stays in its order.
pub fn sort_by<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let order = order(list.len(), &mut |a, b| compare(&list[a], &list[b]));
    put_in_order(list, order);
}

/// Sorts a list by what is made of each of its items, each time that two are compared.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// Which item of a list comes first, which second, and so on.
fn order(length: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Puts the item whose number stands at a place there.
fn put_in_order<T>(list: &mut [T], mut order: Vec<usize>) {
    for first in 0..order.len() {
        // A ring of items of which each takes the place of the one before.
        let mut at = first;
        while order[at] != first {
            let next = order[at];
            list.swap(at, next);
            order[at] = at;
            at = next;
        }
        order[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::{sort_by, sort_by_key};
    use crate::random::Random;

    #[test]
    fn lists_come_out_as_the_standard_library_sorts_them() {
        let mut random = Random::new(7);
        for length in 0..200 {
            // Few values, so that many are equal and their order shows whether it was kept.
            let list: Vec<(u64, usize)> = (0..length).map(|i| (random.next() % 7, i)).collect();
            let (mut ours, mut theirs) = (list.clone(), list.clone());
            sort_by_key(&mut ours, |item| item.0);
            theirs.sort_by_key(|item| item.0);
            assert_eq!(ours, theirs);
            sort_by(&mut ours, |a, b| b.0.cmp(&a.0));
            theirs.sort_by_key(|item| std::cmp::Reverse(item.0));
            assert_eq!(ours, theirs);
        }
    }
}
