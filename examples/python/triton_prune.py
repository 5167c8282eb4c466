"""Which configurations of a transposition Triton's autotuner would measure on an H100. Needs neither a GPU nor
Triton: `Config` stands for `triton.Config`.

    pip install wavecast
    python examples/python/triton_prune.py
"""

from dataclasses import dataclass

from wavecast.triton import prune_configs_by, tile_access, tile_launch


@dataclass
class Config:
    kwargs: dict
    num_warps: int

    def all_kwargs(self):
        return {**self.kwargs, "num_warps": self.num_warps}


def describe(n, TILE_X, TILE_Y, num_warps, **_):
    """A tile of `a`, whose rows are contiguous along x, becomes one of `b`, whose rows are contiguous along y.

    Triton loads in an order in which threads are side by side along x, hands the values over in shared memory and
    stores in an order in which they are side by side along y."""
    x, y = f"{TILE_X}*blockIdx.x", f"{TILE_Y}*blockIdx.y"
    return {
        "wavecast": 1,
        "kernel": "transpose",
        "fields": {
            "a": {"dtype": "f32", "shape": [n, n]},
            "b": {"like": "a"},
            "tile": {"dtype": "f32", "size": TILE_X * TILE_Y, "space": "shared"},
        },
        "domain": [{"x": n}, {"y": n}],
        "body": [
            tile_access("load", "a", (TILE_X, TILE_Y), num_warps, (x, y)),
            tile_access("store", "tile", (TILE_X * TILE_Y,), num_warps),
            "sync",
            tile_access("load", "tile", (TILE_X * TILE_Y,), num_warps),
            tile_access("store", "b", (TILE_Y, TILE_X), num_warps, (y, x)),
        ],
        "work": {"flops": 0, "precision": "f32"},
        "launch": tile_launch((TILE_X, TILE_Y), num_warps, (n // TILE_X, n // TILE_Y), registers=32),
    }


configs = [Config({"TILE_X": x, "TILE_Y": y}, w) for x in (8, 32, 128) for y in (8, 32, 128) for w in (2, 4, 8)]
# @triton.autotune(configs, key=["n"], prune_configs_by=prune)
prune = prune_configs_by(describe, "h100-pcie", top_k=4)
kept = prune["early_config_prune"](configs, {"n": 8192})
print(f"{len(kept)} of {len(configs)} configurations are predicted to take at most twice as long as the best:")
for config in sorted(kept, key=lambda c: prune["perf_model"](n=8192, **c.all_kwargs()))[:4]:
    print(f"{prune['perf_model'](n=8192, **config.all_kwargs()):.3f} ms  {config}")
