"""Strategies of Kernel Tuner that look first at what is predicted to be fast."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Sequence

#: What a strategy draws its first population and its new starts from.
SAMPLES = ("get_random_sample", "get_LHS_sample")
#: Strategies that take no starting point, as they say.
WITHOUT_START = (
    "brute_force",
    "random_sample",
    "bayes_opt",
    "bayes_opt_GPyTorch",
    "bayes_opt_GPyTorch_lean",
    "nsga2",
    "nsga3",
)


class Ordered:
    """A strategy of Kernel Tuner that measures the first configurations of an order, starts from the fastest of them,
    and draws its populations and further starts in that order."""

    def __init__(self, strategy: Any, time: Callable[[Sequence[Any]], float], first: int):
        self._name = strategy if isinstance(strategy, str) else getattr(strategy, "__name__", "")
        if isinstance(strategy, str):
            known = importlib.import_module("kernel_tuner.interface").strategy_map
            if strategy not in known:
                raise ValueError(f"Kernel Tuner has no strategy {strategy!r}: it has {', '.join(known)}")
            strategy = known[strategy]
        if not callable(getattr(strategy, "tune", None)):
            raise TypeError(f"strategy {strategy!r}: give the name of one, or an object with a function `tune`")
        if first < 0:
            raise ValueError(f"first={first}: give how many configurations are measured first, from 0")
        self._strategy, self._time, self._first = strategy, time, int(first)

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        """What `tune_kernel` calls."""
        # Configurations of one prediction stay in the order of the search space.
        order = sorted(searchspace.list, key=self._time)
        options = tuning_options.strategy_options
        if self._name.rpartition(".")[2] in WITHOUT_START:
            return self._drawing(Draw(order, 0), searchspace, runner, tuning_options)
        measured, order, ended = self._measured(order, self._first, searchspace, runner, tuning_options)
        if ended:
            return measured
        if "x0" not in options and order:
            options["x0"] = list(order[0])
        found = self._drawing(Draw(order, 1), searchspace, runner, tuning_options)
        return [*measured, *found]

    def _measured(
        self, order: list[Any], first: int, searchspace: Any, runner: Any, tuning_options: Any
    ) -> tuple[list[Any], list[Any], bool]:
        """Results of the first configurations, the order with these by what was measured, and whether that was all
        that may be measured."""
        if first == 0:
            return [], order, False
        from kernel_tuner.strategies.common import CostFunc
        from kernel_tuner.util import StopCriterionReached

        cost = CostFunc(searchspace, tuning_options, runner)
        try:
            costs = cost.eval_all([list(config) for config in order[:first]], check_restrictions=False)
        except StopCriterionReached:
            return cost.results, order, True
        # Several objectives have a list of costs each.
        fastest = sorted(range(len(costs)), key=lambda i: costs[i])
        return cost.results, [order[i] for i in fastest] + order[first:], False

    def _drawing(self, draw: Draw, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        """What the strategy finds where samples are drawn in order."""
        for sample in SAMPLES:
            setattr(searchspace, sample, draw)
        try:
            return self._strategy.tune(searchspace, runner, tuning_options)
        finally:
            for sample in SAMPLES:
                delattr(searchspace, sample)


class Draw:
    """Samples in order: several are the best, single ones come one after the other and begin anew at the end."""

    def __init__(self, order: Sequence[Any], first: int):
        self._order, self._next = order, first

    def __call__(self, number: int, *_: Any, **__: Any) -> list[Any]:
        if number != 1:
            self._next = max(self._next, min(number, len(self._order)))
            return list(self._order[:number])
        found = self._order[self._next % len(self._order)]
        self._next += 1
        return [found]
