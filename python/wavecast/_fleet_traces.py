"""A long trace in parts, one for each SM: what workers do with a part, and what becomes of all."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any, Iterator, Mapping

from . import trace
from ._kinds import made
from ._progress import Progress
from ._run import is_path

#: What is said of the whole trace only, or by several runs: not of parts.
WHOLE = {"cores", "part", "ablate", "by_rule", "measured", "measured_kernel", "seeds", "policy", "device"}
#: Counts of a run of the model, which add up.
SUMS = ("memory_misses", "misses", "latency_misses", "compulsory", "refusals", "infinite")
#: Counts of a simulated cache.
COUNTS = ("reads", "read_misses", "writes", "write_misses", "write_backs", "cold", "capacity", "conflict")


def part(command: str, source: Any, options: Mapping[str, Any], number: int, cores: int) -> str:
    """What a worker does: the answer about the blocks of one SM, as JSON."""
    return json.dumps(getattr(trace, command)(source, part=f"{number}/{cores}", **options))


def reduced(
    command: str, source: Any, cores: int, client: Any, progress: bool | None, options: Mapping[str, Any]
) -> Any:
    """The answer about all SMs, whoever counted for them."""
    from ._fleet_pools import pool

    cores = int(cores)
    if cores < 1:
        raise ValueError(f"fleet.{command}: cores={cores}: give a number from 1")
    wrong = sorted(WHOLE & set(options))
    if wrong:
        raise TypeError(
            f"fleet.{command}() takes no {wrong[0]}=: wavecast.trace.{command} has it, for a trace as a whole"
        )
    # Workers may have another working directory.
    sent = os.path.abspath(source) if is_path(source) and not str(source).startswith("-") else source
    workers = pool(client)
    with Progress(progress, lambda: cores, "parts") as shown:
        answers = list(_answers(workers, command, sent, cores, options, shown))
    found = (_reuse if command == "reuse" else _cache)(answers, cores)
    found["source"] = str(source) if is_path(source) else answers[0]["source"]
    return made(found)


def _answers(
    workers: Any, command: str, source: Any, cores: int, options: Mapping[str, Any], shown: Progress
) -> Iterator[dict[str, Any]]:
    """The parts' answers in their order, a few of which are worked on at a time."""
    flying: dict[int, Any] = {}
    begun = 0
    try:
        for number in range(cores):
            while begun < cores and len(flying) < max(1, workers.limit()):
                flying[begun] = workers.task(f"{command}-{begun}", part, command, source, dict(options), begun, cores)
                begun += 1
            try:
                answer = flying[number].result()
            except Exception as why:
                if not workers.lost(why):
                    raise
                raise RuntimeError(
                    f"part {number} of {cores} of the trace could not be counted, as each worker that tried it died: it "
                    "may need more memory than a worker has; more parts (cores=) are smaller"
                ) from why
            del flying[number]
            shown.add(1)
            yield json.loads(answer)
    finally:
        for future in flying.values():
            workers.cancel(future)


def _reuse(answers: list[dict[str, Any]], cores: int) -> dict[str, Any]:
    whole = dict(answers[0])
    # Lines are counted by each SM for itself; how many there are in all, no part knows.
    del whole["lines"]
    whole["requests"] = sum(a["requests"] for a in answers)
    simulated = sum(a["settings"]["simulated_threads"] for a in answers)
    whole["settings"] = {
        **whole["settings"],
        "cores": cores,
        "simulated_threads": min(simulated, whole["threads"]),
    }
    whole["runs"] = [_run([a["runs"][at] for a in answers]) for at in range(len(whole["runs"]))]
    whole["misses"] = _types({run["run"]: run for run in whole["runs"]})
    return whole


def _run(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """A run of the model on all SMs: counts add up, and it takes as long as the slowest."""
    histogram: Counter[int] = Counter()
    for one in parts:
        histogram.update(dict(one["histogram"]))
    sums = {name: sum(one[name] for one in parts) for name in SUMS}
    accesses = sums["infinite"] + sum(histogram.values())
    rate = 100.0 * sums["memory_misses"] / accesses if accesses else 0.0
    ticks = max(one["ticks"] for one in parts)
    distances = [[distance, histogram[distance]] for distance in sorted(histogram)]
    return {**parts[0], **sums, "miss_rate_percent": rate, "ticks": ticks, "histogram": distances}


def _types(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Misses by type, told from sums as they are of one SM (MissTypes of the Rust part)."""
    full = runs["full"]
    misses = full["memory_misses"]
    associativity = misses - runs["no-associativity"]["memory_misses"]
    mshr = misses - runs["no-mshr"]["memory_misses"]
    accesses = full["infinite"] + sum(times for _, times in full["histogram"])
    return {
        "hits": accesses - full["misses"],
        "compulsory": full["compulsory"],
        "capacity": max(misses - full["compulsory"] - max(associativity, 0) - max(mshr, 0), 0),
        "associativity": associativity,
        "mshr": mshr,
        "latency": full["latency_misses"],
    }


def _cache(answers: list[dict[str, Any]], cores: int) -> dict[str, Any]:
    whole = dict(answers[0])
    whole["settings"] = {**whole["settings"], "cores": cores}
    sums = {name: sum(a["runs"][0][name] for a in answers) for name in COUNTS}
    rate = 100.0 * sums["read_misses"] / sums["reads"] if sums["reads"] else 0.0
    whole["runs"] = [{**whole["runs"][0], **sums, "miss_rate_percent": rate}]
    whole |= {"miss_rate_percent": rate, "reads": float(sums["reads"]), "read_misses": float(sums["read_misses"])}
    return whole
