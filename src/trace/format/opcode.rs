//! What the names of GPU machine instructions say.

use crate::trace::model::TraceKind;

/// What a memory instruction does, and to which memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    /// Global or generic memory: goes through the caches.
    Global(TraceKind),
    /// Shared, local or constant memory.
    Elsewhere,
    /// A barrier of the block.
    Barrier,
    /// No memory instruction.
    Other,
}

/// By the name up to the first dot.
pub(super) fn opcode(name: &[u8]) -> Opcode {
    let base = name.split(|&b| b == b'.').next().unwrap_or(name);
    match base {
        b"LDG" | b"LD" => Opcode::Global(TraceKind::Load),
        b"STG" | b"ST" => Opcode::Global(TraceKind::Store),
        b"ATOM" | b"ATOMG" | b"RED" => Opcode::Global(TraceKind::Atomic),
        b"LDS" | b"STS" | b"LDL" | b"STL" | b"LDC" | b"ATOMS" | b"LDSM" => Opcode::Elsewhere,
        b"BAR" => Opcode::Barrier,
        _ => Opcode::Other,
    }
}

/// Bytes of a lane by the width in the name; 4 without one.
pub(super) fn width(name: &[u8]) -> u16 {
    let mut widths = name.split(|&b| b == b'.').filter_map(|part| match part {
        b"U8" | b"S8" => Some(1),
        b"U16" | b"S16" => Some(2),
        b"64" => Some(8),
        b"128" => Some(16),
        _ => None,
    });
    widths.next_back().unwrap_or(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_done() {
        assert_eq!(opcode(b"LDG.E.128"), Opcode::Global(TraceKind::Load));
        assert_eq!(opcode(b"RED.E.ADD.F32"), Opcode::Global(TraceKind::Atomic));
        assert_eq!(opcode(b"LDS.U"), Opcode::Elsewhere);
        assert_eq!(opcode(b"BAR.SYNC"), Opcode::Barrier);
        assert_eq!(opcode(b"FADD"), Opcode::Other);
        assert_eq!([&b"LDG.E"[..], b"LDG.E.128.SYS", b"LDG.E.U8", b"LDG.E.64"].map(width), [4, 16, 1, 8]);
    }
}
