"""Pruning as Triton's autotuner does it; with Triton itself where it is installed (it is large, and CI does
without it)."""

import re

import pytest

import wavecast
from wavecast.triton import block_and_fold, prune_configs_by, tile_access, tile_launch


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


def transposed(n, tile, warps):
    """A transposition as Triton does it."""
    x, y = (f"{extent}*blockIdx.{axis}" for extent, axis in zip(tile, "xy"))
    items = tile[0] * tile[1]
    return {
        "wavecast": 1,
        "kernel": "transpose",
        "fields": {
            "a": {"dtype": "f32", "shape": [n, n]},
            "b": {"like": "a"},
            "tile": {"dtype": "f32", "size": items, "space": "shared"},
        },
        "domain": [{"x": n}, {"y": n}],
        "body": [
            tile_access("load", "a", tile, warps, (x, y)),
            tile_access("store", "tile", (items,), warps),
            "sync",
            tile_access("load", "tile", (items,), warps),
            tile_access("store", "b", tile[::-1], warps, (y, x)),
        ],
        "work": {"flops": 0, "precision": "f32"},
        "launch": tile_launch(tile, warps, (n // tile[0], n // tile[1]), registers=32),
    }


@pytest.mark.parametrize(("tile", "warps"), [((32, 32), 4), ((128, 8), 2), ((8, 64), 8), ((16, 4), 4)])
def test_each_element_of_a_tile_is_touched_by_one_thread(tile, warps):
    n, found = 256, {"load": [], "store": []}
    document = transposed(n, tile, warps)
    threads = 32 * warps
    for thread in range(threads):
        place = {"block_index": (1, 2), "thread": (thread, 0, 0)}
        touched = wavecast.touches(document, (threads,), **place)
        found["load"] += touched["load", "a"]
        found["store"] += touched["store", "b"]
    elements = {(tile[0] + i, 2 * tile[1] + j) for i in range(tile[0]) for j in range(tile[1])}
    vector = min(4, max(1, tile[0] * tile[1] // threads))
    # A vector is told by its first element. Where threads outnumber elements, some repeat what others do.
    repeats = max(1, threads // (tile[0] * tile[1]))
    assert sorted(found["load"]) == sorted(repeats * [x + n * y for x, y in elements if x % vector == 0])
    assert sorted(found["store"]) == sorted(repeats * [y + n * x for x, y in elements if y % vector == 0])


def test_stores_are_coalesced_like_loads():
    found = wavecast.predict(transposed(8192, (32, 32), 4), "h100-pcie")["result"]
    assert found["volumes"]["l2"]["store"]["total"] == pytest.approx(4)
    assert found["volumes"]["dram"]["load"]["total"] == pytest.approx(4, rel=0.01)
    copy = {
        "wavecast": 1,
        "kernel": "copy",
        "fields": {"a": {"dtype": "f32", "size": 8192**2}, "b": {"like": "a"}},
        "domain": [{"x": 8192**2}],
        "loads": ["a[x]"],
        "stores": ["b[x]"],
        "launch": {"block": [[256]], "registers": 32},
    }
    assert found["time_s"] < 1.3 * wavecast.predict(copy, "h100-pcie")["result"]["time_s"]


def test_triton_emits_what_is_described():
    triton = pytest.importorskip("triton", reason="triton is not installed (285 MB): pip install triton")
    tl = pytest.importorskip("triton.language")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    tile, warps = (32, 32), 4
    globals()["tl"] = tl

    @triton.jit
    def transpose(a, b, n, TX: tl.constexpr, TY: tl.constexpr):
        x = tl.program_id(0) * TX + tl.arange(0, TX)
        y = tl.program_id(1) * TY + tl.arange(0, TY)
        tile = tl.load(a + x[None, :] + y[:, None] * n)
        tl.store(b + y[:, None] + x[None, :] * n, tile)

    source = ASTSource(
        transpose,
        signature={"a": "*fp32", "b": "*fp32", "n": "i32", "TX": "constexpr", "TY": "constexpr"},
        constexprs={"TX": tile[0], "TY": tile[1]},
        attrs={(i,): [["tt.divisibility", 16]] for i in range(3)},
    )
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps})
    emitted = {verb: re.findall(rf"{verb}\.global\.v4\.b32", compiled.asm["ptx"]) for verb in ("ld", "st")}
    place = {"block_index": (0, 0), "thread": (0, 0, 0)}
    touched = wavecast.touches(transposed(256, tile, warps), (32 * warps,), **place)
    assert len(emitted["ld"]) == len(touched["load", "a"]) == 2
    assert len(emitted["st"]) == len(touched["store", "b"]) == 2
    assert compiled.metadata.shared == 4 * tile[0] * tile[1]


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
