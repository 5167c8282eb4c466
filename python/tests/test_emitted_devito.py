"""Documents of Devito against the OpenACC text that it emits: every work item of each parallel loop nest touches the
same elements in both."""

import os

import pytest

os.environ.setdefault("DEVITO_LOGGING", "ERROR")
pytest.importorskip("pycparser", reason="pycparser is not installed: pip install pycparser")
devito = pytest.importorskip("devito", reason="devito is not installed: pip install devito")

import emitted
import numpy as np
import wavecast
from devito import Dimension, Eq, Function, Grid, Inc, TimeFunction, solve
from wavecast import devito as adapter

SHAPE = (5, 7, 6)


def operator(*equations, **more):
    return devito.Operator(list(equations), platform="nvidiaX", language="openacc", **more)


def values_of(built, time):
    """Arguments of an operator, as it would be called for one time step."""
    values = {"deviceid": -1, "devicerm": 1, "time_m": time, "time_M": time}
    for function in built.parameters:
        if hasattr(function, "shape_allocated"):
            values[f"{function.name}_vec.size"] = [int(n) for n in function.shape_allocated]
            values[f"{function.name}_vec.data"] = 0
            for dimension, size in zip(function.dimensions, function.shape):
                for of in (dimension, dimension.root):
                    names = (of.symbolic_min.name, of.symbolic_max.name, of.symbolic_size.name)
                    values.update({n: v for n, v in zip(names, (0, int(size) - 1, int(size))) if v is not None})
    values.update({"time_m": time, "time_M": time})
    for dimension in built.dimensions:
        if dimension.is_Sub:
            values.update({t.name: int(t.value) for t in dimension.thickness if t.value is not None})
        if dimension.is_Conditional and dimension.symbolic_factor is not None:
            values[dimension.symbolic_factor.name] = dimension.factor_data
    return values


