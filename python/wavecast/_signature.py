"""The kernels of a CUDA text, with the names of their parameters, which PTX does not keep."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Sequence

from ._errors import KernelError

#: What may stand in parentheses between `__global__` and the name.
ATTRIBUTES = {"__launch_bounds__", "__attribute__", "__cluster_dims__", "__maxnreg__", "__block_size__", "alignas"}
#: Comments, and what is in quotes.
SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LOOP = re.compile(r"\b(for|while|do)\b")
PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclass(frozen=True)
class Kernel:
    """A kernel of a text."""

    name: str
    #: The name of each parameter; `None` where it has none.
    parameters: tuple[str | None, ...]
    #: Whether it is a template.
    template: bool


def kernels(text: str) -> list[Kernel]:
    """The kernels that a text defines or declares, each name once, in their order."""
    text = _bare(text)
    found: dict[str, Kernel] = {}
    for start in re.finditer(r"\b__global__\b", text):
        kernel = _kernel(text, start.start(), start.end())
        if kernel is not None:
            found.setdefault(kernel.name, kernel)
    return list(found.values())


def not_unrolled(text: str, lines: Sequence[int]) -> str:
    """The text with the loops of these lines as they are written. Raises `KernelError` where a line has no loop."""
    if not lines:
        return text
    bare = _bare(text).split("\n")
    found = text.split("\n")
    for line in sorted(set(lines)):
        at = LOOP.search(bare[line - 1]) if 1 <= line <= len(bare) else None
        if at is None:
            before = [n for n in range(1, min(line, len(bare) + 1)) if LOOP.search(bare[n - 1])]
            help = f"the loop before it begins in line {before[-1]}" if before else "the text has no loop before it"
            error = {"code": "ptx-trips", "message": f"trips: line {line} has no `for`, `while` or `do`", "help": help}
            raise KernelError([{**error, "file": None, "line": None, "column": None}])
        found[line - 1] = f'{found[line - 1][: at.start()]}_Pragma("unroll 1") {found[line - 1][at.start() :]}'
    return "\n".join(found)


def _bare(text: str) -> str:
    """The text without comments and strings, each character where it was."""
    return SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def _kernel(text: str, start: int, at: int) -> Kernel | None:
    while True:
        word = re.compile(r"[A-Za-z_]\w*|[({;]").search(text, at)
        if word is None or word[0] in "({;":
            return None
        rest = re.compile(r"\s*(\(|<)").match(text, word.end())
        if rest is None:
            at = word.end()
        elif word[0] in ATTRIBUTES or (rest[1] == "<"):
            # `void axpy<float>(...)` is another name for a template.
            at = _closing(text, rest.start(1))
            after = re.compile(r"\s*\(").match(text, at)
            if rest[1] == "<" and after:
                return _made(text, word[0], after.end() - 1, True)
        else:
            return _made(text, word[0], rest.start(1), _is_template(text, start))


def _made(text: str, name: str, opens: int, template: bool) -> Kernel:
    inside = text[opens + 1 : _closing(text, opens) - 1]
    return Kernel(name, tuple(_parameter(p) for p in _split(inside)), template)


def _is_template(text: str, at: int) -> bool:
    """Whether `template <...>` stands before the kernel, with nothing but words in between."""
    before = text[max(0, at - 2000) : at]
    head = re.search(r"\btemplate\s*<[^;{}]*$", before)
    return head is not None


def _closing(text: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`."""
    opens, closes, depth = text[at], PAIRS[text[at]], 0
    for place in range(at, len(text)):
        if text[place] == opens:
            depth += 1
        elif text[place] == closes:
            depth -= 1
            if depth == 0:
                return place + 1
    return len(text)


def _split(inside: str) -> list[str]:
    """Parameters between commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(inside):
        if c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(inside[start:at])
            start = at + 1
    parts.append(inside[start:])
    parts = [" ".join(p.split()) for p in parts]
    return [] if parts in ([""], ["void"]) else parts


def _parameter(text: str) -> str | None:
    text = re.sub(r"=.*", "", text)
    text = re.sub(r"(\s*\[[^\]]*\])+\s*$", "", text)
    words = re.findall(r"[A-Za-z_]\w*", text)
    types = {"int", "unsigned", "float", "double", "char", "long", "short", "bool", "const", "size_t", "__restrict__"}
    # A single word is a type without a name.
    return words[-1] if len(words) > 1 and words[-1] not in types and not text.rstrip().endswith(("*", "&")) else None
