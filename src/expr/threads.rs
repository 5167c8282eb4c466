//! The names of threads, blocks and grids in CUDA and in `OpenCL`.

use super::ast::{Builtin, Dim};
use crate::text::nearest;

pub(super) type Make = fn(Dim) -> Builtin;

pub(super) const OPENCL: [(&str, Make); 6] = [
    ("get_global_id", Builtin::GlobalThread),
    ("get_local_id", Builtin::ThreadIdx),
    ("get_group_id", Builtin::BlockIdx),
    ("get_local_size", Builtin::BlockDim),
    ("get_num_groups", Builtin::GridDim),
    ("get_global_size", Builtin::GlobalSize),
];

pub(super) const CUDA: [(&str, Make); 4] = [
    ("threadIdx", Builtin::ThreadIdx),
    ("blockIdx", Builtin::BlockIdx),
    ("blockDim", Builtin::BlockDim),
    ("gridDim", Builtin::GridDim),
];

pub(super) fn vector_member(name: &str, member: &str) -> Result<Builtin, String> {
    let Some((_, make)) = CUDA.iter().find(|c| c.0 == name) else {
        return Err(match nearest(name, CUDA.iter().map(|c| c.0)) {
            Some(near) => format!("did you mean `{near}.{member}`?"),
            None => "only threadIdx, blockIdx, blockDim and gridDim have members".to_owned(),
        });
    };
    let dim = Dim::ALL.into_iter().find(|d| member.len() == 1 && member.starts_with(d.letter()));
    dim.map(make).ok_or_else(|| format!("write {name}.x, {name}.y or {name}.z"))
}
