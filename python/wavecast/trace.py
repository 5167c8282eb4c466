"""Reuse distances, simulated caches and traces of kernels: ``wavecast trace``, each of its commands as a
function.

>>> import wavecast.trace
>>> text = wavecast.trace.synth("kernels/vec3.yaml", blocks=2)       # a trace as CSV
>>> wavecast.trace.reuse(text).frame()                               # miss rates, run by run

``source`` is a trace (a path, or the text of one of the text formats) or a kernel as :func:`wavecast.rank`
takes it, of which a trace is made. Keywords are the options of the command line; ``wavecast trace reuse
--help`` lists them."""

from __future__ import annotations

import os
from typing import Any, Mapping

from ._api import Kernel
from ._commands import _file, _held, _with_params
from ._results import Document
from ._run import Inputs, is_path, ran, run

__all__ = ["Picture", "cache", "convert", "experiment", "hot", "info", "plot", "reuse", "sweep", "synth"]


class Picture(str):
    """A picture as the text of an SVG file, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


def info(source: Any, **options: Any) -> Document:
    """What a trace holds."""
    return _asked("info", source, options)


def reuse(source: Any, **options: Any) -> Document:
    """Reuse distances and types of misses, with five extensions for GPUs, as ``wavecast schema reuse``
    describes it. A row of ``frame()`` is a run of the model."""
    return _asked("reuse", source, options)


def cache(source: Any, **options: Any) -> Document:
    """A simulated cache, as ``wavecast schema cache`` describes it; with ``device`` both levels of that
    device."""
    return _asked("cache", source, options)


def sweep(source: Any, **options: Any) -> Document:
    """Miss rates over parameters of the cache."""
    return _asked("sweep", source, options)


def hot(source: Any, **options: Any) -> Document:
    """Misses by instruction, line and set."""
    return _asked("hot", source, options)


def experiment(**options: Any) -> Document:
    """Crawford's experiments over group and matrix sizes."""
    with Inputs() as inputs:
        found: Document = run(["trace", "experiment"], [], options, inputs)
        return found


def synth(source: Any, **options: Any) -> str:
    """The trace of a kernel document, as a text. ``to`` is its format, "csv" by default; with ``output`` it
    is written to that file, and the text is empty."""
    return _text("synth", source, options)


def convert(source: Any, **options: Any) -> str:
    """A trace in another format, ``to``; with ``output`` it is written to that file, and the text is
    empty."""
    return _text("convert", source, options)


def plot(source: Any, **options: Any) -> Picture:
    """A picture of the places that are accessed, in the order of the accesses."""
    with Inputs() as inputs:
        path = inputs.path("picture.svg")
        _ran("plot", source, {**options, "output": path}, inputs)
        with open(path, encoding="utf-8") as file:
            return Picture(file.read())


def _asked(command: str, source: Any, options: Mapping[str, Any]) -> Document:
    with Inputs() as inputs:
        given = _options(source, options)
        found: Document = run(["trace", command], [_source(source, inputs)], given, inputs)
        return found


def _text(command: str, source: Any, options: Mapping[str, Any]) -> str:
    with Inputs() as inputs:
        return _ran(command, source, options, inputs)


def _ran(command: str, source: Any, options: Mapping[str, Any], inputs: Inputs) -> str:
    return ran(["trace", command], [_source(source, inputs)], _options(source, options), inputs)[0]


def _options(source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    # `from` is a word of Python.
    given = {"from" if name == "from_" else name: value for name, value in options.items()}
    return _with_params(source, given)


def _source(source: Any, inputs: Inputs) -> str:
    """A file with a trace or a kernel. The text of a kernel document says so in a key of its own."""
    if isinstance(source, (Kernel, Mapping)):
        return _file(source, inputs)
    if is_path(source):
        return str(os.fspath(source))
    is_kernel = isinstance(source, str) and any(
        line.lstrip("{ \"'").startswith("wavecast") for line in source.split("\n")
    )
    return _held("kernel.yaml" if is_kernel else "trace.csv", source, inputs)