def assert_items_agree(built, nests, time=6, names=None):
    code = str(built.ccode)
    kernel = emitted.function(code, built.name)
    values = {p.name: 1.0 for p in kernel.decl.type.args.params}
    run = emitted.Operator({**values, **values_of(built, time)})
    run.do(kernel.body)
    assert len(run.nests) == nests
    documents = adapter.documents(built)
    assert len(documents) == nests
    for document, nest in zip(documents, run.nests):
        extents = [n for axis in document["domain"] for n in axis.values()]
        starts = [min(item[d] for item in nest) for d in range(len(extents))]
        assert len(nest) == np.prod(extents)
        sizes = {f["name"]: f["bytes"] // f["element_bytes"] for f in wavecast.check(document)["fields"]}
        for item, found in list(nest.items())[:: max(1, len(nest) // 40)]:
            index = [i - start for i, start in zip(item, starts)][::-1]
            zeros = [0] * len(index)
            touched = wavecast.touches(document, [1] * len(index), block_index=index, thread=zeros)
            wanted = {(kind, (names or {}).get(f, f)): elements for (kind, f), elements in found.items()}
            assert touched == wanted, (item, code)
            assert all(0 <= e[0] and e[-1] < sizes[field] for (_, field), e in touched.items())
        assert wavecast.predict(document, device="a100")["result"]["time_s"] > 0


def acoustic(order, dtype=np.float32, shape=SHAPE, save=None, **more):
    grid = Grid(shape=shape, dtype=dtype)
    u = TimeFunction(name="u", grid=grid, space_order=order, time_order=2, save=save)
    m, damp = Function(name="m", grid=grid, space_order=order), Function(name="damp", grid=grid)
    return operator(Eq(u.forward, solve(m * u.dt2 - u.laplace + damp * u.dt, u.forward)), **more)


@pytest.mark.parametrize("order", [4, 8, 16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_acoustic(order, dtype):
    assert_items_agree(acoustic(order, dtype), 1)


@pytest.mark.parametrize("shape", [(40,), (12, 9)])
def test_fewer_dimensions(shape):
    assert_items_agree(acoustic(8, shape=shape), 1)


def test_all_steps_kept():
    assert_items_agree(acoustic(4, save=12), 1, time=1)
    grid = Grid(shape=SHAPE)
    u, v = TimeFunction(name="u", grid=grid, save=9), TimeFunction(name="v", grid=grid)
    assert_items_agree(operator(Eq(v.forward, v + u)), 1, time=1)


def test_without_optimisations():
    assert_items_agree(acoustic(4, opt="noop"), 1)


def test_elastic():
    grid = Grid(shape=SHAPE, dtype=np.float32)
    v = devito.VectorTimeFunction(name="v", grid=grid, space_order=4, time_order=1)
    tau = devito.TensorTimeFunction(name="tau", grid=grid, space_order=4, time_order=1)
    lam, mu, ro = (Function(name=n, grid=grid, space_order=4) for n in ("lam", "mu", "ro"))
    step = grid.stepping_dim.spacing
    shear = devito.grad(v.forward) + devito.grad(v.forward).transpose(inner=False)
    stress = tau + step * (lam * devito.diag(devito.div(v.forward)) + mu * shear)
    assert_items_agree(operator(Eq(v.forward, v + step * ro * devito.div(tau)), Eq(tau.forward, stress)), 2)


def test_tilted_waves_with_temporaries():
    grid = Grid(shape=SHAPE, dtype=np.float32)
    p = TimeFunction(name="p", grid=grid, space_order=4, time_order=2)
    theta, phi, m = (Function(name=n, grid=grid, space_order=4) for n in ("theta", "phi", "m"))
    across, up = devito.sin(theta) * devito.cos(phi), devito.cos(theta)
    along = across * p.dx + up * p.dz
    rotated = (across * along).dx.T + (up * along).dz.T
    assert_items_agree(operator(Eq(p.forward, solve(m * p.dt2 - rotated, p.forward))), 3)


def test_sub_domains():
    class Part(devito.SubDomain):
        name = "part"

        def define(self, dimensions):
            x, y, z = dimensions
            return {x: ("middle", 1, 2), y: ("right", 3), z: z}

    part = Part()
    grid = Grid(shape=SHAPE, subdomains=(part,))
    u = TimeFunction(name="u", grid=grid, space_order=4)
    inside = Eq(u.forward, u.forward + u.dx, subdomain=grid.interior)
    assert_items_agree(operator(Eq(u.forward, u + 1, subdomain=grid.subdomains["part"]), inside), 2)


def test_snapshots():
    grid = Grid(shape=SHAPE)
    u = TimeFunction(name="u", grid=grid)
    every = devito.ConditionalDimension("every", parent=grid.time_dim, factor=4)
    kept = TimeFunction(name="kept", grid=grid, time_order=0, save=5, time_dim=every, space_order=0)
    # Step 1 is no step of a snapshot; the adapter describes it as if it were.
    documents = adapter.documents(operator(Eq(u.forward, u + 1), Eq(kept, u)))
    assert [d["stores"][0].split("[")[0] for d in documents] == ["u", "kept"]
    assert documents[1]["stores"] == ["kept[0, x, y, z]"]


def test_dimensions_of_ones_own():
    # Only the loops that a pragma names are parallel: of a sum, the others run inside.
    i, j, k = (Dimension(name=n) for n in "ijk")
    a, b, c = (Function(name=n, dimensions=d, shape=(6, 6)) for n, d in (("a", (i, k)), ("b", (k, j)), ("c", (i, j))))
    assert_items_agree(operator(Inc(c, a * b)), 1)
    (document,) = adapter.documents(operator(Eq(c, c + 1)))
    assert document["domain"] == [{"j": 6}, {"i": 6}]


def test_functions_may_be_called_anything():
    grid = Grid(shape=SHAPE)
    u, v = TimeFunction(name="min", grid=grid), Function(name="step", grid=grid)
    assert_items_agree(operator(Eq(u.forward, u + v)), 1, names={"min": "min_", "step": "step_"})


def test_a_sum_over_all_is_no_traffic():
    grid = Grid(shape=SHAPE)
    u = TimeFunction(name="u", grid=grid)
    total = Function(name="total", shape=(1,), dimensions=(Dimension(name="i"),))
    (document,) = adapter.documents(operator(Inc(total[0], u * u)))
    assert "atomics" not in document and "stores" not in document and len(document["loads"]) == 1


def test_what_is_left_out_says_why():
    grid = Grid(shape=SHAPE)
    f = Function(name="f", dimensions=[Dimension(name=n) for n in "abcd"], shape=(3, 3, 3, 3), space_order=0)
    with pytest.raises(adapter.Unsupported, match="4 parallel loops: a launch has three dimensions"):
        adapter.documents(operator(Eq(f, f + 1)))
    u = TimeFunction(name="u", grid=grid)
    points = devito.SparseTimeFunction(name="points", grid=grid, npoint=2, nt=4)
    injection = points.inject(field=u.forward, expr=points)
    with pytest.warns(UserWarning, match="where the points of points lie is data"):
        adapter.documents(devito.Operator([Eq(u.forward, u + 1), injection], platform="nvidiaX", language="openacc"))
    u = TimeFunction(name="u", grid=grid, space_order=2)
    blocked = devito.Operator(Eq(u.forward, u.laplace), platform="cpu64", language="openmp")
    with pytest.raises(adapter.Unsupported, match="without blocking.*nvidiaX"):
        adapter.documents(blocked)
