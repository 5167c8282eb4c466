"""The ranking of an operator: one for each of its loop nests, which run one after the other."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, NamedTuple

from . import _rows, _show
from ._ranking import Ranking, Result
from ._results import Results, launch_bar
from ._show import Bars, Table


class Common(NamedTuple):
    """One block for all nests."""

    block: tuple[int, ...]
    #: Seconds of all nests of a step with it.
    time: float


class OperatorRanking(Results):
    """A list of rankings, one for each loop nest in the order in which they run, with the sums of their times. Each
    has a key ``nest``: its number, the names of its loops, and whether it runs in each time step (``each_step``)."""

    __module__ = "wavecast.devito"

    def __init__(self, rankings: Iterable[Ranking], common: Common | None = None, whole: bool = True):
        super().__init__(rankings)
        #: The block that makes a step fastest if all nests have the same; none if no block can run in all.
        self.common = common
        #: Whether all parallel nests of the operator are here.
        self.whole = whole

    def __reduce__(self) -> Any:
        return type(self), (list(self), self.common, self.whole)

    @property
    def best(self) -> Result | None:
        """The best launch of the nest that takes longest."""
        found = [ranking.best for ranking in self.steps() if ranking.best is not None]
        return max(found, key=lambda result: result.time, default=None)

    @property
    def time(self) -> float:
        """Predicted seconds of a time step: the sum over its nests, each with its best block. Of an operator without
        time, of all nests. Infinite if a nest cannot run."""
        return sum(_time(ranking) for ranking in self.steps())

    @property
    def once(self) -> float:
        """Predicted seconds of what runs once, before the first time step."""
        return sum(_time(ranking) for ranking in self) - self.time

    @property
    def tiles(self) -> tuple[tuple[int, ...], ...]:
        """The best block of each nest, innermost loop first."""
        return tuple(r.best.block[: len(r["kernel"]["domain"])] if r.best else () for r in self)

    def steps(self) -> list[Ranking]:
        """The nests of a time step; all of them if there is no time."""
        return [r for r in self if r["nest"]["each_step"]] or list(self)

    def __str__(self) -> str:
        table = self._best() or Table([], [])
        lines = [[_show.written(cell) for cell in row] for row in (table.head, *table.rows)]
        wide = [max(map(len, column)) for column in zip(*lines)]
        rows = ["  ".join(cell.rjust(n) for cell, n in zip(line, wide)).rstrip() for line in lines]
        return "\n".join([self._heading(), *rows, *self._sums(), *self._warnings()])

    def _repr_html_(self) -> str:
        from html import escape

        picture = _show.bars_svg(self._bars())
        sums = "".join(f"<p>{escape(line)}</p>" for line in (*self._sums(), *self._warnings()))
        table = _show.table_html(self._best() or Table([], []))
        return f'<div class="wavecast"><p><b>{escape(self._heading())}</b></p><div>{picture}</div>{table}{sums}</div>'

    def _heading(self) -> str:
        about = _rows.whose(self[0])
        name = about.get("kernel", "").rpartition("_")[0]
        return f"{name} on {about.get('device', '')}: {len(self)} loop nest{'s' * (len(self) > 1)}"

    def _sums(self) -> list[str]:
        several = len(self.steps()) > 1
        lines = [f"{_show.time(self.time)} a time step" + (", each nest with its best block" if several else "")]
        if len(self.steps()) < len(self):
            lines.append(f"{_show.time(self.once)} once, before the first step")
        if several and self.common is not None:
            more = self.common.time / self.time - 1
            lines.append(
                f"{_show.time(self.common.time)} a time step with the block {_show.shape(self.common.block)} for all, "
                f"{more:.0%} more"
            )
        if not self.whole:
            lines.append("nests that cannot be described are left out, and not in these sums")
        return lines

    def _warnings(self) -> list[str]:
        return list(dict.fromkeys(f"warning: {w['message']}" for ranking in self for w in ranking["warnings"]))

    def _best(self) -> Table | None:
        head = ["nest", "loops", "block", "registers", "time", "share", "limiter", "runs"]
        rows = []
        for ranking in self:
            nest, best = ranking["nest"], ranking.best
            runs = "each step" if nest["each_step"] else "once"
            if best is None:
                rows.append([nest["number"], " ".join(nest["loops"]), "cannot run", "", "", "", "", runs])
                continue
            total = self.time if nest["each_step"] or len(self.steps()) == len(self) else self.once
            block = _show.shape(best.block[: len(ranking["kernel"]["domain"])])
            registers = [one["registers"] for one in ranking.get("registers", [])] or [
                best["config"].get("registers", "")
            ]
            row = [nest["number"], " ".join(nest["loops"]), block, registers[0], _show.time(best.time)]
            rows.append([*row, f"{best.time / total:.0%}", best["limiter"], runs])
        return Table(head, rows)

    def _bars(self) -> Bars:
        bars = [launch_bar(f"nest {r['nest']['number']} {_show.shape(r.best.block)}", r.best) for r in self if r.best]
        return Bars("time of each nest with its best block", bars, unit="seconds")


def common_block(rankings: Iterable[Ranking]) -> Common | None:
    """The block that all rankings have and with which the sum of their times is least."""
    times: list[Mapping[tuple[int, ...], float]] = [
        {result.block: result.time for result in reversed(ranking["results"])} for ranking in rankings
    ]
    shared = set.intersection(*(set(of_nest) for of_nest in times)) if times else set()
    if not shared:
        return None
    # Of equal sums the one that a set does not decide.
    block = min(sorted(shared), key=lambda b: sum(of_nest[b] for of_nest in times))
    return Common(block, sum(of_nest[block] for of_nest in times))


def _time(ranking: Ranking) -> float:
    return ranking.best.time if ranking.best else float("inf")
