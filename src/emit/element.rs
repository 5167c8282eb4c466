//! Types of elements and of single accesses.

use super::refuse::Unemitted;
use crate::kernel::Field;

/// What an instruction moves: some numbers of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Element {
    /// The type of one number, in all languages.
    pub(super) scalar: &'static str,
    /// How many.
    pub(super) lanes: i64,
    /// The type of all of them.
    pub(super) name: &'static str,
    /// Bytes.
    pub(super) bytes: i64,
}

/// Types by the name of the element and bytes of the access; an empty name stands for any.
const TYPES: [(&str, i64, &str, i64, &str); 21] = [
    ("f32", 4, "float", 1, "float"),
    ("f32", 8, "float", 2, "float2"),
    ("f32", 16, "float", 4, "float4"),
    ("f64", 8, "double", 1, "double"),
    ("f64", 16, "double", 2, "double2"),
    ("c64", 8, "float", 2, "float2"),
    ("c64", 16, "float", 4, "float4"),
    ("c128", 16, "double", 2, "double2"),
    ("i8", 1, "signed char", 1, "signed char"),
    ("i16", 2, "short", 1, "short"),
    ("i32", 4, "int", 1, "int"),
    ("i32", 8, "int", 2, "int2"),
    ("i32", 16, "int", 4, "int4"),
    ("i64", 8, "int64", 1, "int64"),
    ("u64", 8, "uint64", 1, "uint64"),
    // Halves are moved as the bits that they are.
    ("", 1, "unsigned char", 1, "unsigned char"),
    ("", 2, "unsigned short", 1, "unsigned short"),
    ("", 4, "unsigned int", 1, "unsigned int"),
    ("", 8, "unsigned int", 2, "uint2"),
    ("", 16, "unsigned int", 4, "uint4"),
    ("u64", 16, "unsigned int", 4, "uint4"),
];

impl Element {
    /// Of an access of some bytes to a field.
    pub(super) fn new(field: &Field, bytes: i64) -> Result<Self, Unemitted> {
        let fits = |t: &&(&'static str, i64, &'static str, i64, &'static str)| {
            (t.0 == field.dtype.name || t.0.is_empty()) && t.1 == bytes
        };
        let found = TYPES.iter().find(fits);
        let &(_, bytes, scalar, lanes, name) =
            found.ok_or(Unemitted::Width { field: field.name.clone(), bytes })?;
        Ok(Self { scalar, lanes, name, bytes })
    }

    /// Of a whole element of a field; bytes where no type is as large.
    pub(super) fn whole(field: &Field) -> Self {
        let bytes = Self { scalar: "unsigned char", lanes: 1, name: "unsigned char", bytes: 1 };
        Self::new(field, field.dtype.bytes).unwrap_or(bytes)
    }

    /// Whether it is one number.
    pub(super) fn is_scalar(self) -> bool {
        self.lanes == 1
    }

    /// Whether its numbers have fractions.
    pub(super) fn is_real(self) -> bool {
        matches!(self.scalar, "float" | "double")
    }

    /// Whether sums of it need double precision.
    pub(super) fn is_long(self) -> bool {
        matches!(self.scalar, "double" | "int64" | "uint64")
    }

    /// Bits of whole numbers that each of its numbers holds without a sign.
    pub(super) fn bits(self) -> u32 {
        match self.scalar {
            "signed char" => 7,
            "unsigned char" => 8,
            "short" => 15,
            "unsigned short" => 16,
            "float" => 24,
            "int" => 31,
            "unsigned int" => 32,
            _ => 40,
        }
    }

    /// The names of its numbers.
    pub(super) fn parts(self) -> &'static [&'static str] {
        match self.lanes {
            2 => &["x", "y"],
            4 => &["x", "y", "z", "w"],
            _ => &[],
        }
    }
}
