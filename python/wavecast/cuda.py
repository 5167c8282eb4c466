"""A kernel in one line: compiled without a GPU, read, and ranked.

>>> import wavecast.cuda
>>> ranking = wavecast.cuda.rank(kernel, args=dict(n=1 << 24, x=x, y=y), grid=lambda b: -(-n // b[0]), device="a100")
>>> ranking.best.block
>>> print(ranking)

``kernel`` is CUDA text or PTX (or the path of a ``.cu`` or ``.ptx`` file), a CuPy ``RawKernel``, a Numba kernel (what
``@cuda.jit`` gives, or the Python function), a Triton kernel or a Warp kernel. ``args`` are what its parameters get:
numbers, and arrays of NumPy, CuPy or PyTorch, of which only shape and type matter; :class:`Array` stands for one that
does not exist. ``pip install 'wavecast[cuda]'`` brings the compiler for CUDA text, ``'wavecast[numba]'`` and
``'wavecast[triton]'`` those of the others.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import Any, Mapping, Sequence

from . import _api, _arguments, _ptxas, _wavecast
from ._arguments import Array
from ._errors import KernelError
from ._errors import error as _error
from ._kernels import at_once, source
from ._nvrtc import CompileError
from ._ranking import Ranking
from ._said import Said
from ._sources import Block, Compiled, Options, Source
from ._variants import merged
from ._words import in_python
from .ptx import Args, Grid, Reading, read_entry

__all__ = ["Array", "CompileError", "Compiled", "compile", "document", "predict", "rank", "read"]

#: What is compiled for where a device has no NVIDIA architecture.
ARCH = 80


def rank(
    kernel: Any,
    args: Args = (),
    grid: Grid | None = None,
    device: str | None = None,
    *,
    blocks: Any = None,
    entry: Any = None,
    options: Options = (),
    trips: Mapping[int, int] | None = None,
    branch: Mapping[int, float] | None = None,
    assume: Mapping[int, str] | None = None,
    registers: int | None = None,
    signature: Any = None,
    constexprs: Mapping[str, Any] | None = None,
    configs: Sequence[Any] | None = None,
    **more: Any,
) -> Ranking:
    """Ranks the thread blocks of a kernel, best first.

    ``args``: by name, as in ``dict(n=1024, x=x)``, or in order. ``grid``: the blocks of the launch along x, y, z, a
    function of the block (of Triton: of the configuration and the arguments), an expression such as
    ``"ceil(n / blockDim.x)"``, or numbers; by default what follows from bounds such as ``if (i < n)``. ``blocks``: the
    blocks to consider, by default all usual ones. ``device``: as for :func:`wavecast.rank`; the kernel is compiled for
    it. ``entry``: the kernel, if the text has several; a template with its arguments, ``"axpy<float>"``.

    ``options`` go to NVRTC. Where the source has the block in it, they say it (``"-DBLOCK_X={x}"``, or a function of
    the block), and so may ``entry``; each block is then compiled by itself. ``trips`` says how often a loop runs where
    only data would tell: ``{line: number}``, by lines of the source. ``branch`` says how probable it is, where data
    decide, that what an ``if`` decides about is done (the first part, if it has an ``else``): ``{line: 0.3}``; it holds
    for each condition in the line. ``assume`` puts an address in the place of one that depends on data:
    ``{line: "x[4*threadIdx.x]"}``. Lines are those of the source, or of the PTX if that is all there is. ``registers``
    is what ptxas reports; by default it is asked, where it is installed (``WAVECAST_PTXAS`` names another one; if it is
    empty, none).

    ``signature`` is the types of a Numba kernel, by default those of ``args``. Of a Triton kernel ``constexprs`` holds
    the constants, ``num_warps`` and ``num_stages`` can be given too, and ``configs`` are the configurations to rank, by
    default those of ``@triton.autotune``. Of a Warp kernel ``dim`` is that of ``wp.launch``, in the place of ``grid``.

    Other keywords are those of :func:`wavecast.rank`. Raises :class:`wavecast.KernelError`, as :class:`CompileError`
    if the text does not compile; it names each access that cannot be read.
    """
    given = dict(entry=entry, options=options, trips=trips, branch=branch, assume=assume, registers=registers)
    given |= dict(signature=signature, constexprs=constexprs, configs=configs)
    found, warnings = _document(kernel, args, grid, device, blocks, given, more)
    ranking: Ranking = _api.rank(found, device, **more)
    ranking["warnings"] += warnings
    return ranking


def predict(
    kernel: Any,
    args: Args = (),
    grid: Grid | None = None,
    device: str | None = None,
    *,
    block: Any = None,
    **more: Any,
) -> Any:
    """Everything about one launch: as :func:`wavecast.predict`, of a kernel that :func:`rank` takes. Keywords are those
    of :func:`rank` and of :func:`wavecast.predict`."""
    given = {name: more.pop(name) for name in READING if name in more}
    found, warnings = _document(kernel, args, grid, device, None if block is None else [block], given, more)
    if isinstance(found.get("variants"), list) and len(found["variants"]) > 1:
        raise ValueError(
            f"this kernel has {len(found['variants'])} configurations: give one, or ask rank() about all of them"
        )
    result = _api.predict(found, None if block is None else list(_arguments.shape3(block)), None, device, **more)
    if isinstance(result, list):
        [result] = result
    result.setdefault("warnings", []).extend(warnings)
    return result


def read(
    kernel: Any,
    args: Args = (),
    grid: Grid | None = None,
    device: str | None = None,
    *,
    blocks: Any = None,
    **more: Any,
) -> Reading:
    """What a thread of the kernel touches. Keywords are those of :func:`rank`; of a kernel that is another program for
    each block or configuration, the first is read."""
    given = {name: more.pop(name) for name in READING if name in more}
    readings = _readings(kernel, args, grid, device, blocks, given, more, first=True)
    _nothing_left(more, "read")
    return readings[0][1]


def document(
    kernel: Any,
    args: Args = (),
    grid: Grid | None = None,
    device: str | None = None,
    *,
    blocks: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """The kernel document, to keep and change. Keywords are those of :func:`rank`."""
    given = {name: more.pop(name) for name in READING if name in more}
    found, _ = _document(kernel, args, grid, device, blocks, given, more)
    _nothing_left(more, "document")
    return found


def compile(
    kernel: Any,
    entry: Any = None,
    *,
    device: str | None = None,
    arch: int | None = None,
    options: Options = (),
    block: Any = None,
    args: Args = (),
    signature: Any = None,
    constexprs: Mapping[str, Any] | None = None,
    **compile_options: Any,
) -> Compiled:
    """The PTX of a kernel, for a device or a compute capability (``arch=80``); :func:`rank` takes it too."""
    found = source(kernel, entry, options, signature=signature, constexprs=constexprs, compile_options=compile_options)
    shape = None if block is None else _arguments.shape3(block)
    if found.per_block and shape is None:
        raise ValueError("block= says for which block to compile, as the options depend on it")
    _, found, _ = _programs(found, args, [shape] if shape else [])[0]
    return found.compiled(arch or architecture(device), shape)


#: Keywords that say how a kernel is compiled and read.
READING = ("entry", "options", "trips", "branch", "assume", "registers", "signature", "constexprs", "configs")
#: Options of Triton's compiler, and threads of a launch of Warp.
TRITON = ("num_warps", "num_stages", "num_ctas", "maxnreg", "dim")


#: What helps where data decide.
DECIDED = "branch={LINE: 0.3} says how probable it is, LINE being that of the condition"


def architecture(device: str | None) -> int:
    """The compute capability of a device, as in 80."""
    if device is not None and not isinstance(device, (str, os.PathLike)):
        given = _arguments.shown(device)
        raise TypeError(f"device={given}: name a device, as in device='a100'; wavecast.devices() lists all")
    try:
        target = _wavecast.device_target(None if device is None else os.fspath(device))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"device={str(device)!r}: there is no such file") from error
    except ValueError as error:
        if not str(error).startswith("{"):
            raise
        raise KernelError([in_python(e) for e in json.loads(str(error))["errors"]]) from None
    return int(target[3:]) if target and target.startswith("sm_") else ARCH


def _document(
    kernel: Any, args: Args, grid: Any, device: str | None, blocks: Any, given: dict[str, Any], more: dict[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The document of a kernel, and what there is to say of it."""
    readings = _readings(kernel, args, grid, device, blocks, given, more)
    parts = []
    said: dict[str, str | None] = {}
    for name, reading, compiled in readings:
        try:
            found = dict(reading.document)
        except KernelError as error:
            if not any(other.text for _, other, _ in readings):
                raise
            said[f"{name} is left out: {str(error).splitlines()[0]}"] = None
            continue
        found["kernel"] = compiled.name or found["kernel"]
        if compiled.shared:
            found["launch"] = {**found["launch"], "shared": compiled.shared}
        parts.append((name, found))
        if compiled.spilled:
            said[
                f"{name or compiled.name}: {compiled.spilled} bytes of registers are spilled; they are not counted"
            ] = None
        for access in reading.accesses:
            if access["status"] == "data":
                place = f"line {access['source_line'] or access['line']}"
                if reading.ended_by(access, given.get("trips") or {}):
                    continue
                what = f"{place}: {access['op']} of {access['field']}"
                if access.get("anywhere") and access["space"] == "global":
                    said[f"{what}: data decide which part of this table is read; its beginning is counted"] = None
                    continue
                why = reading.why(access) or "data decide whether it is done; it counts as always done"
                said[f"{what}: {why}"] = DECIDED
    found = merged(parts)
    if len({compiled.name for _, _, compiled in readings}) > 1:
        # The block is one of the template's arguments.
        found["kernel"] = re.sub(r"<.*", "", found["kernel"])
    return found, [{"code": "ptx-data", "message": message, "help": help} for message, help in said.items()]


