//! Kinds of things that have names.

/// Declares kinds of something, each with the name that it has in JSON, on the command line and in texts.
macro_rules! named {
    (
        $(#[$attribute:meta])*
        pub enum $kind:ident { $( $(#[$about:meta])* $variant:ident = $name:literal, )* }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        $(#[$attribute])*
        pub enum $kind { $( $(#[$about])* #[serde(rename = $name)] $variant, )* }

        impl $kind {
            /// All of them, with their names.
            pub const NAMED: [(&'static str, Self); [$($name),*].len()] = [$(($name, Self::$variant)),*];

            /// Its name.
            pub fn word(self) -> &'static str {
                match self { $( Self::$variant => $name ),* }
            }
        }
    };
}

pub(crate) use named;
