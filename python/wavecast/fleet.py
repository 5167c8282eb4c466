"""Rankings of very many kernels on several processes or machines, with Dask, Ray or an executor.

>>> import wavecast.fleet
>>> jobs = ({"kernel": k, "device": d, "id": f"{n}/{d}"} for n, k in kernels for d in devices)
>>> run = wavecast.fleet.rank_many(jobs, "results/", client=client, top=1)
>>> run.frame()                                         # pandas, a row for each launch

The results are a Parquet data set. A run that was ended goes on where it was if it is called again. `docs/fleet.md`
describes jobs, columns and limits.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, cast

from . import _fleet_jobs, _fleet_parts
from ._fleet_jobs import Chunk, Jobs
from ._progress import Progress

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from ._fleet_parts import Parts
    from ._fleet_pools import Pool
    from ._results import Document

__all__ = ["Run", "cache", "rank_many", "reuse"]


class Run:
    """What a folder of results has: of a run that is over, or of one that was ended before."""

    __module__ = "wavecast.fleet"

    def __init__(self, folder: str | os.PathLike[str]):
        #: The folder.
        self.folder = Path(folder)
        begun, parts = _fleet_parts.read(self.folder)
        if begun is None:
            raise FileNotFoundError(f"{self.folder} has no results of wavecast.fleet: rank_many writes them")
        #: Whether all jobs are done.
        self.complete = bool(begun["complete"])
        #: The files with the results, in the order of their jobs.
        self.parts = [self.folder / f"part-{number:08}.parquet" for number in sorted(parts)]
        sums = _fleet_parts.sums(parts)
        #: How many jobs are done.
        self.jobs = sums["jobs"]
        #: How many rows there are, those of errors included.
        self.rows = sums["rows"]
        #: How many jobs have an error.
        self.failed = sums["failed"]

    def table(self) -> pyarrow.Table:
        """All rows as a table of Arrow, in the order of the jobs."""
        _needs_arrow()
        import pyarrow
        import pyarrow.parquet

        from ._fleet_rows import schema

        tables = [pyarrow.parquet.read_table(part, schema=schema()) for part in self.parts]
        return pyarrow.concat_tables(tables) if tables else schema().empty_table()

    def frame(self) -> pandas.DataFrame:
        """All rows as a pandas DataFrame. More than fits into memory is for DuckDB, which reads the parts."""
        try:
            import pandas
        except ImportError as why:
            raise ImportError("frame() needs pandas: pip install pandas") from why
        table = self.table()
        # Rows of errors have no block: whole numbers stay whole beside them.
        whole = {table.schema.field("rank").type: pandas.Int32Dtype()}
        return table.to_pandas(types_mapper=whole.get)

    def __repr__(self) -> str:
        state = "" if self.complete else ", not all jobs yet"
        return f"<{self.jobs:,} jobs, {self.failed:,} of them failed, {self.rows:,} rows in {self.folder}{state}>"


def rank_many(
    jobs: Jobs,
    folder: str | os.PathLike[str],
    *,
    client: Any = None,
    shared: bool = False,
    chunk_seconds: float | None = None,
    in_flight: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Run:
    """Ranks the launches of many kernels and writes them into a folder as a Parquet data set.

    ``jobs`` is an iterable of dicts, each with ``kernel`` and ``device`` and whatever keywords of
    :func:`wavecast.rank` it has of its own, or the path of a file with such an object in each line. They are read as
    they are needed. ``id`` is a name by which a job is found in the results; its number otherwise. Other keywords,
    such as ``top=1``, are for all jobs that do not have them themselves.

    ``client`` does the work: a ``dask.distributed.Client``, ``"ray"``, an executor of ``concurrent.futures``, or
    this process. With ``shared`` the workers write their results themselves, into the same folder, which they have to
    see. ``chunk_seconds`` is about how much a worker gets at a time (5), ``in_flight`` how many of these chunks are
    handed over at a time (three for each worker).

    A job that fails is a row with its error. If the run ends early, by Ctrl-C or a crash, the same call goes on with
    it: what is done is not done again. The files are the same, byte by byte, whoever did the work.
    """
    from ._fleet_pools import pool

    _needs_arrow()
    asked = _fleet_jobs.checked(options)
    if chunk_seconds is not None and not chunk_seconds > 0:
        raise ValueError(f"rank_many: chunk_seconds={chunk_seconds}: give a number above 0")
    workers = pool(client)
    parts = _fleet_parts.Parts(folder, chunk_seconds)
    try:
        chunks = _fleet_jobs.chunks(jobs, asked, parts.seconds)
        with Progress(progress, lambda: _fleet_jobs.count(jobs)) as shown:
            work = _Work(workers, parts, shown, shared, in_flight)
            parts.finish(work.all(chunks))
    finally:
        parts.close()
    return Run(folder)


def reuse(source: Any, cores: int, *, client: Any = None, progress: bool | None = None, **options: Any) -> Document:
    """As :func:`wavecast.trace.reuse`, of a long trace on so many SMs (``cores``), which are shared among workers.

    The trace is cut by SM: block *b* belongs to SM *b* mod ``cores``. A worker reads the trace, keeps the blocks of
    one SM, and runs the model on it; histograms and counts are then added up, ticks are those of the slowest SM. The
    result is the same, byte by byte, whoever did the work, and with ``static_batches=True`` that of
    ``wavecast.trace.reuse(source, cores=cores, static_batches=True)`` but for ``lines``, which it lacks. Without, an
    SM takes none of another's blocks.
    ``client`` is as for :func:`rank_many`; workers have to see the file. Other keywords are those of
    :func:`wavecast.trace.reuse`."""
    from . import _fleet_traces

    return cast("Document", _fleet_traces.reduced("reuse", source, cores, client, progress, options))


def cache(source: Any, cores: int, *, client: Any = None, progress: bool | None = None, **options: Any) -> Document:
    """As :func:`wavecast.trace.cache`, of a long trace on so many SMs, each with a cache of its own. It is cut and put
    together as :func:`reuse` does; counts are sums over all SMs."""
    from . import _fleet_traces

    return cast("Document", _fleet_traces.reduced("cache", source, cores, client, progress, options))


class _Work:
    """A run while it lasts."""

    def __init__(self, pool: Pool, parts: Parts, shown: Progress, shared: bool, in_flight: int | None):
        self._pool, self._parts, self._shown = pool, parts, shown
        self._shared, self._in_flight = shared, in_flight
        self._flying: dict[int, tuple[Any, Chunk]] = {}
        self._landed: SimpleQueue[int] = SimpleQueue()
        #: Chunks at which workers died, or that were with them when they did.
        self._suspects: list[Chunk] = []

    def all(self, chunks: Any) -> int:
        """Does the chunks that are not done yet; how many there are in all."""
        numbers = count()
        try:
            for chunk in chunks:
                next(numbers)
                if self._parts.has(chunk):
                    self._shown.add(chunk.jobs, kept=True)
                    continue
                self._start(chunk)
                while len(self._flying) >= (self._in_flight or self._pool.limit()):
                    self._take()
            while self._flying:
                self._take()
        finally:
            for future, _ in self._flying.values():
                self._pool.cancel(future)
        for chunk in self._suspects:
            self._one_by_one(chunk)
        return next(numbers)

    def _start(self, chunk: Chunk) -> None:
        path = str(self._parts.path(chunk.number)) if self._shared else None
        future = self._pool.part(str(chunk.number), chunk.sent, path)
        self._flying[chunk.number] = future, chunk
        future.add_done_callback(lambda _: self._landed.put(chunk.number))

    def _take(self) -> None:
        """Waits for a chunk and keeps what comes of it."""
        future, chunk = self._flying.pop(self._landed.get())
        try:
            done = future.result()
        except Exception as why:
            if not self._pool.lost(why):
                raise
            self._suspects.append(chunk)
            return
        if done.data is not None:
            _fleet_parts.written(self._parts.path(chunk.number), done.data)
        self._note(chunk, done.rows, done.failed, done.size)

    def _one_by_one(self, chunk: Chunk) -> None:
        """Does a chunk job by job, nothing else running, so that whoever kills a worker is known."""
        from ._fleet_rows import encoded, lost
        from ._fleet_work import failed

        rows = []
        for number, (name, sent) in enumerate(chunk.each(), chunk.first):
            future = self._pool.rows(f"{chunk.number}-{number}", sent)
            try:
                rows += future.result()
            except Exception as why:
                if not self._pool.lost(why):
                    raise
                rows.append(lost(number, name))
            except BaseException:
                self._pool.cancel(future)
                raise
        data = encoded(rows)
        _fleet_parts.written(self._parts.path(chunk.number), data)
        self._note(chunk, len(rows), failed(rows), len(data))

    def _note(self, chunk: Chunk, rows: int, failed: int, size: int) -> None:
        self._parts.note(chunk, rows, failed, size)
        self._shown.add(chunk.jobs)


def _needs_arrow() -> None:
    try:
        import pyarrow
    except ImportError as why:
        raise ImportError("wavecast.fleet needs pyarrow: pip install 'wavecast[fleet]'") from why
