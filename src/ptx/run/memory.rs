//! Memory, byte by byte, with what is known of it.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::field::EntryField;
use super::layout::field_at;
use super::word::Word;

const PAGE_BITS: u32 = 12;
const PAGE: usize = 1 << PAGE_BITS;
/// Pages that a run may write to: 512 MiB, and as much for what is known of them.
const MOST_PAGES: usize = 1 << 17;

/// A value that was read, and whether it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Value {
    pub bits: u64,
    pub known: bool,
}

struct Page {
    bytes: [u8; PAGE],
    known: [bool; PAGE],
}

/// Global and constant memory: what was written, over what was there at the start.
pub(super) struct Global<'f> {
    fields: &'f [EntryField],
    pages: FxHashMap<u64, Box<Page>>,
}

impl<'f> Global<'f> {
    pub fn new(fields: &'f [EntryField]) -> Self {
        Self { fields, pages: FxHashMap::default() }
    }

    /// What the field of an address held at the start, and how far behind its first byte the address lies. All addresses
    /// of a page belong to the same field.
    fn initial(&self, address: u64) -> Option<(&[u8], i64)> {
        let (field, offset) = field_at(address)?;
        Some((self.fields.get(field)?.data.as_ref()?, offset))
    }

    pub fn read(&self, address: u64, bytes: u8) -> Value {
        let within = inside(address);
        if within + usize::from(bytes) <= PAGE {
            return self.read_in_page(address, within, bytes);
        }
        let mut value = Value { bits: 0, known: true };
        for i in 0..u64::from(bytes) {
            let at = address.wrapping_add(i);
            let byte = self.read_in_page(at, inside(at), 1);
            value.bits |= byte.bits << (8 * i);
            value.known &= byte.known;
        }
        value
    }

    fn read_in_page(&self, address: u64, within: usize, bytes: u8) -> Value {
        if let Some(page) = self.pages.get(&(address >> PAGE_BITS)) {
            return joined(&page.bytes[within..], &page.known[within..], bytes);
        }
        // Of what nobody gave nothing is known.
        let Some((data, offset)) = self.initial(address) else { return Value::default() };
        let mut word = [0; 8];
        let known = copied(data, offset, &mut word[..usize::from(bytes)]).len() == usize::from(bytes);
        Value { bits: u64::from_le_bytes(word), known }
    }

    /// Writes; false if there is no memory left for it.
    pub fn write(&mut self, address: u64, bytes: u8, value: Value) -> bool {
        let (count, within) = (usize::from(bytes), inside(address));
        if within + count > PAGE {
            let mut rest = value.bits;
            return (0..u64::from(bytes)).all(|i| {
                let byte = Value { bits: rest & 0xff, ..value };
                rest >>= 8;
                self.write(address.wrapping_add(i), 1, byte)
            });
        }
        let number = address >> PAGE_BITS;
        if !self.pages.contains_key(&number) {
            if self.pages.len() >= MOST_PAGES {
                return false;
            }
            let page = self.fresh(number << PAGE_BITS);
            self.pages.insert(number, page);
        }
        if let Some(page) = self.pages.get_mut(&number) {
            page.bytes[within..within + count].copy_from_slice(&value.bits.to_le_bytes()[..count]);
            page.known[within..within + count].fill(value.known);
        }
        true
    }

    fn fresh(&self, start: u64) -> Box<Page> {
        let mut page = Page::empty();
        if let Some((data, offset)) = self.initial(start) {
            let known = copied(data, offset, &mut page.bytes);
            page.known[known].fill(true);
        }
        page
    }
}

/// Puts what there is of data from an offset on into its place; where that is.
fn copied(data: &[u8], offset: i64, to: &mut [u8]) -> Range<usize> {
    let before = offset.min(0).unsigned_abs();
    let (Ok(skipped), Ok(from)) = (usize::try_from(before), usize::try_from(offset.max(0))) else {
        return 0..0;
    };
    let (Some(data), Some(to)) = (data.get(from..), to.get_mut(skipped..)) else { return 0..0 };
    let count = data.len().min(to.len());
    to[..count].copy_from_slice(&data[..count]);
    skipped..skipped + count
}

impl Page {
    fn empty() -> Box<Self> {
        Box::new(Self { bytes: [0; PAGE], known: [false; PAGE] })
    }
}

fn inside(address: u64) -> usize {
    usize::from(u16::low(address)) & (PAGE - 1)
}

fn joined(bytes: &[u8], known: &[bool], count: u8) -> Value {
    let count = usize::from(count);
    let mut word = [0; 8];
    word[..count].copy_from_slice(&bytes[..count]);
    Value { bits: u64::from_le_bytes(word), known: known[..count].iter().all(|&k| k) }
}

/// Memory of a block or of a thread, of a fixed size.
#[derive(Debug, Clone, Default)]
pub(super) struct Small {
    bytes: Vec<u8>,
    known: Vec<bool>,
}

impl Small {
    /// Of so many bytes, of which nothing is known.
    pub fn empty(bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).expect("blocks and threads have at most a megabyte each");
        Self { bytes: vec![0; bytes], known: vec![false; bytes] }
    }

    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { known: vec![true; bytes.len()], bytes }
    }

    /// As another, which has the same size.
    pub fn reset(&mut self, to: &Self) {
        self.bytes.copy_from_slice(&to.bytes);
        self.known.copy_from_slice(&to.known);
    }

    pub fn forget(&mut self) {
        self.bytes.fill(0);
        self.known.fill(false);
    }

    fn range(&self, address: u64, bytes: u8) -> Option<Range<usize>> {
        let start = usize::try_from(address).ok()?;
        let end = start.checked_add(usize::from(bytes))?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    pub fn read(&self, address: u64, bytes: u8) -> Option<Value> {
        let range = self.range(address, bytes)?;
        Some(joined(&self.bytes[range.clone()], &self.known[range], bytes))
    }

    pub fn write(&mut self, address: u64, bytes: u8, value: Value) -> Option<()> {
        let range = self.range(address, bytes)?;
        self.bytes[range.clone()].copy_from_slice(&value.bits.to_le_bytes()[..usize::from(bytes)]);
        self.known[range].fill(value.known);
        Some(())
    }
}
