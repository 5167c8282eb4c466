"""Which block is best for a star stencil of pystencils on an A100, and where is the default? Needs no GPU.

pip install wavecast pystencils
python examples/python/pystencils_star.py
"""

import pystencils as ps
from wavecast.pystencils import configure, default_block, rank

shape = (640, 512, 512)  # with ghost layers
src, dst = (ps.Field.create_fixed_size(name, shape, layout="fzyx") for name in ("src", "dst"))
neighbours = [
    src[tuple(sign * distance * (axis == a) for a in range(3))]
    for distance in range(1, 5)
    for axis in range(3)
    for sign in (-1, 1)
]
config = ps.CreateKernelConfig(target=ps.Target.CUDA, ghost_layers=4)
kernel = ps.create_kernel(ps.Assignment(dst.center, src.center + sum(neighbours)), config)

ranking = rank(kernel, "a100", document_options={"registers": 32, "align_interior": 128})
print(ranking)

default = ranking.place(default_block(kernel))
best = ranking.best
block = "x".join(map(str, default["config"]["block"]))
print(
    f"\nThe default block {block} is number {default['rank']} of {len(ranking['results'])}:"
    f" {default['relative']:.0%} of the best rate, limited by {default['limiter']}."
)

# The same kernel with the best block: pystencils launches it so.
tuned = ps.create_kernel(ps.Assignment(dst.center, src.center + sum(neighbours)), configure(config, ranking))
launch = tuned.get_launch_configuration().evaluate()
print(f"The kernel that is created with the best one is launched with block, grid = {launch}.")
