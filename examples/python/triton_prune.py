"""Which configurations of a transposition Triton's autotuner would measure on an H100. Needs neither a GPU nor
Triton: `Config` stands for `triton.Config`.

    pip install wavecast
    python examples/python/triton_prune.py
"""

from dataclasses import dataclass

from wavecast.triton import block_and_fold, prune_configs_by


@dataclass
class Config:
    kwargs: dict
    num_warps: int

    def all_kwargs(self):
        return {**self.kwargs, "num_warps": self.num_warps}


def describe(n, TILE_X, TILE_Y, num_warps, **_):
    block, fold = block_and_fold((TILE_X, TILE_Y), num_warps)
    return {
        "wavecast": 1,
        "kernel": "transpose",
        "fields": {"a": {"dtype": "f32", "shape": [n, n]}, "b": {"like": "a"}},
        "domain": [{"x": n}, {"y": n}],
        "loads": ["a[x, y]"],
        "stores": ["b[y, x]"],
        "work": {"flops": 0, "precision": "f32"},
        "launch": {"block": [block], "fold": [fold], "registers": 32},
    }


configs = [Config({"TILE_X": x, "TILE_Y": y}, w) for x in (8, 32, 128) for y in (8, 32, 128) for w in (2, 4, 8)]
# @triton.autotune(configs, key=["n"], prune_configs_by=prune)
prune = prune_configs_by(describe, "h100-pcie", top_k=4)
kept = prune["early_config_prune"](configs, {"n": 8192})
print(f"{len(kept)} of {len(configs)} configurations are predicted to take at most twice as long as the best:")
for config in sorted(kept, key=lambda c: prune["perf_model"](n=8192, **c.all_kwargs()))[:4]:
    print(f"{prune['perf_model'](n=8192, **config.all_kwargs()):.3f} ms  {config}")
