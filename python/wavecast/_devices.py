"""A question about several devices: their answers beside each other."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Callable, Iterable, Sequence

from . import _wavecast
from ._errors import KernelError, error
from ._results import Document, Refusal, Results

#: What the answer of one device says of all.
RELATIVE = "device_relative"


def of_devices(name: str, devices: Any, ask: Callable[[str], Any], compared: bool = True) -> Results:
    """The answers kernel by kernel, as ``-d`` of the command line gives them when it is repeated. Where they
    are compared, each has ``device_relative``, the share of the fastest device's speed. A device on which
    nothing can run has an error in the place of its answer."""
    names = _names(name, devices)
    for device in names:
        _check(device)
    answers: list[list[Document] | KernelError] = []
    for device in names:
        try:
            answer = ask(device)
            answers.append(list(answer) if isinstance(answer, Results) else [answer])
        except KernelError as why:
            answers.append(why)
    kernels = [list(of_kernel) for of_kernel in zip(*_complete(answers))]
    if compared and len(names) > 1:
        for of_kernel in kernels:
            _compare(of_kernel)
    return Results(answer for of_kernel in kernels for answer in of_kernel)


def _names(name: str, devices: Any) -> list[str]:
    wrong = f"{name}: device={devices!r}: name a device, or several, as in device=['a100', 'h200']"
    if not isinstance(devices, Iterable) or isinstance(devices, (bytes, dict)):
        raise TypeError(wrong)
    found = [os.fspath(d) if isinstance(d, os.PathLike) else d for d in devices]
    if not found or not all(isinstance(d, str) for d in found):
        raise TypeError(wrong)
    return found


def _check(device: str) -> None:
    """Raises an error if there is no such device: that is a mistake, and no answer."""
    try:
        _wavecast.device_target(device)
    except FileNotFoundError as why:
        raise KernelError(
            [error("cannot-read", f"cannot read {device}: {why.strerror}", "check the path")]
        ) from None
    except ValueError as why:
        raise KernelError(json.loads(str(why))["errors"]) from None


def _complete(answers: Sequence[list[Document] | KernelError]) -> list[list[Document]]:
    """A list for each device, as long as the others. An error of all devices is the error of the question."""
    lengths = [len(answer) for answer in answers if isinstance(answer, list)]
    complete = []
    for answer in answers:
        if isinstance(answer, KernelError):
            if not lengths:
                raise answer
            answer = [
                Refusal({"schema": "wavecast/error/1", "errors": answer.errors}) for _ in range(lengths[0])
            ]
        complete.append(answer)
    return complete


def _compare(answers: Sequence[Document]) -> None:
    times = [_time(answer) for answer in answers]
    best = min(times)
    for answer, time in zip(answers, times):
        if math.isfinite(time):
            answer[RELATIVE] = best / time


def _time(answer: Document) -> float:
    """Seconds of the best launch."""
    if "results" in answer:
        return float(answer["results"][0]["time_s"]) if answer["results"] else math.inf
    return float(answer["result"]["time_s"]) if "result" in answer else math.inf
