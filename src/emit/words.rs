//! Names in the program: those of the document, unless they mean something else there.

use std::collections::HashSet;

use crate::kernel::{Kernel, Space};

/// What a document may call things and C, C++, CUDA, HIP or `OpenCL` understand otherwise: keywords, types, and macros
/// in small letters. Functions of libraries need not be here: in kernels, names of a document hide them, and
/// on the host arrays have a prefix.
const TAKEN: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t \
    class compl complex concept const consteval constexpr constinit const_cast continue co_await co_return co_yield \
    decltype default delete do double dynamic_cast else enum explicit export extern false final float for friend goto if \
    imaginary import inline int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override \
    private protected public register reinterpret_cast requires restrict return short signed sizeof static \
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename typeof \
    typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq \
    kernel global local constant generic private uniform pipe read_only write_only read_write vec_step quad half uchar \
    ushort uint ulong longlong ulonglong size_t ptrdiff_t intptr_t uintptr_t sampler_t event_t queue_t ndrange_t \
    clk_event_t reserve_id_t image1d_t image1d_buffer_t image1d_array_t image2d_t image2d_array_t image2d_depth_t \
    image3d_t dim3 \
    threadIdx blockIdx blockDim gridDim warpSize atomicAdd atomic_add atom_add barrier get_local_id get_group_id \
    get_local_size get_num_groups main \
    linux unix i386 near far small interface errno stdin stdout stderr assert";

/// What the program itself calls something, in kernels and in the loops that check them.
const SPOKEN: &str = "real index_t int64 uint64 shared sink start sum sums last lasts from to how bid launch reference \
    floor_div floor_mod lesser greater";

/// Names of the program with a number or a letter behind.
const NUMBERED: [&str; 10] = ["tid", "lid", "bid", "bdim", "gdim", "sum", "last", "v", "in", "w"];

/// Beginnings of names that the program makes of those of the document.
const BEGINNINGS: [&str; 4] = ["done_", "host_", "reference_", "table_"];

/// Types that exist with several lengths.
const VECTORS: [&str; 15] = [
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "longlong",
    "ulonglong",
    "float",
    "double",
    "half",
    "bool",
    "quad",
];

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
    pub(super) fn new(kernel: &Kernel) -> Self {
        let mut used = taken();
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

/// The words that no name may be.
fn taken() -> HashSet<String> {
    TAKEN.split_whitespace().chain(SPOKEN.split_whitespace()).map(str::to_owned).collect()
}

/// A name like the given one that is an identifier and not used yet.
fn fresh(name: &str, used: &mut HashSet<String>) -> String {
    let mut made: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let reserved = |c: char| c.is_ascii_digit() || c == '_';
    if made.starts_with(reserved) || made.is_empty() || BEGINNINGS.iter().any(|b| made.starts_with(b)) {
        made.insert(0, 'k');
    }
    while used.contains(&made) || is_numbered(&made) || is_type(&made) || is_like_macro(&made) {
        made.push('_');
    }
    used.insert(made.clone());
    made
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `tidx`, `sum0`, `v3_1`.
fn is_numbered(name: &str) -> bool {
    NUMBERED.iter().filter_map(|own| name.strip_prefix(own)).any(|rest| {
        let (first, second) = rest.split_once('_').unwrap_or((rest, "0"));
        matches!(rest, "x" | "y" | "z") || (is_number(first) && is_number(second))
    })
}

/// `float4`, `half2x2`, and the functions on vectors that the program brings with it.
fn is_type(name: &str) -> bool {
    let of = ["total_", "all_"].iter().find_map(|p| name.strip_prefix(p)).unwrap_or(name);
    VECTORS.iter().filter_map(|v| of.strip_prefix(v)).any(|rest| {
        let (first, second) = rest.split_once('x').unwrap_or((rest, "2"));
        is_number(first) && is_number(second)
    })
}

/// Headers define macros in capitals, which would replace a name wherever it stands.
fn is_like_macro(name: &str) -> bool {
    let capitals = name.bytes().filter(u8::is_ascii_uppercase).count();
    capitals > 1 && !name.ends_with('_') && !name.bytes().any(|b| b.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_of_all_languages_and_differ() {
        let mut used = taken();
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
        assert_eq!(
            (of("v1_1"), of("float4"), of("total_int2"), of("total_in")),
            ("v1_1_".into(), "float4_".into(), "total_int2_".into(), "total_in".into())
        );
        assert_eq!(
            (of("done_a"), of("table_a"), of("INT_MAX"), of("A"), of("__ldg")),
            ("kdone_a".into(), "ktable_a".into(), "INT_MAX_".into(), "A".into(), "k__ldg".into())
        );
    }
}
