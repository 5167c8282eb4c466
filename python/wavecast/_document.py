"""Kernel documents as adapters make them."""

from __future__ import annotations

import re
from numbers import Integral
from typing import Any, Iterable, Sequence

#: Element types by the names that numpy gives them.
DTYPES = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    "bool": "u8",
}
#: Words of the grammar, which can name nothing else.
RESERVED = (
    *("tidx", "tidy", "tidz", "threadIdx", "blockIdx", "blockDim", "gridDim"),
    *("min", "max", "pow2", "step", "sync"),
)
#: Blocks that are tried where nobody says which: by number of axes.
BLOCKS: dict[int, dict[str, Any]] = {
    1: {"x": "pow2(32..1024)"},
    2: {"x": "pow2(1..1024)", "y": "pow2(1..1024)", "threads": [64, 128, 256, 512, 1024]},
    3: {"x": "pow2(1..1024)", "y": "pow2(1..1024)", "z": "pow2(1..64)", "threads": [64, 128, 256, 512, 1024]},
}


class Namespace:
    """Names of a document, in which axes, fields and loops share one namespace, for those of a generator, in
    which they do not. A name stays as it is where it can."""

    def __init__(self, axes: Iterable[str] = ("x", "y", "z")):
        self._taken = {*RESERVED, *axes}
        self._names: dict[tuple[str, str], str] = {}

    def name(self, kind: str, original: str) -> str:
        """The name of a thing of this kind, the same each time."""
        if (kind, original) not in self._names:
            name = re.sub(r"[^A-Za-z0-9_]", "_", original)
            if name[:1].isdigit() or name.startswith("get_") or not name:
                name = f"_{name}"
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            self._names[kind, original] = name
        return self._names[kind, original]


def dtype(name: Any) -> str | int:
    """An element type as a document has it; a size in bytes where it has no name."""
    import numpy

    kind = numpy.dtype(name)
    found: str | int = DTYPES.get(kind.name, kind.itemsize)
    return found


def launch(
    axes: int,
    blocks: Any = None,
    fold: Any = None,
    registers: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The key `launch`: the blocks given, or all powers of two that make a common number of threads."""
    given = {
        "block": shapes(blocks) if blocks is not None else BLOCKS[axes],
        "fold": shapes(fold) if fold is not None else None,
        "registers": registers,
        **more,
    }
    return {key: value for key, value in given.items() if value is not None}


def shapes(given: Any) -> Any:
    """A list of shapes; a mapping of ranges stays as it is."""
    if isinstance(given, dict):
        return given
    given = [given] if isinstance(given, Integral) or all(isinstance(n, Integral) for n in given) else given
    return [[int(n) for n in ([shape] if isinstance(shape, Integral) else shape)] for shape in given]


def access(field: str, found: Sequence[Any] | None, offset: Any) -> str:
    """An access by indices, or by an offset from the field's base."""
    if found is None:
        return f"{field} + ({offset})"
    return f"{field}[{', '.join(map(str, found))}]"


def unique(items: Iterable[Any]) -> list[Any]:
    """Each once, in the order in which they came."""
    seen: list[Any] = []
    known: set[str] = set()
    for item in items:
        key = repr(item)
        if key not in known:
            known.add(key)
            seen.append(item)
    return seen


def block_of(choice: Any, most: int = 3) -> tuple[int, ...]:
    """The block that a ranking, one of its results, or a shape names."""
    if isinstance(choice, dict):
        if "results" in choice:
            if not choice["results"]:
                raise ValueError("no launch of this ranking can run: its key `infeasible` says why")
            choice = choice["results"][0]
        choice = choice["config"]["block"]
    return tuple([*(int(n) for n in choice), 1, 1, 1][:most])
