//! Objects and arrays on their way out.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::key::OneText;
use super::writer::{JsonWriter, Unwritable, Written};

/// What stands around the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Square,
    Curly,
    /// Nothing: the only value is a text that is JSON already.
    Ready,
}

/// An object or an array that has begun.
pub(super) struct Compound<'s, 'w> {
    writer: &'s mut JsonWriter<'w>,
    bracket: Bracket,
    empty: bool,
    /// Whether it stands in the object of a variant of an enumeration.
    in_variant: bool,
}

impl<'s, 'w> Compound<'s, 'w> {
    pub(super) fn begin(writer: &'s mut JsonWriter<'w>, bracket: Bracket) -> Self {
        match bracket {
            Bracket::Square => writer.open(b'['),
            Bracket::Curly => writer.open(b'{'),
            Bracket::Ready => {}
        }
        Self { writer, bracket, empty: true, in_variant: false }
    }

    /// The same in the object of a variant.
    pub(super) fn of_variant(
        writer: &'s mut JsonWriter<'w>,
        variant: &'static str,
        bracket: Bracket,
    ) -> Self {
        writer.open_variant(variant);
        Self { in_variant: true, ..Self::begin(writer, bracket) }
    }

    /// Before each value.
    fn next(&mut self) {
        if !self.empty {
            self.writer.buffer.push(b',');
        }
        self.empty = false;
        self.writer.line();
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.next();
        value.serialize(&mut *self.writer)?;
        self.writer.flush()
    }

    fn named<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Written {
        if self.bracket == Bracket::Ready {
            return value.serialize(OneText::Ready(&mut self.writer.buffer));
        }
        self.next();
        self.writer.name(name);
        value.serialize(&mut *self.writer)
    }

    fn close(self) -> Written {
        let Self { writer, bracket, empty, in_variant } = self;
        match bracket {
            Bracket::Square => writer.close(b']', empty),
            Bracket::Curly => writer.close(b'}', empty),
            Bracket::Ready => {}
        }
        if in_variant {
            writer.close(b'}', false);
        }
        writer.flush()
    }
}

/// The traits of `serde` that differ in their names only.
macro_rules! elements {
    ($($of:ident, $add:ident;)*) => {
        $(impl $of for Compound<'_, '_> {
            type Ok = ();
            type Error = Unwritable;

            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
                self.element(value)
            }

            fn end(self) -> Written {
                self.close()
            }
        })*
    };
}

macro_rules! fields {
    ($($of:ident),*) => {
        $(impl $of for Compound<'_, '_> {
            type Ok = ();
            type Error = Unwritable;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Written {
                self.named(name, value)
            }

            fn end(self) -> Written {
                self.close()
            }
        })*
    };
}

elements! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

fields!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        self.next();
        key.serialize(OneText::Name(&mut self.writer.buffer))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.writer.put(self.writer.colon());
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Written {
        self.close()
    }
}
