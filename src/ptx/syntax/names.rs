//! What variables are called in the source, and where instructions come from in it.

use super::ast::{Module, PtxInstruction};

impl Module {
    /// What a variable is called in the source: C++ puts the function's name before that of a variable inside, as in
    /// `_ZZ9transposeE4tile`. Where several are called the same, it stays as it is.
    pub fn source_name<'n>(&self, name: &'n str) -> &'n str {
        let Some(short) = inner_name(name) else { return name };
        let inside = self.functions.iter().flat_map(|f| &f.variables);
        let all = self.variables.iter().chain(inside).filter(|v| v.name != name);
        let mut same = all.filter(|v| v.name == short || inner_name(&v.name) == Some(short));
        if same.next().is_none() { short } else { name }
    }

    /// The line that an instruction was compiled from, as `saxpy.cu:4`, where the text says so.
    pub fn source_of(&self, instruction: &PtxInstruction) -> Option<String> {
        let source = instruction.source?;
        let (_, file) = self.files.iter().find(|file| file.0 == source.file)?;
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        Some(format!("{}:{}", name.replace(char::is_control, " "), source.line))
    }
}

/// `tile` of `_ZZ9transposeE4tile` or `_ZZ9transposePfE4tile_0`: behind an `E`, its length and itself.
fn inner_name(name: &str) -> Option<&str> {
    let inside = name.strip_prefix("_ZZ")?;
    inside.rmatch_indices('E').find_map(|(at, _)| {
        let rest = &inside[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[..digits].parse().ok()?;
        let named = &rest[digits..];
        // A number behind it tells those of several scopes apart.
        let number = named.get(length..)?;
        let ends = number.is_empty()
            || number.strip_prefix('_').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        (ends && length > 0).then_some(named)
    })
}

#[cfg(test)]
mod tests {
    use super::inner_name;

    #[test]
    fn names_inside_functions() {
        assert_eq!(inner_name("_ZZ9transposeE4tile"), Some("tile"));
        assert_eq!(inner_name("_ZZ9transposePKfPfiE4tile_0"), Some("tile_0"));
        assert_eq!(inner_name("_ZZ12softmax_rowsE5warps"), Some("warps"));
        assert_eq!(inner_name("_ZZN4edge3RowIfE3sumEvE1E"), Some("E"));
        assert_eq!(inner_name("tile"), None);
        assert_eq!(inner_name("_ZZ9transposeE9tile"), None);
    }
}
