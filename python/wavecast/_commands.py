"""The other commands of the command line as functions. Their keywords are its options: ``--device-set`` is
``device_set=``, what may be repeated is a list or a mapping, and what has no value is ``True``."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Sequence, Union

from ._api import Device, Kernel, KernelLike, Shape, _source
from ._plain import plain
from ._run import Inputs, is_path, ran, run, several

Path = Union[str, "os.PathLike[str]"]
#: Changes of parameters, numbers or limits: ``{"NX": 256}`` or ``["NX=256"]``.
Changes = Union[Mapping[str, Any], Sequence[str]]


def compare(
    kernel: KernelLike,
    device: Device | None = None,
    *,
    block: Shape | Sequence[Shape] | None = None,
    fold: Shape | Sequence[Shape] | None = None,
    threads: int | Sequence[int] | None = None,
    warm_waves: int | None = None,
    ways: int | None = None,
    data: Mapping[str, Path] | Sequence[str] | None = None,
    set: Changes | None = None,
    variant: str | Sequence[str] | None = None,
    device_set: Changes | None = None,
    **options: Any,
) -> Any:
    """The analytic model beside a simulation of both caches, as ``wavecast schema comparison`` describes it.
    ``warm_waves`` are simulated before the wave that is compared, ``ways`` are those of the simulated caches,
    and ``data`` is what fields of PTX hold (``{"x": "x.npy"}``). Other keywords are the options of ``wavecast
    compare``. Raises :class:`wavecast.KernelError`."""
    given = _given(locals(), "kernel")
    with Inputs() as inputs:
        return run(["compare"], [_file(kernel, inputs)], _with_params(kernel, given), inputs)


def diff(
    kernel: Any,
    other: Any = None,
    device: Device | None = None,
    *,
    block: Shape | Sequence[Shape] | None = None,
    fold: Shape | Sequence[Shape] | None = None,
    variant: str | Sequence[str] | None = None,
    set: Changes | None = None,
    device_set: Changes | None = None,
    all: bool = False,
    **options: Any,
) -> Any:
    """Two predictions beside each other: what differs, and which part of it makes one faster, as ``wavecast
    schema diff`` describes it. Give two of what differs, and one of what does not: two kernels or results (of
    :func:`predict` or :func:`rank`), two devices, blocks, folds or variants. Other keywords are the options
    of ``wavecast diff``. Raises :class:`wavecast.KernelError`."""
    given = _given(locals(), "kernel", "other")
    with Inputs() as inputs:
        files = [_saved(one, inputs) for one in (kernel, other) if one is not None]
        return run(["diff"], files, _with_params(kernel, given), inputs)


def validate(
    measurements: Any,
    device: Device | None = None,
    *,
    kernel: Any = None,
    kernels: Path | None = None,
    half: int | None = None,
    seed: int | None = None,
    worst: int | None = None,
    least: int | None = None,
    data: Path | None = None,
    sample: int | None = None,
    **options: Any,
) -> Any:
    """Predictions beside measurements, as ``wavecast schema validation`` describes it. ``measurements`` are
    paths, texts or DataFrames in the measurement format, or paths of set files. ``kernel`` is what they name,
    ``kernels`` a folder with a file for each kernel. Other keywords are the options of ``wavecast validate``.
    Raises :class:`wavecast.KernelError`."""
    given = _given(locals(), "measurements", "kernel")
    with Inputs() as inputs:
        files = several(measurements, lambda one: _measured(one, inputs))
        return run(["validate"], files, {**given, "kernel": _kernels(kernel, inputs)}, inputs)


def fit(
    measurements: Any = (),
    device: Device | None = None,
    *,
    kernel: Any = None,
    kernels: Path | None = None,
    output: Path | Sequence[Path] | None = None,
    form: str | None = None,
    loss: str | None = None,
    only: str | Sequence[str] | None = None,
    bootstrap: int | None = None,
    half: int | None = None,
    seed: int | None = None,
    simulate: str | None = None,
    **options: Any,
) -> Any:
    """Hit rates, bandwidths and latencies that are fitted to measurements, as ``wavecast schema fit``
    describes it. ``output`` are files to write beside: ``.yaml`` is the curve file that ``curves=`` takes,
    ``.svg`` the plot, ``.csv`` the residuals. The measurements are those of :func:`validate`; other keywords
    are the options of ``wavecast fit``. Raises :class:`wavecast.KernelError`."""
    given = _given(locals(), "measurements", "kernel")
    with Inputs() as inputs:
        files = several(measurements, lambda one: _measured(one, inputs))
        return run(["fit"], files, {**given, "kernel": _kernels(kernel, inputs)}, inputs)


def cache_probe(
    logs: Any = (),
    *,
    n: int | None = None,
    stride: int | None = None,
    element: int | None = None,
    cold: bool = False,
    level: str | None = None,
    set_hash: bool = False,
    mshr: bool = False,
    simulate: Any = None,
    chase: str | Sequence[str] | None = None,
    fragment: bool = False,
    apply: Path | None = None,
    write: bool = False,
) -> Any:
    """The structure of a cache from latencies of pointer chases, as ``wavecast schema probe`` describes it.
    ``logs`` are paths or texts. With ``simulate`` (a document of a cache, its text or its path) the logs of a
    simulated cache are returned as a text; with ``fragment`` or ``apply`` the text for a device file. Raises
    :class:`wavecast.KernelError`."""
    given = _given(locals(), "logs", "simulate")
    with Inputs() as inputs:
        files = several(logs, lambda one: _held("log.csv", one, inputs))
        if simulate is not None:
            given["simulate"] = _held("cache.yaml", simulate, inputs)
        if simulate is not None or fragment or apply is not None:
            return ran(["cache-probe"], files, given, inputs)[0]
        return run(["cache-probe"], files, given, inputs)


def emit(
    kernel: KernelLike,
    device: str | None = None,
    *,
    lang: str | None = None,
    block: Shape | Sequence[Shape] | None = None,
    fold: Shape | Sequence[Shape] | None = None,
    threads: int | Sequence[int] | None = None,
    set: Changes | None = None,
    variant: str | None = None,
    device_set: Changes | None = None,
    limit: Mapping[str, int] | None = None,
    kernels_only: bool = False,
    output: Path | None = None,
    force: bool = False,
) -> str:
    """The text of a benchmark program that does exactly the described accesses, in ``lang``: "cuda" (the
    default), "hip" or "opencl". With a device only launches that it can run are in it. With ``output`` the
    program is written there, and the text is empty. Raises :class:`wavecast.KernelError`."""
    given = _given(locals(), "kernel")
    with Inputs() as inputs:
        return ran(["emit"], [_file(kernel, inputs)], _with_params(kernel, given), inputs)[0]


def read(
    ptx: Any,
    entry: str | None = None,
    *,
    arg: Mapping[Any, Any] | Sequence[str] | None = None,
    block: Shape | Sequence[Shape] | None = None,
    grid: str | Shape | None = None,
    trips: Mapping[int, int] | None = None,
    branch: Mapping[int, Any] | None = None,
    assume: Mapping[int, str] | None = None,
    registers: int | str | None = None,
) -> Any:
    """What a compiled kernel does to memory, read from PTX (a path or a text), as ``wavecast schema reading``
    describes it; without ``entry`` the entries that there are. The key ``document`` is the kernel document,
    if all accesses could be read. :func:`wavecast.ptx.read` takes arrays and functions for the grid too.
    Raises :class:`wavecast.KernelError`."""
    given = _given(locals(), "ptx")
    with Inputs() as inputs:
        return run(["read"], [_held("kernel.ptx", ptx, inputs)], given, inputs)


def _given(names: Mapping[str, Any], *inputs: str) -> dict[str, Any]:
    """The keywords of a function that are options."""
    found = {name: value for name, value in names.items() if name not in (*inputs, "options")}
    return {**found, **names.get("options", {})}


def _with_params(kernel: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options with the parameters that a kernel of the class was given."""
    if isinstance(kernel, Kernel) and kernel.params and not options.get("set"):
        return {**options, "set": kernel.params}
    return options


