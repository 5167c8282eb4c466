//! How a program tells its requests apart.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The id of a request: any JSON value, kept as it was written, as numbers may have more digits than any type
/// holds. Null if there is none.
#[derive(Debug, Clone, Default)]
pub struct Id(Option<Box<RawValue>>);

impl Id {
    /// Whether there is none.
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it was written in the same way.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.as_ref().map(|v| v.get()) == other.0.as_ref().map(|v| v.get())
    }

    /// A number as an id.
    pub(super) fn number(number: usize) -> Self {
        Self(RawValue::from_string(number.to_string()).ok())
    }

    /// As it was written.
    pub(super) fn text(&self) -> String {
        self.0.as_ref().map_or_else(|| "null".to_owned(), |value| value.get().to_owned())
    }

    /// What stands in a request.
    pub(super) fn new(value: Box<RawValue>) -> Self {
        Self((value.get() != "null").then_some(value))
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::new)
    }
}
