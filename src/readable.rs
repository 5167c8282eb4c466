//! Structs that can be read, not changed, from outside of the crate.

/// Declares a struct whose fields are open inside the crate and have a method of the same name for everybody else:
/// what was checked when it was made stays as it is.
macro_rules! readable {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident { $( $(#[$field_attribute:meta])* $field:ident : $type:ty, )* }
    ) => {
        $(#[$attribute])*
        pub struct $name { $( $(#[$field_attribute])* pub(crate) $field: $type, )* }

        impl $name {
            $( $(#[$field_attribute])* pub fn $field(&self) -> &$type {
                &self.$field
            } )*
        }
    };
}

pub(crate) use readable;
