"""Pruning of search spaces, with Kernel Tuner's own search space and, in simulation, its strategies."""

import json
import os
import random
import signal
import threading

import pytest

kernel_tuner = pytest.importorskip("kernel_tuner", reason="kernel_tuner is not installed: pip install kernel_tuner")

import numpy as np
from kernel_tuner.searchspace import Searchspace
from wavecast._progress import Progress
from wavecast.kernel_tuner import Pruner

KERNEL = {
    "wavecast": 1,
    "kernel": "star",
    "fields": {"a": {"dtype": "f64", "shape": [1026, 1026], "halo": 1}, "b": {"like": "a"}},
    "domain": [{"x": 1024}, {"y": 1024}],
    "loads": ["a[x, y]", "a[x - 1, y]", "a[x + 1, y]", "a[x, y - 1]", "a[x, y + 1]"],
    "stores": ["b[x, y]"],
    "work": {"flops": 5},
    "launch": {"block": [[256]], "registers": 24},
}
PARAMETERS = {
    "block_size_x": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    "block_size_y": [1, 2, 4, 8, 16, 32, 64],
    "tile_size_y": [1, 2, 4],
    "use_ldg": [0, 1],
}


def test_the_search_space_shrinks_and_keeps_the_best():
    pruner = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1.2)
    whole = Searchspace(PARAMETERS, [], 1024)
    pruned = Searchspace(PARAMETERS, pruner.restriction, 1024)
    assert 0 < pruned.size < whole.size / 2
    assert pruned.size == 2 * len(pruner.order())
    assert tuple(pruner.seed) in {tuple(c) for c in pruned.list}
    # What is left out is slower by more than a fifth or cannot run.
    best = min(pruner.times.values())
    for config in whole.list:
        values = dict(zip(PARAMETERS, config))
        assert pruner.restriction(values) == (pruner.times.get(tuple(config)[:3], 9e9) <= 1.2 * best)
    assert not pruner.restriction({"block_size_x": 1024, "block_size_y": 64, "tile_size_y": 1, "use_ldg": 0})


def test_other_restrictions_may_stand_beside_it():
    pruner = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1.2)
    alone = {tuple(c) for c in Searchspace(PARAMETERS, pruner.restriction, 1024).list}
    in_a_list = {tuple(c) for c in Searchspace(PARAMETERS, [pruner.restriction], 1024).list}
    both = Searchspace(PARAMETERS, [pruner.restriction, "block_size_x*block_size_y <= 128"], 1024)
    assert in_a_list == alone and {tuple(c) for c in both.list} == {c for c in alone if c[0] * c[1] <= 128}
    # Restrictions get values in the order of the parameters, or by name.
    assert all(pruner.restriction(*c) and pruner.restriction(**dict(zip(PARAMETERS, c))) for c in alone)
    with pytest.raises(ValueError, match="2 values for the parameters block_size_x"):
        pruner.restriction(1, 2)
    with pytest.raises(ValueError, match="without block_size_y"):
        pruner.restriction({"block_size_x": 1})


def test_mistakes_in_a_search_space():
    for parameters, why in [
        ({"block_size_x": []}, "no values"),
        ({"block_size_x": [0, 16]}, "block_size_x=.*from 1 to 65536"),
        ({"block_size_x": [16], "tile_size_x": [-1]}, "tile_size_x=.*from 1 to 65536"),
    ]:
        with pytest.raises(ValueError, match=why):
            Pruner(KERNEL, parameters, "a100")
    with pytest.raises(ValueError, match="several kernels"):
        Pruner([KERNEL, KERNEL], PARAMETERS, "a100")


def test_a_share_is_kept():
    all_of_them = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1e9)
    half = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1e9, keep=0.5)
    assert len(half.order()) == round(len(all_of_them.order()) / 2)
    assert half.order() == all_of_them.order()[: len(half.order())]


def test_documents_may_depend_on_parameters():
    def build(config):
        fields = {"a": {"dtype": config["type"], "size": 1 << 20}, "b": {"like": "a"}}
        return {**KERNEL, "fields": fields, "domain": [{"x": 1 << 20}], "loads": ["a[x]"], "stores": ["b[x]"]}

    parameters = {"block_size_x": [64, 2048], "type": ["f32", "f64"]}
    pruner = Pruner(None, parameters, "a100", build=build, names=["type"], slowdown=1e9)
    assert pruner.times.keys() == {(64, "f32"), (64, "f64")}, "2048 threads cannot run"
    assert pruner.seed == [64, "f32"]
    with pytest.raises(ValueError, match="block_names"):
        Pruner(KERNEL, {"threads": [64]}, "a100")


