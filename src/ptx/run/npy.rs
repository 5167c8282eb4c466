//! Arrays of `NumPy`: what stands in a file that `numpy.save` wrote.

/// An array as it lies in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Array {
    /// Type of an element as `NumPy` writes it, without the order of its bytes: `f4`, `i8`.
    pub dtype: String,
    /// Elements along each axis.
    pub shape: Vec<u64>,
    /// The elements, little end first.
    pub data: Vec<u8>,
}

/// What is wrong with a file of `NumPy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAnArray(&'static str);

/// The array of a file.
pub fn npy(bytes: &[u8]) -> Result<Array, NotAnArray> {
    let rest =
        bytes.strip_prefix(b"\x93NUMPY").ok_or(NotAnArray("it does not begin as files of numpy.save do"))?;
    let cut = NotAnArray("it ends within its header");
    let (version, rest) = rest.split_at_checked(2).ok_or(cut)?;
    let wide = if version[0] == 1 { 2 } else { 4 };
    let (length, rest) = rest.split_at_checked(wide).ok_or(cut)?;
    let length = length.iter().rev().fold(0_usize, |all, &byte| all << 8 | usize::from(byte));
    let (header, data) = rest.split_at_checked(length).ok_or(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| NotAnArray("its header is no text"))?;
    let descr = value(header, "descr").and_then(|v| v.strip_prefix('\'')?.split('\'').next());
    let descr = descr.ok_or(NotAnArray("its elements are no plain numbers"))?;
    let dtype = match descr.split_at_checked(1) {
        Some(("<" | "|" | "=", dtype)) => dtype,
        Some((">", _)) => {
            return Err(NotAnArray("its numbers have the big end first; save them with the little end"));
        }
        _ => return Err(NotAnArray("its elements are no plain numbers")),
    };
    let size: u64 = match dtype.split_at_checked(1) {
        Some(("i" | "u" | "f" | "b" | "c", size)) => size.parse().ok().filter(|s| (1..=16).contains(s)),
        _ => None,
    }
    .ok_or(NotAnArray("its elements are no plain numbers"))?;
    let axes = value(header, "shape").and_then(|v| v.strip_prefix('(')?.split(')').next());
    let axes = axes.ok_or(NotAnArray("its header names no shape"))?.split(',').map(str::trim);
    let shape: Result<Vec<u64>, _> = axes.filter(|a| !a.is_empty()).map(str::parse).collect();
    let shape = shape.map_err(|_| NotAnArray("its shape is none"))?;
    let all = shape.iter().try_fold(size, |n, &axis| n.checked_mul(axis));
    let fits = all.is_some_and(|all| all == data.len() as u64);
    if !fits {
        return Err(NotAnArray("it does not have as many elements as its shape says"));
    }
    Ok(Array { dtype: dtype.to_owned(), shape, data: data.to_vec() })
}

/// What stands behind a key of the header.
fn value<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let (_, behind) = header.split_once(&format!("'{key}':"))?;
    Some(behind.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), data].concat()
    }

    #[test]
    fn an_array_is_read() {
        let bytes = file("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }\n", &[1; 12]);
        let array = npy(&bytes).unwrap();
        assert_eq!((array.dtype.as_str(), array.shape.as_slice(), array.data.len()), ("i4", &[3][..], 12));
        let plane = file("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }", &[1, 2, 3, 4]);
        assert_eq!(npy(&plane).unwrap().shape, [2, 2]);
    }

    #[test]
    fn what_is_no_array_says_why() {
        let wrong = |header: &str, data: &[u8]| npy(&file(header, data)).unwrap_err().to_string();
        assert!(npy(b"PK").unwrap_err().to_string().contains("begin"));
        assert!(wrong("{'descr': '>i4', 'shape': (1,)}", &[0; 4]).contains("big end"));
        assert!(wrong("{'descr': '<i4', 'shape': (2,)}", &[0; 4]).contains("as many elements"));
        assert!(wrong("{'descr': [('a', '<i4')], 'shape': (1,)}", &[0; 4]).contains("plain numbers"));
        for cut in 0..20 {
            assert!(npy(&file("{'descr': '<i4', 'shape': (1,)}", &[0; 4])[..cut]).is_err());
        }
    }
}
