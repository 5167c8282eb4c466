"""Predicts, without a GPU, the memory traffic and speed of GPU kernels for every thread block.

>>> import wavecast
>>> ranking = wavecast.rank(kernel, device="a100")      # a dict, a YAML or JSON text, or a path
>>> print(ranking)                                      # a table
>>> ranking["results"][0]["config"]["block"]            # plain data, as `wavecast schema ranking` says
>>> ranking.frame()                                     # a pandas DataFrame
>>> wavecast.rank(kernel, device=["a100", "h200"])      # devices beside each other

Each command of the command line is a function with its options as keywords: ``rank``, ``predict``, ``explain``,
``sweep``, ``check``, ``compare``, ``diff``, ``validate``, ``fit``, ``cache_probe``, ``emit``, ``read``,
``touches``, and ``wavecast.trace`` for those of ``wavecast trace``.

A kernel as it is, CUDA text, PTX, CuPy, Numba, Triton or Warp, goes into ``wavecast.cuda.rank``; ``wavecast.ptx``
reads PTX. Adapters: ``wavecast.pystencils``, ``wavecast.lbmpy``, ``wavecast.loopy``, ``wavecast.devito``,
``wavecast.kernel_tuner`` and ``wavecast.triton``. Each says what it covers.
"""

from importlib import import_module
from typing import Any

from ._api import Kernel, check, devices, explain, features, predict, rank, sweep, touches
from ._commands import cache_probe, compare, diff, emit, fit, read, validate
from ._errors import KernelError
from ._ranking import Ranking
from ._results import Document, Results
from ._wavecast import __version__

__all__ = [
    "Document",
    "Kernel",
    "KernelError",
    "Ranking",
    "Results",
    "__version__",
    "cache_probe",
    "check",
    "compare",
    "devices",
    "diff",
    "emit",
    "explain",
    "features",
    "fit",
    "predict",
    "rank",
    "read",
    "sweep",
    "touches",
    "trace",
    "validate",
]


def __getattr__(name: str) -> Any:
    # `wavecast.trace` without an import of its own; it is not read before somebody asks for it.
    if name == "trace":
        return import_module(".trace", __name__)
    raise AttributeError(f"module 'wavecast' has no attribute {name!r}")
