"""Kernel Tuner (1.5): leaves out what cannot be fast before anything is measured.

>>> from wavecast.kernel_tuner import Pruner
>>> pruner = Pruner(kernel, tune_params, "a100", restrictions=["block_size_x*block_size_y <= 512"], slowdown=1.5)
>>> tune_kernel(..., restrictions=pruner.restrictions, strategy=pruner.strategy("genetic_algorithm"))

``restrictions`` leave out what is predicted to be slow, a strategy of :meth:`Pruner.strategy` looks at the fast ones
first. Each serves without the other: an order alone leaves nothing out.

With :meth:`Pruner.of_source` the kernel is its CUDA text, as `tune_kernel` takes it, and nothing has to be described:
every parameter is defined for the compiler, as Kernel Tuner does it, and each program is compiled (without a GPU), read
and predicted.

Otherwise covers parameters that are block sizes and work items per thread (``block_size_x``, ``tile_size_x``, ... or
names given); with ``build`` any parameters that change what a kernel document says. Parameters that are not
named (loop unrolling, read-only caches, ...) do not change the prediction: all their values stay.
"""

from __future__ import annotations

import math
import re
from itertools import product
from typing import Any, Callable, Iterator, Mapping, Sequence

from ._api import Kernel, KernelLike, predict, rank
from ._errors import KernelError
from ._kernels import at_once
from ._nvrtc import CompileError
from ._progress import Progress
from ._threads import in_order
from ._tuner_strategy import Ordered

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

    ``restrictions`` are those of your own, as `tune_kernel` takes them: what they refuse is not predicted, and
    neither the order nor the seed has it. ``max_threads`` is what Kernel Tuner lets a block have. Predictions are
    made by ``workers`` threads, as many as there are processors by default; a terminal shows how many are done and
    about how long the rest takes (``progress=False`` is quiet), and Ctrl-C ends them.
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
        restrictions: Any = None,
        max_threads: int = 1024,
        workers: int | None = None,
        progress: bool | None = None,
        **options: Any,
    ):
        if slowdown < 1:
            raise ValueError(f"slowdown={slowdown}: a factor of at least 1 over the best time")
        if build is None and kernel is None:
            raise ValueError("give a kernel, or `build` to make one for each configuration")
        self.tune_params = {name: [_number(v) for v in values] for name, values in tune_params.items()}
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
        self._own = restrictions
        #: By the values of the parameters that matter, a configuration with them that the restrictions allow.
        self._whole = self._allowed(max_threads)
        self._workers = workers
        #: Predicted seconds by the values of the parameters that matter; none for what cannot run.
        self.times: dict[tuple[Any, ...], float] = {}
        with Progress(progress, lambda: len(self._whole), "configurations") as shown:
            self._predict(shown)
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
        return self._key(self._config(values, config)) in self._kept

    @property
    def restrictions(self) -> list[Any]:
        """Those of your own, and then :meth:`restriction`: all that `tune_kernel` has to know."""
        own = [] if self._own is None else self._own
        return [*(own if isinstance(own, (list, tuple)) else [own]), self.restriction]

    def strategy(self, name: Any, first: int | None = None) -> Any:
        """A strategy of Kernel Tuner (its name, or an object with ``tune``) that goes by the predictions, for the
        argument `strategy`. It measures the ``first`` configurations of the order (by default the square root of how
        many predictions there are), starts from the fastest of them, and draws populations and new starts in that
        order, too; what it does from there is its own. With ``first=0`` it starts from the best prediction at once. Whatever the
        restrictions allow can still be found, also what is predicted to be slow."""
        return Ordered(name, self.time, round(math.sqrt(len(self.times))) if first is None else first)

    def time(self, *values: Any, **config: Any) -> float:
        """Predicted seconds of a configuration, given as for :meth:`restriction`; infinite if it cannot run or was
        not allowed."""
        return self.times.get(self._key(self._config(values, config)), math.inf)

    @property
    def seed(self) -> list[Any]:
        """The best configuration as a list of values, for `strategy_options={"x0": ...}`. It meets the
        ``restrictions`` that the pruner knows."""
        best = self.order(1)
        if not best:
            raise ValueError("no configuration of this search space can run")
        return list(best[0].values())

    def order(self, top: int | None = None) -> list[dict[str, Any]]:
        """The configurations that stay, best first; parameters without a prediction have the first values that the
        restrictions allow."""
        kept = [key for key in self._order if key in self._kept][:top]
        return [dict(zip(self.tune_params, self._whole[key])) for key in kept]

    def _config(self, values: Sequence[Any], config: Mapping[str, Any]) -> Mapping[str, Any]:
        """A configuration, however it was given."""
        if len(values) == 1 and isinstance(values[0], Mapping):
            return values[0]
        if len(values) == 1 and isinstance(values[0], (tuple, list)):
            values = values[0]
        if not values:
            return config
        if len(values) != len(self.tune_params):
            raise ValueError(f"{len(values)} values for the parameters {', '.join(self.tune_params)}")
        return dict(zip(self.tune_params, values))

    def _key(self, config: Mapping[str, Any]) -> tuple[Any, ...]:
        missing = [name for name in self._names if name not in config]
        if missing:
            raise ValueError(f"a configuration without {', '.join(missing)}")
        return tuple(config[name] for name in self._names)

    def _allowed(self, max_threads: int) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        """What has to be predicted. Without restrictions that is everything, which need not be written down."""
        at = [list(self.tune_params).index(name) for name in self._names]
        if self._own is None:
            first = [values[0] for values in self.tune_params.values()]
            found = {}
            for key in product(*(self.tune_params[name] for name in self._names)):
                whole = list(first)
                for place, value in zip(at, key):
                    whole[place] = value
                found[key] = tuple(whole)
            return found
        from kernel_tuner.searchspace import Searchspace

        # Copies: Kernel Tuner adds restrictions to the list that it is given.
        own = list(self._own) if isinstance(self._own, (list, tuple)) else self._own
        allowed = Searchspace(dict(self.tune_params), own, max_threads, block_size_names=list(self._block_names))
        numbers = [{v: i for i, v in enumerate(values)} for values in self.tune_params.values()]
        ordered = sorted(allowed.list, key=lambda c: [number[v] for number, v in zip(numbers, c)])
        found = {}
        for config in ordered:
            found.setdefault(tuple(config[i] for i in at), tuple(config))
        return found

    def _shape(self, config: Mapping[str, Any], names: Sequence[str]) -> tuple[int, ...]:
        return tuple(int(config.get(name, 1)) for name in names) or (1,)

    def _predict(self, shown: Progress) -> None:
        configs = [dict(zip(self._names, key)) for key in self._whole]
        if self._build is not None or self._kernel is None:
            self._one_by_one(configs, shown)
            return
        kernel = self._kernel
        # One question for each fold: within one, the ranking shares its work.
        folds: dict[tuple[int, ...], list[dict[str, Any]]] = {}
        for config in configs:
            folds.setdefault(self._shape(config, self._fold_names), []).append(config)

        def ranked(fold: tuple[int, ...]) -> dict[tuple[int, ...], float]:
            blocks = sorted({self._shape(c, self._block_names) for c in folds[fold]})
            ranking = rank(kernel, self.device, block=blocks, fold=[fold], **self.options)
            return {tuple(r["config"]["block"]): r["time_s"] for r in ranking["results"]}

        for fold, found in zip(folds, in_order(ranked, list(folds), self._workers)):
            for config in folds[fold]:
                block = (*self._shape(config, self._block_names), 1, 1, 1)[:3]
                if block in found:
                    self.times[self._key(config)] = found[block]
            shown.add(len(folds[fold]))

    def _one_by_one(self, configs: list[dict[str, Any]], shown: Progress) -> None:
        for config, time in zip(configs, in_order(self._time_of, self._built(configs), self._workers)):
            shown.add(1)
            if time is not None:
                self.times[self._key(config)] = time

    def _built(self, configs: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Any]]:
        """The configurations and their kernels; none for one that does not compile or has too many threads."""
        build = self._build
        if build is None:
            return
        # What compiles a program may work on several; somebody's own function is called once at a time.
        if not hasattr(build, "at_once"):
            for config in configs:
                yield config, build(dict(config))
            return
        built = at_once(build, [dict(c) for c in configs])
        refused = [e for e in built if isinstance(e, Exception)]
        for error in refused:
            alone = isinstance(error, CompileError) or (isinstance(error, KernelError) and error.code == "ptx-block")
            if not alone or len(refused) == len(configs):
                raise error
        for config, kernel in zip(configs, built):
            yield config, None if isinstance(kernel, Exception) else kernel

    def _time_of(self, built: tuple[dict[str, Any], Any]) -> float | None:
        """Predicted seconds; none of a launch that cannot run."""
        config, kernel = built
        if kernel is None:
            return None
        block, fold = (self._shape(config, names) for names in (self._block_names, self._fold_names))
        given = any(name in config for name in self._block_names)
        try:
            found = predict(kernel, block if given else None, fold if given else None, self.device, **self.options)
        except KernelError as error:
            if error.line is not None or error.code in ("unknown-device", "ambiguous-device", "request"):
                # A mistake in the document, not a launch that cannot run.
                raise
            return None
        return float(found["result"]["time_s"])


def _number(value: Any) -> Any:
    """A plain number for one of NumPy, which is written otherwise in keys and texts."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


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
