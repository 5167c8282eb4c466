"""lbmpy kernels, built anew: the two of tests/clients, and others."""

import pytest

lbmpy = pytest.importorskip("lbmpy", reason="lbmpy is not installed: pip install lbmpy")
ps = pytest.importorskip("pystencils")

import sympy
import wavecast
from clients import assert_same_as_client
from lbmpy import LBMConfig, LBMOptimisation, LBStencil, Method, Stencil
from wavecast import lbmpy as adapter


def fields(stencil, shape, names=("src", "dst"), dtype="float64"):
    q = LBStencil(stencil).Q
    return [ps.Field.create_fixed_size(n, (*shape, q), index_dimensions=1, layout="fzyx", dtype=dtype) for n in names]


def update_rule(stencil, shape, pattern="pull", dtype="float64", **more):
    src, dst = fields(stencil, shape, dtype=dtype)
    config = LBMConfig(
        stencil=LBStencil(stencil),
        method=Method.SRT,
        relaxation_rate=sympy.Symbol("omega"),
        streaming_pattern=pattern,
        **more,
    )
    optimisation = LBMOptimisation(symbolic_field=src, symbolic_temporary_field=dst)
    return lbmpy.create_lb_update_rule(lbm_config=config, lbm_optimisation=optimisation)


def cuda(**more):
    return ps.CreateKernelConfig(target=ps.Target.CUDA, **more)


def test_d3q19_is_the_client():
    document = adapter.document(update_rule(Stencil.D3Q19, (258,) * 3), cuda(ghost_layers=1), align_interior=128)
    assert_same_as_client(document, "lbm_d3q19_srt_pull")


def test_allen_cahn_is_the_client():
    from lbmpy.phasefield_allen_cahn.kernel_equations import add_interface_tracking_force

    shape = (256, 200, 200)
    stencil = LBStencil(Stencil.D3Q15)
    h, h_tmp = fields(Stencil.D3Q15, shape, ("h", "h_tmp"))
    c, c_tmp = (ps.Field.create_fixed_size(n, shape, layout="fzyx") for n in ("C", "C_tmp"))
    velocity = ps.Field.create_fixed_size("vel_field", (*shape, 3), index_dimensions=1, layout="fzyx")
    config = LBMConfig(
        stencil=stencil,
        method=Method.SRT,
        compressible=True,
        zero_centered=False,
        force=sympy.symbols("F_:3"),
        velocity_input=velocity,
        weighted=True,
        relaxation_rate=1.0,
        output={"density": c_tmp},
        kernel_type="stream_pull_collide",
    )
    optimisation = LBMOptimisation(symbolic_field=h, symbolic_temporary_field=h_tmp)
    rule = lbmpy.create_lb_update_rule(lbm_config=config, lbm_optimisation=optimisation)
    # Section 5.3 of the performance-estimation paper has a central-difference gradient, of seven points.
    gradient = [(c[1, 0, 0] - c[-1, 0, 0]) / 2, (c[0, 1, 0] - c[0, -1, 0]) / 2, (c[0, 0, 1] - c[0, 0, -1]) / 2]
    length = sympy.sqrt(sum(g * g for g in gradient) + 1e-32)
    width = (1 - 4 * (c.center - sympy.Rational(1, 2)) ** 2) / 5
    force = [width * g / length / 3 for g in gradient]
    rule = add_interface_tracking_force(rule, force)
    document = adapter.document(rule, cuda(ghost_layers=1), align_interior=128)
    assert_same_as_client(document, "allen_cahn_interface_d3q15")


@pytest.mark.parametrize(
    ("stencil", "pattern", "dtype", "accesses"),
    [
        (Stencil.D3Q27, "pull", "float64", 27),
        (Stencil.D3Q19, "push", "float64", 19),
        (Stencil.D2Q9, "pull", "float32", 9),
    ],
)
def test_other_rules(stencil, pattern, dtype, accesses):
    shape = (66,) * LBStencil(stencil).D
    config = cuda(ghost_layers=1, default_dtype=dtype)
    document = adapter.document(update_rule(stencil, shape, pattern, dtype), config)
    assert len(document["loads"]) == len(document["stores"]) == accesses
    dimensions = len(shape)
    place, thread, block = (n[:dimensions] for n in ((1, 1, 1), (3, 2, 1), (8, 4, 2)))
    touched = wavecast.touches(document, block, block_index=place, thread=thread)
    center = 1 + 11 + 66 * (1 + 6) + (66 * 66 * (1 + 3) if len(shape) == 3 else 0)
    # Push loads from the cell itself and stores to its neighbours, pull the other way round.
    own = touched["load" if pattern == "push" else "store", "src" if pattern == "push" else "dst"]
    assert own == [center + q * 66 ** len(shape) for q in range(accesses)]
    others = touched["store" if pattern == "push" else "load", "dst" if pattern == "push" else "src"]
    sign = 1 if pattern == "push" else -1
    wanted = [
        center + q * 66 ** len(shape) + sign * sum(c * 66**d for d, c in enumerate(LBStencil(stencil)[q]))
        for q in range(accesses)
    ]
    assert others == sorted(wanted)
    assert adapter.rank(update_rule(stencil, shape, pattern, dtype), config, "a100", top=1).best["rate_per_s"] > 0
