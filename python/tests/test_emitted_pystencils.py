"""Documents of pystencils and lbmpy against the text that they emit: random threads of each kernel touch the same
elements in both. Kernels that are unlike those of tests/clients: other layouts, types, indexing, conditions."""

import pytest

pytest.importorskip("pycparser", reason="pycparser is not installed: pip install pycparser")
ps = pytest.importorskip("pystencils", reason="pystencils is not installed: pip install pystencils")

import sympy as sp
from agreement import assert_threads_agree
from pystencils.codegen.config import GpuIndexingScheme as Scheme
from pystencils.codegen.properties import FieldShape, FieldStride
from pystencils.sympyextensions import integer_functions as integers
from wavecast import pystencils as ps_adapter

SHAPE = (40, 30, 20)
HERE = (0, 0, 0)


def field(name, shape=SHAPE, layout="fzyx", dtype="double", index=0, **more):
    return ps.Field.create_fixed_size(name, shape, layout=layout, dtype=dtype, index_dimensions=index, **more)


def symbolic(name, layout="fzyx"):
    return ps.Field.create_generic(name, 3, layout=layout)


def cuda(scheme=None, **more):
    config = ps.CreateKernelConfig(target=ps.Target.CUDA, **more)
    if scheme is not None:
        config.gpu.indexing_scheme = scheme
    return config


def assert_pystencils_agrees(kernel, seed, names=None, **options):
    document = ps_adapter.document(kernel, **options)
    arguments = dict(options.get("parameters") or {})
    for parameter in kernel.parameters:
        for given in parameter.properties:
            if isinstance(given, (FieldShape, FieldStride)):
                key = "shape" if isinstance(given, FieldShape) else "strides"
                arguments[parameter.name] = document["fields"][given.field.name][key][given.coordinate]
    assert_threads_agree(document, kernel.get_c_code(), arguments, seed, names=names)
    return document


def assign(source, target=None, index=HERE, **config):
    target = field("b") if target is None else target
    return ps.create_kernel([ps.Assignment(target[index], source)], cuda(**config))


A, B = field("a"), field("b")
X, Y, Z = ps.DEFAULTS.spatial_counters
CUSTOM = field("c", field_type=ps.FieldType.CUSTOM)
STEPS = (slice(2, -2), slice(1, -1, 3), slice(None, None, 2))
SYMBOL = ps.TypedSymbol("n", "int64")


def custom(x, y=Y, z=Z):
    return CUSTOM.absolute_access((x, y, z), (0,))


@pytest.mark.parametrize("scheme", list(Scheme), ids=lambda s: s.name)
@pytest.mark.parametrize(
    "source",
    [
        A[-2, 0, 0] + A[0, 1, -1],
        sp.Piecewise((A[1, 0, 0], sp.And(X > 5, Z <= 3)), (A[-1, 0, 0], True)),
        custom(integers.int_rem(2 * X + 1, 40)),
        custom(39 - X) + custom(integers.bit_shift_right(X, 1)) + custom(integers.bitwise_and(X, 7)),
    ],
    ids=["neighbours", "piecewise", "remainder", "mirror"],
)
def test_pystencils_schemes(scheme, source):
    assert_pystencils_agrees(assign(source, ghost_layers=2, scheme=scheme), scheme.name)


