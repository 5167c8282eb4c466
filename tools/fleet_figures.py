#!/usr/bin/env python3
"""What `wavecast.fleet` takes, as docs/fleet.md reports it: jobs a second in this process, with two workers of Dask and
with two of Ray; a worker of Dask is killed in the middle. The parts must be the same byte by byte.

    tools/fleet_figures.py [JOBS] [--ray]

It counts the messages of Dask's scheduler and measures what a chunk costs beyond its jobs: chunks of one job that
fails at once, many of them.
"""

import collections
import functools
import hashlib
import inspect
import itertools
import os
import pathlib
import signal
import sys
import tempfile
import time

import wavecast.fleet

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ("stream-copy", "stream-scale", "stream-triad", "vec3", "star2d4")
DEVICES = ("a100", "h200", "mi300x", "l40", "v100")
TOP = 3


def jobs(count, middle=None):
    """Kernels of many sizes on some devices; `middle` is called in the middle."""
    texts = [(name, (ROOT / "kernels" / f"{name}.yaml").read_text()) for name in KERNELS]
    sizes = itertools.count(1 << 20, 4096)
    each = ((size, text, device) for size in sizes for text in texts for device in DEVICES)
    for number, (size, (name, text), device) in enumerate(itertools.islice(each, count)):
        if middle is not None and number == count // 2:
            middle()
        sized = text + f"# {size}\n"
        yield {"kernel": sized, "device": device, "id": f"{name}/{size}/{device}", "top": TOP}


def digest(folder):
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()


def timed(name, folder, count, **options):
    started = time.perf_counter()
    given = jobs(count, options.pop("middle", None))
    run = wavecast.fleet.rank_many(given, folder, **options)
    seconds = time.perf_counter() - started
    sizes = [part.stat().st_size for part in run.parts]
    print(
        f"{name}: {run.jobs:,} jobs, {run.rows:,} rows, {run.failed} failed, {seconds:.1f} s, "
        f"{run.jobs / seconds:,.0f} jobs/s; {len(sizes)} parts of {sum(sizes) / len(sizes) / 1024:.0f} KiB, "
        f"{run.jobs / len(sizes):.0f} jobs; {digest(folder)[:16]}",
        flush=True,
    )
    return seconds


def counted(scheduler):
    """Messages that the scheduler gets, by what they are."""
    found = collections.Counter()

    def counting(name, work):
        @functools.wraps(work)
        def wrapped(*arguments, **options):
            found[name] += 1
            return work(*arguments, **options)

        @functools.wraps(work)
        async def waited(*arguments, **options):
            found[name] += 1
            return await work(*arguments, **options)

        return waited if inspect.iscoroutinefunction(work) else wrapped

    for handlers in (scheduler.handlers, scheduler.stream_handlers):
        for name, work in list(handlers.items()):
            handlers[name] = counting(name, work)
    return found


def empty(count):
    """Jobs that are nothing but their overhead."""
    return ({"kernel": "launch:\n", "device": "a100", "id": str(n)} for n in range(count))


def overhead(name, folder, client, count, shared):
    started = time.perf_counter()
    wavecast.fleet.rank_many(empty(count), folder, client=client, chunk_seconds=1e-9, shared=shared)
    seconds = time.perf_counter() - started
    print(f"{name}: {count:,} chunks of one empty job, shared={shared}: {seconds / count * 1e3:.2f} ms each", flush=True)


def with_dask(folder, count):
    import distributed

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        pids = client.run(os.getpid)
        messages = counted(cluster.scheduler)
        timed("Dask, 2 workers", folder / "dask", count, client=client)
        chunks = len(list((folder / "dask").glob("*.parquet")))
        total = sum(messages.values())
        print(f"  {total / chunks:.1f} messages a chunk: ", end="")
        print(", ".join(f"{name} {n / chunks:.1f}" for name, n in messages.most_common(8)), flush=True)
        for shared in (False, True):
            overhead("Dask", folder / f"empty-{shared}", client, 2000, shared)
        trivial = 5000
        started = time.perf_counter()
        client.gather(client.map(abs, range(trivial), pure=False))
        print(f"Dask alone: {trivial / (time.perf_counter() - started):,.0f} tasks/s", flush=True)
        kill = lambda: os.kill(list(pids.values())[0], signal.SIGKILL)
        timed("Dask, one killed", folder / "killed", count, client=client, middle=kill)


def with_ray(folder, count):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.get([ray.remote(lambda: time.sleep(0.2)).remote() for _ in range(4)])
    timed("Ray, 2 workers", folder / "ray", count, client=ray)
    overhead("Ray", folder / "empty-ray", ray, 1000, False)
    ray.shutdown()


def main():
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    count = numbers[0] if numbers else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        started = time.perf_counter()
        sent = list(wavecast.fleet._fleet_jobs.chunks(jobs(count), {}, 5.0))
        seconds = time.perf_counter() - started
        size = sum(len(chunk.sent) for chunk in sent) / len(sent)
        print(f"the caller cuts {count / seconds:,.0f} jobs/s into chunks, which send {size / 1024:.0f} KiB", flush=True)
        timed("serial", folder / "serial", count)
        overhead("serial", folder / "empty", None, 2000, False)
        with_dask(folder, count)
        if "--ray" in sys.argv:
            with_ray(folder, count)


if __name__ == "__main__":
    main()
