"""A ranking: plain data with a few ways to look at it."""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Sequence

from . import _rows, _show
from ._results import SHOWN, Document, launch_bar
from ._show import Bars, Table

#: Options of a ranking that a question about one of its launches has too.
ONE_LAUNCH = ("set", "variant", "device_set", "limit", "model", "addressing", "caches", "clock", "engine", "verify")


class Result(dict[str, Any]):
    """One launch of a ranking: plain data, and what is asked for most."""

    @property
    def block(self) -> tuple[int, ...]:
        """Threads of a block along x, y, z."""
        return tuple(self["config"]["block"])

    @property
    def fold(self) -> tuple[int, ...]:
        """Work items of a thread along x, y, z."""
        return tuple(self["config"]["fold"])

    @property
    def grid(self) -> tuple[int, ...]:
        """Blocks along x, y, z."""
        return tuple(self["config"]["grid"])

    @property
    def variant(self) -> str | None:
        """The variant of the kernel, if it has several."""
        variant: str | None = self["config"]["variant"]
        return variant

    @property
    def time(self) -> float:
        """Predicted seconds."""
        return float(self["time_s"])

    @property
    def interval(self) -> tuple[float, float]:
        """Seconds between which the time lies with a probability of 80 %."""
        low, high = self["confidence"]["time_interval_s"]
        return low, high


class Question(NamedTuple):
    """What a ranking answers, and who explains its launches."""

    kernel: Any
    device: Any
    options: dict[str, Any]
    explain: Callable[..., Any]


class Ranking(Document):
    """The document of ``wavecast rank`` as a dict; printed, it is a table of the best launches."""

    __module__ = "wavecast"

    #: The question that it answers.
    _asked: Question | None = None

    def __init__(self, document: Mapping[str, Any], asked: Any = None):
        super().__init__(document)
        self["results"] = [Result(r) for r in self["results"]]
        self._asked = document._asked if asked is None and isinstance(document, Ranking) else asked

    @property
    def document(self) -> Any:
        """The kernel document that was ranked, as it was given; a kernel that was compiled has a dict."""
        kernel = self._question().kernel
        return getattr(kernel, "given", kernel)

    def explain(self, block: Sequence[int] | None = None, fold: Sequence[int] | None = None, **options: Any) -> Any:
        """Why the best launch, or the one of this block, is as fast as it is: :func:`wavecast.explain`."""
        document, device, asked, explain = self._question()
        result = self.best if block is None else self.place(block, fold)
        if result is None:
            why = "no launch can run" if block is None else f"no launch that can run has the block {tuple(block)}"
            raise ValueError(f"{why}: the keys `results` and `infeasible` of the ranking list all of them")
        same = {name: asked[name] for name in ONE_LAUNCH if asked.get(name) is not None}
        if result.variant is not None:
            same["variant"] = result.variant
        return explain(document, result.block, result.fold, device, **{**same, **options})

    def _question(self) -> Question:
        if self._asked is None:
            raise ValueError("this ranking was not made here: ask wavecast.rank() for one that knows its kernel")
        return self._asked

    @property
    def best(self) -> Result | None:
        """The best result, or ``None`` if no launch can run."""
        results: list[Result] = self["results"]
        return results[0] if results else None

    def place(self, block: Sequence[int] | None, fold: Sequence[int] | None = None) -> Result | None:
        """The result of this block (and fold), or ``None`` if it is no candidate that can run."""
        if block is None:
            return None
        block, fold = _three(block), None if fold is None else _three(fold)
        results: list[Result] = self["results"]
        for result in results:
            config = result["config"]
            if config["block"] == block and (fold is None or config["fold"] == fold):
                return result
        return None

    def rows(self) -> list[dict[str, Any]]:
        """A row per launch. The time lies between ``time_low_s`` and ``time_high_s`` with a probability of 80 %."""
        about = _rows.whose(self)
        return [about | _rows.launched(result) for result in self["results"]]

    def table(self, top: int | None = SHOWN) -> str:
        """The best ``top`` launches as text; all of them for ``None``."""
        kernel, device = self["kernel"], self["device"]
        unit, summary = kernel["unit"], self["summary"]
        lines = [
            f"{kernel['name']} on {device['name']} ({device['id']})",
            f"{summary['candidates']} launches, {summary['feasible']} can run",
            *self._sentences(),
            "",
            f"{'rank':>5} {'tie':>4}  {'block':<12} {'fold':<8} {f'10^9 {unit}/s':>12} {'relative':>9}"
            f"  {'limiter':<8} {f'L2 B/{unit}':>11} {f'DRAM B/{unit}':>11}  variant",
        ]
        shown = self["results"][:top]
        for r, (l2, dram) in zip(shown, self._bytes()):
            config = r["config"]
            block, fold = _show.shape(config["block"]), _show.shape(config["fold"])
            lines.append(
                f"{r['rank']:>5} {r['tie_group']:>4}  {block:<12} {fold:<8}"
                f" {r['rate_per_s'] / 1e9:>12.2f} {r['relative']:>9.3f}  {r['limiter']:<8} {l2:>11.1f} {dram:>11.1f}"
                f"  {config['variant'] or ''}".rstrip()
            )
        if len(self["results"]) > len(shown):
            lines.append(f"{len(self['results']) - len(shown)} more: .table(None) shows all")
        lines += [f"warning: {w['message']}" for w in self["warnings"]]
        lines += [f"  help: {help}" for help in dict.fromkeys(w.get("help") for w in self["warnings"]) if help]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def _title(self) -> str:
        kernel, device, summary = self["kernel"], self["device"], self["summary"]
        counts = f"{summary['candidates']} launches, {summary['feasible']} can run"
        return f"{kernel['name']} on {device['name']}: {counts}"

    def _sentences(self) -> list[str]:
        """Where the registers come from, if a compiler was asked."""
        told = self.get("registers") or []
        numbers = sorted({one["registers"] for one in told})
        if not told:
            return []
        range_ = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
        return [f"{range_} registers of a thread, says {told[0]['source']}"]

    def _table(self) -> Table:
        unit = self["kernel"]["unit"]
        head = ["rank", "block", "fold", "variant", "time", f"10^9 {unit}/s", "relative", "limited by"]
        rows = []
        for r in self["results"][:SHOWN]:
            config = r["config"]
            shapes = (_show.shape(config["block"]), _show.shape(config["fold"]), config["variant"])
            time, rate = _show.time(r["time_s"]), r["rate_per_s"] / 1e9
            rows.append([r["rank"], *shapes, time, rate, r["relative"], r["limiter"]])
        return Table([*head, f"L2 B/{unit}", f"DRAM B/{unit}"], [[*row, *b] for row, b in zip(rows, self._bytes())])

    def _bytes(self) -> list[list[float]]:
        """Bytes per item from L2 and from memory."""
        levels = ([r["volumes"][level] for level in ("l2", "dram")] for r in self["results"])
        return [[level["load"]["total"] + level["store"]["total"] for level in both] for both in levels]

    def _bars(self) -> Bars:
        def name(result: Mapping[str, Any]) -> str:
            config = result["config"]
            fold = "" if config["fold"] == [1, 1, 1] else f" fold {_show.shape(config['fold'])}"
            return _show.shape(config["block"]) + fold + (f" {config['variant']}" if config["variant"] else "")

        bars = [launch_bar(name(r), r) for r in self["results"][:SHOWN]]
        return Bars("time of the best launches", bars, unit="seconds")


def _three(shape: Sequence[int]) -> list[int]:
    return [*(int(n) for n in shape), 1, 1, 1][:3]
