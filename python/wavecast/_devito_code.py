"""A loop nest of a Devito operator as a CUDA kernel, for a compiler to count its registers. The statements are those
that Devito writes; the loops are threads, as OpenACC's compilers make them."""

from __future__ import annotations

import re
from typing import Any

from devito.ir.iet import FindSymbols

from ._devito_reader import Nest
from ._registers import TYPES, Code

#: C names of element types, by those of documents.
KINDS = {"f64": "double", "f32": "float", "f16": "short", **{f"i{n}": f"int{n}_t" for n in (8, 16, 32, 64)}}


def code(nest: Nest) -> Code:
    """The text of a nest that was read."""
    inner = nest.loops[-1]
    arrays, numbers = [], []
    for function in FindSymbols("symbolics").visit(inner):
        name = nest.namespace.name("field", function.name)
        if name in nest.fields:
            field = nest.fields[name]
            kind = KINDS[field["dtype"]]
            rows = "".join(f"[{n}]" for n in field["shape"][1:])
            arrays.append(
                f"{kind} (*__restrict__ {function.name}){rows}" if rows else f"{kind} *__restrict__ {function.name}"
            )
    loops = {loop.dim.name for loop in nest.loops}
    inside = {symbol.name for symbol in FindSymbols("defines").visit(inner)}
    known = loops | inside | {function.name for function in FindSymbols("symbolics").visit(inner)}
    for symbol in FindSymbols("basics").visit(inner):
        if symbol.name not in known and symbol.name not in numbers:
            numbers.append(symbol.name)
    kinds = {s.name: _kind(s) for s in FindSymbols("basics").visit(inner)}
    threads = [
        f"  const int {loop.dim.name} = {'xyz'[at]}_begin + (int) (blockIdx.{'xyz'[at]}*blockDim.{'xyz'[at]} + threadIdx.{'xyz'[at]});"
        for at, loop in enumerate(reversed(nest.loops))
    ]
    guard = " || ".join(f"{loop.dim.name} > {'xyz'[at]}_end" for at, loop in enumerate(reversed(nest.loops)))
    bounds = [f"const int {'xyz'[at]}_{end}" for at in range(len(nest.loops)) for end in ("begin", "end")]
    parameters = [*arrays, *(f"const {kinds[name]} {name}" for name in numbers), *bounds]
    body = "\n".join(str(node.ccode) for node in inner.nodes)
    # Namespaces and pragmas are for the host's compiler.
    body = re.sub(r"std::|(?m:^\s*#pragma[^\n]*$)", "", body)
    return Code(
        f'{TYPES}extern "C" __global__ void nest({", ".join(parameters)})\n{{\n'
        + "\n".join(threads)
        + f"\n  if ({guard}) return;\n{body}\n}}\n",
        ("-w", "-std=c++17"),
    )


def _kind(symbol: Any) -> str:
    """The C type of a number."""
    try:
        name = str(symbol.dtype.__name__)
    except AttributeError:
        return "int"
    return {"float32": "float", "float64": "double", "int64": "int64_t", "int32": "int"}.get(name, "float")
