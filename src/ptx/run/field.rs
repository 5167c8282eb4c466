//! Arrays, as who runs an entry knows them.

/// An array that the kernel gets a pointer to, or a variable of the module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EntryField {
    /// Its name.
    pub name: String,
    /// Its size, if it is known. Accesses beyond it are nothing wrong here.
    pub bytes: Option<u64>,
    /// What it holds before the launch. Without it values that are read are zero, and not known.
    pub data: Option<Vec<u8>>,
}

impl EntryField {
    /// A field of which nothing but the name is known.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), bytes: None, data: None }
    }

    /// With what it holds.
    #[must_use]
    pub fn with_data(mut self, data: Vec<u8>) -> Self {
        self.bytes = Some(data.len() as u64);
        self.data = Some(data);
        self
    }
}
