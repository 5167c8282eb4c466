#!/usr/bin/env python3
"""Measures the kernels of a suite on the GPU of this machine.

    python3 calibration/run.py --device-id a100-40gb --out results [--counters] [--limit 600]

For each entry of calibration/suite.yaml, the most valuable first: `wavecast emit` makes a program, the compiler builds
it, and it runs its candidates, a batch at a time: plainly for times and registers, and with --counters under Nsight
Compute for volumes. Results are appended to OUT/NAME.jsonl, in the format of docs/measurements.md. A run that is cut
off, or ends with --limit, goes on where it was when it is started again. Settings of the card are left alone.

Needs nothing but Python and a compiler; with --counters also ncu. --lang opencl --launcher oclgrind runs in a
simulator, which proves the way but measures nothing.
"""

import argparse
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What `wavecast import` reads; dram__bytes_*, lts__t_* and l1tex__* of docs/measurements.md.
METRICS = {
    "dram__bytes_read.sum": ("dram_load [B]", 1),
    "dram__bytes_write.sum": ("dram_store [B]", 1),
    "lts__t_sectors_srcunit_tex_op_read.sum": ("l2_load [B]", 32),
    "lts__t_sectors_srcunit_tex_op_write.sum": ("l2_store [B]", 32),
    "l1tex__data_pipe_lsu_wavefronts.sum": ("l1_wavefronts [1]", 1),
    "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum": ("l1_tag_wavefronts [1]", 1),
}
# What tells why, beside that; kept as notes.
NOTES = {
    "gpu__time_duration.sum": ("note.counted_ns", 1),
    "sm__cycles_elapsed.max": ("note.cycles", 1),
    "smsp__inst_executed.sum": ("note.warp_instructions", 1),
    "sm__warps_active.avg.per_cycle_active": ("note.warps_active", 1),
    "lts__t_sectors_srcunit_ltcfabric.sum": ("note.l2_fabric_bytes", 32),
    "lts__t_sectors_srcunit_tex_lookup_hit.sum": ("note.l2_hit_bytes", 32),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("note.l1_load_bytes", 32),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum": ("note.l1_hit_bytes", 32),
}
ALL = METRICS | NOTES
SCALES = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BUILD = {
    "cuda": "nvcc -O3 -arch=native -Xcompiler -fopenmp {source} -o {program}",
    "hip": "hipcc -O3 -fopenmp {source} -o {program}",
    "opencl": "cc -std=c99 -O2 -fopenmp {source} -o {program} -lOpenCL",
}
ENDING = {"cuda": "cu", "hip": "hip", "opencl": "c"}


def say(text):
    print(text, file=sys.stderr, flush=True)


def suite(path):
    """The entries of a suite: one line of JSON each."""
    entries = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("- "):
            continue
        try:
            entries.append(json.loads(line[2:]))
        except json.JSONDecodeError as why:
            sys.exit(f"{path}:{number}: {why}; each entry is one line of JSON")
    return entries


def emit(entry, given, folder):
    """The program of an entry, built."""
    source = folder / f"{entry['name']}.{ENDING[given.lang]}"
    program = folder / entry["name"]
    command = [*shlex.split(given.wavecast), "emit", str(ROOT / entry["kernel"]), "--lang", given.lang, "--force",
               "-o", str(source)]
    for key in ("set", "block", "threads", "fold", "variant"):
        values = entry.get(key, [])
        for value in values if isinstance(values, list) else [values]:
            command += [f"--{key}", str(value)]
    if given.device_id:
        command += ["-d", given.device_id]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    build = given.build or BUILD[given.lang]
    subprocess.run(shlex.split(build.format(source=source, program=program)), check=True)
    return program


def candidates(program, given):
    """Block and fold of each candidate."""
    out = run([str(program), "--list"], given, None).stdout
    found = []
    for line in out.splitlines():
        words = line.split()
        shape = {words[i]: [int(n) for n in words[i + 1].split("x")] for i in (1, 3)}
        found.append((shape["block"], shape["fold"]))
    return found


def run(command, given, limit, check=True):
    launcher = shlex.split(given.launcher) if given.launcher else []
    return subprocess.run(
        [*launcher, *command], capture_output=True, text=True, timeout=limit, check=check, stdin=subprocess.DEVNULL
    )


def number(text, unit):
    """A value of ncu in base units: `1,234.5` Kbyte."""
    value = float(text.replace(",", ""))
    return value * SCALES.get(unit[:1], 1) if unit[1:] in ("byte", "sector", "wavefront") else value


def counters(program, given, first, count, limit):
    """What ncu counts, for each launch in order; None where it may not."""
    command = [*shlex.split(given.ncu), "--csv", "--clock-control", "none", "--metrics", ",".join(ALL), str(program)]
    command += ["--repeat", "1", "--warmup", "0", "--check", "none", "--from", str(first), "--count", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, stdin=subprocess.DEVNULL)
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        return None
    lines = done.stdout.splitlines()
    head = next((i for i, line in enumerate(lines) if "Metric Name" in line), None)
    if head is None:
        say(f"ncu tells nothing: {(done.stderr or done.stdout).strip()[-300:]}")
        return None
    launches = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[head:]))):
        if row.get("Metric Name") in ALL:
            column, worth = ALL[row["Metric Name"]]
            value = number(row["Metric Value"], row.get("Metric Unit", ""))
            launches.setdefault(row["ID"], {})[column] = value * worth
    return list(launches.values())