def _file(kernel: KernelLike, inputs: Inputs) -> str:
    """A file with a kernel."""
    if not isinstance(kernel, Kernel) and is_path(kernel):
        return os.fspath(kernel)  # type: ignore[arg-type]
    source, text = _source(kernel)
    # A line for each value, so that a mistake has a place.
    text = json.dumps(json.loads(text), indent=1) if source == "kernel" else text
    return inputs.hold("kernel.yaml", text)


def _saved(thing: Any, inputs: Inputs) -> str:
    """A file with a result or a kernel."""
    if isinstance(thing, Mapping) and str(thing.get("schema", "")).startswith("wavecast/"):
        return inputs.hold("result.json", json.dumps(plain(thing)))
    return _file(thing, inputs)


def _kernels(kernel: Any, inputs: Inputs) -> list[str] | None:
    """Files with the kernels that measurements name."""
    return None if kernel is None else several(kernel, lambda one: _file(one, inputs))


def _measured(thing: Any, inputs: Inputs) -> str:
    """A file with measurements: a DataFrame is written in their format."""
    if hasattr(thing, "to_csv"):
        return inputs.hold("measurements.csv", thing.to_csv(index=False))
    return _held("measurements.csv", thing, inputs)


def _held(name: str, thing: Any, inputs: Inputs) -> str:
    """The path that is named, or that of a file which holds what was given."""
    if is_path(thing):
        return str(os.fspath(thing))
    if isinstance(thing, Mapping):
        thing = json.dumps(plain(thing), indent=1)
    if not isinstance(thing, str):
        raise TypeError(f"a {type(thing).__name__} is neither a path nor a text")
    return inputs.hold(name, thing)
