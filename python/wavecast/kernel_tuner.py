"""Kernel Tuner (1.5): leaves out what cannot be fast before anything is measured.

>>> from wavecast.kernel_tuner import Pruner
>>> pruner = Pruner(kernel, tune_params, "a100", slowdown=1.5)
>>> tune_kernel(..., restrictions=pruner.restriction, strategy="genetic_algorithm",
...             strategy_options={"x0": pruner.seed})

Covers parameters that are block sizes and work items per thread (``block_size_x``, ``tile_size_x``, ... or
names given); with ``build`` any parameters that change what a kernel document says. Parameters that are not
named (loop unrolling, read-only caches, ...) do not change the prediction: all their values stay.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Callable, Mapping, Sequence

from ._api import Kernel, KernelLike, predict, rank
from ._errors import KernelError

__all__ = ["Pruner"]

#: Threads and work items along a dimension that Wavecast takes, far more than any device.
MOST = 1 << 16
BLOCK_NAMES = ("block_size_x", "block_size_y", "block_size_z")
FOLD_NAMES = ("tile_size_x", "tile_size_y", "tile_size_z")


class Pruner:
    """What Wavecast predicts of a search space.

    ``kernel`` is a kernel document, whatever its launches are; ``tune_params`` is what `tune_kernel` takes.
    A configuration stays if its predicted time is at most ``slowdown`` times the best one's, and, if ``keep``
    is given, it is among that share of the predictions. With ``build``, a function from a configuration (a
    dict of the parameters ``names``) to a kernel document, each combination of them is a document of its own.
    """

    def __init__(
        self,
        kernel: KernelLike | None,
        tune_params: Mapping[str, Sequence[Any]],
        device: str | None = None,
        *,
        slowdown: float = 1.5,
        keep: float | None = None,
        block_names: Sequence[str] = BLOCK_NAMES,
        fold_names: Sequence[str] = FOLD_NAMES,
        build: Callable[[dict[str, Any]], KernelLike] | None = None,
        names: Sequence[str] = (),
        **options: Any,
    ):
        if slowdown < 1:
            raise ValueError(f"slowdown={slowdown}: a factor of at least 1 over the best time")
        if build is None and kernel is None:
            raise ValueError("give a kernel, or `build` to make one for each configuration")
        self.tune_params = {name: list(values) for name, values in tune_params.items()}
        _check(self.tune_params, (*block_names, *fold_names))
        self.device = device
        self.options = options
        self._block_names, self._fold_names = tuple(block_names), tuple(fold_names)
        self._build, self._kernel = build, None if kernel is None else Kernel(kernel)
        if self._kernel is not None and isinstance(self._kernel.document, list):
            raise ValueError("several kernels: give one, with `build` one for each configuration")
        self._names = [n for n in (*self._block_names, *self._fold_names, *names) if n in self.tune_params]
        if not any(n in self.tune_params for n in (*self._block_names, *names)):
            raise ValueError(f"no parameter is called {', '.join(self._block_names)}: give block_names=(...)")
        #: Predicted seconds by the values of the parameters that matter; none for what cannot run.
        self.times: dict[tuple[Any, ...], float] = self._predicted()
        order = sorted(self.times, key=self.times.get)
        best = self.times[order[0]] if order else 0.0
        most = len(order) if keep is None else max(1, round(keep * len(order)))
        self._order = order
        self._kept = {key for key in order[:most] if self.times[key] <= slowdown * best}

    def restriction(self, *values: Any, **config: Any) -> bool:
        """Whether a configuration is worth a measurement; for the argument `restrictions`, alone or in a list with
        others. Kernel Tuner gives a configuration as a dict, as values in the order of `tune_params`, or by name."""
        if len(values) == 1 and isinstance(values[0], Mapping):
            config = dict(values[0])
        elif values:
            if len(values) != len(self.tune_params):
                raise ValueError(f"{len(values)} values for the parameters {', '.join(self.tune_params)}")
            config = dict(zip(self.tune_params, values))
        return self._key(config) in self._kept

    @property
    def seed(self) -> list[Any]:
        """The best configuration as a list of values, for `strategy_options={"x0": ...}`. With restrictions of
        your own, take the first of :meth:`order` that meets them: Kernel Tuner starts from no other."""
        best = self.order(1)
        if not best:
            raise ValueError("no configuration of this search space can run")
        return list(best[0].values())

    def order(self, top: int | None = None) -> list[dict[str, Any]]:
        """The configurations that stay, best first; parameters without a prediction have their first value."""
        kept = [key for key in self._order if key in self._kept][:top]
        first = {name: values[0] for name, values in self.tune_params.items()}
        return [{**first, **dict(zip(self._names, key))} for key in kept]

    def _key(self, config: Mapping[str, Any]) -> tuple[Any, ...]:
        missing = [name for name in self._names if name not in config]
        if missing:
            raise ValueError(f"a configuration without {', '.join(missing)}")
        return tuple(config[name] for name in self._names)

    def _shape(self, config: Mapping[str, Any], names: Sequence[str]) -> tuple[int, ...]:
        return tuple(int(config.get(name, 1)) for name in names) or (1,)

    def _predicted(self) -> dict[tuple[Any, ...], float]:
        configs = [dict(zip(self._names, values)) for values in product(*(self.tune_params[n] for n in self._names))]
        if self._build is not None:
            return self._one_by_one(configs)
        times = {}
        # One question for each fold: within one, the ranking shares its work.
        folds = {self._shape(c, self._fold_names) for c in configs}
        blocks = sorted({self._shape(c, self._block_names) for c in configs})
        ranking = rank(self._kernel, self.device, block=blocks, fold=sorted(folds), **self.options)
        found = {(tuple(r["config"]["block"]), tuple(r["config"]["fold"])): r["time_s"] for r in ranking["results"]}
        for config in configs:
            shapes = [(*self._shape(config, names), 1, 1, 1)[:3] for names in (self._block_names, self._fold_names)]
            if tuple(shapes) in found:
                times[self._key(config)] = found[tuple(shapes)]
        return times

    def _one_by_one(self, configs: list[dict[str, Any]]) -> dict[tuple[Any, ...], float]:
        times = {}
        for config in configs:
            block, fold = (self._shape(config, names) for names in (self._block_names, self._fold_names))
            given = any(name in config for name in self._block_names)
            kernel = self._build(dict(config))
            try:
                found = predict(kernel, block if given else None, fold if given else None, self.device, **self.options)
            except KernelError as error:
                if error.line is not None or error.code in ("unknown-device", "request"):
                    # A mistake in the document, not a launch that cannot run.
                    raise
            else:
                times[self._key(config)] = found["result"]["time_s"]
        return times


def _check(tune_params: Mapping[str, Sequence[Any]], shapes: Sequence[str]) -> None:
    for name, values in tune_params.items():
        if not values:
            raise ValueError(f"parameter {name} has no values")
        if name in shapes and not all(n == int(n) and 0 < n <= MOST for n in values):
            raise ValueError(f"{name}={values}: numbers from 1 to {MOST}")
