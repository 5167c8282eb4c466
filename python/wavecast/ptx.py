"""Kernels in PTX, as NVRTC, nvcc, clang, Numba and Triton write it: what they touch, read without a GPU.

>>> import wavecast.ptx
>>> reading = wavecast.ptx.read("saxpy.ptx", args={0: 1 << 20})      # a path, or the text
>>> reading.accesses                                                  # what a thread does to memory
>>> print(reading)                                                    # the kernel document
>>> reading.kernel.rank("a100")
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import Any, Callable, Mapping, Sequence, Union

from . import _arguments, _wavecast
from ._api import Kernel
from ._errors import KernelError
from ._errors import error as _error
from ._said import Said
from ._store import kept
from ._words import in_python

__all__ = ["Reading", "entries", "read"]

#: Accesses that cannot be read that a message names.
SHOWN = 5
#: Seconds that a reading takes which is kept for the next time.
SLOW = 0.02
#: The parameters of the entry: by name or number, or in order.
Args = Union[Mapping[Any, Any], Sequence[Any]]
#: Blocks along x, y, z: numbers, an expression such as ``"ceil(n / blockDim.x)"``, or a function of the block.
Grid = Union[int, Sequence[int], str, Callable[[tuple[int, int, int]], Any]]


class Reading(dict):
    """What was read of a kernel: the document of ``wavecast read --format json``. Printed, it is the kernel document,
    or what could not be read."""

    def __init__(self, found: Mapping[str, Any], text: str | None, module: _Module, args: Sequence[str]):
        super().__init__(found)
        #: The kernel document as YAML; ``None`` if an access could not be read.
        self.text = text
        self._module, self._args = module, list(args)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """All entries of the PTX, of which this is one."""
        return self._module.entries

    @property
    def accesses(self) -> list[dict[str, Any]]:
        """What a thread does to memory, in program order. ``status`` is "exact", "data" (counted as always done,
        although data decide) or "refused"."""
        return self["accesses"]

    @property
    def refused(self) -> list[dict[str, Any]]:
        """The accesses that could not be read."""
        return [a for a in self.accesses if a["status"] == "refused"]

    @property
    def document(self) -> dict[str, Any]:
        """The kernel document. Raises :class:`wavecast.KernelError` with all accesses that could not be read."""
        if self["document"] is None:
            raise self._refusal()
        return self["document"]

    @property
    def kernel(self) -> Kernel:
        """The kernel, to ask about. Raises :class:`wavecast.KernelError` if an access could not be read."""
        if self.text is None:
            raise self._refusal()
        return Kernel(self.text)

    def why(self, access: Mapping[str, Any]) -> str | None:
        """Why an access is not exact, by lines of the source where it is known."""
        return access["why"] and self._module.in_source(access["why"])

    def ended_by(self, access: Mapping[str, Any], trips: Mapping[int, int]) -> bool:
        """Whether an access is not exact for a loop alone, of which somebody has said how often it runs."""
        at = re.search(r"in line (\d+)", access["why"] or "")
        line = int(at[1]) if at else None
        return line is not None and (line if self._module.source is None else self._module.source_line(line)) in trips

    def check(self, threads: int = 64) -> list[dict[str, Any]]:
        """Runs so many threads of each launch instruction by instruction, chosen at random, and compares what they
        touch with the document. All parameters need values. ``holds`` says whether they agree."""
        if self.text is None:
            raise self._refusal()
        return json.loads(self._module.call("hold", self["entry"], self._args, self.text, threads))

    def __str__(self) -> str:
        return self.text if self.text is not None else str(self._refusal())

    __repr__ = __str__

    def _refusal(self) -> KernelError:
        all_of_them = [self._module.described(a) for a in self.refused]
        each = list({(e["line"], e["message"]): e for e in all_of_them}.values())
        if len(each) > SHOWN:
            each[SHOWN:] = [
                _error("not-read", f"{len(each) - SHOWN} other accesses cannot be read either: .refused lists all")
            ]
        # The same hint once.
        hints: set[str | None] = set()
        for error in each:
            error["help"] = None if error["help"] in hints else error["help"]
            hints.add(error["help"])
        return KernelError(each, self._module.shown, self._module.file)


def read(
    ptx: str | os.PathLike[str],
    entry: str | None = None,
    args: Args = (),
    *,
    blocks: Any = None,
    grid: Grid | None = None,
    trips: Mapping[int, int] | None = None,
    branch: Mapping[int, float] | None = None,
    assume: Mapping[int, str] | None = None,
    registers: int | None = None,
    names: Sequence[str] | None = None,
) -> Reading:
    """Reads a kernel.

    ``ptx`` is a text or the path of a file. ``args`` are what the parameters get, by name, by number from 0, or in
    order: numbers, arrays (anything with ``shape`` and ``dtype``), ``{byte: value}`` for a struct. ``names`` are the
    names of the source, which PTX does not keep. ``blocks`` are those to read it for, by default those it may be
    launched with; ``grid`` the blocks of the launch, by default what follows from bounds such as ``i < n``. ``trips``
    says how often the loop runs that has this line of the PTX in it, ``branch`` how probable it is that the branch or
    predicate in this line holds, ``assume`` what stands in the place of an address that depends on data, as in
    ``{44: "x[4*i0 + threadIdx.x]"}``, and ``registers`` what ptxas reports.
    """
    name, text = _text(ptx)
    said = Said(*({} if given is None else given for given in (trips, branch, assume)), registers)
    return _Module(name, text).read(entry, args, blocks, grid, said, names)


def entries(ptx: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The entries of a text, with their parameters."""
    return _Module(*_text(ptx)).entries


