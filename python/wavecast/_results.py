"""Results that show themselves: plain data, which print as the command line prints them, and which notebooks
show as a table and a picture."""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, SupportsIndex

from . import _rows, _show
from ._session import SESSION
from ._show import Bars, Table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

#: Rows that a notebook shows.
SHOWN = 10


class Asked(NamedTuple):
    """The request that a result answers, and which of the answers it is."""

    request: str
    part: int


class Document(dict[str, Any]):
    """A result: the document that ``wavecast schema`` describes, as a dict. Printed, it is what the command
    line prints; ``frame()`` and ``plot()`` show its numbers."""

    # Where people find it.
    __module__ = "wavecast"
    _text: str | None = None
    _asked: Any = None

    def __init__(self, document: Mapping[str, Any], text: str | None = None, asked: Asked | None = None):
        super().__init__(document)
        self._text = text
        self._asked = asked

    def __str__(self) -> str:
        if self._text is None and self._asked is not None:
            texts = SESSION.texts(self._asked.request)
            self._text = plain_text(texts[self._asked.part]) if self._asked.part < len(texts) else None
            self._asked = None
        return json.dumps(self, indent=1) if self._text is None else self._text

    def __repr__(self) -> str:
        return str(self)

    def __getstate__(self) -> dict[str, Any]:
        # The text goes along, not the question: where it is read the files may be other ones.
        return {"_text": str(self)}

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return _again, (type(self), dict(self)), self.__getstate__()

    def rows(self) -> list[dict[str, Any]]:
        """What ``frame()`` has in its rows: the entries of the first list of the document, with kernel,
        device and block, so that frames can be put together."""
        about = _rows.whose(self) | _rows.axes(self)
        lists = (
            v
            for k, v in self.items()
            if k != "warnings" and isinstance(v, list) and v and isinstance(v[0], dict)
        )
        entries = next(lists, None)
        if entries is None:
            return [about | _rows.flat({k: v for k, v in self.items() if k not in about})]
        return [about | _rows.flat(entry) | _rows.axes(entry) for entry in entries]

    def frame(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame; nested keys are joined with dots."""
        return _rows.frame(self.rows(), type(self).__name__)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the numbers with matplotlib, into ``ax`` if it is given; returns the axes."""
        picture = self._bars()
        if not picture.bars:
            raise ValueError(
                f"there is nothing to draw in this {type(self).__name__}: frame() has its numbers"
            )
        return _show.plotted(picture, ax, type(self).__name__)

    def _repr_html_(self) -> str:
        parts = [
            f"<p><b>{escape(self._title())}</b></p>",
            *(f"<p>{escape(text)}</p>" for text in self._sentences()),
        ]
        picture = _show.bars_svg(self._bars())
        table = self._table()
        parts += [f"<div>{picture}</div>"] if picture else []
        parts += [_show.table_html(table)] if table.rows else []
        parts += [f"<p>warning: {escape(w)}</p>" for w in map(_said, self.get("warnings") or ())]
        return f'<div class="wavecast">{"".join(parts)}</div>'

    def _title(self) -> str:
        about = _rows.whose(self)
        name = str(self.get("schema", "")).split("/")[1:2]
        return " on ".join(map(str, about.values())) or (name[0] if name else type(self).__name__)

    def _sentences(self) -> list[str]:
        return []

    def _table(self) -> Table:
        rows = self.rows()
        head = [name for name in rows[0] if any(row.get(name) is not None for row in rows)] if rows else []
        shown: list[Any] = [[row.get(name) for name in head] for row in rows[:SHOWN]]
        more = len(rows) - len(shown)
        return Table(head, shown + ([[f"{more} more: .frame() has all"]] if more else []))

    def _bars(self) -> Bars:
        return Bars("")


class Refusal(Document):
    """Why there is no result for one of several kernels or devices."""

    def __str__(self) -> str:
        return "\n".join(f"error: {e['message']}" for e in self["errors"])

    def _title(self) -> str:
        return str(self)

    def _table(self) -> Table:
        return Table([], [])

    def plot(self, ax: Axes | None = None) -> Axes:
        """There is nothing to draw."""
        raise ValueError(str(self))


class Results(list[Any]):
    """Results for several kernels, variants or devices: a list, which shows itself as its parts do."""

    __module__ = "wavecast"

    def __str__(self) -> str:
        best = self._best()
        if best is None:
            return "\n\n".join(map(str, self))
        lines = [[_show.written(cell) for cell in row] for row in (best.head, *best.rows)]
        wide = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(cell.rjust(n) for cell, n in zip(line, wide)) for line in lines)

    def __repr__(self) -> str:
        return str(self)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of all results; those without a result have none."""
        return [row for result in self if not isinstance(result, Refusal) for row in result.rows()]

    def frame(self) -> pandas.DataFrame:
        """All results as one pandas DataFrame, which has kernel and device in its first columns."""
        return _rows.frame(self.rows(), "Results")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the best launch of each result with matplotlib; returns the axes."""
        return _show.plotted(self._bars(), ax, "Results")

    def _repr_html_(self) -> str:
        best = self._best()
        if best is None:
            return "".join(result._repr_html_() for result in self)
        picture = _show.bars_svg(self._bars())
        return f'<div class="wavecast"><div>{picture}</div>{_show.table_html(best)}</div>'

    def _best(self) -> Table | None:
        """Devices beside each other, if that is what was asked."""
        if not any("device_relative" in result for result in self):
            return None
        rows = []
        for result in self:
            found = _launch(result)
            about = _rows.whose(result)
            if found is None:
                rows.append([*(about.values() or ("", "")), "cannot run", *[""] * 5])
                continue
            shapes = (_show.shape(found["config"][name]) for name in ("block", "fold"))
            time, relative = _show.time(found["time_s"]), result.get("device_relative")
            rows.append(
                [
                    *about.values(),
                    *shapes,
                    time,
                    f"{found['rate_per_s'] / 1e9:.2f}",
                    relative,
                    found["limiter"],
                ]
            )
        return Table(
            ["kernel", "device", "block", "fold", "time", "10^9 items/s", "relative", "limiter"], rows
        )

    def _bars(self) -> Bars:
        known = [(_rows.whose(result), _launch(result)) for result in self]
        several = len({about.get("kernel") for about, _ in known}) > 1
        bars = []
        for about, found in known:
            if found is not None:
                name = " on ".join(about.values()) if several else about.get("device", "")
                bars.append(launch_bar(name, found))
        return Bars("time of the best launch", bars, unit="seconds")


def launch_bar(name: str, result: Mapping[str, Any]) -> _show.Bar:
    """The time of a launch, with its interval."""
    low, high = result["confidence"]["time_interval_s"]
    return _show.Bar(name, [result["time_s"]], _show.time(result["time_s"]), (low, high))


def _launch(result: Mapping[str, Any]) -> Any:
    """The launch that stands for a result."""
    if "results" in result:
        return result["results"][0] if result["results"] else None
    return result.get("result")


def plain_text(text: str) -> str:
    """A text without colours, which not everything shows, and without its last end of a line."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip("\n")


def _said(warning: Any) -> str:
    return str(warning.get("message")) if isinstance(warning, Mapping) else str(warning)


def _again(kind: type[Document], document: dict[str, Any]) -> Document:
    """A result that was pickled or copied."""
    made = kind.__new__(kind)
    made.update(document)
    return made
