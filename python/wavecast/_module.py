"""A text of PTX and what was read of it."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Callable, Mapping, Sequence

from . import _arguments, _wavecast
from ._api import Kernel
from ._errors import KernelError
from ._errors import error as _error
from ._store import kept
from ._words import in_python

#: Accesses that cannot be read that a message names.
SHOWN = 5
#: What reasons say of lines of PTX that compute with something.
COMPUTING = re.compile(
    r"lines? (\d+) computes with it|lines ([\d, ]+ and \d+) compute with it|\d+ lines from (\d+ to \d+) compute with it"
)
#: Seconds that a reading takes which is kept for the next time.
SLOW = 0.02


class Reading(dict[str, Any]):
    """What was read of a kernel: the document of ``wavecast read --format json``. Printed, it is the kernel document,
    or what could not be read."""

    def __init__(self, found: Mapping[str, Any], text: str | None, module: Module, args: Sequence[str]):
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
        accesses: list[dict[str, Any]] = self["accesses"]
        return accesses

    @property
    def refused(self) -> list[dict[str, Any]]:
        """The accesses that could not be read."""
        return [a for a in self.accesses if a["status"] == "refused"]

    @property
    def document(self) -> dict[str, Any]:
        """The kernel document. Raises :class:`wavecast.KernelError` with all accesses that could not be read."""
        if self["document"] is None:
            raise self._refusal()
        document: dict[str, Any] = self["document"]
        return document

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
        why = access["why"] or ""
        lines = [int(line) for line in re.findall(r"in line (\d+)", why)]
        lines += [int(line) for found in COMPUTING.finditer(why) for line in re.findall(r"\d+", found[0])]
        if self._module.source is not None:
            return any(self._module.source_line(line) in trips for line in lines)
        return any(line in trips for line in lines)

    def check(self, threads: int = 64) -> list[dict[str, Any]]:
        """Runs so many threads of each launch instruction by instruction, chosen at random, and compares what they
        touch with the document. All parameters need values. ``holds`` says whether they agree."""
        if self.text is None:
            raise self._refusal()
        flagged = [a for a in self.accesses if a["status"] == "data" and a["field"]]
        # What is in a thread's own memory may be counted fewer times than it is touched.
        undecided = [
            (a["op"], a["field"], a["width"], a.get("anywhere", False) or a["space"] == "local") for a in flagged
        ]
        found: list[dict[str, Any]] = json.loads(
            self._module.call("hold", self["entry"], self._args, self.text, threads, undecided)
        )
        return found

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


class Module:
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

    def read(self, texts: list[str], question: tuple[Any, ...]) -> Reading:
        """What the native module answers to this question; `texts` are the arguments in it."""
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
        why = COMPUTING.sub(self._computing, why)
        return re.sub(r"in line (\d+)", lambda m: f"of line {self.source_line(int(m[1])) or '?'}", why)

    def _computing(self, found: re.Match[str]) -> str:
        """Which lines of the source compute with something, for those of the PTX."""
        known = {self.source_line(int(line)) for line in re.findall(r"\d+", next(filter(None, found.groups())))}
        lines = [str(line) for line in sorted(line for line in known if line is not None)]
        if len(lines) < 2:
            return f"line {lines[0] if lines else '?'} computes with it"
        return f"lines {', '.join(lines[:-1])} and {lines[-1]} compute with it"

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
            "proxy in a document of your own does (`wavecast help kernels`)"
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


def _is_mangled(mangled: str, name: str) -> bool:
    """Whether a name of C++ is that of a function: `_Z5saxpyifPf` of `saxpy`, `_ZN2ns5saxpyE` of `ns::saxpy`."""
    parts = [part for part in name.split("::") if part]
    wanted = "".join(f"{len(part)}{part}" for part in parts)
    return mangled.startswith((f"_Z{wanted}", f"_ZN{wanted}")) or (len(parts) == 1 and wanted in mangled)
