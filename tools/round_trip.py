#!/usr/bin/env python3
"""There and back again: kernels as documents, as CUDA that `wavecast emit` makes of them, as PTX, and read.

    tools/round_trip.py WAVECAST FOLDER [KERNEL.yaml ...] [--device a100]

WAVECAST is the program; FOLDER is where CUDA texts, PTX and documents go. By default all kernels of kernels/, with every
launch that they list. NVRTC comes from PyPI, as `tests/ptx/make` says; no GPU is needed.

For each launch the volumes of the document have to be those of the kernel that was read, to the byte of the whole
launch. Some threads of it are compared access by access: where they differ, the compiler did it, and it is said how, or
the reading is wrong. Exit status 1: something was refused, or is wrong.
"""

import argparse
import collections
import pathlib
import re
import sys

from two_documents import ROOT, Refused, Table, Wavecast, compiler, launches, places, rolled_up, touches, verdict

TYPES = {
    "double": "f64", "float": "f32", "int": "s32", "unsigned int": "u32", "unsigned short": "b16", "short": "s16",
    "unsigned char": "u8", "long long": "s64", "half": "b16", "float2": "b64",
}

#: Tiles as large as an array take long to count.
STEPS = ["--limit", "steps=2000000000"]


class Entry:
    """An emitted kernel, in PTX."""

    def __init__(self, text, ptx, name, file):
        head = re.search(rf"__global__ void {name}\(([^)]*)\) \{{(.*?)\n\}}\n", text, re.S)
        self.name, self.file = name, file
        self.parameters = [p.rsplit(" ", 1) for p in head[1].split(", ")]
        self.shared = re.findall(r"(\w+) = \([^)]*\*\)\(shared(?: \+ ([^;]*))?\);", head[2])
        self.dynamic = "extern __shared__" in head[2]
        file.write_text(ptx)

    def arguments(self, bytes_of):
        """--arg for each parameter; the last two are where a sum starts, and where it goes that nobody stores."""
        found = []
        for number, (kind, name) in enumerate(self.parameters):
            name = name.lstrip("*")
            # `emit` writes a `_` behind names that mean something to C++.
            name = next((n for n in (name, name[:-1]) if n in bytes_of), name)
            plain = kind.removeprefix("const ").strip()
            if name == "start":
                value = "0"
            elif name not in bytes_of and name != "sink":
                raise Refused(f"{name} is no field of the document")
            elif name == "sink":
                value = "sink:f64[1]"
            else:
                width = {"f64": 8, "s64": 8, "b64": 8, "b16": 2, "s16": 2, "u8": 1}.get(TYPES[plain], 4)
                value = f"{name}:{TYPES[plain]}[{bytes_of[name] // width}]"
            found += ["--arg", f"{number}={value}"]
        return found

    def starts(self, block):
        """Where shared fields lie for a block."""
        sizes = dict(zip(("bdimx", "bdimy", "bdimz"), block))
        return {name: eval((at or "0").replace("/", "//"), {}, dict(sizes)) for name, at in self.shared}


def slug(name):
    return re.sub("[^A-Za-z0-9]", "-", name)


def without_sink(document):
    """Programs that store nothing write their sum where nobody looks, if it is a number that it never is."""
    kept = [line for line in document.splitlines() if not re.search(r'^ *- .*\bstore sink\b|^# sink:', line)]
    return "\n".join(line for line in kept if not line.startswith("  sink: ")) + "\n"


