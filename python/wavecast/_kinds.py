"""What each command answers: which of its numbers are rows, and which are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from . import _rows, _show
from ._results import SHOWN, Asked, Document, Refusal
from ._show import Bar, Bars, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def term_bars(result: Mapping[str, Any]) -> Bars:
    """What a launch would take if one thing alone limited it, the longest first."""
    terms = sorted(result["time_terms_s"].items(), key=lambda term: -term[1])
    bars = [Bar(name, [seconds], _show.time(seconds)) for name, seconds in terms if seconds > 0]
    launch = Bar("launch", [result["time_s"]], _show.time(result["time_s"]))
    return Bars("time of each part", [launch, *bars], unit="seconds")


def numbers(result: Mapping[str, Any], unit: str) -> list[tuple[str, Any]]:
    """What is looked at first of one launch."""
    config, volumes = result["config"], result["volumes"]
    low, high = result["confidence"]["time_interval_s"]
    return [
        ("block", _show.shape(config["block"])),
        ("fold", _show.shape(config["fold"])),
        ("grid", _show.shape(config["grid"])),
        ("time", _show.time(result["time_s"])),
        ("80 % interval", f"{_show.time(low)} to {_show.time(high)}"),
        (f"10^9 {unit}/s", result["rate_per_s"] / 1e9),
        ("limited by", result["limiter"]),
        ("occupancy", f"{result['occupancy']['fraction']:.0%}"),
        (f"L2 load, B/{unit}", volumes["l2"]["load"]["total"]),
        (f"DRAM load, B/{unit}", volumes["dram"]["load"]["total"]),
        (f"DRAM store, B/{unit}", volumes["dram"]["store"]["total"]),
    ]


class Prediction(Document):
    """Everything about one launch."""

    def rows(self) -> list[dict[str, Any]]:
        """One row, with the columns that a ranking has."""
        return [_rows.whose(self) | _rows.launched(self["result"])]

    def _table(self) -> Table:
        return Table(["", "value"], list(numbers(self["result"], self["kernel"]["unit"])))

    def _bars(self) -> Bars:
        return term_bars(self["result"])


class Explanation(Document):
    """Why a launch is as fast as it is. Printed, it is its sentences."""

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def rows(self) -> list[dict[str, Any]]:
        """A row for each access of the kernel."""
        about = _rows.whose(self) | _rows.axes(self["result"]["config"], ("block", "fold"))
        return [about | _rows.flat(access) for access in self["accesses"]]

    def _sentences(self) -> list[str]:
        return [sentence["text"] for sentence in self["sentences"]]

    def _table(self) -> Table:
        costly = sorted(self["accesses"], key=lambda access: -access["cycles"])[:SHOWN]
        rows = [[a["kind"], a["at"], a["cycles"], a["sectors_per_request"], a["efficiency"]] for a in costly]
        return Table(["", "access", "L1 cycles", "sectors per request", "share used"], rows)

    def _bars(self) -> Bars:
        return term_bars(self["result"])


class Sweep(Document):
    """A series."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each point that can run, with what varies in columns of its own."""
        about = _rows.whose(self)
        return [
            about | self._point(p) | _rows.launched(p["result"]) for p in self["points"] if p.get("result")
        ]

    def _point(self, point: Mapping[str, Any]) -> dict[str, Any]:
        varied = {k: _show.shape(v) if isinstance(v, list) else v for k, v in point["values"].items()}
        return (
            varied
            if "device" not in varied
            else {**varied, "device": point.get("device") or varied["device"]}
        )

    def _table(self) -> Table:
        unit = self["kernel"]["unit"]
        head = [v["name"] for v in self["vary"]] + [
            "time",
            f"10^9 {unit}/s",
            "limited by",
            f"DRAM load, B/{unit}",
        ]
        rows = []
        for point in self["points"][: 3 * SHOWN]:
            values, result = list(self._point(point).values()), point.get("result")
            if result is None:
                rows.append([*values, "cannot run", "", "", ""])
                continue
            dram = result["volumes"]["dram"]["load"]["total"]
            rows.append(
                [*values, _show.time(result["time_s"]), result["rate_per_s"] / 1e9, result["limiter"], dram]
            )
        return Table(head, rows)

    def _bars(self) -> Bars:
        bars = []
        for point in self["points"][: 3 * SHOWN]:
            if point.get("result"):
                name = ", ".join(f"{k}={v}" for k, v in self._point(point).items())
                bars.append(
                    _show.Bar(name, [point["result"]["time_s"]], _show.time(point["result"]["time_s"]))
                )
        return Bars("time", bars, unit="seconds")

    def plot(self, ax: Axes | None = None) -> Axes:
        """The rate over what varies, a line for each value of the second thing that does; bars where it is no
        number."""
        first, *second = self["vary"]
        if first.get("numbers") is None or len(first["numbers"]) != len(first["values"]):
            return super().plot(ax)
        axes = _show.new_axes(ax, "Sweep")
        place = dict(zip(map(str, first["values"]), first["numbers"]))
        lines: dict[str, list[tuple[float, float]]] = {}
        for point in self["points"]:
            if point.get("result"):
                name = str(point["values"][second[0]["name"]]) if second else ""
                at = place[str(point["values"][first["name"]])]
                lines.setdefault(name, []).append((at, point["result"]["rate_per_s"] / 1e9))
        for name, points in lines.items():
            axes.plot(*zip(*points), marker="o", label=name or None)
        axes.set_xlabel(first["name"] + (f" [{first['unit']}]" if first.get("unit") else ""))
        axes.set_ylabel(f"10^9 {self['kernel']['unit']}/s")
        axes.set_title(self._title())
        if second:
            axes.legend(title=second[0]["name"])
        return axes