def _text(ptx: str | os.PathLike[str]) -> tuple[str, str]:
    """Name and text."""
    if isinstance(ptx, os.PathLike) or "\n" not in ptx:
        with open(ptx, encoding="utf-8") as file:
            return os.fspath(ptx), file.read()
    return "PTX", ptx


class _Module:
    """A text of PTX. ``source`` is what it was compiled from, of the file ``file`` if it has one, ``title`` what people
    call the kernel that is meant. ``head`` is the line of a function that compilers call from an entry of their own."""

    def __init__(
        self,
        name: str,
        text: str,
        source: str | None = None,
        title: str | None = None,
        file: str | None = None,
        head: int | None = None,
    ):
        # NVRTC ends its texts with a zero, which some write into files.
        text = text.rstrip("\0")
        self.text, self.source, self.title, self.file, self.head = text, source, title, file, head
        #: The text that errors point into.
        self.shown = text if source is None else source
        #: What the source calls the parameters, once it is known.
        self.names: tuple[str, ...] = ()
        self._name = name
        self._ptx = self._raised(lambda: _wavecast.Ptx(name, text))
        self.entries: list[dict[str, Any]] = json.loads(self._ptx.entries())["entries"]

    def call(self, method: str, *arguments: Any) -> Any:
        """A method of the native module, whose errors are :class:`KernelError`."""
        return self._raised(lambda: getattr(self._ptx, method)(*arguments))

    def _raised(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ValueError as error:
            text = str(error)
            if not text.startswith('{"schema":"wavecast/error'):
                raise
        raise KernelError([self._in_python(e) for e in json.loads(text)["errors"]], self.text)

    def _in_python(self, error: dict[str, Any]) -> dict[str, Any]:
        """An error with keywords in the place of options, and names in the place of places that nobody looks at."""
        error = in_python(error)
        message = error["message"]
        if self.names:
            message = re.sub(r"\b\w+_param_(\d+)", lambda m: self._named(int(m[1]), m[0]), message)
            message = re.sub(r"^[\w$]+: (nothing says)", r"\1", message)
        if self.source is not None:
            message = re.sub(r"for line (\d+)", lambda m: f"for line {self.source_line(int(m[1])) or '?'}", message)
        error["message"] = message
        if self.title is None:
            return error
        message = re.sub(r"entry `[^`]*`", f"`{self.title}`", message)
        return {**error, "message": message, "file": None, "line": None, "column": None}

    def _named(self, number: int, otherwise: str) -> str:
        """A parameter as the source calls it."""
        return self.names[number] if number < len(self.names) else otherwise

    def entry(self, name: str | None) -> dict[str, Any]:
        """The entry of this name, mangled or not, or the only one."""
        if name is not None and not isinstance(name, str):
            raise TypeError(f"entry={_arguments.shown(name)}: give the name of a kernel")
        all_of_them = [e["name"] for e in self.entries]
        found = [e for e in self.entries if name is None or e["name"] == name]
        if name is not None and not found:
            found = [e for e in self.entries if _is_mangled(e["name"], name)]
        if len(found) != 1:
            listed = ", ".join(all_of_them) or "none: was it compiled as a kernel (`__global__`)?"
            wrong = f"there is no entry `{name}`" if name and not found else "it does not say which entry is meant"
            help = f"entry= is one of: {listed}" if all_of_them else f"its entries: {listed}"
            raise KernelError([_error("ptx-entry", f"{self._name}: {wrong}", help)])
        return found[0]

    def read(
        self,
        entry: str | None,
        args: Args,
        blocks: Any,
        grid: Grid | None,
        said: Said,
        names: Sequence[str] | None,
    ) -> Reading:
        """As :func:`read`."""
        found = self.entry(entry)
        self.names = tuple(names or ())
        texts = arguments(found, args, names, self.title)
        shapes = [list(b) for b in _arguments.shapes(blocks)]
        expression, grids = None, []
        if callable(grid):
            shapes = self.call("blocks", found["name"], shapes)
            grids = [
                list(
                    _arguments.shape3(_arguments.called(grid, tuple(b), "the block"), f"grid for the block {tuple(b)}")
                )
                for b in shapes
            ]
        elif isinstance(grid, str):
            expression = _numbered(grid, found, names)
        elif grid is not None:
            expression = ", ".join(map(str, _arguments.shape3(grid, "grid")))
        start = (found["name"], texts, shapes, expression, grids)
        said = replace(
            said, assume={line: _numbered(at, found, names, r"(?<=[^\w.])") for line, at in said.assume.items()}
        )
        told = said.by_lines_of_ptx(self, lambda *told: self._read(texts, (*start, *told, said.registers)))
        return self._read(texts, (*start, *told, said.registers))

    def _read(self, texts: list[str], question: tuple[Any, ...]) -> Reading:
        # Long texts take a while: a tuner asks for the same ones each time that it runs.
        found, text = kept(["reading", self.text, question], lambda: self.call("read", *question), SLOW)
        reading = json.loads(found)
        for access in reading["accesses"]:
            access["source_line"] = self.source_line(access["line"])
        return Reading(reading, text, self, texts)

    def source_line(self, line: int) -> int | None:
        """The line of the source that a line of the PTX was compiled from, where `.loc` says so."""
        return self.places().get(line)

    def places(self) -> dict[int, int]:
        """Lines of the source by lines of the PTX, as far as the PTX says it."""
        if not hasattr(self, "_known"):
            self.lines = self.text.splitlines()
            self._known: dict[int, int] = {}
            files = dict(re.findall(r'(?m)^\s*\.file\s+(\d+)\s+"([^"]*)"', self.text))
            mine = {n for n, name in files.items() if self.file in (None, os.path.basename(name))}
            at = None
            for number, line in enumerate(self.lines, 1):
                place = re.match(r"\s*\.loc\s+(\d+)\s+(\d+)", line)
                if place:
                    # What was inlined stands in the line of the call: the last of the chain.
                    chain = [place.groups(), *re.findall(r"inlined_at\s+(\d+)\s+(\d+)", line)]
                    if len(chain) > 1 and int(chain[-1][1]) == self.head:
                        chain.pop()
                    file, said = chain[-1]
                    at = (int(said) or None) if file in mine else None
                elif re.match(r"\s*(\.visible\s+)?\.(entry|func)\b", line):
                    at = None
                if at is not None:
                    self._known[number] = at
        return self._known

    def in_source(self, why: str) -> str:
        """A reason with lines of the source in the place of those of the PTX."""
        if self.source is None:
            return why
        return re.sub(r"in line (\d+)", lambda m: f"of line {self.source_line(int(m[1])) or '?'}", why)

    def described(self, access: Mapping[str, Any]) -> dict[str, Any]:
        """An access that could not be read, as an error."""
        why = access["why"] or "the reason is not known"
        trips = "--trips" in why
        help = (
            "trips={LINE: number} says how often a loop runs, LINE being that of its `for` or `while`"
            if trips and self.source is not None
            else "trips={line: number} says how often a loop runs that has this line of the PTX in it"
            if trips
            else "assume={LINE: 'x[threadIdx.x]'} puts an address in the place of one that depends on data; otherwise a "
            "proxy in a document of your own does (docs/kernels.md)"
        )
        at, file = access["line"], "PTX" if self._name == "PTX" else self._name
        if self.source is not None and access.get("source_line"):
            # Lines of a text that nobody looks at say less than those of the source.
            why = re.sub(r" that ends in line (\d+) is not known; `--trips \d+=N` says it.*", " is not known", why)
            why = self.in_source(why)
            at, file = access["source_line"], self.file or "kernel"
        why = re.sub(r"`--trips (\d+)=N`", r"trips={\1: N}", why)
        message = f"{access['op']} in {access['space']} memory cannot be read: {why}"
        return {**_error("not-read", message, help), "file": file, "line": at}


def arguments(entry: Mapping[str, Any], args: Args, names: Sequence[str] | None, title: str | None = None) -> list[str]:
    """What the reader is told of the parameters. Pointers of which nothing is said are called as in the source."""
    parameters = entry["parameters"]
    _arguments.check_kind(args)
    if names is not None and len(names) > len(parameters):
        raise _count(entry, f"{len(names)} names", names)
    known = list(names or [])
    places = {p["name"]: p["number"] for p in parameters}
    places |= {f"arg{n}": n for n in range(len(parameters))} | {n: i for i, n in enumerate(known)}
    if not isinstance(args, Mapping):
        if len(args) > len(parameters):
            raise _count(entry, f"{len(args)} arguments", names)
        args = dict(enumerate(args))
    texts, told = [], set()
    for key, value in args.items():
        # `3+8` is the value at byte 8 of parameter 3.
        head, _, byte = str(key).partition("+")
        at = places.get(head.strip(), int(head) if head.strip().isdecimal() else None)
        if at is None or not 0 <= at < len(parameters):
            have = ", ".join(
                f"{p['number']} {known[i] if i < len(known) else p['name']}" for i, p in enumerate(parameters)
            )
            said = f"`{title or entry['name']}` has no parameter `{key}`"
            raise KernelError([_error("ptx-argument", said, f"it has: {have or 'none'}")])
        told.add(at)
        name = (
            known[at] if at < len(known) else str(key) if isinstance(key, str) and not byte else parameters[at]["name"]
        )
        if not byte and parameters[at]["bytes"] != 8 and _arguments.array(value) is not None:
            said = f"parameter {name} of `{title or entry['name']}` is no pointer ({parameters[at]['type']})"
            raise KernelError([_error("ptx-argument", f"{said}, but an array is given", "give a number")])
        if not byte and parameters[at]["type"][0] in "us":
            value = _arguments.whole(name, parameters[at]["type"], value)
        texts += _arguments.given(f"{at}+{byte.strip()}" if byte else str(at), name, value)
    # A number in the place of a pointer changes nothing; a name makes it a field of this name.
    pointers = (i for i, p in enumerate(parameters) if p["type"][1:] == "64" and i < len(known) and i not in told)
    return [*texts, *(f"{i}={_arguments.field(known[i])}" for i in pointers)]


def _count(entry: Mapping[str, Any], given: str, names: Sequence[str] | None) -> KernelError:
    have = len(entry["parameters"])
    listed = f": {', '.join(names)}" if names else ""
    help = f"they go by name, as in args=dict(n=1024), or by number from 0, as in args={{0: 1024}}{listed}"
    return KernelError([_error("ptx-argument", f"{given} for the {have} parameters of entry `{entry['name']}`", help)])


def _numbered(text: str, entry: Mapping[str, Any], names: Sequence[str] | None, before: str = r"(?<![\w.])") -> str:
    """The expression with `arg0` in the place of names of the source. ``before`` is what may stand before a name: in an
    access, which begins with a field, there has to be something."""
    places = {p["name"]: f"arg{p['number']}" for p in entry["parameters"]}
    places |= {name: f"arg{i}" for i, name in enumerate(names or [])}
    return re.sub(before + r"[A-Za-z_$][\w$]*", lambda m: places.get(m[0], m[0]), text)


def _is_mangled(mangled: str, name: str) -> bool:
    """Whether a name of C++ is that of a function: `_Z5saxpyifPf` of `saxpy`, `_ZN2ns5saxpyE` of `ns::saxpy`."""
    parts = [part for part in name.split("::") if part]
    wanted = "".join(f"{len(part)}{part}" for part in parts)
    return mangled.startswith((f"_Z{wanted}", f"_ZN{wanted}")) or (len(parts) == 1 and wanted in mangled)
