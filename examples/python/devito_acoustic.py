"""The `par-tile` of an acoustic wave operator of Devito, for an A100. Needs no GPU and no compiler.

pip install wavecast devito
python examples/python/devito_acoustic.py
"""

import numpy as np
from devito import Eq, Function, Grid, Operator, TimeFunction, solve
from wavecast.devito import opt, par_tile, rank

grid = Grid(shape=(512, 512, 512), dtype=np.float32)
u = TimeFunction(name="u", grid=grid, space_order=8, time_order=2)
m = Function(name="m", grid=grid, space_order=8)
equation = Eq(u.forward, solve(m * u.dt2 - u.laplace, u.forward))
platform = {"platform": "nvidiaX", "language": "openacc"}

ranking = rank(Operator(equation, **platform), "a100", document_options={"registers": 40})
print(ranking)
tile = next(
    line.strip() for line in str(Operator(equation, opt=opt(ranking), **platform)).splitlines() if "tile(" in line
)
print(f"\npar-tile {par_tile(ranking)} gives:\n{tile}")
