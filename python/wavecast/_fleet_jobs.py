"""Jobs of a fleet: read one by one, and cut into chunks that do not depend on who works on them."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import zlib
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Sized, Union

from . import _fleet_cost
from ._api import Kernel, _source, rank
from ._errors import error
from ._plain import plain
from ._wavecast import __version__

#: Dicts, or the path of a file with a JSON object in each line.
Jobs = Union[Iterable[Mapping[str, Any]], str, "os.PathLike[str]"]
#: Most jobs of a chunk, most of its rows, and most bytes of its kernels.
MOST_JOBS, MOST_ROWS, MOST_BYTES = 4096, 40_000, 4 << 20
#: How a request names a kernel, and its text.
Text = tuple[str, str]
#: Keywords of ``wavecast.rank`` that a job may have.
KEYWORDS = tuple(name for name in inspect.signature(rank).parameters if name not in ("kernel", "device"))


class Chunk(NamedTuple):
    """Jobs that one worker does at a time."""

    number: int
    #: The number of its first job, and how many there are.
    first: int
    jobs: int
    #: What workers get: compressed JSON.
    sent: bytes
    #: Of what is sent, by which a run that goes on knows its chunks again.
    digest: str

    def each(self) -> Iterator[tuple[str, bytes]]:
        """Its jobs one by one: their ids, and what workers get for one alone."""
        whole = json.loads(zlib.decompress(self.sent))
        for place, job in enumerate(whole["jobs"]):
            texts = [] if job["text"] is None else [whole["texts"][job["text"]]]
            alone = {**job, "text": None if job["text"] is None else 0}
            sent = {**whole, "first": self.first + place, "texts": texts, "jobs": [alone]}
            yield job["id"], _packed(sent)[0]


def chunks(jobs: Jobs, options: Mapping[str, Any], seconds: float) -> Iterator[Chunk]:
    """The jobs in chunks of about so many seconds of a core, by an estimate that knows only the jobs. No more
    of them are read than the chunks asked for need."""
    filling = _Filling(0, 0)
    for place, given in enumerate(_given(jobs)):
        filling.add(*_job(place, given, options))
        if filling.is_full(seconds):
            yield filling.chunk()
            filling = _Filling(filling.number + 1, place + 1)
    if filling.jobs:
        yield filling.chunk()


class _Filling:
    """A chunk to which jobs are added."""

    def __init__(self, number: int, first: int):
        self.number, self.first = number, first
        self.jobs: list[dict[str, Any]] = []
        #: Kernels by their place: jobs of several devices share theirs.
        self.texts: dict[Text, int] = {}
        self.seconds, self.rows, self.size = 0.0, 0, 0

    def add(self, job: dict[str, Any], kernel: Text | None, cost: _fleet_cost.Cost) -> None:
        if kernel is not None:
            self.size += len(kernel[1]) if kernel not in self.texts else 0
            job["text"] = self.texts.setdefault(kernel, len(self.texts))
        self.jobs.append(job)
        self.seconds += cost.seconds
        self.rows += cost.rows

    def is_full(self, seconds: float) -> bool:
        most = len(self.jobs) >= MOST_JOBS or self.rows >= MOST_ROWS or self.size >= MOST_BYTES
        return most or self.seconds >= seconds

    def chunk(self) -> Chunk:
        texts = list(self.texts)
        whole = {"wavecast": __version__, "first": self.first, "texts": texts, "jobs": self.jobs}
        return Chunk(self.number, self.first, len(self.jobs), *_packed(whole))


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords for all jobs. A mistake here is one of the call, not of a job."""
    wrong = _unknown(options)
    if wrong is not None:
        raise TypeError(f"rank_many: {wrong}")
    return _named(plain(options, "options"))


def count(jobs: Jobs) -> int | None:
    """How many jobs there are, where that is easily known."""
    if isinstance(jobs, (str, os.PathLike)):
        with open(jobs, "rb") as file:
            return sum(1 for line in file if line.strip())
    return len(jobs) if isinstance(jobs, Sized) else None


def _given(jobs: Jobs) -> Iterator[Any]:
    """The jobs as they were given; a line that is no JSON is an error in the place of its job."""
    if isinstance(jobs, Mapping):
        raise TypeError("rank_many: jobs is one dict; give several, as in [{...}, {...}]")
    if not isinstance(jobs, (str, os.PathLike)):
        yield from jobs
        return
    with open(jobs, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except ValueError as why:
                said = f"{os.fspath(jobs)}:{number}: this line is no JSON: {why}"
                yield _Wrong("bad-json", said, "write one object a line")


class _Wrong(Exception):
    """Why something is no job: code, message, help."""


def _job(
    place: int, given: Any, options: Mapping[str, Any]
) -> tuple[dict[str, Any], Text | None, _fleet_cost.Cost]:
    """A job as it is sent, its kernel, and its estimated cost."""
    name = str(place)
    try:
        if isinstance(given, _Wrong):
            raise given
        if not isinstance(given, Mapping):
            raise _Wrong("bad-job", f"a job is a dict, and this is a {type(given).__name__}", _HELP)
        name = str(given.get("id", place))
        asked, device, kernel = _asked(given, options)
    except _Wrong as wrong:
        return {"id": name, "text": None, "error": error(*wrong.args)}, None, _fleet_cost.Cost(0.0, 1)
    seconds, rows = _fleet_cost.cost(kernel[1], asked)
    devices = len(device) if isinstance(device, list) else 1
    job = {"id": name, "text": None, "device": device, "options": asked}
    return job, kernel, _fleet_cost.Cost(devices * seconds, devices * rows)


#: What a job looks like.
_HELP = 'for example {"kernel": "stencil.yaml", "device": "a100", "top": 3}'


def _asked(
    given: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[dict[str, Any], Any, Text]:
    """The keywords of a job, its device and its kernel. Raises :class:`_Wrong`."""
    own = {key: value for key, value in given.items() if key not in ("id", "kernel", "device")}
    wrong = _unknown(own)
    if wrong is None and "kernel" not in given:
        wrong = "the kernel is missing"
    if wrong is not None:
        raise _Wrong("bad-job", wrong, _HELP)
    kernel = given["kernel"]
    if isinstance(kernel, Kernel) and kernel.params:
        own = {"params": kernel.params, **own}
    try:
        asked = {**options, **_named(plain(own, "job"))}
        device = given.get("device")
        device = os.fspath(device) if isinstance(device, os.PathLike) else plain(device, "device")
        source, text = _source(kernel)
    except OSError as why:
        message = f"cannot read {why.filename}: {why.strerror}"
        raise _Wrong("cannot-read", message, "check the path, or give the text of the kernel") from None
    except (TypeError, ValueError) as why:
        raise _Wrong("bad-job", str(why), _HELP) from None
    # What is one line and not JSON would be taken for a path.
    return {k: v for k, v in asked.items() if v is not None}, device, (source, text + "\n")


def _named(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as rank calls them: `params` is the word of documents."""
    return {"set" if name == "params" else name: value for name, value in options.items()}


def _unknown(options: Mapping[str, Any]) -> str | None:
    for name in options:
        if name not in (*KEYWORDS, "params"):
            return f"{name!r} is no keyword of wavecast.rank; there are {', '.join(KEYWORDS)}"
    if options.get("params") is not None and options.get("set") is not None:
        return "`params` and `set` are the same: give one of them"
    return None


def _packed(whole: Mapping[str, Any]) -> tuple[bytes, str]:
    """What is sent, and its digest."""
    text = json.dumps(whole, separators=(",", ":"), sort_keys=True).encode()
    return zlib.compress(text, 3), hashlib.sha256(text).hexdigest()
