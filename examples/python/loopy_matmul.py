"""Blocks of a matrix product of loopy, ranked for a V100: each block is another program. Needs no GPU.

pip install wavecast loopy
python examples/python/loopy_matmul.py
"""

import loopy as lp
import numpy as np
from wavecast.loopy import rank_variants


def build(x, y, n=2048):
    arrays = [lp.GlobalArg(name, np.float32, shape=(n, n)) for name in "abc"]
    domain = f"{{[i,j,k]: 0<=i,j,k<{n}}}"
    program = lp.make_kernel(
        domain, "c[i,j] = sum(k, a[i,k]*b[k,j])", arrays, target=lp.CudaTarget(), lang_version=(2018, 2)
    )
    program = lp.split_iname(program, "i", y, outer_tag="g.1", inner_tag="l.1")
    return lp.split_iname(program, "j", x, outer_tag="g.0", inner_tag="l.0")


ranking = rank_variants(build, [(8, 8), (16, 16), (32, 8), (64, 4), (8, 32), (256, 1)], "v100")
print(ranking.table(None))
print(f"\nbuild{ranking.choice} gives the best program.")
