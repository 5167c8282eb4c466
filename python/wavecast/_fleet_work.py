"""What a worker does with a chunk."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from ._fleet_parts import written
from ._fleet_rows import Row, answers, encoded


class Done(NamedTuple):
    """What comes back of a chunk."""

    rows: int
    #: Jobs without a single launch.
    failed: int
    size: int
    #: What the jobs took.
    seconds: float
    #: The part, unless the worker has written it.
    data: bytes | None


def part(sent: bytes, path: str | None) -> Done:
    """Does a chunk; the part is written if there is a path, and handed over otherwise."""
    started = time.perf_counter()
    rows = answers(sent)
    data = encoded(rows)
    if path is not None:
        written(Path(path), data)
    spent = time.perf_counter() - started
    return Done(len(rows), failed(rows), len(data), spent, data if path is None else None)


def failed(rows: list[Row]) -> int:
    """Jobs that have an error."""
    return len({row["job"] for row in rows if row.get("error_code") is not None})
