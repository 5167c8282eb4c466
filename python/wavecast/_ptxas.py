"""Registers of a kernel from NVIDIA's assembler, where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from ._nvrtc import packaged, toolkits
from ._store import kept

#: Seconds that it may take.
LIMIT = 60


def find() -> str | None:
    """The one that `WAVECAST_PTXAS` names (if it is empty, none), of NVIDIA's package, in PATH, or of a toolkit."""
    named = os.environ.get("WAVECAST_PTXAS")
    if named is not None:
        return named or None
    found = [f for pattern in ("cuda_nvcc/bin/ptxas*", "cu*/bin/ptxas*") for f in packaged(pattern)]
    found += [os.path.join(folder, "bin", "ptxas") for folder in toolkits()]
    return next((f for f in [*found, shutil.which("ptxas")] if f and os.access(f, os.X_OK)), None)


def assembled(ptx: str, entry: str, arch: int) -> tuple[int, int] | None:
    """Registers of a thread, and bytes that it stores because registers are missing; ``None`` without an assembler, or
    if it does not take the text."""
    program = find()
    if program is None:
        return None
    built = os.stat(program)
    messages = kept(["ptxas", program, built.st_size, built.st_mtime_ns, ptx, arch], lambda: _told(program, ptx, arch))
    own = messages.partition(f"Compiling entry function '{entry}'")[2].partition("Compiling entry function")[0]
    registers = re.search(r": Used (\d+) registers", own)
    spilled = re.search(r"(\d+) bytes spill stores", own)
    return (int(registers[1]), int(spilled[1]) if spilled else 0) if registers else None


def _told(program: str, ptx: str, arch: int) -> str:
    command = [program, "-v", f"--gpu-name=sm_{arch}", "-o", os.devnull, "-"]
    try:
        done = subprocess.run(command, input=ptx, capture_output=True, text=True, timeout=LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout if done.returncode == 0 else ""