def simulated(tmp_path, pruner, times, strategy, **options):
    """What Kernel Tuner measures, one after the other, where each configuration takes the time that ``times`` says."""
    keys, entries = list(PARAMETERS), {}
    nothing = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time")
    for config in Searchspace(PARAMETERS, [], 1024).list:
        time = times(dict(zip(keys, config)))
        entry = {**dict(zip(keys, config)), "time": time, "times": [time], "timestamp": "2026-01-01"}
        entries[",".join(map(str, config))] = entry | dict.fromkeys(nothing, 0)
    cache = {"device_name": "a100", "kernel_name": "star", "problem_size": [1024, 1024], "objective": "time"}
    cache.update({"tune_params_keys": keys, "tune_params": PARAMETERS, "cache": entries})
    file = tmp_path / "cache.json"
    file.write_text(json.dumps(cache))
    results, _ = kernel_tuner.tune_kernel(
        "star",
        "__global__ void star() {}",
        (1024, 1024),
        [],
        PARAMETERS,
        restrictions=pruner.restrictions,
        strategy=strategy,
        strategy_options=options,
        simulation_mode=True,
        cache=str(file),
        quiet=True,
        lang="CUDA",
    )
    return list(dict.fromkeys(tuple(r[k] for k in keys) for r in results))


@pytest.mark.parametrize("strategy", ["genetic_algorithm", "simulated_annealing"])
def test_strategies_start_from_the_seed(tmp_path, strategy):
    pruner = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1.2)
    measured = simulated(tmp_path, pruner, pruner.time, strategy, x0=pruner.seed, max_fevals=8)
    assert tuple(pruner.seed) in measured


STRATEGIES = ["random_sample", "genetic_algorithm", "simulated_annealing", "greedy_ils", "pso", "diff_evo", "mls"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_go_by_the_order(tmp_path, strategy):
    # Nothing is left out, and the order is the other way round than the times that are measured.
    # What strategies draw by chance is the same each time: annealing sometimes has enough before it has tried all it may.
    random.seed(1)
    np.random.seed(1)
    pruner = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1e9)
    space = Searchspace(PARAMETERS, pruner.restrictions, 1024)
    order = sorted(space.list, key=pruner.time)
    more = {"fraction": 1.0} if strategy == "random_sample" else {}
    measured = simulated(
        tmp_path, pruner, lambda c: 1 / pruner.time(c), pruner.strategy(strategy), max_fevals=40, **more
    )
    assert len(measured) == 40
    first = 40 if strategy == "random_sample" else round(len(pruner.times) ** 0.5)
    assert measured[:first] == order[:first]


def test_strategies_start_from_the_fastest_that_was_measured(tmp_path):
    pruner = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1e9)
    seen = {}

    class Started:
        """A strategy that says where it would start."""

        @staticmethod
        def tune(searchspace, runner, options):
            seen["x0"] = options.strategy_options["x0"]
            seen["drawn"] = [*searchspace.get_random_sample(3), *searchspace.get_random_sample(1)]
            return []

    order = sorted(Searchspace(PARAMETERS, pruner.restrictions, 1024).list, key=pruner.time)
    # The fourth is the fastest.
    times = {config: 1.0 + at for at, config in enumerate([order[3], *order[:3], *order[4:]])}
    measured = simulated(tmp_path, pruner, lambda c: times[tuple(c.values())], pruner.strategy(Started, first=5))
    assert measured == order[:5] and tuple(seen["x0"]) == order[3]
    assert seen["drawn"] == [order[3], order[0], order[1], order[2]]
    assert simulated(tmp_path, pruner, pruner.time, pruner.strategy(Started, first=0)) == []
    assert tuple(seen["x0"]) == order[0]
    # A start of one's own stays.
    simulated(tmp_path, pruner, pruner.time, pruner.strategy(Started), x0=list(order[9]))
    assert tuple(seen["x0"]) == order[9]
    with pytest.raises(ValueError, match="no strategy 'fast'"):
        pruner.strategy("fast")
    with pytest.raises(ValueError, match="first=-1"):
        pruner.strategy("pso", first=-1)


