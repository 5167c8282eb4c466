#!/usr/bin/env python3
"""Processor time per candidate of every kernel of kernels/, for blocks of multiples of 32 and for odd widths.

    tools/time_kernels.py PROGRAM [--only TEXT] [--device ID] [--repeat N] [--kernel FILE]...

A whole process ranks so many launches that its start is small beside them, on one thread, all of them counted as a
whole; the time that a process with one launch takes is taken off. What takes more than 1 ms per candidate, and kernels
whose odd blocks take more than 1.5 times as long as the others, are marked.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALIGNED = [[x, y, 1] for x in (32, 64, 96, 128, 160, 192, 224, 256) for y in (1, 2, 3, 4)]
ODD = [[x, y, 1] for x in (31, 33, 50, 65, 97, 100, 129, 254) for y in (1, 2, 3, 4)]


def measured(program, kernel, device, blocks, repeat):
    """Seconds of processor time, the least of some runs, and what was answered."""
    call = [program, "rank", str(kernel), "-d", device, "--format", "jsonl", "--jobs", "1", "-q"]
    call += [f"--block={','.join(map(str, block))}" for block in blocks]
    best = None
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(call, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = seconds if best is None else min(best, seconds)
    return best, [json.loads(line) for line in run.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="kernels whose name has this text in it")
    parser.add_argument("--device", default="a100")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the fastest counts")
    parser.add_argument("--kernel", action="append", default=[], help="a file instead of those of kernels/")
    arguments = parser.parse_args()
    kernels = [pathlib.Path(k) for k in arguments.kernel] or sorted((ROOT / "kernels").glob("*.yaml"))
    os.environ["RAYON_NUM_THREADS"] = "1"
    print(f"{'kernel':24} {'multiples of 32':>16} {'odd widths':>11} {'ratio':>6}   us per candidate")
    for kernel in (k for k in kernels if arguments.only in k.name):
        start, _ = measured(arguments.program, kernel, arguments.device, [[32, 1, 1]], arguments.repeat)
        each, notes = [], []
        for blocks in (ALIGNED, ODD):
            seconds, lines = measured(arguments.program, kernel, arguments.device, blocks, arguments.repeat)
            results = [line for line in lines if "counting" in line]
            each.append((seconds - start) / max(1, len(results)) * 1e6)
            sampled = sum(not line["counting"]["exact"] for line in results)
            notes += [f"{len(results)} launches, {sampled} sampled"]
        ratio = each[1] / each[0] if each[0] > 0 else 0.0
        mark = " <-- over 1 ms" if max(each) > 1000 else " <-- odd widths" if ratio > 1.5 else ""
        print(f"{kernel.stem:24} {each[0]:16.0f} {each[1]:11.0f} {ratio:6.2f}   {'; '.join(notes)}{mark}", flush=True)


if __name__ == "__main__":
    main()
