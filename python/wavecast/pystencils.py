"""pystencils (2.0) kernels for GPU targets as kernel documents, and a chosen block back into its options.

>>> from wavecast.pystencils import rank
>>> rank(kernel, device="a100")                      # a kernel that `pystencils.create_kernel` made

Covers every GPU indexing scheme: ``Linear3D`` and ``Linear1D``, both also grid-strided, and ``Blockwise4D``;
fields of fixed and of symbolic size, any layout, index dimensions, buffers, iteration slices with steps
(foldings; not in grid-strided loops), casts, branches, serial loops. Block sizes stay symbols, so that one kernel
is asked about all blocks. Of a choice by indices only the side that is taken counts; of one by data, both do.
Does not cover reductions, sparse iteration (index fields) and vector types. A field whose name means something in
a document (`x`, `min`, ...) gets an underscore. Registers are those of the emitted text by ptxas, where that and NVRTC
are installed.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence

from ._api import Device
from ._api import rank as _rank
from ._devices import of_devices
from ._document import block_of, launch, unique
from ._pystencils_reader import Reader
from ._registers import TYPES, Code, asked, said, with_registers
from ._symbolic import Unsupported

if TYPE_CHECKING:
    from pystencils import CreateKernelConfig
    from pystencils.codegen import GpuKernel

__all__ = ["Unsupported", "configure", "document", "launch_configuration", "rank"]


def rank(
    kernel: GpuKernel,
    device: Device | None = None,
    *,
    document_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Ranks the blocks of a kernel. ``document_options`` go to :func:`document`, the rest to :func:`wavecast.rank`.
    Without ``registers`` among them, ptxas is asked for those of the emitted text, where it is installed with NVRTC
    (``pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvcc-cu12``); the ranking's key ``registers`` says what it told."""
    if not isinstance(device, (str, os.PathLike)) and device is not None:
        given = dict(document_options=document_options, **options)
        return of_devices("rank", device, lambda one: rank(kernel, one, **given))
    given = dict(document_options or {})
    told = asked(lambda: code(kernel), device) if given.get("registers") is None else None
    return said(_rank(with_registers(document(kernel, **given), told), device, **options), told)


def code(kernel: GpuKernel) -> Code:
    """The text of a kernel as pystencils itself compiles it, with what NVRTC lacks."""
    import pystencils
    from pystencils.include import get_pystencils_include_path

    emitted = kernel.get_c_code()
    # What the others include is in the types; random numbers need CUDA's C++ library, which few have.
    headers = sorted(h for h in kernel.required_headers if h.startswith('"pystencils_runtime/'))
    if not re.search("philox|random", emitted):
        headers = [header for header in headers if "generic_gpu" not in header]
    included = "".join(f"#include {header}\n" for header in headers)
    text = f'{TYPES}#define RESTRICT __restrict__\n{included}extern "C" {emitted}'
    return Code(text, ("-w", "-std=c++17", f"-I{get_pystencils_include_path()}"), (pystencils.__version__,))


def document(
    kernel: GpuKernel,
    *,
    shape: Sequence[int] | Mapping[str, Sequence[int]] | None = None,
    parameters: Mapping[str, int] | None = None,
    index_layout: Literal["soa", "aos"] | None = None,
    name: str | None = None,
    about: str | None = None,
    blocks: Any = None,
    fold: Any = None,
    registers: int | None = None,
    flops: float | None = None,
    align: int | None = None,
    align_interior: int | None = None,
) -> dict[str, Any]:
    """The kernel document of a kernel.

    ``shape`` gives the size of fields whose size is symbolic, ghost layers included: of all of them, or a
    mapping from field names. ``index_layout`` says whether the values of a cell of such a field lie apart
    ("soa", as in layout fzyx) or together ("aos", as in zyxf): pystencils does not keep it; by default they lie
    apart, except in C order. ``parameters`` gives other integer parameters. ``blocks`` are the blocks to
    consider, by default all of a common number of threads; ``fold`` adds work items per thread that the
    kernel does not have yet but could be generated with. ``registers`` is what the compiler reports.
    ``align`` is the alignment of the allocations in bytes; with ``align_interior`` the first interior element
    of a row stands on a multiple of so many bytes, as arrays of ``pystencils.datahandling`` do on request.
    """
    reader = Reader(kernel, shape, parameters or {}, index_layout)
    reader.read()
    found: dict[str, Any] = {"wavecast": 1, "kernel": name or kernel.name}
    if about:
        found["about"] = about
    found["fields"] = {n: _field(reader, n, align, align_interior) for n in sorted(reader.fields)}
    found["domain"] = [{axis: extent} for axis, extent in reader.domain]
    if reader.guard:
        found["guard"] = " && ".join(reader.guard)
    if reader.has_loops:
        found["body"] = reader.body
    else:
        for key, verb in (("loads", "load"), ("stores", "store")):
            accesses = unique(_flat(a, verb) for a in reader.accesses if a[0] == verb)
            if accesses:
                found[key] = accesses
    per_thread = 1
    for step in reader.steps:
        per_thread *= step
    found["work"] = {
        "flops": reader.flops / per_thread if flops is None else flops,
        "precision": "f32" if reader.widest == 4 else "f64",
    }
    if per_thread > 1:
        if fold is not None:
            raise Unsupported("this kernel is folded already: `fold` cannot be given")
        fold = [reader.steps]
    if reader.fixed_block:
        blocks = [reader.fixed_block]
    found["launch"] = launch(len(reader.domain), blocks, fold, registers)
    return found


def configure(config: CreateKernelConfig, choice: Any) -> CreateKernelConfig:
    """A copy of a configuration with the block of a choice: a ranking (its best), one of its results, or a
    shape. The kernel that `create_kernel` makes with it is launched with this block."""
    config = config.copy()
    config.gpu.default_block_size = block_of(choice)
    return config


def launch_configuration(kernel: GpuKernel, choice: Any) -> Any:
    """The launch configuration of a kernel with the block of a choice, for kernels that exist already."""
    configuration = kernel.get_launch_configuration()
    block = block_of(choice)
    if hasattr(configuration, "trim_block_size"):
        configuration.trim_block_size(block)
    else:
        configuration.block_size = block
    return configuration


def default_block(kernel: GpuKernel) -> tuple[int, ...] | None:
    """The block that pystencils would take, or ``None`` where it has none."""
    configuration = kernel.get_launch_configuration()
    block = getattr(configuration, "default_block_size", None) or getattr(configuration, "block_size", None)
    return None if block is None else tuple(int(n) for n in block)


def _flat(found: tuple[str, str, list[str]], verb: str) -> Any:
    _, text, conditions = found
    return {"at": text, "when": " && ".join(conditions)} if conditions else text


def _field(reader: Reader, name: str, align: int | None, align_interior: int | None) -> dict[str, Any]:
    buffer = reader.fields[name]
    field: dict[str, Any] = {"dtype": buffer.dtype, "shape": buffer.shape, "strides": buffer.strides}
    if align is not None:
        field["align"] = align
    if align_interior is not None and buffer.strides[0] == 1:
        field["offset"] = -reader.interior % (align_interior // buffer.itemsize)
    return field