def times(program, given, first, count, limit):
    """The program's rows by block and fold."""
    command = [str(program), "--from", str(first), "--count", str(count), "--repeat", str(given.repeat)]
    command += ["--check", given.check] + (["--cold"] if given.cold else [])
    done = run(command, given, limit, check=False)
    if done.stderr.strip():
        say(done.stderr.strip())
    return list(csv.DictReader(io.StringIO(done.stdout)))


def measured(entry, row, given):
    """A measurement of docs/measurements.md."""
    shape = lambda text: [int(n) for n in text.split("x")]
    result = {"kernel": entry["kernel"] if given.by_path else row["kernel"]}
    if row.get("variant"):
        result["variant"] = row["variant"]
    if given.device_id:
        result["device"] = given.device_id
    result["params"] = {k[len("param."):]: int(v) for k, v in row.items() if k.startswith("param.")}
    result["block"], result["fold"] = shape(row["block"]), shape(row["fold"])
    result["time [us]"] = float(row["time [us]"])
    for key, value in row.items():
        if key.startswith("note.") and value:
            result[key] = value
    return result


def state(path):
    """How many candidates of an entry are done."""
    return json.loads(path.read_text())["done"] if path.exists() else 0


def entry_results(entry, given, folder, ends):
    """Measures an entry; False where time ran out."""
    progress, results = folder / f"{entry['name']}.state", folder / f"{entry['name']}.jsonl"
    done = state(progress)
    program = given.built.pop(entry["name"]).result()
    everything = candidates(program, given)
    if done >= len(everything):
        return True
    say(f"{entry['name']}: {len(everything) - done} of {len(everything)} candidates; {entry.get('why', '')}")
    while done < len(everything):
        left = ends - time.monotonic()
        if left <= 0:
            return False
        count = min(given.batch, len(everything) - done)
        limit = min(left + given.grace, given.batch_limit)
        try:
            rows = times(program, given, done, count, limit)
            counted = counters(program, given, done, count, limit) if given.counters else []
        except subprocess.TimeoutExpired:
            say(f"{entry['name']}: candidates {done} to {done + count - 1} took more than {limit:.0f} s")
            if count == 1:
                done += 1  # It will not be quicker another time.
                progress.write_text(json.dumps({"done": done}))
            given.batch = 1
            continue
        if counted is None:
            say("counters are refused (ERR_NVGPUCTRPERM) or unreadable: times alone are kept")
            given.counters, counted = False, []
        # A launch that is refused has neither row nor counters.
        matching = counted if len(counted) == len(rows) else [{}] * len(rows)
        with results.open("a") as out:
            for row, more in zip(rows, matching):
                out.write(json.dumps({**measured(entry, row, given), **more}) + "\n")
        done += count
        progress.write_text(json.dumps({"done": done}))
    return True


def merge(entries, folder):
    """All results in one file."""
    whole = folder / "measurements.jsonl"
    with whole.open("w") as out:
        for entry in entries:
            part = folder / f"{entry['name']}.jsonl"
            out.write(part.read_text() if part.exists() else "")
    rows = len(whole.read_text().splitlines())
    say(f"{whole}: {rows} measurements")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", type=pathlib.Path, default=ROOT / "calibration/suite.yaml")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results"), help="folder of results")
    parser.add_argument("--only", action="append", help="only this entry (repeatable)")
    parser.add_argument("--device-id", help="Wavecast's name of the GPU (`wavecast devices`)")
    parser.add_argument("--lang", choices=sorted(BUILD), default="cuda")
    parser.add_argument("--counters", action="store_true", help="also count volumes with Nsight Compute")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which no new batch begins")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs built at a time, before the first is run")
    parser.add_argument("--batch", type=int, default=16, help="candidates at a time")
    parser.add_argument("--batch-limit", type=float, default=300, help="seconds of a batch")
    parser.add_argument("--grace", type=float, default=30, help="seconds that a batch may run beyond --limit")
    parser.add_argument("--repeat", type=int, default=10, help="timed runs of each candidate")
    parser.add_argument("--check", choices=["all", "first", "none"], default="first", help="which results are checked")
    parser.add_argument("--cold", action="store_true", help="clear the caches before every run")
    parser.add_argument("--by-path", action="store_true", help="name kernels by their files, not by their names")
    parser.add_argument("--wavecast", default="wavecast", help="the program")
    parser.add_argument("--ncu", default="ncu", help="Nsight Compute")
    parser.add_argument("--build", help="how a program is built, with {source} and {program}")
    parser.add_argument("--launcher", default="", help="what programs are run with, such as oclgrind")
    given = parser.parse_args()
    entries = [e for e in suite(given.suite) if not given.only or e["name"] in given.only]
    if not entries:
        sys.exit(f"{given.suite} has no such entry")
    given.out.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + given.limit
    pool = concurrent.futures.ThreadPoolExecutor(given.jobs)
    given.built = {entry["name"]: pool.submit(emit, entry, given, given.out.resolve()) for entry in entries}
    # Times are taken on a machine that does nothing else.
    concurrent.futures.wait(given.built.values())
    complete = True
    for entry in entries:
        try:
            complete = entry_results(entry, given, given.out.resolve(), ends)
        except subprocess.CalledProcessError as why:
            say(f"{entry['name']}: `{shlex.join(map(str, why.cmd))}` failed; the entry is left out")
            if why.stderr:
                say(why.stderr.strip()[-500:])
        if not complete:
            say("time is up; start again to go on")
            break
    merge(entries, given.out)
    return 0 if complete else 3


sys.exit(main())