def test_what_restrictions_refuse_is_not_predicted():
    def threads(block_size_x, block_size_y, tile_size_y, use_ldg):
        return block_size_x * block_size_y <= 128

    everything = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1.2)
    # One over parameters that are predicted, and one that needs all of them.
    restrictions = [threads, "tile_size_y < 4 or use_ldg == 1"]
    pruner = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1.2, restrictions=restrictions)
    assert 0 < len(pruner.times) < len(everything.times)
    assert all(x * y <= 128 for x, y, _ in pruner.times)
    assert pruner.times.items() <= everything.times.items()
    assert all(c["use_ldg"] == (c["tile_size_y"] == 4) for c in pruner.order())
    assert restrictions == [threads, "tile_size_y < 4 or use_ldg == 1"], "the caller's list is as it was"
    space = Searchspace(PARAMETERS, pruner.restrictions, 1024)
    assert tuple(pruner.seed) in space.list
    assert space.size == sum(pruner.restriction(*c) for c in Searchspace(PARAMETERS, restrictions, 1024).list)


def test_functions_are_not_asked_about_what_restrictions_refuse():
    asked = []

    def build(config):
        asked.append(config["n"])
        return {**KERNEL, "domain": [{"x": config["n"]}, {"y": 16}]}

    parameters = {"block_size_x": [32], "n": [16, 32, 64]}
    pruner = Pruner(None, parameters, "a100", build=build, names=["n"], restrictions="n > 16", slowdown=1e9)
    assert asked == [32, 64] and set(pruner.times) == {(32, 32), (32, 64)}


def test_predictions_are_the_same_on_any_number_of_threads(capsys):
    def build(config):
        return {**KERNEL, "domain": [{"x": 32 * config["n"]}, {"y": 16}]}

    parameters = {"block_size_x": [32, 64], "n": np.arange(1, 31)}
    one, four = (Pruner(None, parameters, "a100", build=build, names=["n"], workers=w) for w in (1, np.int64(4)))
    assert list(one.times.items()) == list(four.times.items()) and len(one.times) == 60
    assert one.order() == four.order() and all(type(v) is int for v in one.seed)
    assert one.restriction({"block_size_x": np.int32(one.seed[0]), "n": np.int64(one.seed[1])})
    assert capsys.readouterr().err == "", "no terminal, no progress"
    with pytest.raises(ValueError, match="workers=0"):
        Pruner(None, parameters, "a100", build=build, names=["n"], workers=0)


def test_progress_says_how_many_are_left(capsys, monkeypatch):
    monkeypatch.setattr(Progress, "EVERY", 0.0)
    Pruner(KERNEL, PARAMETERS, "a100", progress=True)
    lines = capsys.readouterr().err.split("\r\x1b[K")
    assert lines[1].startswith("wavecast: 77 of 231 configurations, ") and lines[1].endswith(" left")
    assert "231 of 231 configurations" in lines[3]


def test_mistakes_end_all_predictions():
    def build(config):
        if config["n"] == 3:
            raise RuntimeError("not this one")
        return {**KERNEL, "domain": [{"x": 32 * config["n"]}, {"y": 16}]}

    with pytest.raises(RuntimeError, match="not this one"):
        Pruner(None, {"block_size_x": [32], "n": list(range(1, 30))}, "a100", build=build, names=["n"])


def test_a_search_space_without_items_per_thread():
    whole = Pruner(KERNEL, {"block_size_x": [64, 128]}, "a100", slowdown=9, fold_names=())
    assert whole.times == Pruner(KERNEL, {"block_size_x": [64, 128]}, "a100", slowdown=9).times
    assert set(whole.times) == {(64,), (128,)}


def test_ctrl_c_ends_predictions():
    built = []

    def build(config):
        built.append(config)
        if len(built) == 20:
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        return {**KERNEL, "domain": [{"x": 32 * config["n"]}, {"y": 16}]}

    with pytest.raises(KeyboardInterrupt):
        Pruner(None, {"block_size_x": [32], "n": list(range(1, 50_000))}, "a100", build=build, names=["n"])
    assert len(built) < 50_000
