//! Which format a text has.

use super::error::ReadError;
use super::kind::TraceFormat;
use super::number::{decimal, hex, skip_blanks};

/// The format by the first line that says something.
pub(super) fn detect(text: &[u8]) -> Result<TraceFormat, ReadError> {
    let mut lines = text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|l| !l.is_empty());
    let Some(first) = lines.next() else { return Err(ReadError::Empty) };
    let found = match first {
        l if l.starts_with(b"blocksize:") => TraceFormat::Trc,
        l if l.starts_with(b"local size:") => TraceFormat::Crawford,
        l if l.starts_with(b"MEMTRACE:") || l.starts_with(b"CTX ") => TraceFormat::Nvbit,
        l if l.starts_with(b"{") => TraceFormat::Jsonl,
        l if l.starts_with(super::own::MAGIC) => TraceFormat::Csv,
        // Options of the kernel, or a comment before them.
        [b'-' | b'#', ..] => TraceFormat::Traceg,
        [b'B' | b'K' | b'P' | b'L' | b'I', b' ', ..] => TraceFormat::Full,
        l if is_scheduled_head(l) && lines.next().is_none_or(|l| hex(l).is_some()) => TraceFormat::Scheduled,
        _ => return Err(ReadError::Unknown),
    };
    Ok(found)
}

fn is_scheduled_head(line: &[u8]) -> bool {
    let second = decimal(line).map(|(_, rest)| skip_blanks(rest)).and_then(decimal);
    second.is_some_and(|(_, rest)| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_known_by_its_first_line() {
        let of = |text: &str| detect(text.as_bytes()).ok();
        assert_eq!(of("blocksize: 16 16 1\n"), Some(TraceFormat::Trc));
        assert_eq!(of("local size:16 16 1"), Some(TraceFormat::Crawford));
        assert_eq!(of("32 4\n0x83BD000 R 0 0 1"), Some(TraceFormat::Scheduled));
        assert_eq!(of("\n-kernel name = mm\n"), Some(TraceFormat::Traceg));
        assert_eq!(of("MEMTRACE: CTX 0x1 - LAUNCH"), Some(TraceFormat::Nvbit));
        assert_eq!(of("B 1 size 4096 flags 0"), Some(TraceFormat::Full));
        assert_eq!(of("{\"block\": [1,1,1]}"), Some(TraceFormat::Jsonl));
        assert_eq!(of("hello"), None);
        assert!(matches!(detect(b" \n"), Err(ReadError::Empty)));
    }
}
