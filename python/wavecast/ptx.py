"""Kernels in PTX, as NVRTC, nvcc, clang, Numba and Triton write it: what they touch, read without a GPU.

>>> import wavecast.ptx
>>> reading = wavecast.ptx.read("saxpy.ptx", args={0: 1 << 20})      # a path, or the text
>>> reading.accesses                                                  # what a thread does to memory
>>> print(reading)                                                    # the kernel document
>>> reading.kernel.rank("a100")
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any, Callable, Mapping, Sequence, Union

from . import _arguments
from ._errors import KernelError
from ._errors import error as _error
from ._module import Module, Reading
from ._said import Said

__all__ = ["Reading", "entries", "read"]

#: The parameters of the entry: by name or number, or in order.
Args = Union[Mapping[Any, Any], Sequence[Any]]
#: Blocks along x, y, z: numbers, an expression such as ``"ceil(n / blockDim.x)"``, or a function of the block.
Grid = Union[int, Sequence[int], str, Callable[[tuple[int, int, int]], Any]]


def read(
    ptx: str | os.PathLike[str],
    entry: str | None = None,
    args: Args = (),
    *,
    blocks: Any = None,
    grid: Grid | None = None,
    trips: Mapping[int, int] | None = None,
    branch: Mapping[int, float] | None = None,
    assume: Mapping[int, str] | None = None,
    registers: int | None = None,
    names: Sequence[str] | None = None,
) -> Reading:
    """Reads a kernel.

    ``ptx`` is a text or the path of a file. ``args`` are what the parameters get, by name, by number from 0, or in
    order: numbers, arrays (anything with ``shape`` and ``dtype``), ``{byte: value}`` for a struct. ``names`` are the
    names of the source, which PTX does not keep. ``blocks`` are those to read it for, by default those it may be
    launched with; ``grid`` the blocks of the launch, by default what follows from bounds such as ``i < n``. ``trips``
    says how often the loop runs that has this line of the PTX in it, ``branch`` how probable it is that the branch or
    predicate in this line holds, ``assume`` what stands in the place of an address that depends on data, as in
    ``{44: "x[4*i0 + threadIdx.x]"}``, and ``registers`` what ptxas reports.
    """
    name, text = _text(ptx)
    said = Said.of(trips, branch, assume, registers)
    return read_entry(Module(name, text), entry, args, blocks, grid, said, names)


def entries(ptx: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The entries of a text, with their parameters."""
    return Module(*_text(ptx)).entries


def _text(ptx: str | os.PathLike[str]) -> tuple[str, str]:
    """Name and text."""
    if isinstance(ptx, os.PathLike) or "\n" not in ptx:
        with open(ptx, encoding="utf-8") as file:
            return os.fspath(ptx), file.read()
    return "PTX", ptx


def read_entry(
    module: Module,
    entry: str | None,
    args: Args,
    blocks: Any,
    grid: Grid | None,
    said: Said,
    names: Sequence[str] | None,
) -> Reading:
    """As :func:`read`, of a text that is parsed already."""
    found = module.entry(entry)
    module.names = tuple(names or ())
    texts = arguments(found, args, names, module.title)
    shapes = [list(b) for b in _arguments.shapes(blocks)]
    expression, grids = None, []
    if callable(grid):
        shapes = module.call("blocks", found["name"], shapes)
        grids = [
            list(_arguments.shape3(_arguments.called(grid, tuple(b), "the block"), f"grid for the block {tuple(b)}"))
            for b in shapes
        ]
    elif isinstance(grid, str):
        expression = _numbered(grid, found, names)
    elif grid is not None:
        expression = ", ".join(map(str, _arguments.shape3(grid, "grid")))
    start = (found["name"], texts, shapes, expression, grids)
    said = replace(said, assume={line: _numbered(at, found, names, r"(?<=[^\w.])") for line, at in said.assume.items()})
    told = said.by_lines_of_ptx(module, lambda *told: module.read(texts, (*start, *told, said.registers)))
    return module.read(texts, (*start, *told, said.registers))


def arguments(entry: Mapping[str, Any], args: Args, names: Sequence[str] | None, title: str | None = None) -> list[str]:
    """What the reader is told of the parameters. Pointers of which nothing is said are called as in the source."""
    parameters = entry["parameters"]
    _arguments.check_kind(args)
    if names is not None and len(names) > len(parameters):
        raise _count(entry, f"{len(names)} names", names)
    known = list(names or [])
    places = {p["name"]: p["number"] for p in parameters}
    places |= {f"arg{n}": n for n in range(len(parameters))} | {n: i for i, n in enumerate(known)}
    if not isinstance(args, Mapping):
        if len(args) > len(parameters):
            raise _count(entry, f"{len(args)} arguments", names)
        args = dict(enumerate(args))
    texts: list[str] = []
    told = set()
    for key, value in args.items():
        # `3+8` is the value at byte 8 of parameter 3.
        head, _, byte = str(key).partition("+")
        at = places.get(head.strip(), int(head) if head.strip().isdecimal() else None)
        if at is None or not 0 <= at < len(parameters):
            have = ", ".join(
                f"{p['number']} {known[i] if i < len(known) else p['name']}" for i, p in enumerate(parameters)
            )
            said = f"`{title or entry['name']}` has no parameter `{key}`"
            raise KernelError([_error("ptx-argument", said, f"it has: {have or 'none'}")])
        told.add(at)
        name = (
            known[at] if at < len(known) else str(key) if isinstance(key, str) and not byte else parameters[at]["name"]
        )
        if not byte and parameters[at]["bytes"] != 8 and _arguments.array(value) is not None:
            said = f"parameter {name} of `{title or entry['name']}` is no pointer ({parameters[at]['type']})"
            raise KernelError([_error("ptx-argument", f"{said}, but an array is given", "give a number")])
        if not byte and parameters[at]["type"][0] in "us":
            value = _arguments.whole(name, parameters[at]["type"], value)
        texts += _arguments.given(f"{at}+{byte.strip()}" if byte else str(at), name, value)
    # A number in the place of a pointer changes nothing; a name makes it a field of this name.
    pointers = (i for i, p in enumerate(parameters) if p["type"][1:] == "64" and i < len(known) and i not in told)
    return [*texts, *(f"{i}={_arguments.field(known[i])}" for i in pointers)]


def _count(entry: Mapping[str, Any], given: str, names: Sequence[str] | None) -> KernelError:
    have = len(entry["parameters"])
    listed = f": {', '.join(names)}" if names else ""
    help = f"they go by name, as in args=dict(n=1024), or by number from 0, as in args={{0: 1024}}{listed}"
    return KernelError([_error("ptx-argument", f"{given} for the {have} parameters of entry `{entry['name']}`", help)])


def _numbered(text: str, entry: Mapping[str, Any], names: Sequence[str] | None, before: str = r"(?<![\w.])") -> str:
    """The expression with `arg0` in the place of names of the source. ``before`` is what may stand before a name: in an
    access, which begins with a field, there has to be something."""
    places = {p["name"]: f"arg{p['number']}" for p in entry["parameters"]}
    places |= {name: f"arg{i}" for i, name in enumerate(names or [])}
    return re.sub(before + r"[A-Za-z_$][\w$]*", lambda m: places.get(m[0], m[0]), text)