class Kernel:
    """One document, with the program that was emitted of it."""

    def __init__(self, given, wavecast, nvrtc, path):
        self.given, self.wavecast, self.nvrtc, self.path = given, wavecast, nvrtc, path
        answer = self.rank(path)
        self.name, self.domain = answer["kernel"]["name"], answer["kernel"]["domain"]
        self.wanted = launches(answer)
        self.checked = wavecast.answers("check", path)
        wavecast.text("emit", path, "--lang", "cuda", "--kernels-only", "--force", "-o", f"{self.folder('cu')}/")
        self.verdicts, self.as_folds = [], {}

    def folder(self, kind):
        made = self.given.folder / kind
        made.mkdir(parents=True, exist_ok=True)
        return made

    def entry(self, variant, fold, rolled=False):
        name = self.name if variant is None else f"{self.name}-{slug(variant)}"
        text = (self.folder("cu") / f"{name}.cu").read_text()
        if rolled:
            name += "-rolled"
            text = rolled_up(text)
        entry = f"{re.sub('[^A-Za-z0-9]', '_', self.name)}_{'x'.join(map(str, fold))}"
        return Entry(text, self.nvrtc.compile(text, name, 80), entry, self.folder("ptx") / f"{name}.ptx")

    def run(self):
        groups = collections.defaultdict(list)
        for (variant, block, fold), (config, _) in self.wanted.items():
            groups[variant, fold, config["registers"]].append((block, config["grid"]))
        for (variant, fold, registers), some in groups.items():
            self.group(variant, fold, registers, some)

    def group(self, variant, fold, registers, some):
        """Launches that one document can be read for."""
        entry = self.entry(variant, fold)
        try:
            found = self.read(entry, variant, registers, [block for block, _ in some])
        except Refused as refused:
            if "does not follow from" not in str(refused):
                self.verdicts += [(f"{entry.name} block {block}", refused, []) for block, _ in some]
                return
            found = {}
        for block, grid in some:
            try:
                if block not in found or found[block][0]["grid"] != grid:
                    found.update(self.read(entry, variant, registers, [block], grid))
                self.launch(entry, (variant, block, fold), found[block])
            except Refused as refused:
                self.verdicts.append((f"{entry.name} block {block}", refused, []))

    def read(self, entry, variant, registers, blocks, grid=None):
        """What the program of an entry does, read and counted: configurations, volumes and the document, by block."""
        size = {
            f["name"]: f["bytes"] for c in self.checked if c["kernel"]["variant"] == variant
            for f in c["fields"] if f["space"] != "shared"
        }
        name = "-".join([entry.file.stem, entry.name, str(registers), *map("x".join, [map(str, blocks[0])] if grid else [])])
        document = self.folder("read") / f"{name}.yaml"
        given = [a for block in blocks for a in ("--block", ",".join(map(str, block)))]
        given += ["--grid", ",".join(map(str, grid))] if grid else []
        given += ["--registers", registers, *entry.arguments(size)]
        text = self.wavecast.text("read", entry.file, "--entry", entry.name, *given, "--format", "table")
        document.write_text(without_sink(text))
        return {key[1]: (*of, document) for key, of in launches(self.rank(document)).items()}

    def rank(self, document):
        """The same limit for all: what is only sampled depends on it."""
        return self.wavecast.answers("rank", document, "-d", self.given.device, *STEPS)[0]

    def launch(self, entry, key, found):
        variant, block, fold = key
        (config, wanted), (read_config, volumes, read) = self.wanted[key], found
        at = places(block, config["grid"])
        sizes = ["--block", ",".join(map(str, block))]
        own = ["--fold", ",".join(map(str, fold)), *(["--variant", variant] if variant else [])]
        theirs = ["--variant", read_config["variant"]] if read_config["variant"] else []
        one = touches(self.wavecast, at, self.path, *sizes, *own)
        other = touches(self.wavecast, at, read, *sizes, *theirs)
        starts = entry.starts(block)
        for place in at:
            one[place] = [(op, s, "shared" if f in starts else f, o + starts.get(f, 0), w) for op, s, f, o, w in one[place]]
        unrolled = lambda: self.rolled(key)[1]
        proofs = [("unrolled", unrolled)]
        if fold != (1, 1, 1):
            as_one = lambda document: self.folded(document, fold, block)
            proofs = [("fold", lambda: as_one(read)), *proofs, ("fold and unrolled", lambda: as_one(self.rolled(key)[2]))]
        words, different = verdict(wanted, volumes, one, other, proofs)
        self.verdicts.append((f"{self.name} {variant or ''} block {block} fold {fold}", words, different))

    def rolled(self, key):
        """What the program does if the compiler leaves its loops as they are."""
        variant, block, fold = key
        config = self.wanted[key][0]
        entry = self.entry(variant, fold, rolled=True)
        return self.read(entry, variant, config["registers"], [block], config["grid"])[block]

    def folded(self, document, fold, block):
        """Volumes of what was read, once the model is told that threads have several work items, which no program says:
        the same accesses of the same threads, in a document with the domain and the fold of the kernel. The model takes
        the work items of a thread for interleaved (docs/model.md, "L1 to L2")."""
        if (document, fold) not in self.as_folds:
            extents = iter(self.domain)
            text = re.sub(
                r"(?m)^domain: \{.*\}$", lambda m: re.sub(r": \d+", lambda _: f": {next(extents)}", m[0]), document.read_text()
            )
            told = document.with_suffix(".fold.yaml")
            told.write_text(re.sub(r"(?m)^launch:$", f"launch:\n  fold: [{list(fold)}]", text))
            self.as_folds[document, fold] = {key[1]: volumes for key, (_, volumes) in launches(self.rank(told)).items()}
        return self.as_folds[document, fold][block]


def documents(path, folder):
    """The documents of a file, each in a file of its own."""
    parts = re.split(r"(?m)^---.*\n", path.read_text())
    if len(parts) == 1:
        return [path]
    folder = folder / "parts"
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{path.stem}-{number}.yaml" for number in range(1, len(parts) + 1)]
    for file, part in zip(files, parts):
        file.write_text(part)
    return files


def main():
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("wavecast")
    given.add_argument("folder", type=pathlib.Path)
    given.add_argument("kernels", nargs="*", type=pathlib.Path)
    given.add_argument("--device", default="a100")
    given = given.parse_args()
    wavecast, nvrtc = Wavecast(given.wavecast), compiler()
    table = Table("kernel")
    files = given.kernels or sorted((ROOT / "kernels").glob("*.yaml"))
    for path in (part for file in files for part in documents(file, given.folder)):
        kernel = Kernel(given, wavecast, nvrtc, path)
        kernel.run()
        table.row(kernel.name, kernel.verdicts)
    sys.exit(table.end())


if __name__ == "__main__":
    main()
