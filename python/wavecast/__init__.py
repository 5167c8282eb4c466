"""Predicts, without a GPU, the memory traffic and speed of GPU kernels for every thread block.

>>> import wavecast
>>> ranking = wavecast.rank(kernel, device="a100")      # a dict, a YAML or JSON text, or a path
>>> print(ranking)                                      # a table
>>> ranking["results"][0]["config"]["block"]            # plain data, as `wavecast schema ranking` says
>>> ranking.frame()                                     # a pandas DataFrame

A kernel as it is, CUDA text, PTX, CuPy, Numba, Triton or Warp, goes into ``wavecast.cuda.rank``; ``wavecast.ptx``
reads PTX. Adapters: ``wavecast.pystencils``, ``wavecast.lbmpy``, ``wavecast.loopy``, ``wavecast.devito``,
``wavecast.kernel_tuner`` and ``wavecast.triton``. Each says what it covers.
"""

from ._api import Kernel, check, devices, explain, features, predict, rank, sweep, touches
from ._errors import KernelError
from ._ranking import Ranking
from ._wavecast import __version__

__all__ = [
    "Kernel",
    "KernelError",
    "Ranking",
    "__version__",
    "check",
    "devices",
    "explain",
    "features",
    "predict",
    "rank",
    "sweep",
    "touches",
]