def _readings(
    kernel: Any,
    args: Args,
    grid: Any,
    device: str | None,
    blocks: Any,
    given: dict[str, Any],
    more: dict[str, Any],
    first: bool = False,
) -> list[tuple[str | None, Reading, Compiled]]:
    """The readings of a kernel: one, or one for each block or configuration that is a program of its own."""
    arch = architecture(device)
    _arguments.check_kind(args)
    compile_options = {name: more.pop(name) for name in TRITON if name in more}
    entry = given.get("entry")
    if entry is not None and not isinstance(entry, str) and not callable(entry):
        raise TypeError(f"entry={_arguments.shown(entry)}: give the name of a kernel, or a function of the block")
    found = source(
        kernel,
        entry,
        given.get("options") or (),
        signature=given.get("signature"),
        constexprs=given.get("constexprs"),
        configs=given.get("configs"),
        compile_options=compile_options,
        trips=given.get("trips"),
    )
    shapes = _arguments.shapes(blocks)
    programs = _programs(found, args, shapes)
    programs = programs[:1] if first else programs
    ask = given.get("registers") is None
    made = at_once(lambda p: _compiled(p[1], arch, p[2], ask), programs)
    readings = []
    for (name, program, block), compiled in zip(programs, made):
        if isinstance(compiled, Exception):
            raise compiled
        values, names = program.arguments(args, compiled)
        launches = program.grid(grid, args) if hasattr(program, "grid") else grid
        registers = compiled.registers if given.get("registers") is None else given["registers"]
        said = Said.of(given.get("trips"), given.get("branch"), given.get("assume"), registers)
        blocks = [block] if block else shapes or None
        reading = read_entry(compiled.module(), compiled.entry, values, blocks, launches, said, names)
        readings.append((name, reading, compiled))
    return readings


