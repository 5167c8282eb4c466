"""Pruning as Triton's autotuner does it; with Triton itself where it is installed (it is large, and CI does
without it)."""

import pytest

import wavecast
from wavecast.triton import block_and_fold, prune_configs_by


class Config:
    """What `triton.Config` is to a pruner."""

    def __init__(self, kwargs, num_warps):
        self.kwargs, self.num_warps = kwargs, num_warps

    def all_kwargs(self):
        return {**self.kwargs, "num_warps": self.num_warps}


CONFIGS = [({"TILE_X": x, "TILE_Y": y}, w) for x in (1, 16, 64, 256) for y in (1, 16, 64) for w in (1, 4, 64)]


def describe(n, TILE_X, TILE_Y, num_warps, **_):
    block, fold = block_and_fold((TILE_X, TILE_Y), num_warps)
    return {
        "wavecast": 1,
        "kernel": "transpose",
        "fields": {"a": {"dtype": "f32", "shape": [n, n]}, "b": {"like": "a"}},
        "domain": [{"x": n}, {"y": n}],
        "loads": ["a[x, y]"],
        "stores": ["b[y, x]"],
        "work": {"flops": 0},
        "launch": {"block": [block], "fold": [fold], "registers": 32},
    }


@pytest.mark.parametrize(
    ("tile", "warps", "itemsize", "block", "fold"),
    [
        ((1024,), 4, 4, (128, 1, 1), (8, 1, 1)),
        ((128, 64), 4, 4, (32, 4, 1), (4, 16, 1)),
        ((64, 64), 8, 2, (8, 32, 1), (8, 2, 1)),
        ((64,), 4, 4, (64, 1, 1), (1, 1, 1)),
        ((32, 8, 4), 4, 8, (16, 8, 1), (2, 1, 4)),
    ],
)
def test_a_tile_is_shared_by_its_threads(tile, warps, itemsize, block, fold):
    assert block_and_fold(tile, warps, itemsize) == (block, fold)
    assert all(b * f == n for b, f, n in zip(block, fold, (*tile, 1, 1)))
    with pytest.raises(ValueError, match="powers of two"):
        block_and_fold((48,), 4)
    with pytest.raises(ValueError, match="num_warps=0"):
        block_and_fold((64,), 0)


def check(functions, configs):
    kept = functions["early_config_prune"](configs, {"n": 1024})
    assert 0 < len(kept) < len(configs)
    times = {c: functions["perf_model"](n=1024, **c.all_kwargs()) for c in configs}
    best = min(times, key=times.get)
    assert best in kept and all(times[c] <= 2 * times[best] for c in kept)
    predicted = wavecast.predict(describe(1024, **best.all_kwargs()), device="a100")
    assert times[best] == predicted["result"]["time_s"] * 1e3
    # 64 warps are 2048 threads.
    assert times[
        next(c for c in configs if c.num_warps == 64 and c.kwargs["TILE_X"] == 256 and c.kwargs["TILE_Y"] == 64)
    ] == float("inf")


def test_prune_as_triton_does():
    check(prune_configs_by(describe, "a100", top_k=3), [Config(*c) for c in CONFIGS])


def test_no_configurations_stay_none():
    assert prune_configs_by(describe, "a100")["early_config_prune"]([], {"n": 1024}) == []


def test_mistakes_in_a_document_are_not_taken_for_launches_that_cannot_run():
    functions = prune_configs_by(lambda **_: {"wavecast": 1, "kernel": "x"}, "a100")
    with pytest.raises(wavecast.KernelError):
        functions["perf_model"](n=1)
    functions = prune_configs_by(describe, "no-such-device")
    with pytest.raises(wavecast.KernelError, match="no-such-device"):
        functions["perf_model"](n=64, TILE_X=16, TILE_Y=16, num_warps=1)


def test_triton_itself():
    triton = pytest.importorskip("triton", reason="triton is not installed (285 MB): pip install triton")
    configs = [triton.Config(kwargs, num_warps=warps) for kwargs, warps in CONFIGS]
    functions = prune_configs_by(describe, "a100", top_k=3)
    check(functions, configs)

    def kernel(a, n, TILE_X, TILE_Y):
        pass

    from triton.runtime.autotuner import Autotuner

    tuner = Autotuner.__new__(Autotuner)
    # Its constructor asks for a GPU; what it does with these functions does not.
    tuner.configs, tuner.nargs = configs, {"a": None, "n": 1024}
    tuner.perf_model, tuner.configs_top_k = functions["perf_model"], functions["top_k"]
    tuner.early_config_prune = functions["early_config_prune"]
    pruned = tuner.prune_configs({})
    assert len(pruned) == 3
    times = [functions["perf_model"](n=1024, **c.all_kwargs()) for c in pruned]
    assert times == sorted(times)
