"""Registers of a kernel from NVIDIA's assembler, where it is installed."""

from __future__ import annotations

import os

from . import _wavecast
from ._nvrtc import packaged


def find() -> str | None:
    """That of NVIDIA's package in this Python, which the command line does not see; otherwise the one that this takes."""
    if "WAVECAST_PTXAS" not in os.environ:
        files = (file for pattern in ("cuda_nvcc/bin/ptxas*", "cu*/bin/ptxas*") for file in packaged(pattern))
        found = next((file for file in files if os.access(file, os.X_OK)), None)
        if found is not None:
            return found
    return _wavecast.ptxas()


def assembled(ptx: str, entry: str, arch: int) -> tuple[int, int] | None:
    """Registers of a thread, and bytes that it stores because registers are missing; ``None`` without an assembler, or
    if it does not take the text. What it said is kept where the command line keeps it."""
    program = find()
    return None if program is None else _wavecast.assembled(program, ptx, entry, f"sm_{arch}")
