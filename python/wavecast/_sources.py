"""What can be compiled to PTX, and what comes out: what kernels of all kinds have in common."""

from __future__ import annotations

import linecache
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence, Union

from ._module import Module

Block = tuple[int, int, int]
#: Options of a compiler: the same for each block, with `{x}`, `{y}`, `{z}` for its size, or a function of the block.
Options = Union[str, Sequence[str], Callable[[Block], Sequence[str]]]


@dataclass(frozen=True)
class Compiled:
    """A kernel in PTX, with what PTX does not keep."""

    ptx: str = field(repr=False)
    #: Its name in the PTX; `None` where it is the only one.
    entry: str | None = None
    #: What people call it.
    name: str | None = None
    #: Its parameters in the source.
    parameters: tuple[str, ...] | None = None
    #: The compute capability that it was compiled for, as in 80.
    arch: int | None = None
    #: What the compiler has said.
    log: str = ""
    #: Registers of a thread, if the compiler has counted them.
    registers: int | None = None
    #: Bytes that a thread stores because registers are missing, if the assembler has said it.
    spilled: int | None = None
    #: Bytes of shared memory of a block, if the compiler has counted them.
    shared: int | None = None
    #: The text that it was compiled from, which `.loc` points into.
    source: str | None = field(default=None, repr=False)
    #: The file that the text is, if it is one.
    file: str | None = None
    #: Where its function begins there, if the compiler calls it from an entry of its own.
    head: int | None = None

    def module(self) -> Module:
        """The same, parsed."""
        return Module("PTX", self.ptx, self.source, self.name, self.file, self.head)


class Source:
    """A kernel that can be compiled."""

    #: Whether each block is another program.
    per_block = False

    def compiled(self, arch: int, block: Block | None) -> Compiled:
        """Compiles it."""
        raise NotImplementedError

    def arguments(self, args: Any, compiled: Compiled) -> tuple[Any, tuple[str, ...] | None]:
        """What the parameters of the PTX get, and their names."""
        return args, compiled.parameters


@dataclass
class Given(Source):
    """PTX, or what was compiled before."""

    kernel: Compiled

    def compiled(self, arch: int, block: Block | None) -> Compiled:
        return self.kernel


def lines_of(function: Any) -> tuple[str | None, str | None]:
    """The text of the file that a Python function stands in, and its name; nothing where there is no file."""
    file = function.__code__.co_filename
    lines = linecache.getlines(file)
    return ("".join(lines), os.path.basename(file)) if lines else (None, None)