class Comparison(Document):
    """The analytic model beside a simulation."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each quantity."""
        about = _rows.whose(self) | _rows.axes(self, ("block", "fold"))
        return [about | _rows.flat(quantity) for quantity in self["quantities"]]

    def _table(self) -> Table:
        names = ("name", "unit", "analytic", "simulated", "error_percent")
        return Table(names, [[q[n] for n in names] for q in self["quantities"]])

    def _bars(self) -> Bars:
        def said(q: Mapping[str, Any]) -> str:
            return f"{q['analytic']:.2f} and {q['simulated']:.2f}"

        bytes_only = [q for q in self["quantities"] if q["unit"].startswith("bytes")]
        bars = [Bar(q["name"], [q["analytic"], q["simulated"]], said(q)) for q in bytes_only]
        return Bars("bytes per work item", bars, ("analytic", "simulated"))


class Difference(Document):
    """Two predictions beside each other."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each part of the time, with both sides in columns that end in ``_a`` and ``_b``."""
        about: dict[str, Any] = {}
        for name in ("kernel", "device", "variant"):
            about |= {f"{name}_{side}": self[side][name] for side in "ab"}
        for side in "ab":
            about |= {f"{k}_{side}": n for k, n in _rows.axes(self[side], ("block", "fold")).items()}
        return [about | _rows.flat(term) for term in self["terms"]]

    def _title(self) -> str:
        return f"B is {self['speedup']:.2f} times as fast as A" if self.get("speedup") else "A and B"

    def _sentences(self) -> list[str]:
        def side(name: str) -> str:
            s = self[name]
            shape, time = _show.shape(s["block"]), _show.time(s["time_s"])
            launch = f"{name.upper()}: {s['kernel']}, block {shape}, on {s['device']}"
            return f"{launch}: {time}, limited by {s['limiter']}"

        return [side("a"), side("b")]

    def _table(self) -> Table:
        times = [[t["term"], *(_show.time(t[f"{s}_s"] or 0.0) for s in "ab")] for t in self["terms"]]
        volumes = [[f"{v['name']} per item", v["a"], v["b"]] for v in self["volumes"]]
        return Table(["", "A", "B"], times + volumes)

    def _bars(self) -> Bars:
        bars = []
        for term in self["terms"]:
            pair = [term.get("a_s") or 0.0, term.get("b_s") or 0.0]
            bars.append(Bar(term["term"], pair, " and ".join(map(_show.time, pair))))
        return Bars("time of each part", bars, ("A", "B"), "seconds")


class Validation(Document):
    """Predictions beside measurements."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each launch and quantity that was measured."""
        rows = []
        for group in self["groups"]:
            about = _rows.whose(group) | {"variant": group["variant"]}
            for launch in group["launches"]:
                shapes = _rows.axes(launch, ("block", "fold"))
                for name, value in launch["values"].items():
                    rows.append(about | shapes | {"quantity": name, **_rows.flat(value)})
        return rows

    def _title(self) -> str:
        return f"{self['summary']['predicted']} launches predicted of {self['summary']['launches']} measured"

    def _table(self) -> Table:
        names = (
            "quantity",
            "launches",
            "mean_absolute_error_percent",
            "median_absolute_error_percent",
            "bias_percent",
        )
        rows = [[quantity.get(name) for name in names] for quantity in self["quantities"]]
        return Table([name.replace("_", " ") for name in names], rows)

    def _bars(self) -> Bars:
        errors = [(q["quantity"], q.get("mean_absolute_error_percent") or 0.0) for q in self["quantities"]]
        return Bars("mean error in percent", [Bar(name, [error], f"{error:.1f} %") for name, error in errors])


class Fit(Document):
    """Curves that were fitted to measurements."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each coefficient of the time and each parameter of a curve."""
        device = _rows.whose(self)
        rows = [device | {"curve": "time", **_rows.flat(coefficient)} for coefficient in self["time"]]
        for curve in self["curves"]:
            rows += [device | {"curve": curve["name"], **_rows.flat(p)} for p in curve["parameters"]]
        return rows

    def _table(self) -> Table:
        errors = [(e["quantity"], e["before_percent"], e["after_percent"]) for e in self["errors"]]
        return Table(["mean error, %", "before", "after"], list(errors))

    def _bars(self) -> Bars:
        bars = []
        for error in self["errors"]:
            pair = [error["before_percent"] or 0.0, error["after_percent"] or 0.0]
            bars.append(Bar(error["quantity"], pair, f"{pair[0]:.1f} and {pair[1]:.1f}"))
        return Bars("mean error in percent", bars, ("before", "after"))


class Probe(Document):
    """The structure of a cache."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each thing that was found out."""
        found = {k: v for k, v in self["structure"].items() if isinstance(v, dict) and "value" in v}
        return [
            {"name": name, "value": v["value"], "confidence": v["confidence"]} for name, v in found.items()
        ]

    def _bars(self) -> Bars:
        bars = [Bar(f"{c['loads']} loads", [c["cycles"]], f"{c['cycles']:.0f}") for c in self["clusters"]]
        return Bars("cycles of a load", bars)


#: Documents by the name of their schema.
KINDS: dict[str, type[Document]] = {
    "prediction": Prediction,
    "explanation": Explanation,
    "sweep": Sweep,
    "comparison": Comparison,
    "diff": Difference,
    "validation": Validation,
    "fit": Fit,
    "probe": Probe,
    "error": Refusal,
}


def made(document: Mapping[str, Any], text: str | None = None, asked: Asked | None = None) -> Document:
    """A document with the ways to look at it that its kind has."""
    name = str(document.get("schema", "")).split("/")[1:2]
    return KINDS.get(name[0] if name else "", Document)(document, text, asked)
