"""A ranking: plain data with a few ways to look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Sequence

if TYPE_CHECKING:
    import pandas

#: Results that a printed ranking shows.
SHOWN = 10
#: Options of a ranking that a question about one of its launches has too.
ONE_LAUNCH = ("set", "variant", "device_set", "limit", "model", "addressing", "caches", "clock", "engine", "verify")


class Result(dict):
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
        return self["config"]["variant"]

    @property
    def time(self) -> float:
        """Predicted seconds."""
        return self["time_s"]

    @property
    def interval(self) -> tuple[float, float]:
        """Seconds between which the time lies with a probability of 80 %."""
        low, high = self["confidence"]["time_interval_s"]
        return low, high


class Explanation(dict):
    """The document of ``wavecast explain`` as a dict; printed, it is its sentences."""

    def __str__(self) -> str:
        return "\n".join(sentence["text"] for sentence in self["sentences"])

    __repr__ = __str__


class Question(NamedTuple):
    """What a ranking answers, and who explains its launches."""

    kernel: Any
    device: str | None
    options: dict[str, Any]
    explain: Callable[..., Any]


class Ranking(dict):
    """The document of ``wavecast rank`` as a dict; printed, it is a table of the best launches."""

    #: The question that it answers.
    _asked: Question | None = None

    def __init__(self, document: Mapping[str, Any], asked: Question | None = None):
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
        return self["results"][0] if self["results"] else None

    def place(self, block: Sequence[int] | None, fold: Sequence[int] | None = None) -> Result | None:
        """The result of this block (and fold), or ``None`` if it is no candidate that can run."""
        if block is None:
            return None
        block, fold = _three(block), None if fold is None else _three(fold)
        for result in self["results"]:
            config = result["config"]
            if config["block"] == block and (fold is None or config["fold"] == fold):
                return result
        return None

    def frame(self) -> pandas.DataFrame:
        """The results as a pandas DataFrame, one row per launch, with kernel and device, so that frames can be
        put together; nested keys are joined with dots. The time lies between ``time_low_s`` and ``time_high_s`` with a
        probability of 80 %."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Ranking.frame() needs pandas: pip install pandas") from error
        rows = []
        for result in self["results"]:
            row = {"kernel": self["kernel"]["name"], "device": self["device"]["id"], **_flat(result)}
            row["time_low_s"], row["time_high_s"] = result.interval
            for name in ("block", "fold", "grid"):
                row.update({f"{name}_{axis}": n for axis, n in zip("xyz", result["config"][name])})
            rows.append(row)
        return pandas.DataFrame(rows)

    def table(self, top: int | None = SHOWN) -> str:
        """The best ``top`` launches as text; all of them for ``None``."""
        kernel, device = self["kernel"], self["device"]
        unit, summary = kernel["unit"], self["summary"]
        lines = [
            f"{kernel['name']} on {device['name']} ({device['id']})",
            f"{summary['candidates']} launches, {summary['feasible']} can run",
            "",
            f"{'rank':>5} {'tie':>4}  {'block':<12} {'fold':<8} {f'10^9 {unit}/s':>12} {'relative':>9}"
            f"  {'limiter':<8} {f'L2 B/{unit}':>11} {f'DRAM B/{unit}':>11}  variant",
        ]
        shown = self["results"][:top]
        for r in shown:
            config, volumes = r["config"], r["volumes"]
            dram = volumes["dram"]["load"]["total"] + volumes["dram"]["store"]["total"]
            l2 = volumes["l2"]["load"]["total"] + volumes["l2"]["store"]["total"]
            lines.append(
                f"{r['rank']:>5} {r['tie_group']:>4}  {_shape(config['block']):<12} {_shape(config['fold']):<8}"
                f" {r['rate_per_s'] / 1e9:>12.2f} {r['relative']:>9.3f}  {r['limiter']:<8} {l2:>11.1f} {dram:>11.1f}"
                f"  {config['variant'] or ''}".rstrip()
            )
        if len(self["results"]) > len(shown):
            lines.append(f"{len(self['results']) - len(shown)} more: .table(None) shows all")
        lines += [f"warning: {w['message']}" for w in self["warnings"]]
        lines += [f"  help: {help}" for help in dict.fromkeys(w.get("help") for w in self["warnings"]) if help]
        return "\n".join(lines)

    __str__ = table
    __repr__ = table


def _three(shape: Sequence[int]) -> list[int]:
    return [*(int(n) for n in shape), 1, 1, 1][:3]


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _flat(value: dict[str, Any], before: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, item in value.items():
        name = before + key
        if isinstance(item, dict):
            row.update(_flat(item, name + "."))
        elif not isinstance(item, list):
            row[name] = item
    return row
