"""Documents as JSON has them, whatever numbers they are made of."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

#: What is as JSON has it already: most of what documents and options hold.
LEAVES = frozenset({type(None), bool, int, str})
#: Whole numbers up to here are the same as floats.
EXACT = 1 << 53


def plain(value: Any, place: str = "document") -> Any:
    """The same with Python's own types: numpy's numbers and arrays, and whatever else is an integer, become
    numbers and lists. A float without a fraction becomes an integer, as sizes are often computed. ``place`` is
    what a message calls the value."""
    if type(value) in LEAVES:
        return value
    if isinstance(value, Mapping):
        return {_key(key): plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(item, f"{place}[{i}]") for i, item in enumerate(value)]
    return _number(value, place)


def _key(key: Any) -> Any:
    return key if isinstance(key, str) else str(key)


def _number(value: Any, place: str) -> Any:
    if not isinstance(value, (int, float)) and hasattr(value, "tolist"):
        # numpy's scalars give a Python number, its arrays lists of them.
        found = value.tolist()
        if found is not value:
            return plain(found, place)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= EXACT else float(value)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{place}: a {type(value).__name__} is nothing that a document can hold") from None
