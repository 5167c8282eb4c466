//! Values into JSON.

use serde::ser::{self, Serialize, Serializer};
use serde_json::ser::{CompactFormatter, Formatter};

use super::compound::{Bracket, Compound};
use super::text::{put_shown, put_text};
use super::writer::{JsonWriter, Unwritable, Written};

/// How `serde_json` names what is JSON already, such as the id of a request.
const READY: &str = "$serde_json::private::RawValue";

/// A number as `serde_json` writes it.
macro_rules! numbers {
    ($($name:ident, $write:ident, $ty:ty;)*) => {
        $(fn $name(self, value: $ty) -> Written {
            CompactFormatter.$write(&mut self.buffer, value).map_err(Unwritable)
        })*
    };
}

/// What begins an object or an array.
macro_rules! compounds {
    ($($name:ident, $bracket:ident, ($($ty:ty),*);)*) => {
        $(fn $name(self $(, _: $ty)*) -> Result<Compound<'s, 'w>, Unwritable> {
            Ok(Compound::begin(self, Bracket::$bracket))
        })*
    };
}

/// The same in the object of a variant.
macro_rules! variants {
    ($($name:ident, $bracket:ident;)*) => {
        $(fn $name(
            self,
            _: &'static str,
            _: u32,
            variant: &'static str,
            _: usize,
        ) -> Result<Compound<'s, 'w>, Unwritable> {
            Ok(Compound::of_variant(self, variant, Bracket::$bracket))
        })*
    };
}

impl<'s, 'w> Serializer for &'s mut JsonWriter<'w> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Compound<'s, 'w>;
    type SerializeTuple = Compound<'s, 'w>;
    type SerializeTupleStruct = Compound<'s, 'w>;
    type SerializeTupleVariant = Compound<'s, 'w>;
    type SerializeMap = Compound<'s, 'w>;
    type SerializeStruct = Compound<'s, 'w>;
    type SerializeStructVariant = Compound<'s, 'w>;

    numbers! {
        serialize_i8, write_i8, i8;
        serialize_i16, write_i16, i16;
        serialize_i32, write_i32, i32;
        serialize_i64, write_i64, i64;
        serialize_i128, write_i128, i128;
        serialize_u8, write_u8, u8;
        serialize_u16, write_u16, u16;
        serialize_u32, write_u32, u32;
        serialize_u64, write_u64, u64;
        serialize_u128, write_u128, u128;
    }

    fn serialize_bool(self, value: bool) -> Written {
        self.put(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Written {
        if !value.is_finite() {
            return self.serialize_unit();
        }
        CompactFormatter.write_f32(&mut self.buffer, value).map_err(Unwritable)
    }

    fn serialize_f64(self, value: f64) -> Written {
        if !value.is_finite() {
            return self.serialize_unit();
        }
        CompactFormatter.write_f64(&mut self.buffer, value).map_err(Unwritable)
    }

    fn serialize_char(self, value: char) -> Written {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Written {
        put_text(value, &mut self.buffer);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Written {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Written {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.put("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Written {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        self.open_variant(variant);
        value.serialize(&mut *self)?;
        self.close(b'}', false);
        self.flush()
    }

    compounds! {
        serialize_seq, Square, (Option<usize>);
        serialize_tuple, Square, (usize);
        serialize_tuple_struct, Square, (&'static str, usize);
        serialize_map, Curly, (Option<usize>);
    }

    variants! {
        serialize_tuple_variant, Square;
        serialize_struct_variant, Curly;
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'s, 'w>, Unwritable> {
        let bracket = if name == READY { Bracket::Ready } else { Bracket::Curly };
        Ok(Compound::begin(self, bracket))
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Written {
        put_shown(value, &mut self.buffer).map_err(ser::Error::custom)
    }
}
