//! The reference program's fused accesses on AMD devices: two accesses of neighbouring elements become
//! one of both widths, up to 16 bytes, of which it then counts only the first byte. Which neighbours
//! find each other depends on the hashing order of Python, so that one kernel has several outcomes.

use std::collections::BTreeSet;

use wavecast::expr::Form;

/// Most bytes of a fused access.
const WIDEST: i64 = 16;
/// Most outcomes that are followed.
const MOST: usize = 512;

/// The sets of first bytes that fusing may leave, in every order in which it can be done.
pub fn outcomes(bytes: &[Form<i64>], datatype: i64) -> Result<Vec<Vec<Form<i64>>>, String> {
    let start: Vec<(usize, i64)> = (0..bytes.len()).map(|i| (i, datatype)).collect();
    let distance = |from: usize, to: usize| bytes[to].minus(&bytes[from]).ok().and_then(|d| d.as_constant());
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    let mut ends = BTreeSet::new();
    while let Some(state) = open.pop() {
        let mut done = true;
        for (c, &(first, width)) in state.iter().enumerate() {
            for (o, &(other, more)) in state.iter().enumerate() {
                if c == o || width + more > WIDEST || distance(first, other) != Some(width) {
                    continue;
                }
                done = false;
                let mut next = state.clone();
                next[c].1 += more;
                next.remove(o);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        if done {
            ends.insert(state.iter().map(|s| s.0).collect::<Vec<_>>());
        }
        if seen.len() > 64 * MOST || ends.len() > MOST {
            return Err("too many orders in which accesses can be fused".to_owned());
        }
    }
    Ok(ends.into_iter().map(|kept| kept.into_iter().map(|i| bytes[i].clone()).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::address::parse_index;
    use super::*;

    fn kept(texts: &[&str], datatype: i64) -> Vec<usize> {
        let bytes: Vec<_> = texts.iter().map(|t| parse_index(t).unwrap()).collect();
        outcomes(&bytes, datatype).unwrap().iter().map(Vec::len).collect()
    }

    #[test]
    fn neighbours_pair_in_several_ways() {
        assert_eq!(kept(&["8*tidx", "8*tidx + 8", "8*tidx + 16"], 8), [2, 2]);
        assert_eq!(kept(&["8*tidx", "8*tidy + 8", "16*tidx + 8"], 8), [3]);
        // Five of four: pairs of both ends, or one that is left in the middle.
        assert_eq!(kept(&["8*tidx", "8*tidx+8", "8*tidx+16", "8*tidx+24", "8*tidx+32"], 8), [3, 3, 3]);
    }
}
