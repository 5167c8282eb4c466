"""Documents as rows of a table, for pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping

if TYPE_CHECKING:
    import pandas


#: What each document says of itself.
HEAD = ("schema", "tool")


def flat(value: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested keys joined with dots. Lists are left out, and what a document says of itself."""
    row: dict[str, Any] = {}
    for key, item in value.items():
        name = before + key
        if name in HEAD:
            continue
        if isinstance(item, dict):
            row.update(flat(item, name + "."))
        elif not isinstance(item, list):
            row[name] = item
    return row


def axes(config: Mapping[str, Any], names: Iterable[str] = ("block", "fold", "grid")) -> dict[str, Any]:
    """``block_x`` and so on for the shapes that a launch has."""
    return {f"{name}_{axis}": n for name in names if config.get(name) for axis, n in zip("xyz", config[name])}


def named(thing: Any, key: str) -> Any:
    """A kernel or a device by its name: documents have it alone or with more about it."""
    return thing.get(key) if isinstance(thing, dict) else thing


def whose(document: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that say what a row is about, so that frames can be put together."""
    row: dict[str, Any] = {}
    if "kernel" in document:
        row["kernel"] = named(document["kernel"], "name")
    if "device" in document:
        row["device"] = named(document["device"], "id")
    return row


def launched(result: Mapping[str, Any]) -> dict[str, Any]:
    """One launch: its numbers, the ends of its interval, its shapes."""
    row = flat(result)
    row["time_low_s"], row["time_high_s"] = result["confidence"]["time_interval_s"]
    return row | axes(result["config"])


def frame(rows: list[dict[str, Any]], what: str) -> pandas.DataFrame:
    """The rows as a DataFrame of pandas, which is only needed here."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{what}.frame() needs pandas: pip install pandas") from error
    return pandas.DataFrame(rows)
