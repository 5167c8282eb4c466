//! Registers of a thread as `ptxas -v` tells them.

use std::collections::BTreeMap;

use crate::kernel::MAX_FOLD;
use crate::launch::extents;
use crate::ptx::assembled;
use crate::space::Fold;

/// Registers of a thread in the messages of `ptxas -v`, by the fold, which the names of emitted kernels end with.
pub fn registers_of(messages: &str) -> BTreeMap<Fold, i64> {
    assembled(messages).iter().filter_map(|k| Some((fold_of(&k.entry)?, k.registers.into()))).collect()
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
