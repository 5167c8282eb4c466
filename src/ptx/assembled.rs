//! What NVIDIA's assembler says of the kernels that it made machine code of: `ptxas -v`.

/// What an assembler made of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Assembled {
    /// The kernel.
    pub entry: String,
    /// What the machine code is for: `sm_80`.
    pub target: String,
    /// The assembler and its version: `ptxas 12.9`.
    pub by: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread stores because registers were missing, and bytes that it loads again: in the code, loops once.
    pub spilled: (u64, u64),
}

/// Reads the messages of `ptxas -v`, also as `nvcc -Xptxas -v` passes them on: of each kernel a line that names it, one
/// with what was spilled, and one with its registers.
pub fn assembled(messages: &str) -> Vec<Assembled> {
    let mut found = Vec::new();
    let mut open: Option<Assembled> = None;
    // Functions that kernels call have properties too.
    let mut own = true;
    for line in messages.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let mut words = rest.split('\'');
            let mut word = || words.next().unwrap_or_default().to_owned();
            let (entry, _, target) = (word(), word(), word());
            open = Some(Assembled { entry, target, ..Assembled::default() });
            own = true;
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            own = open.as_ref().is_some_and(|kernel| kernel.entry == name.trim());
        } else if let Some((before, _)) = line.split_once(" bytes spill loads")
            && let Some(kernel) = open.as_mut().filter(|_| own)
            && let Some((stores, loads)) = before.split_once(" bytes spill stores, ")
        {
            let bytes = |text: &str| text.rsplit([' ', ',']).next().and_then(|n| n.parse().ok());
            kernel.spilled = bytes(stores).zip(bytes(loads)).unwrap_or(kernel.spilled);
        } else if let Some((_, rest)) = line.split_once(": Used ")
            && let Some(count) = rest.split(' ').next().and_then(|n| n.parse().ok())
            && let Some(kernel) = open.take()
        {
            found.push(Assembled { registers: count, ..kernel });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        let text = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'star' for 'sm_70'\n\
            ptxas info    : Function properties for star\n\
            \u{20}   96 bytes stack frame, 92 bytes spill stores, 124 bytes spill loads\n\
            ptxas info    : Used 38 registers, used 0 barriers, 384 bytes cmem[0]\n\
            ptxas info    : Function properties for _Z5helperi\n\
            \u{20}   0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
            ptxas info    : Compiling entry function 'wave' for 'sm_70'\n\
            ptxas info    : Function properties for wave\n\
            \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 50 registers, 384 bytes cmem[0]\n";
        let [star, wave] = &assembled(text)[..] else { panic!("{:?}", assembled(text)) };
        assert_eq!((star.entry.as_str(), star.target.as_str()), ("star", "sm_70"));
        assert_eq!((star.registers, star.spilled), (38, (92, 124)));
        assert_eq!((wave.entry.as_str(), wave.registers, wave.spilled), ("wave", 50, (0, 0)));
        assert!(assembled("ptxas fatal : nothing\n").is_empty());
    }
}
