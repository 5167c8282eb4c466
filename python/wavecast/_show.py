"""Results as notebooks show them: a table in HTML, bars as a picture in SVG, and bars drawn by matplotlib."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Measures of the picture, in pixels.
LABEL, WIDTH, VALUE, STEP, BAR = 200, 320, 190, 20, 14
#: Characters that fit before and behind a bar.
FITS = 28
#: Colours of a first and a second series; both can be told apart by everybody, on white and on black.
COLOURS = ("#3b7dd8", "#e08a1e")
CELL = "padding:2px 8px;text-align:right"


class Bar(NamedTuple):
    """One bar: a label, a value for each series, and how the values are written."""

    label: str
    values: Sequence[float]
    said: str
    #: Between which the first value lies, if that is known.
    interval: tuple[float, float] | None = None


class Bars(NamedTuple):
    """A picture of numbers that can be compared."""

    title: str
    bars: Sequence[Bar] = ()
    #: Names of the series, if there are several.
    series: Sequence[str] = ()
    #: What the values are in.
    unit: str = ""


class Table(NamedTuple):
    """The numbers that are looked at first."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


def table_html(table: Table) -> str:
    """The table; every text is escaped."""
    head = "".join(f'<th style="{CELL}">{escape(str(h))}</th>' for h in table.head)
    lines = ("".join(f'<td style="{CELL}">{escape(written(c))}</td>' for c in row) for row in table.rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def bars_svg(picture: Bars) -> str:
    """The bars, as long as their values are large; nothing if there are none."""
    values = [v for bar in picture.bars for v in (*bar.values, *(bar.interval or ())) if v > 0]
    if not values:
        return ""
    most, each = max(values), max(len(bar.values) for bar in picture.bars)
    parts, top = [_text(0, 14, picture.title, "start", bold=True)], 24
    for place, name in enumerate(picture.series):
        parts.append(
            f'<rect x="{LABEL + 90 * place}" y="{top}" width="10" height="10" fill="{COLOURS[place]}"/>'
        )
        parts.append(_text(LABEL + 90 * place + 14, top + 10, name, "start"))
    top += 18 if picture.series else 0
    high = BAR / each
    for bar in picture.bars:
        parts.append(_text(LABEL - 6, top + 11, _short(bar.label), "end"))
        for place, value in enumerate(bar.values):
            length, y = max(value, 0.0) / most * WIDTH, top + place * high
            shape = f'x="{LABEL}" y="{y:.1f}" width="{length:.1f}" height="{high:.1f}"'
            parts.append(f'<rect {shape} fill="{COLOURS[place]}"/>')
        if bar.interval:
            low, up = (LABEL + end / most * WIDTH for end in bar.interval)
            parts.append(f'<path d="M{low:.1f} {top + 7}H{up:.1f}" stroke="currentColor" stroke-width="2"/>')
        parts.append(_text(LABEL + WIDTH + 8, top + 11, _short(bar.said), "start"))
        top += STEP
    size = f'width="{LABEL + WIDTH + VALUE}" height="{top + 4}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{"".join(parts)}</svg>'


def plotted(picture: Bars, ax: Axes | None, what: str) -> Axes:
    """The bars drawn by matplotlib, the first one on top."""
    axes = new_axes(ax, what)
    count = max((len(bar.values) for bar in picture.bars), default=1)
    for place in range(count):
        y = [at + (place - (count - 1) / 2) * 0.8 / count for at in range(len(picture.bars))]
        name = picture.series[place] if place < len(picture.series) else None
        width = [bar.values[place] for bar in picture.bars]
        axes.barh(y, width, height=0.8 / count, color=COLOURS[place % len(COLOURS)], label=name)
    for at, bar in enumerate(picture.bars):
        if bar.interval:
            axes.plot(bar.interval, [at, at], color="black", linewidth=1.5)
    axes.set_yticks(range(len(picture.bars)), [bar.label for bar in picture.bars])
    axes.invert_yaxis()
    axes.set_title(picture.title)
    axes.set_xlabel(picture.unit)
    if picture.series:
        axes.legend()
    return axes


def new_axes(ax: Axes | None, what: str) -> Axes:
    """The axes that were given, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{what}.plot() needs matplotlib: pip install matplotlib") from error
    axes: Axes = pyplot.subplots()[1]
    return axes


def time(seconds: float) -> str:
    """Seconds with a fitting unit."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= size:
            return f"{seconds / size:.3f} {unit}"
    return f"{seconds * 1e9:.2f} ns"


def shape(extents: Sequence[int]) -> str:
    """A block as the command line writes it."""
    return "x".join(map(str, extents))


def written(value: Any) -> str:
    """A cell of a table."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.2f}" if 0.01 <= abs(value) < 1e6 or value == 0 else f"{value:.3g}"
    return str(value)


def _short(text: str) -> str:
    return text if len(text) <= FITS else text[: FITS - 1] + "…"


def _text(x: float, y: float, text: str, anchor: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    style = f'font-family="sans-serif" font-size="12" fill="currentColor" text-anchor="{anchor}"{weight}'
    return f'<text x="{x:.0f}" y="{y:.0f}" {style}>{escape(text)}</text>'
