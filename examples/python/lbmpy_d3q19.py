"""Pull or push? A D3Q19 update of lbmpy both ways, ranked for an A100. Needs no GPU.

pip install wavecast lbmpy
python examples/python/lbmpy_d3q19.py
"""

import lbmpy
import pystencils as ps
from lbmpy import LBMConfig, LBMOptimisation, LBStencil, Method, Stencil
from wavecast.lbmpy import rank

stencil = LBStencil(Stencil.D3Q19)
src, dst = (
    ps.Field.create_fixed_size(name, (258, 258, 258, stencil.Q), index_dimensions=1, layout="fzyx")
    for name in ("src", "dst")
)
for pattern in ("pull", "push"):
    rule = lbmpy.create_lb_update_rule(
        lbm_config=LBMConfig(stencil=stencil, method=Method.SRT, relaxation_rate=1.6, streaming_pattern=pattern),
        lbm_optimisation=LBMOptimisation(symbolic_field=src, symbolic_temporary_field=dst),
    )
    config = ps.CreateKernelConfig(target=ps.Target.CUDA, ghost_layers=1)
    ranking = rank(rule, config, "a100", document_options={"name": f"d3q19_{pattern}", "registers": 72})
    print(ranking.table(3), end="\n\n")
