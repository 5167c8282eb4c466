"""How much of a search space of Kernel Tuner is worth a measurement on an A100. Needs no GPU.

pip install wavecast kernel_tuner
python examples/python/kernel_tuner_prune.py
"""

from kernel_tuner.searchspace import Searchspace
from wavecast.kernel_tuner import Pruner

n = 8192
kernel = {
    "wavecast": 1,
    "kernel": "jacobi",
    "fields": {"old": {"dtype": "f32", "shape": [n + 2, n + 2], "halo": 1}, "new": {"like": "old"}},
    "domain": [{"x": n}, {"y": n}],
    "loads": ["old[x - 1, y]", "old[x + 1, y]", "old[x, y - 1]", "old[x, y + 1]"],
    "stores": ["new[x, y]"],
    "work": {"flops": 4, "precision": "f32"},
    "launch": {"block": [[256]], "registers": 20},
}
tune_params = {
    "block_size_x": [2**i for i in range(11)],
    "block_size_y": [2**i for i in range(11)],
    "tile_size_y": [1, 2, 4, 8],
}
pruner = Pruner(kernel, tune_params, "a100", slowdown=1.1)
whole, pruned = Searchspace(tune_params, [], 1024), Searchspace(tune_params, pruner.restriction, 1024)
print(f"{pruned.size} of {whole.size} configurations are left; the search starts at {pruner.seed}.")
# On the machine with the GPU:
# tune_kernel(..., tune_params, restrictions=pruner.restriction, strategy="genetic_algorithm",
#             strategy_options={"x0": pruner.seed})
