#!/usr/bin/env python3
"""Whether two builds of Wavecast give the same numbers: all kernels of kernels/ on four devices, with their own
launches and with odd and even blocks and folds.

    tools/same_numbers.py OLD NEW [--show N] [--only TEXT] [--device ID]... [--within RELATIVE]

OLD and NEW are programs. Fields that only one of them has are counted, not compared: fields may be added. Texts
are compared too, but for the version of the program. Exit status 1: a number or a text differs. Builds for machines
whose exp and pow round otherwise differ in last digits: for those say --within 1e-9, which also lets 1e-12 pass where
a number is near zero, as are terms that are differences of times.
"""

import argparse
import json
import pathlib
import subprocess
import sys

DEVICES = ["v100", "a100", "mi300x", "rx-6900-xt"]
BLOCKS = ["100", "31,3", "24,5,2", "64,4,1", "32,2,8"]
FOLDS = ["1", "1,2", "3,1,2"]
SHAPES = [f"--block={b}" for b in BLOCKS] + [f"--fold={f}" for f in FOLDS]
COMMANDS = [["rank", "--top", "1000"], ["rank", *SHAPES], ["predict"], ["explain"]]
NOTHING = 1e-12
ROOT = pathlib.Path(__file__).resolve().parent.parent


def answer(program, command, kernel, device):
    call = [program, command[0], str(kernel), "-d", device, "--format", "json", *command[1:]]
    run = subprocess.run(call, capture_output=True, text=True, check=False)
    return {"exit": run.returncode, "answer": json.loads(run.stdout) if run.stdout else run.stderr}


def differences(old, new, path, found, within):
    """Adds what differs to `found`, and returns how many values were compared."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() - new.keys():
            found.append(f"{path}.{key} is gone")
        return sum(differences(old[k], new[k], f"{path}.{k}", found, within) for k in old.keys() & new.keys() if k != "tool")
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            found.append(f"{path}: {len(old)} and {len(new)} items")
        return sum(differences(a, b, f"{path}[{i}]", found, within) for i, (a, b) in enumerate(zip(old, new)))
    if old != new and not close(old, new, within):
        found.append(f"{path}: {old!r} and {new!r}")
    return 1


def close(old, new, within):
    if not within or not all(isinstance(value, (int, float)) for value in (old, new)):
        return False
    return abs(old - new) <= within * max(abs(old), abs(new)) + NOTHING


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--show", type=int, default=20, help="differences that are printed")
    parser.add_argument("--only", default="", help="kernels whose name has this text in it")
    parser.add_argument("--device", action="append", help="instead of the four devices")
    parser.add_argument("--within", type=float, default=0.0, help="relative difference that is none")
    arguments = parser.parse_args()
    found, compared = [], 0
    for kernel in sorted(path for path in (ROOT / "kernels").glob("*.yaml") if arguments.only in path.name):
        for device in arguments.device or DEVICES:
            for command in COMMANDS:
                place = f"{' '.join(command)} {kernel.name} -d {device}: "
                pair = [answer(program, command, kernel, device) for program in (arguments.old, arguments.new)]
                compared += differences(*pair, place, found, arguments.within)
    print(f"{compared} values compared, {len(found)} differ")
    for line in found[: arguments.show]:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
