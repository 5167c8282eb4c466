//! Registers of a thread as `ptxas -v` tells them.

use std::collections::BTreeMap;

use crate::kernel::MAX_FOLD;
use crate::launch::extents;
use crate::space::Fold;

/// Reads the messages of `ptxas -v`, also as `nvcc -Xptxas -v` passes them on: a line that names the kernel, then
/// one that tells its registers. Registers of a thread by the fold, which the names of emitted kernels end with.
pub fn registers_of(messages: &str) -> BTreeMap<Fold, i64> {
    let mut found = BTreeMap::new();
    let mut fold = None;
    for line in messages.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            fold = rest.split('\'').next().and_then(fold_of);
        } else if let Some((_, rest)) = line.split_once(": Used ")
            && let Some(fold) = fold
            && let Some(count) = rest.split(' ').next().and_then(|n| n.parse().ok())
        {
            found.insert(fold, count);
        }
    }
    found
}

/// The fold at the end of a kernel's name.
fn fold_of(name: &str) -> Option<Fold> {
    let (_, fold) = name.rsplit_once('_')?;
    if fold.contains('x') { extents(fold, MAX_FOLD) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read() {
        let text = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'star_1x1x1' for 'sm_70'\n\
            ptxas info    : Function properties for star_1x1x1\n\
            \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 38 registers, used 0 barriers, 384 bytes cmem[0]\n\
            ptxas info    : Compiling entry function 'star_1x2x1' for 'sm_70'\n\
            ptxas info    : Used 50 registers, 384 bytes cmem[0]\n";
        let found = registers_of(text);
        assert_eq!(found.get(&Fold::ONE), Some(&38));
        assert_eq!(found.get(&Fold::known([1, 2, 1])), Some(&50));
        assert!(registers_of("ptxas fatal : nothing\n").is_empty());
    }
}