def _compiled(program: Source, arch: int, block: Block | None, ask: bool) -> Compiled:
    """The program in PTX, with its registers, if they are asked for and an assembler is there."""
    found = program.compiled(arch, block)
    if not ask or found.registers is not None:
        return found
    assembled = _ptxas.assembled(found.ptx, found.module().entry(found.entry)["name"], max(arch, found.arch or arch))
    return found if assembled is None else replace(found, registers=assembled[0], spilled=assembled[1])


def _programs(found: Source, args: Args, shapes: list[Block]) -> list[tuple[str | None, Source, Block | None]]:
    """What is compiled: name of the variant, program, block."""
    if hasattr(found, "programs"):
        return [(name, program, None) for name, program in found.programs(args)]
    if hasattr(found, "bound"):
        found = found.bound(args)
    if not found.per_block:
        return [(None, found, None)]
    shapes = shapes or getattr(found, "blocks", [])
    if not shapes:
        help = "say for which blocks to compile: blocks=[(16, 16), (32, 8)]"
        raise KernelError([_error("ptx-block", "the options of the compiler depend on the block", help)])
    return [(" x ".join(map(str, block)), found, block) for block in shapes]


def _nothing_left(more: Mapping[str, Any], name: str) -> None:
    if more:
        raise TypeError(f"{name}() got unexpected keywords: {', '.join(more)}")
