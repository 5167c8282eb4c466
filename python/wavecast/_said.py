"""What only somebody who knows the data can say of a kernel, by lines of its source or of its PTX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Callable, Mapping, Sequence, Union

from ._arguments import shown
from ._errors import KernelError, error
from ._module import Module, Reading

#: How probable something is: a number, or `"0.3/warp"` for whole warps.
Probability = Union[float, str]
#: What is said by lines, what its values are, and how it looks.
KINDS: tuple[tuple[str, Any, str], ...] = (
    ("trips", Integral, "{12: 40}"),
    ("branch", (Real, str), "{12: 0.3}"),
    ("assume", str, '{12: "x[4*threadIdx.x]"}'),
)
#: Reads a kernel with these texts for trips, branches and addresses.
Read = Callable[[list[str], list[str], list[str]], Reading]


@dataclass(frozen=True)
class Said:
    """What is said, by lines."""

    trips: Mapping[int, int]
    branch: Mapping[int, Probability]
    assume: Mapping[int, str]
    registers: int | None

    @classmethod
    def of(cls, trips: Any, branch: Any, assume: Any, registers: Any) -> Said:
        """What keywords say; what is left out says nothing."""
        trips, branch, assume = ({} if given is None else given for given in (trips, branch, assume))
        return cls(trips, branch, assume, registers)

    def __post_init__(self) -> None:
        for name, kinds, example in KINDS:
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise TypeError(f"{name}={shown(given)}: give {{line: value, ...}}, as in {name}={example}")
            for line, value in given.items():
                if not isinstance(line, Integral) or isinstance(line, bool):
                    raise TypeError(
                        f"{name}={shown(given)}: {shown(line)} is no line; lines are whole numbers, as in {example}"
                    )
                if not isinstance(value, kinds) or isinstance(value, bool):
                    raise TypeError(
                        f"{name}={shown(given)}: {shown(value)} says nothing of line {line}; give {example}"
                    )
        for line, value in self.branch.items():
            if line in self.trips:
                raise ValueError(f"branch: trips says already how often the loop of line {line} runs")
            try:
                share = _probability(value)[0]
            except ValueError:
                share = -1.0
            if not 0 <= share <= 1:
                raise ValueError(f"branch={{{line}: {shown(value)}}}: a probability is a number from 0 to 1")
        registers = self.registers
        if registers is not None and not (isinstance(registers, Integral) and 1 <= registers <= 255):
            raise ValueError(f"registers={shown(registers)}: give the registers of a thread, from 1 to 255")

    def by_lines_of_ptx(self, module: Module, read: Read) -> tuple[list[str], list[str], list[str]]:
        """The same for the reader, who knows lines of the PTX alone."""
        if module.source is None:
            proxies: Mapping[int, str] = self.assume
            return (
                [f"{line}={n}" for line, n in self.trips.items()],
                [f"{line}={p}" for line, p in self.branch.items()],
                [f"{line}: {at}" for line, at in proxies.items()],
            )
        of_python = (module.file or "").endswith(".py")
        trips = [
            f"{_loop(module, line, read) if of_python else _last(module, line)}={n}" for line, n in self.trips.items()
        ]
        branch = self._shares(module, lambda told: read(trips, told, []))
        proxies = self._proxies(read(trips, branch, [])) if self.assume else {}
        return trips, branch, [f"{line}: {at}" for line, at in proxies.items()]

    def _shares(self, module: Module, read: Callable[[list[str]], Reading]) -> list[str]:
        """How probable branches are. By lines of the source it is said how probable it is that what the condition decides
        about is done; compilers turn conditions round as they like."""
        decided: list[int] = []
        try:
            if self.branch:
                # There is no line 0, and what it raises lists the lines that there are.
                read(["0=1"])
        except KernelError as raised:
            if "data decide no branch" not in str(raised):
                raise
            decided = [int(n) for n in re.findall(r"\d+", (raised.errors[0]["help"] or "").partition("lines ")[2])]
        places = module.places()
        found: list[str] = []
        for line, value in self.branch.items():
            here = [at for at in decided if places.get(at) == line]
            # What is done under a predicate, or else the comparison that makes it: one of them is enough.
            kinds = (r"\s*@", r"\s*setp", "")
            here = next((some for k in kinds if (some := [at for at in here if re.match(k, module.lines[at - 1])])), [])
            if not here:
                listed = ranges(sorted({places[at] for at in decided if at in places}))
                help = f"lines with conditions that data decide: {listed}"
                raise KernelError([error("ptx-branch", f"branch: data decide nothing in line {line}", help)])
            share, of_warps = _probability(value)
            for at in here:
                done, left = (
                    {(a["source_line"] or 0, a["line"]) for a in read([f"{at}={q}"]).accesses} for q in (1, 0)
                )
                first = min(done ^ left, default=None)
                found.append(f"{at}={share if first is None or first in done else 1 - share}{of_warps}")
        return found

    def _proxies(self, reading: Reading) -> dict[int, str]:
        """Addresses in the place of those that data say."""
        found: dict[int, str] = {}
        for line, address in self.assume.items():
            lines = [a["line"] for a in reading.refused if a["source_line"] == line]
            if not lines:
                places = sorted({a["source_line"] for a in reading.refused if a["source_line"]})
                help = f"lines with accesses that cannot be read: {ranges(places)}"
                raise KernelError([error("ptx-assume", f"assume: what line {line} accesses can be read", help)])
            found |= {at: address for at in lines}
        return found


def _probability(value: Probability) -> tuple[float, str]:
    """A number and how it is spread."""
    number, slash, warps = str(value).partition("/")
    return float(number), slash + warps


def _last(module: Module, line: int) -> int:
    """The last line of the PTX that was compiled from a line: it lies in the loop that begins there."""
    places = module.places().items()
    found = [at for at, of in places if of == line and re.match(r"\s*[^.\s].*;", module.lines[at - 1])]
    if not found:
        help = f"lines with code: {ranges(sorted(set(module.places().values())))}"
        raise KernelError([error("ptx-trips", f"nothing was compiled from line {line} of the source", help)])
    return found[-1]


def _loop(module: Module, line: int, read: Read) -> str:
    """A line of the PTX in the loop that begins in a line of Python."""
    lines = (module.source or "").splitlines()
    inside = _inside(lines, line)
    begins = 1 <= line <= len(lines) and re.match(r"\s*(for|while)\b", lines[line - 1])
    loops = set()
    for access in read([], [], []).refused if begins else ():
        known = re.search(r"--trips (\d+)=N", access["why"] or "")
        if known and access["source_line"] in inside:
            loops.add(known[1])
    if len(loops) == 1:
        return loops.pop()
    if loops:
        help = "the compiler has made several loops of it (unrolled); assume= says the addresses in it, line by line"
        raise KernelError([error("ptx-trips", f"trips: the loop of line {line} is not one loop in the PTX", help)])
    help = "give the line of its `for` or `while`; what is in it has to load or store something"
    raise KernelError([error("ptx-trips", f"trips: line {line} begins no loop that only data end", help)])


def _inside(lines: Sequence[str], line: int) -> range:
    """The lines of Python that are indented below a line."""
    if not 1 <= line <= len(lines):
        return range(0)

    def indent(text: str) -> int:
        return len(text) - len(text.lstrip())

    end = line
    while end < len(lines) and (not lines[end].strip() or indent(lines[end]) > indent(lines[line - 1])):
        end += 1
    return range(line, end + 1)


def ranges(lines: Sequence[int]) -> str:
    """Lines, as a message lists them."""
    return ", ".join(map(str, lines[:20])) + (", ..." if len(lines) > 20 else "") if lines else "none"
