"""Kernel Tuner (1.5): leaves out what cannot be fast before anything is measured.

>>> from wavecast.kernel_tuner import Pruner
>>> pruner = Pruner(kernel, tune_params, "a100", slowdown=1.5)
>>> tune_kernel(..., restrictions=pruner.restriction, strategy="genetic_algorithm",
...             strategy_options={"x0": pruner.seed})

With :meth:`Pruner.of_source` the kernel is its CUDA text, as `tune_kernel` takes it, and nothing has to be described:
every parameter is defined for the compiler, as Kernel Tuner does it, and each program is compiled (without a GPU), read
and predicted.

Otherwise covers parameters that are block sizes and work items per thread (``block_size_x``, ``tile_size_x``, ... or
names given); with ``build`` any parameters that change what a kernel document says. Parameters that are not
named (loop unrolling, read-only caches, ...) do not change the prediction: all their values stay.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any, Callable, Mapping, Sequence

from ._api import Kernel, KernelLike, predict, rank
from ._errors import KernelError
from ._kernels import at_once
from ._nvrtc import CompileError

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
        order = sorted(self.times, key=self.times.__getitem__)
        best = self.times[order[0]] if order else 0.0
        most = len(order) if keep is None else max(1, round(keep * len(order)))
        self._order = order
        self._kept = {key for key in order[:most] if self.times[key] <= slowdown * best}

    @classmethod
    def of_source(
        cls,
        kernel_name: str,
        kernel_source: Any,
        problem_size: Any,
        arguments: Any,
        tune_params: Mapping[str, Sequence[Any]],
        device: str | None = None,
        *,
        grid_div_x: Sequence[str] | None = None,
        grid_div_y: Sequence[str] | None = None,
        grid_div_z: Sequence[str] | None = None,
        block_size_names: Sequence[str] = BLOCK_NAMES,
        compiler_options: Sequence[str] = (),
        trips: Mapping[int, int] | None = None,
        assume: Mapping[int, str] | None = None,
        **more: Any,
    ) -> Pruner:
        """The pruner of a CUDA text, which :func:`wavecast.cuda.rank` reads. The first arguments, ``grid_div_x`` and so
        on, ``block_size_names`` and ``compiler_options`` are those of `tune_kernel`; ``arguments`` may be a dict by name
        and hold :class:`wavecast.cuda.Array`. ``trips`` and ``assume`` are those of :func:`wavecast.cuda.rank`, further
        keywords those of :class:`Pruner`."""
        from . import cuda
        from ._kernels import bare_text

        text = bare_text(kernel_source)
        used = [name for name in tune_params if re.search(rf"\b{re.escape(name)}\b", text)]
        blocks = tuple(name for name in block_size_names if name in tune_params)
        sizes = problem_size if isinstance(problem_size, (tuple, list)) else (problem_size,)
        divisors = [d if d is not None else [n] for d, n in zip((grid_div_x, grid_div_y, grid_div_z), block_size_names)]

        def build(config: dict[str, Any]) -> dict[str, Any]:
            # What Kernel Tuner defines; a program that does not ask for its block is the same for all of them.
            defined = [f"-D{name}={config[name]}" for name in used]
            grid = [-(-int(_value(n, config)) // _product(d, config)) for n, d in zip(sizes, divisors)]
            return cuda.document(
                kernel_source,
                arguments,
                grid,
                device,
                blocks=[tuple(int(config.get(name, 1)) for name in blocks)],
                entry=kernel_name,
                options=[*compiler_options, *defined],
                trips=trips,
                assume=assume,
            )

        names = [*used, *(n for d in divisors for n in d if isinstance(n, str) and n in tune_params)]
        names = [name for name in dict.fromkeys(names) if name not in blocks]
        build.at_once = True  # type: ignore[attr-defined]
        return cls(None, tune_params, device, build=build, names=names, block_names=blocks, fold_names=(), **more)

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
        if self._build is not None or self._kernel is None:
            return self._one_by_one(configs)
        times = {}
        # One question for each fold: within one, the ranking shares its work.
        folds = {self._shape(c, self._fold_names) for c in configs}
        blocks = sorted({self._shape(c, self._block_names) for c in configs})
        ranking = rank(self._kernel, self.device, block=blocks, fold=sorted(folds), **self.options)
        found = {(tuple(r["config"]["block"]), tuple(r["config"]["fold"])): r["time_s"] for r in ranking["results"]}
        for config in configs:
            block, fold = ((*self._shape(config, n), 1, 1, 1)[:3] for n in (self._block_names, self._fold_names))
            if (block, fold) in found:
                times[self._key(config)] = found[block, fold]
        return times

    def _one_by_one(self, configs: list[dict[str, Any]]) -> dict[tuple[Any, ...], float]:
        times: dict[tuple[Any, ...], float] = {}
        build = self._build
        if build is None:
            return times
        # What compiles a program may work on several; somebody's own function is called once at a time.
        built = at_once(build, [dict(c) for c in configs]) if hasattr(build, "at_once") else None
        refused = [e for e in built or [] if isinstance(e, Exception)]
        for error in refused:
            alone = isinstance(error, CompileError) or (isinstance(error, KernelError) and error.code == "ptx-block")
            if not alone or len(refused) == len(configs):
                raise error
        for at, config in enumerate(configs):
            if built is not None and isinstance(built[at], Exception):
                # This one does not compile, or has too many threads.
                continue
            block, fold = (self._shape(config, names) for names in (self._block_names, self._fold_names))
            given = any(name in config for name in self._block_names)
            kernel = build(dict(config)) if built is None else built[at]
            try:
                found = predict(kernel, block if given else None, fold if given else None, self.device, **self.options)
            except KernelError as error:
                if error.line is not None or error.code in ("unknown-device", "ambiguous-device", "request"):
                    # A mistake in the document, not a launch that cannot run.
                    raise
            else:
                times[self._key(config)] = found["result"]["time_s"]
        return times


def _value(number: Any, config: Mapping[str, Any]) -> Any:
    """A number of Kernel Tuner's: itself, the name of a parameter, an expression of parameters, or a function."""
    if callable(number):
        return number(config)
    if not isinstance(number, str):
        return number
    if number in config:
        return config[number]
    return eval(number, {"__builtins__": {}}, dict(config))


def _product(divisors: Sequence[Any], config: Mapping[str, Any]) -> int:
    found = 1
    for divisor in divisors:
        # The default divisor is a block size, which may be no parameter.
        found *= 1 if divisor in BLOCK_NAMES and divisor not in config else int(_value(divisor, config))
    return found


def _check(tune_params: Mapping[str, Sequence[Any]], shapes: Sequence[str]) -> None:
    for name, values in tune_params.items():
        if not values:
            raise ValueError(f"parameter {name} has no values")
        if name in shapes and not all(n == int(n) and 0 < n <= MOST for n in values):
            raise ValueError(f"{name}={values}: numbers from 1 to {MOST}")
