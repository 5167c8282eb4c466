"""Pruning of search spaces, with Kernel Tuner's own search space and, in simulation, its strategies."""

import json

import pytest

kernel_tuner = pytest.importorskip("kernel_tuner", reason="kernel_tuner is not installed: pip install kernel_tuner")

from kernel_tuner.searchspace import Searchspace
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


@pytest.mark.parametrize("strategy", ["genetic_algorithm", "simulated_annealing"])
def test_strategies_start_from_the_seed(tmp_path, strategy):
    pruner = Pruner(KERNEL, PARAMETERS, "a100", slowdown=1.2)
    keys = list(PARAMETERS)
    entries = {}
    for config in Searchspace(PARAMETERS, pruner.restriction, 1024).list:
        values = dict(zip(keys, config))
        time = pruner.times[tuple(config)[:3]] * 1e3
        entry = {
            **values,
            "time": time,
            "times": [time],
            "compile_time": 0,
            "verification_time": 0,
            "benchmark_time": 0,
        }
        entries[",".join(map(str, config))] = {
            **entry,
            "strategy_time": 0,
            "framework_time": 0,
            "timestamp": "2026-01-01",
        }
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
        restrictions=pruner.restriction,
        strategy=strategy,
        strategy_options={"x0": pruner.seed, "max_fevals": 8},
        simulation_mode=True,
        cache=str(file),
        quiet=True,
        lang="CUDA",
    )
    measured = [tuple(r[k] for k in keys) for r in results]
    assert tuple(pruner.seed) in measured


def test_a_search_space_without_items_per_thread():
    whole = Pruner(KERNEL, {"block_size_x": [64, 128]}, "a100", slowdown=9, fold_names=())
    assert whole.times == Pruner(KERNEL, {"block_size_x": [64, 128]}, "a100", slowdown=9).times
    assert set(whole.times) == {(64,), (128,)}
