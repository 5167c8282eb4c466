//! Packed input is read as if it were not.

use std::io::{self, BufReader, Read};

use crate::trace::limits::TraceLimits;

/// A packed file was longer than it may be.
#[derive(Debug, thiserror::Error)]
#[error("more than {0} bytes")]
pub(super) struct TooLong(pub(super) u64);

/// Reads so many bytes and fails if there are more.
struct Limited<R> {
    input: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.left =
            self.left.checked_sub(count as u64).ok_or_else(|| io::Error::other(TooLong(self.limit)))?;
        Ok(count)
    }
}

/// Unpacks gzip, xz and zstd by their first bytes, up to the usual limit; leaves anything else as it is.
pub fn unpack<'r, R: Read + 'r>(input: R) -> io::Result<Box<dyn Read + 'r>> {
    unpack_up_to(input, TraceLimits::default().unpacked)
}

/// The same up to so many bytes.
pub(super) fn unpack_up_to<'r, R: Read + 'r>(input: R, limit: u64) -> io::Result<Box<dyn Read + 'r>> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut first = [0_u8; 6];
    let mut known = 0;
    while known < first.len() {
        let n = input.read(&mut first[known..])?;
        if n == 0 {
            break;
        }
        known += n;
    }
    let begin = first[..known].to_vec();
    let whole = io::Cursor::new(begin.clone()).chain(input);
    let unpacked: Box<dyn Read + 'r> = match begin.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Box::new(lzma_rust2::XzReader::new(whole, true)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(
            ruzstd::decoding::StreamingDecoder::new(whole)
                .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?,
        ),
        _ => return Ok(Box::new(whole)),
    };
    Ok(Box::new(Limited { input: unpacked, left: limit, limit }))
}
