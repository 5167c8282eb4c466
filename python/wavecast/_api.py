"""Questions about kernels."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping, Sequence, Union

from . import _wavecast
from ._devices import of_devices
from ._errors import KernelError
from ._kinds import made
from ._plain import plain
from ._ranking import Question, Ranking
from ._results import Asked, Results
from ._session import SESSION

Shape = Union[int, Sequence[int]]
#: A document, several of them, a YAML or JSON text, or the path of a file.
KernelLike = Union[Mapping[str, Any], Sequence[Mapping[str, Any]], str, "os.PathLike[str]", "Kernel"]
#: The id or alias of a device, a name that tools report, or the path of a device file; several of them as a list.
Device = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]


class Kernel:
    """A kernel that is asked about more than once. Reading it once finds its mistakes at once."""

    def __init__(self, kernel: KernelLike, **params: int):
        #: What it was made of.
        self.given = kernel
        self._source, self.text = _source(kernel)
        self._body = _body(self._source, self.text)
        self.params = params
        self.document = check(self)

    @property
    def name(self) -> str:
        """Its name; that of the first one if the text holds several."""
        first = self.document[0] if isinstance(self.document, list) else self.document
        return str(first["kernel"]["name"])

    def rank(self, device: Device | None = None, **options: Any) -> Any:
        """As :func:`rank`."""
        return rank(self, device, **options)

    def predict(
        self, block: Shape | None = None, fold: Shape | None = None, device: Device | None = None, **options: Any
    ) -> Any:
        """As :func:`predict`."""
        return predict(self, block, fold, device, **options)

    def explain(
        self, block: Shape | None = None, fold: Shape | None = None, device: Device | None = None, **options: Any
    ) -> Any:
        """As :func:`explain`."""
        return explain(self, block, fold, device, **options)

    def sweep(self, vary: Mapping[str, Any] | Sequence[str], device: Device | None = None, **options: Any) -> Any:
        """As :func:`sweep`."""
        return sweep(self, vary, device, **options)


def rank(
    kernel: KernelLike,
    device: Device | None = None,
    *,
    block: Shape | Sequence[Shape] | None = None,
    fold: Shape | Sequence[Shape] | None = None,
    threads: int | Sequence[int] | None = None,
    set: Mapping[str, Any] | Sequence[str] | None = None,
    variant: str | Sequence[str] | None = None,
    device_set: Mapping[str, Any] | Sequence[str] | None = None,
    limit: Mapping[str, int] | None = None,
    top: int | None = None,
    tie: float | None = None,
    model: str | None = None,
    addressing: str | None = None,
    caches: str | None = None,
    clock: str | None = None,
    engine: str | None = None,
    verify: bool = False,
) -> Any:
    """Ranks the launches of a kernel, best first; other Python threads run meanwhile.

    ``kernel`` is a document as a dict, its YAML or JSON text, or the path of a file. ``device`` is an id or
    alias (see :func:`devices`) or the path of a device file; the A100 of 40 GB by default, with a warning. A list of
    devices gives :class:`Results`, kernel by kernel and device by device, each with ``device_relative``, the share
    of the fastest device's speed.
    ``block``, ``fold`` and ``threads`` replace the launches of the document, ``set`` changes its parameters
    and ``device_set`` numbers of the device (``{"l2.effective": "80MiB"}``). ``caches`` is "warm" (the default: the
    launch is repeated) or "cold", ``clock`` the clock that the run had, with its unit ("1.41GHz"). ``variant`` names
    the variants of the document that compete; all by default.

    Returns a :class:`Ranking`, which is a dict as ``wavecast schema ranking`` describes it; a list of them
    if the text holds several kernels. Ctrl-C ends it at once. Raises :class:`KernelError`.
    """
    options: dict[str, Any] = {
        "block": block,
        "fold": fold,
        "threads": threads,
        "set": set,
        "variant": variant,
        "device_set": device_set,
        "limit": limit,
        "top": top,
        "tie": tie,
        "model": model,
        "addressing": addressing,
        "caches": caches,
        "clock": clock,
        "engine": engine,
        "verify": verify,
    }
    if not isinstance(device, (str, os.PathLike)) and device is not None:
        return of_devices("rank", device, lambda one: rank(kernel, one, **options))
    result = _ask("rank", kernel, device, options)[0]
    if isinstance(result, list):
        return Results(Ranking(r) for r in result)
    return Ranking(result, Question(kernel, device, options, explain))


def predict(
    kernel: KernelLike,
    block: Shape | None = None,
    fold: Shape | None = None,
    device: Device | None = None,
    *,
    set: Mapping[str, Any] | Sequence[str] | None = None,
    variant: str | Sequence[str] | None = None,
    device_set: Mapping[str, Any] | Sequence[str] | None = None,
    limit: Mapping[str, int] | None = None,
    model: str | None = None,
    addressing: str | None = None,
    caches: str | None = None,
    clock: str | None = None,
    engine: str | None = None,
    verify: bool = False,
) -> Any:
    """Everything about one launch, as ``wavecast schema prediction`` describes it; a list of such documents
    if the text holds several kernels or variants, of which ``variant`` chooses. Without ``block`` the first
    launch of the document is meant. A block without ``fold`` has the fold of the document if that is only
    one; of several, the one that does not fold. ``choice`` in the result says which and why. A text in the
    place of the block is the device, as in ``predict(kernel, "a100")``. Raises :class:`KernelError`, also if
    the launch cannot run."""
    block, device = _block_and_device("predict", block, fold, device)
    options: dict[str, Any] = {
        "block": block,
        "fold": fold,
        "set": set,
        "variant": variant,
        "device_set": device_set,
        "limit": limit,
        "model": model,
        "addressing": addressing,
        "caches": caches,
        "clock": clock,
        "engine": engine,
        "verify": verify,
    }
    if not isinstance(device, (str, os.PathLike)) and device is not None:
        return of_devices("predict", device, lambda one: predict(kernel, device=one, **options))
    return _answer("predict", kernel, device, options)


def explain(
    kernel: KernelLike,
    block: Shape | None = None,
    fold: Shape | None = None,
    device: Device | None = None,
    *,
    near: bool = False,
    **options: Any,
) -> Any:
    """Why one launch is as fast as it is, and what would help, as ``wavecast schema explanation`` describes it. The
    launch and the other options are those of :func:`predict`. It is compared with all launches of the document, or
    with ``near`` only with those that are one step away. Raises :class:`KernelError`."""
    block, device = _block_and_device("explain", block, fold, device)
    if not isinstance(device, (str, os.PathLike)) and device is not None:
        return of_devices("explain", device, lambda one: explain(kernel, block, fold, one, near=near, **options), False)
    return _answer("explain", kernel, device, {"block": block, "fold": fold, "near": near, **options})


def sweep(
    kernel: KernelLike,
    vary: Mapping[str, Any] | Sequence[str],
    device: Device | None = None,
    *,
    best: bool = False,
    **options: Any,
) -> Any:
    """A series over a parameter, a number of the device, or the block, as ``wavecast schema sweep`` describes it.
    ``vary`` says what varies, as in ``{"NX": "256..1024 step 64"}`` or ``{"block": [(512, 2), (64, 4, 4)]}``; two
    things at most, the first being the axis.
    With ``best`` all launches are ranked at each point. The other options are those of :func:`rank` but for ``top``
    and ``tie``. Raises :class:`KernelError`."""
    if not isinstance(device, (str, os.PathLike)) and device is not None:
        return of_devices("sweep", device, lambda one: sweep(kernel, vary, one, best=best, **options), False)
    if isinstance(vary, Mapping):
        vary = {name: _values(values) for name, values in plain(vary, "vary").items()}
    return _answer("sweep", kernel, device, {"vary": vary, "best": best, **options})


def check(
    kernel: KernelLike,
    device: str | os.PathLike[str] | None = None,
    *,
    set: Mapping[str, Any] | Sequence[str] | None = None,
    variant: str | Sequence[str] | None = None,
    candidates: bool = False,
) -> Any:
    """What was understood of a kernel, as ``wavecast schema check`` describes it. Raises :class:`KernelError`."""
    return _answer("check", kernel, device, {"set": set, "variant": variant, "candidates": candidates})


def touches(
    kernel: KernelLike,
    block: Sequence[int],
    fold: Sequence[int] = (1, 1, 1),
    *,
    block_index: Sequence[int],
    thread: Sequence[int],
    set: Sequence[str] = (),
) -> dict[tuple[str, str], list[int]]:
    """What one thread of a launch loads and stores: element offsets by kind and field, each once and in
    ascending order. Holds a document against what a generator emitted."""
    _, text = _source(kernel)
    shapes = [[*map(int, s), 1, 1, 1][:3] for s in (block, fold)]
    places = [[*map(int, s), 0, 0, 0][:3] for s in (block_index, thread)]
    found: dict[tuple[str, str], list[int]] = {}
    for kind, field, element in _wavecast.touches(text, list(set), *shapes, *places):
        found.setdefault((kind, field), []).append(element)
    return found


def devices() -> list[str]:
    """The ids of the devices that come with Wavecast."""
    return _wavecast.devices()


def features() -> dict[str, Any]:
    """What this build can do. Wheels are built without isl, so that they run anywhere: the engine ``isl``
    is missing, and nothing else."""
    engines = dict(_wavecast.features())
    return {
        "version": _wavecast.__version__,
        "isl": engines["isl"],
        "engines": [e for e, built in engines.items() if built],
    }


def _values(values: Any) -> Any:
    """What a list in the place of a range says: numbers, names, or shapes."""
    if not isinstance(values, list):
        return values
    return ",".join("x".join(map(str, [*v, 1, 1][: max(3, len(v))])) if isinstance(v, list) else str(v) for v in values)


def _block_and_device(
    name: str, block: Shape | None, fold: Shape | None, device: Device | None
) -> tuple[Shape | None, Device | None]:
    """The arguments of a question about one launch: a text in the place of the block is the device."""
    if not isinstance(block, str):
        return block, device
    if fold is not None or device is not None:
        raise TypeError(
            f"{name}(kernel, block, fold, device): {block!r} is no block; give the device by name, as in "
            f"{name}(kernel, [256, 1, 1], device='a100')"
        )
    return None, block


def _source(kernel: KernelLike) -> tuple[str, str]:
    """How a request names the kernel, and its text."""
    if isinstance(kernel, Kernel):
        return kernel._source, kernel.text
    # A document has more than one line or is JSON.
    is_path = isinstance(kernel, str) and "\n" not in kernel and not kernel.lstrip().startswith(("{", "["))
    if isinstance(kernel, os.PathLike) or is_path:
        path = os.fspath(kernel)  # type: ignore[arg-type]
        with open(path, encoding="utf-8") as file:
            return "kernel_text", _with_ptx(file.read(), os.path.dirname(path))
    if isinstance(kernel, str):
        return "kernel_text", kernel
    return "kernel", json.dumps(plain(kernel))


def _body(source: str, text: str) -> str:
    """What a request has of the kernel: a document is there as JSON already, and a text becomes a JSON string."""
    return text if source == "kernel" else json.dumps(text)


def _with_ptx(text: str, folder: str) -> str:
    """A document with the PTX that it names, as seen from its folder: a request has no folder."""

    def put_in(named: re.Match[str]) -> str:
        path = os.path.join(folder, named[2])
        if not os.path.isfile(path):
            return named[0]
        with open(path, encoding="utf-8") as file:
            return named[1] + json.dumps(file.read().rstrip("\0"))

    return re.sub(r"""(\bptx:\s*)["']?([^\s,{}"'\[\]]+\.ptx)["']?(?=\s*(?:[,}#\n]|$))""", put_in, text)


def _of_option(error: dict[str, Any], sent: str) -> dict[str, Any]:
    """An error of the request, which nobody has written, as one of the keyword that it is about."""
    if error["file"] != "request":
        return error
    names = re.findall(r'"(\w+)": ', sent[: error["column"]])
    said = error["message"].rpartition(": this is no")[2].replace("usize", "a whole number from 0")
    message = f"{names[-1]}: {said}" if names else error["message"]
    return {**error, "message": message, "file": None, "line": None, "column": None, "help": None}


def _answer(op: str, kernel: KernelLike, device: Device | None, options: dict[str, Any]) -> Any:
    """What comes of a question: a document, or several."""
    result, request = _ask(op, kernel, device, options)
    if isinstance(result, list):
        return Results(made(document, asked=Asked(request, part)) for part, document in enumerate(result))
    return made(result, asked=Asked(request, 0))


def _ask(op: str, kernel: KernelLike, device: Device | None, options: dict[str, Any]) -> tuple[Any, str]:
    """What comes of a question, and how it was asked."""
    if isinstance(kernel, Kernel) and kernel.params and not options.get("set"):
        options = {**options, "set": kernel.params}
    source, text = _source(kernel)
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    named = os.fspath(device) if isinstance(device, os.PathLike) else device
    head = json.dumps({"id": 0, "op": op, "device": named, "options": plain(given, "options")})
    body = kernel._body if isinstance(kernel, Kernel) else _body(source, text)
    sent = f'{head[:-1]}, "{source}": {body}}}'
    result, error = SESSION.answer(sent)
    if error is None:
        return result, sent
    errors = [_of_option(e, sent) for e in error["errors"]]
    if source == "kernel" and any(e["file"] == "kernel" for e in errors):
        # One line is no place to look at: the same with a line for each value.
        text = json.dumps(json.loads(text), indent=1)
        source = "kernel_text"
        _, error = SESSION.answer(f'{head[:-1]}, "{source}": {json.dumps(text)}}}')
        errors = error["errors"] if error is not None else errors
    raise KernelError(errors, text)
