//! Packed input is read as if it were not.

use std::io::{self, BufReader, Read};

/// Unpacks gzip, xz and zstd by their first bytes; leaves anything else as it is.
pub fn unpack<'r, R: Read + 'r>(input: R) -> io::Result<Box<dyn Read + 'r>> {
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
    Ok(match begin.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Box::new(lzma_rust2::XzReader::new(whole, true)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(
            ruzstd::decoding::StreamingDecoder::new(whole)
                .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?,
        ),
        _ => Box::new(whole),
    })
}
