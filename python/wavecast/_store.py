"""What compilers made, kept for the next time: files in `$WAVECAST_CACHE` or `~/.cache/wavecast`."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, Callable

from . import _wavecast

#: Bytes that are kept; the least used files go first.
MOST = 256 << 20


def folder() -> Path | None:
    """Where files are kept; ``None`` if `WAVECAST_CACHE` is "off"."""
    given = os.environ.get("WAVECAST_CACHE")
    if given == "off":
        return None
    if given:
        return Path(given) / "compiled"
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "wavecast" / "compiled"
    except RuntimeError:
        # A user without a home.
        return None


def kept(key: Any, make: Callable[[], Any], least: float = 0.0) -> Any:
    """What was made for this key before, in this process or another, or what `make` makes now; kept if that took
    ``least`` seconds."""
    place = folder()
    if place is None:
        return make()
    name = hashlib.sha256(json.dumps([_build(), key], sort_keys=True, default=repr).encode()).hexdigest()
    file = place / f"{name}.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        os.utime(file)
        return found
    except (OSError, ValueError):
        # Not there, or half of it: another program's disk was full.
        pass
    started = time.monotonic()
    made = make()
    if time.monotonic() - started < least:
        return made
    try:
        _write(file, json.dumps(made))
        _bound(place)
    except OSError as error:
        warnings.warn(f"{place} cannot be written, so that nothing is kept for the next time: {error}", stacklevel=2)
    return made


@functools.lru_cache(maxsize=1)
def _build() -> list[Any]:
    """What a release reads, the next one might not, nor the next build of a developer."""
    native = os.stat(_wavecast.__file__)
    return [_wavecast.__version__, native.st_size, native.st_mtime_ns]


def _write(file: Path, text: str) -> None:
    """Whole or not at all, whoever reads or writes the same meanwhile."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise


def _bound(place: Path) -> None:
    """Removes what was not used for longest, until a quarter is free again."""
    files = []
    for entry in os.scandir(place):
        try:
            files.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
        except FileNotFoundError:
            # Another process has removed it.
            continue
    size = sum(f[1] for f in files)
    if size <= MOST:
        return
    for _, bytes_, path in sorted(files):
        if size <= MOST * 3 // 4:
            break
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        size -= bytes_
