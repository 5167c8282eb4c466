"""The folder of a run: parts that are there whole or not at all, and a manifest that says which."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any, Mapping, NamedTuple

from ._fleet_jobs import Chunk
from ._wavecast import __version__

MANIFEST = "manifest.jsonl"
#: What a new run takes for a chunk.
SECONDS = 5.0


class Part(NamedTuple):
    """What the manifest says of a part."""

    part: int
    first: int
    jobs: int
    rows: int
    failed: int
    bytes: int
    digest: str


class Parts:
    """A folder that a run writes to. Whatever ends the run, a new one goes on with it."""

    def __init__(self, folder: str | os.PathLike[str], seconds: float | None):
        self.folder = Path(os.path.abspath(folder))
        self.folder.mkdir(parents=True, exist_ok=True)
        self._path = self.folder / MANIFEST
        begun, self.done = read(self.folder)
        if begun is None and any(self.folder.glob("part-*.parquet")):
            raise ValueError(f"{self.folder} has parts and no {MANIFEST}: give another folder, or remove the parts")
        self.seconds = float(begun["chunk_seconds"] if begun else SECONDS) if seconds is None else float(seconds)
        self._check(begun)
        for left in self.folder.glob("*.tmp"):
            left.unlink(missing_ok=True)
        # Without what a crash left of a line, and of parts that were lost.
        self.done = {n: part for n, part in self.done.items() if self._is_there(part)}
        self._head = {"wavecast": __version__, "chunk_seconds": self.seconds}
        self._write(())
        self._log = open(self._path, "a", encoding="utf-8")

    def _check(self, begun: Mapping[str, Any] | None) -> None:
        """Parts of another version or of other chunks would not fit together."""
        asked = {"wavecast": __version__, "chunk_seconds": self.seconds}
        for name, value in asked.items():
            if begun is not None and begun[name] != value:
                raise ValueError(
                    f"{self.folder} was begun with {name} {begun[name]}, and now it is {value}: "
                    "go on with the same, or give another folder"
                )

    def _is_there(self, part: Part) -> bool:
        path = self.path(part.part)
        return path.is_file() and path.stat().st_size == part.bytes

    def path(self, number: int) -> Path:
        """The file of a part."""
        return self.folder / f"part-{number:08}.parquet"

    def has(self, chunk: Chunk) -> bool:
        """Whether a chunk was done. Raises an error if its part has other jobs."""
        part = self.done.get(chunk.number)
        if part is not None and part.digest != chunk.digest:
            last = chunk.first + chunk.jobs - 1
            raise ValueError(
                f"{self.path(chunk.number)} was made of other jobs than those with the numbers {chunk.first} to "
                f"{last} now: go on with the same jobs and options, or give another folder"
            )
        return part is not None

    def note(self, chunk: Chunk, rows: int, failed: int, size: int) -> None:
        """Writes into the manifest that the part of a chunk is there. It need not be on the disk at once: a part that
        the manifest lost is made again."""
        part = Part(chunk.number, chunk.first, chunk.jobs, rows, failed, size, chunk.digest)
        self.done[chunk.number] = part
        self._log.write(_line(part._asdict()))
        self._log.flush()

    def finish(self, chunks: int) -> None:
        """Writes the manifest in the order of the parts, with their sums."""
        more = sorted(number for number in self.done if number >= chunks)
        if more:
            raise ValueError(
                f"{self.path(more[0])} has jobs that are not there any more: go on with the same jobs, or "
                "give another folder"
            )
        self._write([{"complete": True, "parts": chunks, **sums(self.done)}])

    def close(self) -> None:
        self._log.close()

    def _write(self, more: Any) -> None:
        parts = [self.done[number]._asdict() for number in sorted(self.done)]
        written(self._path, "".join(map(_line, [self._head, *parts, *more])).encode())


def read(folder: Path) -> tuple[dict[str, Any] | None, dict[int, Part]]:
    """What a manifest says: how the run was begun, and its parts. A line that a crash cut off says nothing."""
    try:
        lines = (folder / MANIFEST).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None, {}
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    if not found or "chunk_seconds" not in found[0]:
        raise ValueError(f"{folder / MANIFEST} is no manifest of wavecast.fleet: give another folder")
    parts = [Part(**entry) for entry in found if "part" in entry]
    return {**found[0], "complete": "complete" in found[-1]}, {part.part: part for part in parts}


def sums(parts: Mapping[int, Part]) -> dict[str, int]:
    """Jobs, rows and failed jobs of all parts."""
    return {name: sum(getattr(part, name) for part in parts.values()) for name in ("jobs", "rows", "failed")}


def written(path: Path, data: bytes) -> None:
    """Writes a file that is there whole or not at all, whatever happens meanwhile."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    with open(temporary, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry) + "\n"
