//! Answers as Python objects: what `json.loads` would make of their JSON, without the text between.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};
use serde::ser::{self, Serialize, Serializer};

/// A value as JSON would have it: dicts, lists, texts, numbers, `True`, `False` and `None`.
pub fn object<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    value.serialize(Objects(py)).map_err(|failed| failed.0)
}

/// Names of fields, which come again with every answer, by the places where the program has them. A thread has the lock
/// only while Python has no other one run, so that no fork finds it closed.
static NAMES: Mutex<Option<Names>> = Mutex::new(None);

/// By address and length.
type Names = HashMap<(usize, usize), Py<PyString>>;

fn name<'py>(py: Python<'py>, name: &'static str) -> Bound<'py, PyString> {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let place = (name.as_ptr().addr(), name.len());
    let known = names.get_or_insert_default().entry(place);
    known.or_insert_with(|| PyString::intern(py, name).unbind()).bind(py).clone()
}

/// Why Python could not make an object.
#[derive(Debug)]
struct Failed(PyErr);

impl Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: Display>(message: T) -> Self {
        Self(PyValueError::new_err(message.to_string()))
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

type Made<'py> = Result<Bound<'py, PyAny>, Failed>;

#[derive(Clone, Copy)]
struct Objects<'py>(Python<'py>);

impl<'py> Objects<'py> {
    fn number<T: IntoPyObject<'py, Error: Into<PyErr>, Output = Bound<'py, O>>, O>(
        self,
        value: T,
    ) -> Made<'py> {
        value.into_pyobject(self.0).map(Bound::into_any).map_err(|e| Failed(e.into()))
    }

    fn list(self) -> List<'py> {
        List { py: self.0, items: Vec::new() }
    }

    fn dict(self) -> Dict<'py> {
        Dict { dict: PyDict::new(self.0), key: None }
    }

    /// A value under the name of its variant.
    fn under(self, variant: &'static str, value: &Bound<'py, PyAny>) -> Made<'py> {
        let dict = PyDict::new(self.0);
        dict.set_item(name(self.0, variant), value)?;
        Ok(dict.into_any())
    }
}

macro_rules! numbers {
    ($($name:ident: $ty:ty;)*) => {
        $(fn $name(self, value: $ty) -> Made<'py> {
            self.number(value)
        })*
    };
}

impl<'py> Serializer for Objects<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;
    type SerializeSeq = List<'py>;
    type SerializeTuple = List<'py>;
    type SerializeTupleStruct = List<'py>;
    type SerializeTupleVariant = InVariant<'py, List<'py>>;
    type SerializeMap = Dict<'py>;
    type SerializeStruct = Dict<'py>;
    type SerializeStructVariant = InVariant<'py, Dict<'py>>;

    fn serialize_bool(self, value: bool) -> Made<'py> {
        Ok(PyBool::new(self.0, value).to_owned().into_any())
    }

    numbers! {
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_i128: i128;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_u64: u64;
        serialize_u128: u128;
    }

    fn serialize_f32(self, value: f32) -> Made<'py> {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Made<'py> {
        // JSON has no other ones.
        if value.is_finite() { Ok(PyFloat::new(self.0, value).into_any()) } else { self.serialize_unit() }
    }

    fn serialize_char(self, value: char) -> Made<'py> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Made<'py> {
        Ok(PyString::new(self.0, value).into_any())
    }

    fn serialize_bytes(self, value: &[u8]) -> Made<'py> {
        value.serialize(self) // As a list, like JSON.
    }

    fn serialize_none(self) -> Made<'py> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Made<'py> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Made<'py> {
        Ok(self.0.None().into_bound(self.0))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Made<'py> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Made<'py> {
        Ok(name(self.0, variant).into_any())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Made<'py> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Made<'py> {
        let value = value.serialize(self)?;
        self.under(variant, &value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'py>, Failed> {
        Ok(self.list())
    }

    fn serialize_tuple(self, _: usize) -> Result<List<'py>, Failed> {
        Ok(self.list())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List<'py>, Failed> {
        Ok(self.list())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<InVariant<'py, List<'py>>, Failed> {
        Ok(InVariant { variant, inner: self.list(), objects: self })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Dict<'py>, Failed> {
        Ok(self.dict())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Dict<'py>, Failed> {
        Ok(self.dict())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<InVariant<'py, Dict<'py>>, Failed> {
        Ok(InVariant { variant, inner: self.dict(), objects: self })
    }
}

struct List<'py> {
    py: Python<'py>,
    items: Vec<Bound<'py, PyAny>>,
}

impl<'py> List<'py> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.items.push(value.serialize(Objects(self.py))?);
        Ok(())
    }

    fn made(self) -> Made<'py> {
        Ok(PyList::new(self.py, self.items)?.into_any())
    }
}

struct Dict<'py> {
    dict: Bound<'py, PyDict>,
    /// The key of the value that comes next.
    key: Option<Bound<'py, PyAny>>,
}

impl<'py> Dict<'py> {
    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failed> {
        let py = self.dict.py();
        let value = value.serialize(Objects(py))?;
        Ok(self.dict.set_item(name(py, key), value)?)
    }

    fn made(self) -> Bound<'py, PyAny> {
        self.dict.into_any()
    }
}

/// A list or dict under the name of a variant.
struct InVariant<'py, T> {
    variant: &'static str,
    inner: T,
    objects: Objects<'py>,
}

impl<'py> ser::SerializeSeq for List<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.push(value)
    }

    fn end(self) -> Made<'py> {
        self.made()
    }
}

impl<'py> ser::SerializeTuple for List<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.push(value)
    }

    fn end(self) -> Made<'py> {
        self.made()
    }
}

impl<'py> ser::SerializeTupleStruct for List<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.push(value)
    }

    fn end(self) -> Made<'py> {
        self.made()
    }
}

impl<'py> ser::SerializeTupleVariant for InVariant<'py, List<'py>> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.inner.push(value)
    }

    fn end(self) -> Made<'py> {
        self.objects.under(self.variant, &self.inner.made()?)
    }
}

impl<'py> ser::SerializeMap for Dict<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        let key = key.serialize(Objects(self.dict.py()))?;
        // Keys of JSON are texts.
        self.key = Some(if key.is_instance_of::<PyString>() { key } else { key.str()?.into_any() });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let value = value.serialize(Objects(self.dict.py()))?;
        let key =
            self.key.take().ok_or_else(|| <Failed as ser::Error>::custom("a value comes before its key"))?;
        Ok(self.dict.set_item(key, value)?)
    }

    fn end(self) -> Made<'py> {
        Ok(self.made())
    }
}

impl<'py> ser::SerializeStruct for Dict<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failed> {
        self.field(key, value)
    }

    fn end(self) -> Made<'py> {
        Ok(self.made())
    }
}

impl<'py> ser::SerializeStructVariant for InVariant<'py, Dict<'py>> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failed> {
        self.inner.field(key, value)
    }

    fn end(self) -> Made<'py> {
        self.objects.under(self.variant, &self.inner.made())
    }
}
