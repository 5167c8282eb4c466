//! What must be one text: the names of values in an object, and what is JSON already.

use serde::ser::{self, Impossible, Serialize, Serializer};

use super::text::{put_shown, put_text};
use super::writer::{Unwritable, Written};

/// Writes one text.
pub(super) enum OneText<'b> {
    /// The name of a value, between quotes.
    Name(&'b mut Vec<u8>),
    /// As it is.
    Ready(&'b mut Vec<u8>),
}

/// Anything else.
fn no_text<T>() -> Result<T, Unwritable> {
    Err(ser::Error::custom("the name of a value in JSON is a text"))
}

/// What is no text, but can be written like one.
macro_rules! shown {
    ($($name:ident($ty:ty);)*) => {
        $(fn $name(self, value: $ty) -> Written {
            self.collect_str(&value)
        })*
    };
}

/// What can be no name.
macro_rules! refused {
    ($($name:ident($($ty:ty),*) -> $result:ty;)*) => {
        $(fn $name(self $(, _: $ty)*) -> Result<$result, Unwritable> {
            no_text()
        })*
    };
}

impl Serializer for OneText<'_> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Impossible<(), Unwritable>;
    type SerializeTuple = Impossible<(), Unwritable>;
    type SerializeTupleStruct = Impossible<(), Unwritable>;
    type SerializeTupleVariant = Impossible<(), Unwritable>;
    type SerializeMap = Impossible<(), Unwritable>;
    type SerializeStruct = Impossible<(), Unwritable>;
    type SerializeStructVariant = Impossible<(), Unwritable>;

    fn serialize_str(self, value: &str) -> Written {
        match self {
            Self::Name(buffer) => put_text(value, buffer),
            Self::Ready(buffer) => buffer.extend_from_slice(value.as_bytes()),
        }
        Ok(())
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Written {
        let (Self::Name(buffer) | Self::Ready(buffer)) = self;
        put_shown(value, buffer).map_err(ser::Error::custom)
    }

    shown! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_char(char);
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Written {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Written {
        no_text()
    }

    refused! {
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}
