//! How sections and words of a device file are declared: once, for their types, their decoding and their schema.

/// What to do about a key that a device file lacks.
pub(super) const MISSING: &str = "`wavecast devices show a100` prints a file with all keys; `inherit: a100-40gb` takes those \
                                  that are missing from another device";

/// Declares a mapping of the device format: required keys, then optional ones. From outside they can be read, not
/// changed, so that a device is what was checked when it was read. What is `[kept]` beside them is no part of the format:
/// who reads the file fills it in.
macro_rules! section {
    (
        $(#[$attribute:meta])*
        $name:ident, $what:literal {
            $( $(#[$field_attribute:meta])* $field:ident : $type:ty, )*
            [optional]
            $( $(#[$optional_attribute:meta])* $optional:ident : $optional_type:ty, )*
            $( [kept] $( $(#[$kept_attribute:meta])* $kept:ident : $kept_type:ty, )* )?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[cfg_attr(test, schemars(deny_unknown_fields))]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$field_attribute])* pub(crate) $field: $type, )*
            $( $(#[$optional_attribute])* #[serde(skip_serializing_if = "Option::is_none")]
               pub(crate) $optional: Option<$optional_type>, )*
            $( $( $(#[$kept_attribute])* #[serde(skip)] pub(crate) $kept: $kept_type, )* )?
        }

        impl $name {
            const KEYS: &'static [&'static str] = &[$(stringify!($field),)* $(stringify!($optional),)*];

            $( $(#[$field_attribute])* pub fn $field(&self) -> &$type {
                &self.$field
            } )*
            $( $(#[$optional_attribute])* pub fn $optional(&self) -> Option<&$optional_type> {
                self.$optional.as_ref()
            } )*
            $( $( $(#[$kept_attribute])* pub fn $kept(&self) -> &$kept_type {
                &self.$kept
            } )* )?
        }

        impl Decode for $name {
            fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
                for entry in decoder.mapping(node, $what)? {
                    if !Self::KEYS.contains(&entry.key.as_str()) {
                        decoder.unknown_key(&entry.key, entry.key_span, $what, Self::KEYS);
                    }
                }
                // Each key is read before the first failure counts, so that every fault is reported.
                $( let $field = match node.get(stringify!($field)) {
                    Some(value) => Decode::decode(value, decoder),
                    None => {
                        decoder.missing_key(node, $what, stringify!($field), $crate::device::declare::MISSING);
                        None
                    }
                }; )*
                $( let $optional = match node.get(stringify!($optional)) {
                    Some(value) => Some(<$optional_type as Decode>::decode(value, decoder)),
                    None => None,
                }; )*
                Some($name {
                    $($field: $field?,)*
                    $($optional: match $optional { Some(v) => Some(v?), None => None },)*
                    $($($kept: Default::default(),)*)?
                })
            }
        }

        impl Visit for $name {
            fn entries<'d>(&'d self, path: &str, f: &mut dyn FnMut(DeviceNumber<'d>)) {
                let dot = if path.is_empty() { "" } else { "." };
                $( self.$field.entries(&format!("{path}{dot}{}", stringify!($field)), f); )*
                $( self.$optional.entries(&format!("{path}{dot}{}", stringify!($optional)), f); )*
            }

            fn origins(&mut self, f: &mut dyn FnMut(Span, &str, &mut Option<String>)) {
                $( self.$field.origins(f); )*
                $( self.$optional.origins(f); )*
            }
        }
    };
}

/// Declares an enumeration written as one of a few words.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $name:ident, $what:literal { $( $(#[$variant_attribute:meta])* $variant:ident = $word:literal ),* $(,)? }
    ) => {
        crate::named::named! {
            $(#[$attribute])*
            pub enum $name { $( $(#[$variant_attribute])* $variant = $word, )* }
        }

        impl Decode for $name {
            fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
                decoder.word(node, $what, &Self::NAMED, &[])
            }
        }

        plain!($name);
    };
}

pub(super) use section;
pub(super) use words;
