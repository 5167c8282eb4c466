//! Names of C++ functions, for what compilers make of them in PTX: `_ZN2ns4copyIfLi2EEEvPKf` of `ns::copy<float, 2>`.

/// The name that a symbol has in the source, without its parameters; none if it is the same, or is not understood.
pub(crate) fn source_name(symbol: &str) -> Option<String> {
    let mut text = Mangled { rest: symbol.strip_prefix("_Z")? };
    text.name()
}

/// Whether somebody who writes this name may mean the function of a symbol: by the symbol, its name in the source, that
/// without the arguments of templates, or the last part of it.
pub(super) fn is_called(symbol: &str, name: &str) -> bool {
    if symbol == name {
        return true;
    }
    let Some(full) = source_name(symbol) else { return false };
    let plain = without_arguments(&full);
    let ends = |whole: &str| whole == name || whole.strip_suffix(name).is_some_and(|s| s.ends_with("::"));
    ends(&full) || ends(&plain)
}

/// A name without what stands between angle brackets.
fn without_arguments(name: &str) -> String {
    let mut depth = 0_usize;
    let outside = |c: &char| {
        let inside = depth > 0;
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        !inside && *c != '<'
    };
    name.chars().filter(outside).collect()
}

/// What is left of a symbol.
struct Mangled<'t> {
    rest: &'t str,
}

/// Names in names that are gone into.
const DEEPEST: usize = 16;

impl<'t> Mangled<'t> {
    fn name(&mut self) -> Option<String> {
        self.nested(0)
    }

    fn take(&mut self, what: &str) -> bool {
        match self.rest.strip_prefix(what) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A name, of one part or of several between `N` and `E`.
    fn nested(&mut self, depth: usize) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        if !self.take("N") {
            return self.part(depth);
        }
        while ["r", "V", "K"].iter().any(|qualifier| self.take(qualifier)) {}
        let mut parts = Vec::new();
        while !self.take("E") {
            parts.push(self.part(depth)?);
        }
        (!parts.is_empty()).then(|| parts.join("::"))
    }

    /// One part of a name, with the arguments of its template.
    fn part(&mut self, depth: usize) -> Option<String> {
        if self.take("St") {
            return if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
                Some(format!("std::{}", self.part(depth)?))
            } else {
                Some("std".to_owned())
            };
        }
        self.take("L"); // Of functions that only this file knows.
        let mut name = self.identifier()?.to_owned();
        if name.starts_with("_GLOBAL__N") {
            "(anonymous namespace)".clone_into(&mut name);
        }
        while self.take("B") {
            self.identifier()?;
        }
        if self.take("I") {
            let mut arguments = Vec::new();
            while !self.take("E") {
                arguments.push(self.argument(depth + 1)?);
            }
            name = format!("{name}<{}>", arguments.join(", "));
        }
        Some(name)
    }

    /// A length and so many letters.
    fn identifier(&mut self) -> Option<&'t str> {
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (length, rest) = self.rest.split_at(digits);
        let length: usize = length.parse().ok()?;
        let name = rest.get(..length)?;
        self.rest = &rest[length..];
        Some(name)
    }

    fn argument(&mut self, depth: usize) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        if self.take("J") {
            let mut pack = Vec::new();
            while !self.take("E") {
                pack.push(self.argument(depth + 1)?);
            }
            return Some(pack.join(", "));
        }
        if self.take("L") {
            let truth = self.take("b");
            if !truth {
                self.ty(depth)?;
            }
            let end = self.rest.find('E')?;
            let value = &self.rest[..end];
            self.rest = &self.rest[end + 1..];
            return Some(match (truth, value.strip_prefix('n')) {
                (true, _) => if value == "0" { "false" } else { "true" }.to_owned(),
                (false, Some(negative)) => format!("-{negative}"),
                (false, None) => value.to_owned(),
            });
        }
        self.ty(depth)
    }

    fn ty(&mut self, depth: usize) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        for (letter, sign) in [("P", "*"), ("R", "&"), ("O", "&&")] {
            if self.take(letter) {
                return Some(format!("{}{sign}", self.ty(depth + 1)?));
            }
        }
        if self.take("K") {
            return Some(format!("const {}", self.ty(depth + 1)?));
        }
        if let Some((code, name)) = BUILTIN.iter().find(|(code, _)| self.rest.starts_with(code)) {
            self.rest = &self.rest[code.len()..];
            return Some((*name).to_owned());
        }
        // What refers to an earlier part is not followed.
        self.nested(depth + 1)
    }
}

/// Types by their letters.
const BUILTIN: [(&str, &str); 18] = [
    ("v", "void"),
    ("w", "wchar_t"),
    ("b", "bool"),
    ("c", "char"),
    ("a", "signed char"),
    ("h", "unsigned char"),
    ("s", "short"),
    ("t", "unsigned short"),
    ("i", "int"),
    ("j", "unsigned int"),
    ("l", "long"),
    ("m", "unsigned long"),
    ("x", "long long"),
    ("y", "unsigned long long"),
    ("f", "float"),
    ("d", "double"),
    ("e", "long double"),
    ("Dh", "half"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_have_names_in_the_source() {
        for (symbol, name) in [
            ("_Z5saxpyifPf", Some("saxpy")),
            ("_ZN2ns5saxpyEifPf", Some("ns::saxpy")),
            ("_Z6copy_nIfLi2EEvPKT_PS0_i", Some("copy_n<float, 2>")),
            ("_ZN1a1bIN1c1dEPKdLb1ELin3EE1fEv", Some("a::b<c::d, const double*, true, -3>::f")),
            ("_Z1gIJifEEvv", Some("g<int, float>")),
            ("_ZN6cudapy8__main__5saxpyB2v1Ef", Some("cudapy::__main__::saxpy")),
            ("_ZN12_GLOBAL__N_11kEv", Some("(anonymous namespace)::k")),
            ("saxpy", None),
            ("_Z", None),
            ("_Z9short", None),
            ("_Z3foo", Some("foo")),
            ("_Z1gIS_Evv", None),
            ("_ZNEv", None),
        ] {
            assert_eq!(source_name(symbol).as_deref(), name, "{symbol}");
        }
    }

    #[test]
    fn people_shorten_names() {
        let copy = "_ZN2ns6copy_nIfLi2EEEvPKf";
        for name in [copy, "ns::copy_n<float, 2>", "copy_n<float, 2>", "ns::copy_n", "copy_n"] {
            assert!(is_called(copy, name), "{name}");
        }
        for name in ["copy", "s::copy_n", "copy_n<double, 2>", "", "ns::"] {
            assert!(!is_called(copy, name), "{name}");
        }
        assert!(!is_called("saxpy", "axpy"));
    }

    /// Nothing that a text may have as a name does harm.
    #[test]
    fn damaged_symbols_do_no_harm() {
        let whole = "_ZN1a1bIN1c1dEPKdLb1ELin3EE1fEv";
        for cut in 0..whole.len() {
            let _ = source_name(&whole[..cut]);
            let _ = source_name(&format!("{}é{}", &whole[..cut], &whole[cut..]));
        }
        let deep = format!("_Z1f{}", "IP".repeat(10_000));
        assert_eq!(source_name(&deep), None);
        assert_eq!(source_name(&format!("_Z1fI{}", "N1a".repeat(10_000))), None);
        assert_eq!(source_name("_Z99999999999999999999f"), None);
    }
}
