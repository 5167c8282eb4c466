"""Two documents of one kernel beside each other: what single threads access, and the volumes of all launches.

`round_trip.py` and `two_roads.py` use it, and what compiles CUDA in `tests/ptx/make`.
"""

import collections
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compiler():
    """NVRTC from PyPI, as the fixtures of the tests were compiled."""
    path = ROOT / "tests" / "ptx" / "make"
    loader = importlib.machinery.SourceFileLoader("ptx_make", str(path))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("ptx_make", loader))
    loader.exec_module(made)
    return made.Nvrtc()


class Wavecast:
    """The command line."""

    def __init__(self, program):
        self.program = program

    def text(self, *arguments):
        call = [self.program, *map(str, arguments)]
        run = subprocess.run(call, capture_output=True, text=True, check=False)
        if run.returncode:
            raise Refused(reasons(run.stdout) or " ".join((run.stderr or run.stdout).split()))
        return run.stdout

    def answers(self, *arguments):
        """All answers of a command, one for each kernel."""
        found = json.loads(self.text(*arguments, "--format", "json"))
        return found if isinstance(found, list) else [found]


def reasons(text):
    """Why an answer in JSON has no results; nothing if it does not say."""
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    found = found if isinstance(found, dict) else {}
    said = [e["message"] for e in found.get("errors", [])] + [e["reason"] for e in found.get("infeasible", [])]
    return "; ".join(dict.fromkeys(said))


class Refused(Exception):
    """A command gave no answer; its message says why."""


def numbers(value, path=""):
    """All numbers of an answer, by where they stand in it."""
    if isinstance(value, dict):
        return {k: n for key, inner in value.items() for k, n in numbers(inner, f"{path}.{key}" if path else key).items()}
    return {path: value} if isinstance(value, int | float) else {}


def launches(answer):
    """Volumes of each launch of a ranking in bytes of the whole launch, by variant, block and fold; with its grid."""
    items = 1
    for extent in answer["kernel"]["domain"]:
        items *= extent
    found = {}
    for result in answer["results"]:
        config = result["config"]
        key = (config["variant"], tuple(config["block"]), tuple(config["fold"] or (1, 1, 1)))
        volumes = {k: n if k.startswith("tlb") else n * items for k, n in numbers(result["volumes"]).items()}
        found[key] = (config, volumes)
    return found


def differing(one, other):
    """Names of volumes that differ by a byte or more of the whole launch."""
    names = sorted(one.keys() | other.keys())
    return [n for n in names if abs(one.get(n, 0) - other.get(n, 0)) > max(0.5, 1e-11 * abs(one.get(n, 0)))]


