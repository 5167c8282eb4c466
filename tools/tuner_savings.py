"""How many measurements of Kernel Tuner's strategies predictions save, on a stored table of the 15x15 convolution.

pip install wavecast kernel_tuner
python tools/tuner_savings.py MEASURED/conv15/conv15.csv.gz [--device a100-pcie-40gb] [--seeds 11] [--predictions FILE]

Kernel Tuner runs in its simulation mode: its own strategies ask for configurations, and each takes the time that the
table has for it. Counted is how many different configurations were measured until one came that is within some per
cent of the table's best; a run that finds none counts as the whole table. Only the rows with tiles in shared memory
are in the table. Predictions are of kernels/conv15.yaml, as sets/conv15-*.yaml says; nothing measured goes into them.
Takes some minutes. `--predictions` keeps what was predicted between calls.
"""

import argparse
import contextlib
import csv
import gzip
import io
import json
import random
import statistics
import tempfile
import warnings
from pathlib import Path

import kernel_tuner
import numpy as np
import wavecast
from wavecast.kernel_tuner import Pruner

KERNEL = Path(__file__).resolve().parents[1] / "kernels" / "conv15.yaml"
NAMES = ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "use_padding")
COLUMNS = ("bx", "by", "tx", "ty", "padding")
#: What the set files say of each device: whose rows, and at which clock.
DEVICES = {
    "a100-pcie-40gb": ("kernel_tuner_milo", {"clock": "0.765GHz"}),
    "w6600": ("kernel_tuner_milo", {}),
    "rtx-2080-ti": ("ktt", {}),
}
STRATEGIES = ("random_sample", "genetic_algorithm", "simulated_annealing", "pso", "diff_evo")
#: Per cent beyond the best time of the table.
WITHIN = (10, 5, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", type=Path, help="conv15.csv.gz of the measurements")
    parser.add_argument("--device", choices=DEVICES, default="a100-pcie-40gb")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="names, separated by commas")
    parser.add_argument("--seeds", type=int, default=11)
    parser.add_argument("--slowdown", type=float, default=1.5)
    parser.add_argument("--predictions", type=Path, help="a file that keeps them")
    given = parser.parse_args()
    rows = list(csv.DictReader(io.TextIOWrapper(gzip.open(given.table))))
    measured = table_of(rows, given.device)
    pruner = predicted(rows, measured, given)
    space = Space(measured)
    print(f"{given.device}: {len(measured)} configurations, {len(set(measured) - space.kept(pruner))} of them pruned")
    best = min(measured.values())
    for per_cent in WITHIN:
        print(f"within {per_cent} %: {sum(t <= best * (1 + per_cent / 100) for t in measured.values())} configurations")
    print("\n| strategy | | " + " | ".join(f"within {p} %" if p else "the best" for p in WITHIN) + " |")
    print("| --- | --- |" + " ---: |" * len(WITHIN))
    for strategy in given.strategies.split(","):
        for name, how, restrictions in ways(pruner, strategy, space.allowed(measured)):
            runs = [space.run(how, restrictions, strategy, seed) for seed in range(given.seeds)]
            cells = [shown([evaluations(run, best * (1 + p / 100), len(measured)) for run in runs]) for p in WITHIN]
            print(f"| {strategy} | {name} | {' | '.join(cells)} |", flush=True)


def ways(pruner, strategy, everything):
    """What is compared: the strategy as it is, with a filter, with a start, with an order, and with filter and order."""
    yield "as it is", strategy, everything
    yield "pruned", strategy, [*everything, pruner.restriction]
    yield "in order", pruner.strategy(strategy), everything
    yield "pruned, in order", pruner.strategy(strategy), [*everything, pruner.restriction]


def table_of(rows, device):
    """Milliseconds by configuration."""
    source, _ = DEVICES[device]
    found = {}
    for row in rows:
        if (row["source"], row["device"]) != (source, device):
            continue
        # KTT's padding never reaches the kernel: its rows are repetitions.
        if (
            float(row["use_shmem"]) == 1
            and float(row["read_only"]) == 0
            and (source != "ktt" or not float(row["padding"]))
        ):
            found[tuple(int(float(row[c])) for c in COLUMNS)] = float(row["time_us"]) / 1e3
    return found


