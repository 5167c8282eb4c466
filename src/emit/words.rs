//! Names in the program: those of the document, unless they mean something else there.

use std::collections::HashSet;

use crate::kernel::{Kernel, Space};

/// What a document may call things and C, C++, CUDA, HIP or `OpenCL` understand otherwise.
const TAKEN: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const \
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern \
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or \
    or_eq private protected public register reinterpret_cast restrict return short signed sizeof static \
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename \
    union unsigned using virtual void volatile wchar_t while xor xor_eq \
    global local constant kernel __global __local half uchar ushort uint ulong size_t ptrdiff_t image2d_t sampler_t event_t \
    float2 float4 double2 int2 int4 uint2 uint4 dim3 \
    main printf exit malloc free abs fabs sin cos exp log pow sqrt floor ceil round min max step dot cross sign \
    mix clamp select distance length normalize y0 y1 yn j0 j1 jn gamma index time clock signal \
    real index_t int64 uint64 shared sink start sum last value from to block grid bid fold t stdin stdout stderr errno NULL EOF";

/// The program's own names, with a number or a letter behind.
const OWN: [&str; 11] = ["tid", "lid", "bid", "bdim", "gdim", "sum", "last", "v", "in", "done_", "w"];

/// Names of everything.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The kernel.
    pub(super) kernel: String,
    /// The arrays of each field.
    pub(super) fields: Vec<Vec<String>>,
    /// Loop variables.
    pub(super) loops: Vec<String>,
    /// Axes.
    pub(super) axes: Vec<String>,
}

impl Words {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut used: HashSet<String> = TAKEN.split_whitespace().map(str::to_owned).collect();
        let mut words = Words { kernel: fresh(&kernel.name, &mut used), ..Words::default() };
        for field in &kernel.fields {
            let copies = if matches!(field.space, Space::Shared) { 1 } else { field.multiplicity.max(1) };
            let name = |i: i64| if copies > 1 { format!("{}_{i}", field.name) } else { field.name.clone() };
            words.fields.push((0..copies).map(|i| fresh(&name(i), &mut used)).collect());
        }
        words.loops = kernel.loops.iter().map(|l| fresh(&l.name, &mut used)).collect();
        words.axes = kernel.axes.iter().map(|a| fresh(&a.name, &mut used)).collect();
        words
    }
}

/// A name like the given one that is an identifier and not used yet.
fn fresh(name: &str, used: &mut HashSet<String>) -> String {
    let mut made: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if made.starts_with(|c: char| c.is_ascii_digit()) || made.starts_with('_') {
        made.insert(0, 'k');
    }
    while used.contains(&made) || is_own(&made) {
        made.push('_');
    }
    used.insert(made.clone());
    made
}

fn is_own(name: &str) -> bool {
    OWN.iter().any(|own| {
        let rest = name.strip_prefix(own);
        rest.is_some_and(|r| {
            matches!(r, "x" | "y" | "z") || (!r.is_empty() && r.bytes().all(|b| b.is_ascii_digit()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_of_all_languages_and_differ() {
        let mut used: HashSet<String> = TAKEN.split_whitespace().map(str::to_owned).collect();
        let mut of = |name| fresh(name, &mut used);
        assert_eq!(of("lbm-d3q19"), "lbm_d3q19");
        assert_eq!(
            (of("new"), of("new_"), of("2d")),
            ("new_".to_owned(), "new__".to_owned(), "k2d".to_owned())
        );
        assert_eq!(
            (of("sum0"), of("tidx"), of("w1"), of("v")),
            ("sum0_".into(), "tidx_".into(), "w1_".into(), "v".into())
        );
    }
}
