"""Registers of a generator's kernel, from its own text: NVRTC compiles it, and ptxas tells, where both are there."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Iterable, NamedTuple, Union

from . import _ptxas, _wavecast
from ._kernels import Cuda
from ._nvrtc import Missing, library
from ._ranking import Ranking
from ._store import kept

#: Compiled like a C program: what generators expect to be there, and NVRTC does not have.
TYPES = "".join(
    f"typedef signed {kind} int{bits}_t; typedef unsigned {kind} uint{bits}_t;\n"
    for bits, kind in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
)


class Code(NamedTuple):
    """CUDA text of one kernel."""

    text: str
    options: tuple[str, ...] = ()
    #: Releases that the text depends on beside itself: those of headers, which may change.
    releases: tuple[str, ...] = ()


class Told(NamedTuple):
    """What ptxas says."""

    registers: int
    #: Bytes that a thread stores because registers are missing.
    spilled: int
    #: The architecture, as in sm_80.
    target: str


#: The registers of a kernel of several variants or nests, by their names.
Tellings = Union["Told", "dict[str, Told]", None]


def asked(code: Callable[[], Code], device: str | os.PathLike[str] | None) -> Told | None:
    """The registers of a text for a device. None where no compiler or assembler is installed, or where the device has
    none; if one is, and does not take the text, a warning says so."""
    program = _ptxas.find()
    target = _wavecast.device_target(None if device is None else os.fspath(device))
    if program is None or target is None or not target.startswith("sm_"):
        return None
    try:
        nvrtc = library()
    except Missing:
        return None
    arch = int(target[3:])
    try:
        text, options, releases = code()
        key = ["registers", text, options, releases, arch, nvrtc.version, program, os.stat(program).st_mtime_ns]
        found = kept(key, lambda: _compiled(text, options, arch))
    except Exception as why:
        # A ranking does not fail because its registers are not known better.
        said = str(why).strip().partition("\n")[0] or type(why).__name__
        warnings.warn(
            f"ptxas was not asked for registers, as the kernel's text could not be compiled: {said}", stacklevel=3
        )
        return None
    return None if found is None else Told(found[0], found[1], f"sm_{found[2]}")


def _compiled(text: str, options: Iterable[str], arch: int) -> tuple[int, int, int] | None:
    found = Cuda(text, None, list(options)).compiled(arch, None)
    arch = max(arch, found.arch or arch)
    told = _ptxas.assembled(found.ptx, found.module().entry(found.entry)["name"], arch)
    return None if told is None else (*told, arch)


def with_registers(document: dict[str, Any], told: Told | None) -> dict[str, Any]:
    """A document that has these registers."""
    if told is None:
        return document
    return {**document, "launch": {**document["launch"], "registers": told.registers}}


def said(ranking: Ranking, told: Tellings) -> Any:
    """The ranking, which says where its registers come from, and how many bytes are spilled."""
    known = {"": told} if isinstance(told, Told) else told or {}
    if not known:
        return ranking
    ranking["registers"] = [
        {
            "of": name or None,
            "registers": one.registers,
            "spilled_bytes": one.spilled,
            "source": f"ptxas for {one.target}",
        }
        for name, one in known.items()
    ]
    for name, one in known.items():
        if one.spilled:
            whose = name or ranking["kernel"]["name"]
            message = f"{whose}: {one.spilled} bytes of registers are spilled; they are not counted"
            help = "fewer work items for each thread need fewer registers"
            ranking["warnings"].append({"code": "registers-spilled", "message": message, "help": help})
    return ranking
