"""How long a job probably takes, from its text alone: reading the kernel would take as long as many jobs do."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Mapping, NamedTuple

#: Seconds of a core for a job, for a launch, and for an access of a launch, as measured on kernels that come
#: with Wavecast. They decide where chunks end, so that a change makes other parts of the same jobs.
JOB, LAUNCH, ACCESS = 5e-4, 15e-6, 1e-6
#: Launches of a document that does not list any, and shapes of so many threads as `threads` of a job asks for.
USUAL, SHAPES = 60, 30
#: Most threads of a block.
THREADS = 1024


class Cost(NamedTuple):
    """What a job probably takes on one device, and how many rows it has."""

    seconds: float
    rows: int


def cost(text: str, options: Mapping[str, Any]) -> Cost:
    """An estimate that is the same wherever and whenever it is made."""
    listed, accesses = _read(text)
    launches, top = _asked(options) or listed, options.get("top")
    rows = min(launches, top) if isinstance(top, int) else launches
    return Cost(JOB + launches * (LAUNCH + accesses * ACCESS), rows)


def _asked(options: Mapping[str, Any]) -> int | None:
    """Launches of the job's own, in the place of the document's."""
    folds = _shapes(options.get("fold")) or 1
    if options.get("threads") is not None:
        threads = options["threads"]
        return SHAPES * folds * (len(threads) if isinstance(threads, list) else 1)
    blocks = _shapes(options.get("block"))
    return blocks * folds if blocks else None


def _shapes(value: Any) -> int:
    """How many shapes a keyword lists: ``64``, ``[64, 4]``, ``[[64], [128, 2]]``."""
    if value is None:
        return 0
    return len(value) if isinstance(value, list) and any(isinstance(v, list) for v in value) else 1


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[int, int]:
    """Launches that a text lists, and accesses that it writes down."""
    accesses = len(re.findall(r"\w\[|\b(?:ld|st)\.", text))
    rests = [text[found.end() :] for found in re.finditer(r"\blaunch\"?\s*:", text)]
    return sum(map(_listed, rests)) or USUAL, max(accesses, 1)


def _listed(rest: str) -> int:
    """Launches from here to the next kernel."""
    rest = rest.partition("\n---")[0]
    return _count(rest, "block", USUAL) * _count(rest, "fold", 1)


def _count(text: str, key: str, otherwise: int) -> int:
    found = re.search(rf"\b{key}\"?\s*:", text)
    if found is None:
        return otherwise
    value = _value(text, found.end())
    axes = re.findall(r"\b(x|y|z|threads)\"?\s*:\s*(\[[^\]]*\]|\"[^\"]*\"|[^,}\n]+)", value)
    if axes:
        return _products({name: _numbers(numbers) for name, numbers in axes}) or otherwise
    return max(value.count("[") - value.lstrip().startswith("[["), 1)


def _value(text: str, start: int) -> str:
    """The value of a key: what is in brackets, or the lines that are indented more."""
    rest = text[start:].lstrip(" ")
    if rest[:1] in ("{", "["):
        depth = 0
        for place, letter in enumerate(rest):
            depth += (letter in "{[") - (letter in "}]")
            if depth == 0:
                return rest[: place + 1]
    first, *lines = rest.split("\n")
    indent = len(re.match(r"\s*", text[text.rfind("\n", 0, start) + 1 :])[0])  # type: ignore[index]
    taken = [first]
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
            break
        taken.append(line)
    return "\n".join(taken)


def _numbers(text: str) -> list[int]:
    """The numbers of a range or a list: ``pow2(1..16)``, ``32..1024 step 32``, ``[256, 512]``."""
    numbers: list[int] = []
    one = r"(pow2\()?(\d{1,6})\s*\.\.\s*(\d{1,6})\)?(?:\s*step\s*(\d{1,6}))?|(\d{1,6})"
    for power, low, high, step, alone in re.findall(one, text):
        if alone:
            numbers.append(int(alone))
        elif power:
            numbers += [1 << n for n in range(20) if int(low) <= 1 << n <= int(high)]
        else:
            numbers += range(int(low), min(int(high), THREADS) + 1, max(int(step or 1), 1))
    return numbers


def _products(axes: Mapping[str, list[int]]) -> int:
    """How many shapes there are of at most so many threads as a block may have, or of the listed totals."""
    totals = {1: 1}
    for name in "xyz":
        found: dict[int, int] = {}
        for value in axes.get(name, [1]):
            for total, count in totals.items():
                if total * value <= THREADS:
                    found[total * value] = found.get(total * value, 0) + count
        totals = found
    wanted = axes.get("threads")
    return sum(totals.values() if wanted is None else (totals.get(n, 0) for n in wanted))
