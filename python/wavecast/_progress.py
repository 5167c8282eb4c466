"""A line on the terminal that says how far a run is."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Callable


class Progress:
    """Shown while it is used with ``with``, on a terminal only unless ``shown`` says otherwise."""

    #: Seconds between two lines.
    EVERY = 0.5

    def __init__(self, shown: bool | None, total: Callable[[], int | None], things: str = "jobs"):
        self._things = things
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._total = total() if self._shown else None
        self._done = self._kept = 0
        self._began = self._last = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        if self._shown and self._last > self._began:
            self._print("\n")

    def add(self, jobs: int, kept: bool = False) -> None:
        """So many jobs more are done, or were done by an earlier run."""
        self._done += jobs
        self._kept += jobs if kept else 0
        if self._shown and time.monotonic() - self._last > self.EVERY:
            self._last = time.monotonic()
            self._print("")

    def _print(self, end: str) -> None:
        sys.stderr.write(f"\r\x1b[K{self.line(time.monotonic() - self._began)}{end}")
        sys.stderr.flush()

    def line(self, seconds: float) -> str:
        """What is shown after so many seconds."""
        rate = (self._done - self._kept) / max(seconds, 1e-9)
        of = "" if self._total is None else f" of {self._total:,}"
        said = f"wavecast: {self._done:,}{of} {self._things}, {rate:,.0f} a second"
        if self._total is None or not rate or self._done >= self._total:
            return said
        return f"{said}, about {_long((self._total - self._done) / rate)} left"


def _long(seconds: float) -> str:
    """A time as people say it."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
