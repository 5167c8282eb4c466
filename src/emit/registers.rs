//! Registers of a thread as `ptxas -v` tells them.

use std::collections::BTreeMap;

/// Registers by the name of the kernel.
pub type Registers = BTreeMap<String, i64>;

/// Reads the messages of `ptxas -v`, also as `nvcc -Xptxas -v` passes them on: a line that names the kernel,
/// then one that tells its registers.
pub fn registers_of(messages: &str) -> Registers {
    let mut found = Registers::new();
    let mut kernel = None;
    for line in messages.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next();
        } else if let Some((_, rest)) = line.split_once(": Used ")
            && let Some(kernel) = kernel
            && let Some(count) = rest.split(' ').next().and_then(|n| n.parse().ok())
        {
            found.insert(kernel.to_owned(), count);
        }
    }
    found
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
        assert_eq!(found.get("star_1x1x1"), Some(&38));
        assert_eq!(found.get("star_1x2x1"), Some(&50));
        assert!(registers_of("ptxas fatal : nothing\n").is_empty());
    }
}