@pytest.mark.parametrize("layout", ["fzyx", "zyxf", "c", "f"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pystencils_layouts(layout, dtype):
    shape = (21, 13, 9)
    v = field("v", (*shape, 3), layout, dtype, index=1)
    s = field("s", shape, "c" if layout == "c" else "fzyx", dtype)
    stores = [ps.Assignment(v(i), s[i - 1, 1, 0]) for i in range(3)]
    kernel = ps.create_kernel(stores, cuda(ghost_layers=1, default_dtype=dtype))
    assert_pystencils_agrees(kernel, layout)


@pytest.mark.parametrize("ghost_layers", [0, 1, 2, ((1, 2), (2, 3), (0, 1))])
def test_pystencils_ghost_layers(ghost_layers):
    assert_pystencils_agrees(assign(A[HERE], ghost_layers=ghost_layers), str(ghost_layers))


@pytest.mark.parametrize(
    "slices",
    [STEPS, (slice(1, 20, 2), slice(3, 4), slice(0, 5)), (slice(None), slice(None), 7), (slice(None), 3, 7)],
    ids=["steps", "short", "plane", "row"],
)
def test_pystencils_slices(slices):
    assert_pystencils_agrees(assign(A[HERE], iteration_slice=slices), "fixed")
    kernel = assign(symbolic("p")[HERE], symbolic("q"), iteration_slice=slices)
    # pystencils cannot evaluate the sizes of steps itself.
    assert_pystencils_agrees(kernel, "symbolic", shape=SHAPE)


def test_pystencils_parameters():
    slices = (slice(SYMBOL, -1), slice(None), slice(None))
    assert_pystencils_agrees(assign(A[HERE], iteration_slice=slices), "start", parameters={"n": 5})
    slices = (slice(0, 10), slice(None), slice(None))
    kernel = assign(custom(X + SYMBOL), iteration_slice=slices)
    assert_pystencils_agrees(kernel, "offset", parameters={"n": 3})
    with pytest.raises(ps_adapter.Unsupported, match=r"depends on n: give parameters"):
        ps_adapter.document(kernel)


@pytest.mark.parametrize("name", ["x", "min", "threadIdx", "step", "tidx"])
def test_pystencils_fields_may_be_called_anything(name):
    kernel = assign(A[1, 0, 0], field(name), ghost_layers=1)
    document = assert_pystencils_agrees(kernel, name, names={name: f"{name}_"})
    assert f"{name}_" in document["fields"]


def test_pystencils_padded_arrays():
    handling = ps.create_data_handling((18, 6, 9), default_layout="zyxf", default_target=ps.Target.CPU)
    handling.add_array("v", values_per_cell=3, alignment=64, ghost_layers=2)
    handling.add_array("s", alignment=64, ghost_layers=2)
    v, s = handling.fields["v"], handling.fields["s"]
    kernel = ps.create_kernel([ps.Assignment(v(i), s[i - 1, 0, 0]) for i in range(3)], cuda(ghost_layers=2))
    assert assert_pystencils_agrees(kernel, "padded")["fields"]["v"]["strides"] == [8, 176, 1760, 1]


def test_pystencils_buffers_have_a_shape():
    buffer = ps.Field.create_generic("buffer", 1, field_type=ps.FieldType.BUFFER, dtype="double")
    kernel = ps.create_kernel([ps.Assignment(buffer.center(), A[HERE])], cuda(ghost_layers=0))
    assert_pystencils_agrees(kernel, "buffer", shape={"buffer": (40 * 30 * 20,)})


def test_pystencils_says_what_it_cannot():
    reduction = ps.AddReductionAssignment(ps.TypedSymbol("r", "double"), A[HERE])
    cases = [
        (lambda: ps.create_kernel([reduction], cuda(ghost_layers=0)), "a reduction"),
        (lambda: assign(A[HERE], iteration_slice=STEPS, scheme=Scheme.GridstridedLinear3D), "choose .* Linear3D"),
        (lambda: assign(custom(integers.int_div(X - 3, 2) + 3), ghost_layers=0), "both signs"),
    ]
    for build, why in cases:
        with pytest.raises(ps_adapter.Unsupported, match=why):
            ps_adapter.document(build())


def test_both_sides_of_a_choice_of_data_count():
    document = ps_adapter.document(assign(sp.Piecewise((A[1, 0, 0], A[HERE] > 0), (A[-1, 0, 0], True)), ghost_layers=1))
    assert len(document["loads"]) == 3


# lbmpy


def lbm(stencil, layout="fzyx", dtype="float64", as_symbols=False, **more):
    lbmpy = pytest.importorskip("lbmpy")
    from lbmpy import LBMConfig, LBMOptimisation, LBStencil
    from wavecast.lbmpy import kernel

    stencil = LBStencil(stencil)
    shape = (20, 14, 10)[: stencil.D]
    if as_symbols:
        make = lambda n: ps.Field.create_generic(n, stencil.D, index_shape=(stencil.Q,), layout=layout, dtype=dtype)
    else:
        make = lambda n: field(n, (*shape, stencil.Q), layout, dtype, index=1)
    source, target = make("src"), make("dst")
    config = LBMConfig(stencil=stencil, **{"relaxation_rate": sp.Symbol("omega"), **more})
    optimisation = LBMOptimisation(symbolic_field=source, symbolic_temporary_field=target)
    rule = lbmpy.create_lb_update_rule(lbm_config=config, lbm_optimisation=optimisation)
    built = kernel(rule, cuda(ghost_layers=1, default_dtype=dtype))
    options = {"shape": shape, "index_layout": "aos" if layout == "zyxf" else "soa"} if as_symbols else {}
    return assert_pystencils_agrees(built, layout, **options)


@pytest.mark.parametrize("layout", ["fzyx", "zyxf"])
@pytest.mark.parametrize("as_symbols", [False, True], ids=["fixed", "symbolic"])
def test_lbmpy_layouts(layout, as_symbols):
    from lbmpy import Stencil

    document = lbm(Stencil.D3Q27, layout, "float32", as_symbols, streaming_pattern="push")
    assert len(document["loads"]) == len(document["stores"]) == 27


@pytest.mark.parametrize("pattern", ["aa", "esotwist", "esopull", "esopush"])
def test_lbmpy_patterns_in_place(pattern):
    from lbmpy import Stencil
    from lbmpy.advanced_streaming import Timestep

    for timestep in (Timestep.EVEN, Timestep.ODD):
        lbm(Stencil.D2Q9, streaming_pattern=pattern, timestep=timestep)


def test_lbmpy_methods_and_fields():
    from lbmpy import Method, Stencil, SubgridScaleModel

    velocity, density = field("vel", (20, 14, 10, 3), "zyxf", index=1), field("rho", (20, 14, 10))
    force = field("force", (20, 14, 10, 3), index=1)
    lbm(Stencil.D2Q9, method=Method.CUMULANT, compressible=True)
    lbm(Stencil.D3Q19, subgrid_scale_model=SubgridScaleModel.SMAGORINSKY)
    lbm(Stencil.D3Q19, output={"velocity": velocity, "density": density}, force=tuple(force(i) for i in range(3)))


def test_sparse_kernels_say_so():
    import numpy as np

    kind = np.dtype([("x", "i8"), ("y", "i8"), ("z", "i8"), ("value", "f8")], align=True)
    points = ps.Field("points", ps.FieldType.INDEXED, kind, layout=(0,), shape=(1000, 1), strides=(1, 1))
    kernel = ps.create_kernel([ps.Assignment(A[HERE], points("value"))], cuda(index_field=points))
    with pytest.raises(ps_adapter.Unsupported, match="sparse kernel.*points"):
        ps_adapter.document(kernel)