def registers_of(rows):
    """Those that KTT reports for a configuration, elsewhere the median of the same tile, or else 64."""
    exact, of_tile = {}, {}
    for row in rows:
        if row["source"] == "ktt" and row["device"] == "rtx-2080-ti" and row["registers"]:
            config = tuple(int(float(row[c])) for c in COLUMNS[:4])
            exact[config] = int(row["registers"])
            of_tile.setdefault(config[2:], []).append(int(row["registers"]))
    return lambda config: exact.get(config) or round(statistics.median(of_tile.get(config[2:], [64])))


def predicted(rows, measured, given):
    """The pruner of the table's configurations. Where they are wide enough without, padding changes nothing."""
    registers, (_, options) = registers_of(rows), DEVICES[given.device]
    kept = json.loads(given.predictions.read_text()) if given.predictions and given.predictions.exists() else {}

    def build(config):
        bx, by, tx, ty, padding = (config[name] for name in NAMES)
        beyond = bx * tx + 14 - bx
        pads = int(padding > 0 and bx % 32 > 0 and beyond % 32 > 0)
        sizes = {"BX": bx, "BY": by, "TX": tx, "TY": ty, "PADDING": pads, "REGISTERS": registers((bx, by, tx, ty))}
        return wavecast.Kernel(KERNEL, **sizes)

    class Kept(Pruner):
        """One that asks only for what no call before it was told."""

        def _time_of(self, built):
            key = f"{given.device} {','.join(str(built[0][n]) for n in NAMES)}"
            if key not in kept:
                kept[key] = super()._time_of((built[0], build(built[0])))
            return kept[key]

    space = Space(measured)
    pruner = Kept(
        None,
        space.tune_params,
        given.device,
        build=lambda config: True,
        names=NAMES,
        fold_names=(),
        slowdown=given.slowdown,
        restrictions=space.allowed(measured),
        **options,
    )
    if given.predictions:
        given.predictions.write_text(json.dumps(kept))
    return pruner


class Space:
    """The table as a search space and a cache of Kernel Tuner."""

    def __init__(self, measured):
        self.tune_params = {name: sorted({c[at] for c in measured}) for at, name in enumerate(NAMES)}
        self._measured = measured
        none = dict.fromkeys(
            ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"), 0
        )
        entries = {
            ",".join(map(str, config)): {
                **dict(zip(NAMES, config)),
                **none,
                "time": time,
                "times": [time],
                "timestamp": "2026-01-01",
            }
            for config, time in measured.items()
        }
        cache = {"device_name": "table", "kernel_name": "conv", "problem_size": [4096, 4096], "objective": "time"}
        cache |= {"tune_params_keys": list(NAMES), "tune_params": self.tune_params, "cache": entries}
        self._folder = tempfile.TemporaryDirectory()
        self._cache = Path(self._folder.name) / "cache.json"
        self._cache.write_text(json.dumps(cache))

    def allowed(self, measured):
        """The restriction that lets what is in the table through."""

        def in_table(*values, **config):
            config = values[0] if len(values) == 1 else dict(zip(NAMES, values)) | config
            return tuple(config[name] for name in NAMES) in measured

        return [in_table]

    def kept(self, pruner):
        return {config for config in self._measured if pruner.restriction(*config)}

    def run(self, how, restrictions, strategy, seed):
        """The times that are measured, each configuration once, in their order."""
        random.seed(seed)
        np.random.seed(seed)
        options = {"max_fevals": len(self._measured)} | ({"fraction": 1.0} if strategy == "random_sample" else {})
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results, _ = kernel_tuner.tune_kernel(
                "conv",
                "__global__ void conv() {}",
                (4096, 4096),
                [],
                self.tune_params,
                restrictions=restrictions,
                strategy=how,
                strategy_options=options,
                simulation_mode=True,
                cache=str(self._cache),
                quiet=True,
                lang="CUDA",
            )
        return list({tuple(r[name] for name in NAMES): r["time"] for r in results}.values())


def evaluations(run, enough, otherwise):
    """How many measurements it takes until one is fast enough."""
    return next((at for at, time in enumerate(run, 1) if time <= enough), otherwise)


def shown(numbers):
    """The median, and the quartiles."""
    low, middle, high = (round(n) for n in np.percentile(numbers, [25, 50, 75]))
    return f"{middle} ({low} to {high})"


if __name__ == "__main__":
    main()
