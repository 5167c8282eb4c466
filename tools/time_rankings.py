#!/usr/bin/env python3
"""Processor time of rankings of which a table shows the best 20: per candidate of some kernels, and of 100,000 arbitrary
blocks of the 7-point star.

    tools/time_rankings.py PROGRAM [PROGRAM ...] [--device ID] [--repeat N]

Whole processes on one thread, the least of some runs. The programs take turns, so that what else the machine does meets all
of them. Per candidate: what a process takes that ranks all of them, less one with a single launch.
"""

import argparse
import os
import pathlib
import random
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ["stream-copy", "stream-triad", "star3d7", "star3d25", "lbm-d3q19"]
#: Of kernels whose documents have few.
STREAM_BLOCKS = [[x, 1, 1] for x in range(32, 1025, 8)]
FOLDS = [[1, 1, 1], [2, 1, 1], [1, 2, 1], [1, 1, 2], [1, 2, 2]]
WIDTHS = 20_000


def seconds(program, kernel, device, *options):
    """Processor time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [program, "rank", str(kernel), "-d", device, "-q", "--top", "20", *options]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    subprocess.run(call, capture_output=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(programs, repeat, kernel, device, *options):
    """Of each program, the least of some runs."""
    runs = [[seconds(p, kernel, device, *options) for p in programs] for _ in range(repeat)]
    return [min(of_one) for of_one in zip(*runs)]


def candidates(program, kernel, device, *options):
    """Launches that can run."""
    call = [program, "rank", str(kernel), "-d", device, "-q", "--format", "jsonl", *options]
    lines = subprocess.run(call, capture_output=True, check=True, text=True).stdout.splitlines()
    return sum('"time_s"' in line for line in lines)


def arbitrary_widths(folder):
    """A document with 20,000 blocks, by chance, and five folds."""
    head = (ROOT / "kernels" / "star3d7.yaml").read_text().split("launch:")[0]
    of_shape = [
        [x, y, z]
        for x in range(1, 1025)
        for y in range(1, 1024 // x + 1)
        for z in range(1, min(64, 1024 // (x * y)) + 1)
        if x * y * z >= 32
    ]
    blocks = sorted(random.Random(1).sample(of_shape, WIDTHS))
    path = pathlib.Path(folder) / "widths.yaml"
    path.write_text(f"{head}launch:\n  block: {blocks}\n  fold: {FOLDS}\n  registers: 32\n")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--device", default="a100")
    parser.add_argument("--repeat", type=int, default=15, help="runs of each, of which the shortest counts")
    given = parser.parse_args()
    print(f"{'us per candidate':24}" + "".join(f"{p[-24:]:>26}" for p in given.programs))
    for name in KERNELS:
        kernel = ROOT / "kernels" / f"{name}.yaml"
        blocks = STREAM_BLOCKS if name.startswith("stream") else []
        options = [f"--block={','.join(map(str, block))}" for block in blocks]
        number = candidates(given.programs[0], kernel, given.device, *options)
        alone = least(given.programs, given.repeat, kernel, given.device, "--block=128,1,1")
        times = least(given.programs, given.repeat, kernel, given.device, *options)
        each = [1e6 * (time - one) / (number - 1) for time, one in zip(times, alone)]
        print(f"{name + f', {number}':24}" + "".join(f"{t:26.1f}" for t in each), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        times = least(given.programs, max(3, given.repeat // 3), arbitrary_widths(folder), given.device)
    print(f"{'100,000 widths, s':24}" + "".join(f"{t:26.2f}" for t in times))


if __name__ == "__main__":
    main()
