"""Errors of the command line in the words of Python."""

from __future__ import annotations

import re
from typing import Any, Mapping

#: What helps, where the words of the command line say something else.
HELPS = {
    "ptx-grid": "give it, as in grid=lambda block: -(-n // block[0]), or grid='ceil(n / blockDim.x)', and in args the "
    "sizes that the kernel is launched with",
}
#: Options of the command line, and what they are called here.
WORDS = [
    (r"--arg 0=1048576", "args={0: 1048576}"),
    (r"--arg 3\+8=5", 'args={"3+8": 5}'),
    (r"--block X,Y,Z[^`]*`launch.block` of a document", "blocks=[(16, 16)]"),
    (r"--block X,Y,Z of `read`, --read-block of other commands \(repeatable\)", "blocks=[(16, 16)]"),
    (r"--(?:read-)?block\b(?: X,Y,Z)?", "blocks="),
    (r"--grid '([^']*)'", r'grid="\1"'),
    (r"LINE: FIELD\[INDEX\], as in --assume '(\d+): ([^']*)'", r'assume={\1: "\2"}'),
    (r"--arg\b", "args"),
    (r"--(grid|entry|trips|registers|branch|assume)\b", r"\1="),
    (r"give ([\w$]+)=VALUE", r"give it a value in args"),
    (r"`wavecast devices` lists all", "wavecast.devices() lists all"),
    # No document is written here.
    (r"^YAML .*", ""),
]


def in_python(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error with keywords in the place of options."""
    found = {
        **error,
        "message": _said(error["message"]),
        "help": HELPS.get(error["code"]) or _said(error["help"]) or None,
    }
    if error["file"] == "--grid":
        return {**found, "message": f"grid: {found['message']}", "file": None, "line": None, "column": None}
    return found


def _said(text: str | None) -> str | None:
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text) if text else text
    return text