def places(block, grid):
    """Threads to compare: first and last, and some between, of blocks at the edges and in the middle."""
    last = [n - 1 for n in block]
    threads = {(0, 0, 0), tuple(last), tuple(n // 2 for n in last), (1 % block[0], last[1], 0), (last[0], 0, last[2])}
    edges = [[0, n // 2, n - 1] for n in grid]
    blocks = {tuple(e[i] for e in edges) for i in range(3)} | {(0, edges[1][2], 0), (edges[0][2], 0, 0)}
    return [(b, t) for b in sorted(blocks) for t in sorted(threads)]


def touches(wavecast, places, *arguments):
    """What threads access: for each place a list of (operation, space, field, first byte, bytes), in order."""
    at = [a for b, t in places for a in ("--at", ",".join(map(str, b)) + ":" + ",".join(map(str, t)))]
    found = collections.defaultdict(list)
    for line in wavecast.text("touches", *at, *arguments).splitlines():
        access = json.loads(line)
        key = (tuple(access["block"]), tuple(access["thread"]))
        found[key].append(tuple(access[k] for k in ("op", "space", "field", "offset_bytes", "width")))
    return found


def merged(accesses):
    """Bytes by operation and field: what is left of accesses when equal ones are one and neighbours are joined."""
    found = collections.defaultdict(set)
    for op, space, field, offset, width in accesses:
        found[op, space, field].update(range(offset, offset + width))
    return found


def named(wanted, found):
    """How the accesses of one thread differ, in words: `wanted` are the document's, `found` those of the program."""
    bytes_wanted, bytes_found = merged(wanted), merged(found)
    stored = collections.defaultdict(set)
    for op, space, field, offset, width in wanted:
        if op != "load":
            stored[space, field].update(range(offset, offset + width))
    words = set()
    for key in bytes_wanted.keys() | bytes_found.keys():
        missing, more = bytes_wanted[key] - bytes_found[key], bytes_found[key] - bytes_wanted[key]
        # What a thread has stored itself it need not load again.
        if missing and key[0] == "load" and missing <= stored[key[1:]]:
            words.add("kept in a register")
        elif missing or more:
            return {"wrong"}
    one, other = collections.Counter(wanted), collections.Counter(found)
    if not words and one != other:
        widths = [collections.Counter((a[0], a[4]) for a in c.elements()) for c in (one, other)]
        if {w for _, w in widths[0]} != {w for _, w in widths[1]}:
            words.add("vectorised")
        elif sum(other.values()) < sum(one.values()):
            words.add("kept in a register")
        else:
            words.add("loaded again")
    return words


class Table:
    """What became of launches, kernel by kernel."""

    COLUMNS = ("launches", "equal", "explained", "refused", "wrong")

    def __init__(self, kind):
        self.sums, self.failed = collections.Counter(), []
        print(f"{kind:36} {' '.join(f'{c:>9}' for c in self.COLUMNS)}  what the compiler did")

    def row(self, name, verdicts):
        """`verdicts`: for each launch what it is called; words, or None where it is wrong, or why it was refused; and names
        of what differs."""
        words, counts, failed = collections.Counter(), collections.Counter(launches=len(verdicts)), []
        for what, said, different in verdicts:
            if said is None or isinstance(said, Refused):
                counts["wrong" if said is None else "refused"] += 1
                failed.append(f"{what}: {'refused: ' if said else ''}{said or ', '.join(different)}")
            else:
                counts["explained" if said and different else "equal"] += 1
                words.update(said)
        self.sums.update(counts, kernels=1)
        self.failed += failed
        self.line(name, counts, ", ".join(f"{w} {n}" for w, n in words.most_common()))

    def line(self, name, counts, words=""):
        print(f"{name:36} {' '.join(f'{counts[c]:9}' for c in self.COLUMNS)}  {words}".rstrip(), flush=True)

    def end(self):
        """The last lines; the exit status."""
        self.line(f"{self.sums['kernels']} kernels", self.sums)
        print("\n".join(line[:600] for line in self.failed[:200]))
        return 1 if self.failed else 0


def verdict(wanted, volumes, one, other, proofs):
    """Words for what the compiler did, or None where the reading is wrong; and the names of volumes that differ. `one` and
    `other` are what threads access. `proofs` are explanations: a word, and a function that gives the volumes of the program
    without what the word says, which then have to be those that are wanted."""
    different = differing(wanted, volumes)
    words = set().union(*(named(one[place], other[place]) for place in one.keys() | other.keys()))
    if "wrong" in words:
        return None, ["other accesses", *different]
    if different:
        # What single threads do otherwise explains no volume: there has to be a proof.
        proof = next((word for word, without in proofs if not differing(wanted, without())), None)
        if proof is None:
            return None, [f"{n} by {(volumes.get(n, 0) - wanted.get(n, 0)) / (wanted.get(n, 0) or 1):.1e}" for n in different]
        words |= set(proof.split(" and "))
    return words, different


def rolled_up(text):
    """A program whose loops the compiler leaves as they are."""
    return re.sub(r"(?m)^ *for \(", "#pragma unroll 1\n\\g<0>", text)
