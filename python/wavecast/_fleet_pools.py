"""Who does the work: this process, an executor, Dask or Ray, all asked in the same way."""

from __future__ import annotations

import os
import secrets
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, Callable

from ._fleet_rows import answers
from ._fleet_work import part


#: Chunks for each worker: one that it does and some that wait for it, so that it need not wait.
EACH = 3
#: Seconds for which the number of workers is taken to stay.
STEADY = 2.0


class Here:
    """This process."""

    def workers(self) -> int:
        return 1

    def limit(self) -> int:
        """How many chunks are handed over at a time."""
        return 1

    def part(self, name: str, sent: bytes, path: str | None) -> Any:
        """A future of a part: something with ``add_done_callback`` and ``result``."""
        return self._submit(name, part, sent, path)

    def rows(self, name: str, sent: bytes) -> Any:
        """A future of the rows alone."""
        return self._submit(name, answers, sent)

    def task(self, name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """A future of any other work."""
        return self._submit(name, work, *arguments)

    def cancel(self, future: Any) -> None:
        """Ends what nobody waits for any more, where that is possible."""
        future.cancel()

    def lost(self, why: BaseException) -> bool:
        """Whether workers died, more often than is tried again."""
        return False

    def _submit(self, name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*arguments))
        except Exception as why:
            future.set_exception(why)
        return future


class Many(Here):
    """Several workers, whose number may change."""

    _counted = (0.0, 1)

    def workers(self) -> int:
        at, found = self._counted
        if not at or time.monotonic() - at > STEADY:
            found = max(self._count(), 1)
            self._counted = time.monotonic(), found
        return found

    def limit(self) -> int:
        return EACH * self.workers()

    def _count(self) -> int:
        raise NotImplementedError


class OfExecutor(Many):
    """Threads or processes of ``concurrent.futures``, or whatever has the same methods."""

    def __init__(self, executor: Executor):
        self._executor = executor

    def _count(self) -> int:
        return int(getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1)

    def _submit(self, name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return self._executor.submit(work, *arguments)
        except BrokenExecutor as why:
            raise _broken() from why

    def lost(self, why: BaseException) -> bool:
        if isinstance(why, BrokenExecutor):
            # It does nothing any more.
            raise _broken() from why
        return False


class OfDask(Many):
    """A cluster of Dask. The scheduler does a chunk again whose worker died, as often as its setting
    ``distributed.scheduler.allowed-failures`` says."""

    def __init__(self, client: Any):
        if client.asynchronous:
            raise TypeError("rank_many: give a Client that is not asynchronous: Client(address)")
        self._client = client
        self._run = secrets.token_hex(4)

    def _count(self) -> int:
        return sum(self._client.nthreads().values())

    def _submit(self, name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(work, *arguments, key=f"wavecast-{self._run}-{name}", pure=False)

    def cancel(self, future: Any) -> None:
        future.cancel(force=True)

    def lost(self, why: BaseException) -> bool:
        from distributed import KilledWorker

        return isinstance(why, KilledWorker)


class OfRay(Many):
    """A cluster of Ray, which does a chunk again whose worker died."""

    #: How often.
    TRIES = 3

    def __init__(self, ray: Any):
        self._ray = ray
        if not ray.is_initialized():
            ray.init()
        self._known: dict[Callable[..., Any], Any] = {}
        self._references: dict[Any, Any] = {}

    def _count(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))

    def _submit(self, name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        if work not in self._known:
            self._known[work] = self._ray.remote(max_retries=self.TRIES, num_cpus=1)(work)
        reference = self._known[work].remote(*arguments)
        future = reference.future()
        self._references[future] = reference
        future.add_done_callback(lambda one: self._references.pop(one, None))
        return future

    def cancel(self, future: Any) -> None:
        reference = self._references.get(future)
        if reference is not None:
            self._ray.cancel(reference, force=True)

    def lost(self, why: BaseException) -> bool:
        wrong = self._ray.exceptions
        return isinstance(why, (wrong.WorkerCrashedError, wrong.NodeDiedError, wrong.OutOfMemoryError))


Pool = Here


def pool(client: Any) -> Pool:
    """Whoever ``client=`` names."""
    if client is None:
        return Here()
    if isinstance(client, Executor):
        return OfExecutor(client)
    if client == "ray" or getattr(client, "__name__", None) == "ray":
        try:
            import ray
        except ImportError as why:
            raise ImportError("client='ray' needs Ray: pip install ray") from why
        return OfRay(ray)
    if hasattr(client, "scheduler_info") and hasattr(client, "submit"):
        return OfDask(client)
    raise TypeError(
        f"rank_many: client={client!r}: give a dask.distributed.Client, 'ray', an executor of concurrent.futures, "
        "or None for this process"
    )


def _broken() -> RuntimeError:
    return RuntimeError(
        "a worker process died, and an executor of concurrent.futures does nothing after that: call again with a new "
        "executor. If you call rank_many again with the same jobs and folder, it goes on with what is done. Dask and Ray do "
        "again what a dead worker had, and find the job at which workers die."
    )

