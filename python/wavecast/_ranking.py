"""A ranking: plain data with a few ways to look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    import pandas

#: Results that a printed ranking shows.
SHOWN = 10


class Ranking(dict):
    """The document of ``wavecast rank`` as a dict; printed, it is a table of the best launches."""

    @property
    def best(self) -> dict[str, Any] | None:
        """The best result, or ``None`` if no launch can run."""
        return self["results"][0] if self["results"] else None

    def place(self, block: Sequence[int] | None, fold: Sequence[int] | None = None) -> dict[str, Any] | None:
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
        put together; nested keys are joined with dots."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Ranking.frame() needs pandas: pip install pandas") from error
        rows = []
        for result in self["results"]:
            row = {"kernel": self["kernel"]["name"], "device": self["device"]["id"], **_flat(result)}
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
