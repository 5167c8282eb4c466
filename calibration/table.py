#!/usr/bin/env python3
"""Writes what calibration/run.py measured as a table for set files (sets/h100-sxm-times.yaml).

    python3 calibration/table.py results/measurements.jsonl fits/data/h100-sxm.csv.gz [--like OTHER.csv.gz]

A row for each launch: kernel, variant, parameters, block, fold, time, volumes, and as further columns what the
programs and Nsight Compute noted (registers, cycles, instructions). A launch that was measured twice stands once, with
the measurement that has counters. Parameters that follow from others are left to the kernel's document. With --like
the columns are those of another table, so that one set file serves both.
"""

import argparse
import csv
import gzip
import io
import json
import pathlib

MEASURED = {
    "time [us]": "time_us", "l2_load [B]": "l2_load", "l2_store [B]": "l2_store", "dram_load [B]": "dram_load",
    "dram_store [B]": "dram_store", "l1_wavefronts [1]": "l1_wavefronts", "l1_tag_wavefronts [1]": "l1_tag_wavefronts",
}
NOTES = ["least_us", "registers", "counted_ns", "cycles", "warp_instructions", "warps_active", "l1_load_bytes",
         "l1_hit_bytes", "l2_hit_bytes", "l2_fabric_bytes"]
# Parameters that documents derive from others.
DERIVED = {
    "coulomb": {"SUMS", "ROOTS", "ACCESSES", "INSTRUCTIONS"}, "strided": {"BLOCKS"}, "polybench-3dconv": {"i"},
    "minife": {"N", "REACH"},
}
# Of documents that derive most of their parameters, those that do not.
CHOSEN = {
    "hotspot": {"BX", "BY", "TX", "TY", "TF", "SH_POWER"}, "conv15": {"BX", "BY", "TX", "TY"},
    "xgemm": {"K", "MWG", "NWG", "KWG", "MDIMC", "NDIMC", "MDIMA", "NDIMB", "VWM", "VWN", "SA", "SB"},
}
NEVER = {"REGISTERS", "OPERATIONS"}


def launches(path):
    """The measurements, each launch once."""
    found = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        row.setdefault("variant", "")
        # Kernels of one document are told apart by their names.
        parts = row["kernel"].rsplit("-", 1)
        if row["kernel"].startswith("polybench-") and parts[-1].isdigit():
            row["kernel"], row["variant"] = parts[0], row["kernel"]
        key = json.dumps([row[k] for k in ("kernel", "variant", "params", "block", "fold")], sort_keys=True)
        if key not in found or "l2_load [B]" in row:
            found[key] = row
    return list(found.values())


def chosen(row):
    """The parameters of a launch that its document does not derive."""
    kernel = row["kernel"]
    wanted = CHOSEN.get(kernel, set(row["params"])) - DERIVED.get(kernel, set()) - NEVER
    return {name: value for name, value in row["params"].items() if name in wanted}


def number(value):
    if value in (None, ""):
        return ""
    value = float(value)
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def columns_like(path):
    """The parameters of another table."""
    with gzip.open(path, "rt") as text:
        head = next(csv.reader(text))
    return head[2:head.index("block")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measurements", type=pathlib.Path)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--like", type=pathlib.Path, help="a table whose parameters this one has, too")
    given = parser.parse_args()
    rows = launches(given.measurements)
    params = columns_like(given.like) if given.like else []
    for row in rows:
        params += [name for name in chosen(row) if name not in params]
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["kernel", "variant", *params, "block", "fold", *MEASURED.values(), *NOTES])
    for row in rows:
        of, shape = chosen(row), lambda name: "x".join(map(str, row[name]))
        out.writerow([
            row["kernel"], row["variant"], *[of.get(name, "") for name in params], shape("block"), shape("fold"),
            *[number(row.get(name)) for name in MEASURED], *[number(row.get(f"note.{name}")) for name in NOTES],
        ])
    given.table.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


main()
