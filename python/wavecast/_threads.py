"""Work on several threads: what is compiled here lets other Python threads run."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Callable, Iterable, Iterator, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Items for each thread that wait, so that none has to wait for an item.
WAITING = 4


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int | None) -> Iterator[Result]:
    """What `work` makes of each item, in their order. They are taken as they are needed. An exception, also that of
    Ctrl-C, ends all: what is not begun is left, and what is begun ends unheard."""
    threads = (os.cpu_count() or 1) if workers is None else int(workers)
    if threads < 1:
        raise ValueError(f"workers={workers}: give a number from 1")
    pool = ThreadPoolExecutor(threads)
    flying: deque[Future[Result]] = deque()
    try:
        for item in items:
            flying.append(pool.submit(work, item))
            if len(flying) >= WAITING * threads:
                yield flying.popleft().result()
        while flying:
            yield flying.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
