"""Devito operators, built anew: that of tests/clients, an acoustic one, sub-domains, and sparse points."""

import os
import pickle
import re

import pytest

os.environ.setdefault("DEVITO_LOGGING", "ERROR")
devito = pytest.importorskip("devito", reason="devito is not installed: pip install devito")

import numpy as np
import wavecast
from clients import assert_same_as_client
from wavecast import devito as adapter


def operator(equations, **more):
    return devito.Operator(equations, platform="nvidiaX", language="openacc", **more)


def diffusion(shape=(512, 512, 640), **more):
    grid = devito.Grid(shape=shape, dtype=np.float32)
    u = devito.TimeFunction(name="u", grid=grid, space_order=8, time_order=1)
    return operator(devito.Eq(u.forward, u + 0.1 * u.laplace), **more)


def acoustic(sparse=False):
    grid = devito.Grid(shape=(64, 72, 80), dtype=np.float32)
    u = devito.TimeFunction(name="u", grid=grid, space_order=8, time_order=2)
    m = devito.Function(name="m", grid=grid, space_order=8)
    equations = [devito.Eq(u.forward, devito.solve(m * u.dt2 - u.laplace, u.forward))]
    if sparse:
        source = devito.SparseTimeFunction(name="src", grid=grid, npoint=3, nt=10)
        equations += source.inject(field=u.forward, expr=source)
    return operator(equations)


def test_client():
    document = adapter.document(diffusion())
    assert_same_as_client(document, "devito_diffusion_so8")
    assert document["work"]["flops"] == 44


def test_acoustic():
    (document,) = adapter.documents(acoustic())
    # 24 neighbours and the cell of this step, the step before, and m at the cell.
    assert (len(document["loads"]), len(document["stores"])) == (27, 1)
    touched = wavecast.touches(document, (8, 4, 2), block_index=(1, 1, 1), thread=(1, 1, 1))
    allocated = document["fields"]["u"]["shape"]
    assert allocated[1:] == [80, 88, 96]
    z, y, x = 9, 5, 3
    cell = (x + 8) * 88 * 96 + (y + 8) * 96 + z + 8
    assert [e % (80 * 88 * 96) for e in touched["store", "u"]] == [cell]
    assert touched["load", "m"] == [cell]


def test_sparse_points_are_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="left out"):
        documents = adapter.documents(acoustic(sparse=True))
    assert len(documents) == 1


def several_nests(shape=(40, 44, 48), **more):
    """One that fills temporaries once, and two in each time step."""
    grid = devito.Grid(shape=shape, dtype=np.float32)
    u = devito.TimeFunction(name="u", grid=grid, space_order=8, time_order=2)
    angle = devito.Function(name="angle", grid=grid, space_order=8)
    along = devito.cos(angle) * u.dx + devito.sin(angle) * u.dz
    update = 2 * u - u.backward + (devito.cos(angle) * along).dx + (devito.sin(angle) * along).dz
    return operator(devito.Eq(u.forward, update), **more)


def test_temporaries_are_fields_of_several_nests():
    documents = adapter.documents(several_nests())
    assert len(documents) > 1
    stored = [s.split("[")[0] for d in documents for s in d["stores"]]
    assert stored[-1] == "u" and "angle" in documents[0]["fields"]
    for document in documents:
        sizes = {f["name"]: f["bytes"] // f["element_bytes"] for f in wavecast.check(document)["fields"]}
        extents = [next(iter(a.values())) for a in document["domain"]]
        for corner in ([0, 0, 0], [n - 1 for n in extents]):
            touched = wavecast.touches(document, (1, 1, 1), block_index=corner, thread=(0, 0, 0))
            for (_, field), elements in touched.items():
                assert 0 <= elements[0] and elements[-1] < sizes[field], (document["kernel"], field)


@pytest.mark.parametrize(("kept", "extents", "key"), [(0, [96], "body"), (1, [64, 96], "atomics")])
def test_reductions(kept, extents, key):
    grid = devito.Grid(shape=(96, 64), dtype=np.float32)
    u = devito.TimeFunction(name="u", grid=grid, space_order=4)
    dimension = grid.dimensions[kept]
    sums = devito.Function(name="sums", grid=grid, dimensions=(dimension,), shape=(grid.shape[kept],))
    document = adapter.document(operator(devito.Inc(sums, u)))
    # Devito runs the loop over what is summed up inside if it is the inner one, and all in parallel otherwise.
    assert [next(iter(a.values())) for a in document["domain"]] == extents
    assert "sums[" in str(document[key])


def test_sub_domains_are_smaller():
    grid = devito.Grid(shape=(64, 64, 64), dtype=np.float64)
    u = devito.TimeFunction(name="u", grid=grid, space_order=2)
    document = adapter.document(operator(devito.Eq(u.forward, u + 1, subdomain=grid.interior)))
    assert [next(iter(a.values())) for a in document["domain"]] == [62, 62, 62]
    touched = wavecast.touches(document, (1, 1, 1), block_index=(0, 0, 0), thread=(0, 0, 0))
    # One point of the interior and a halo of two.
    shape = document["fields"]["u"]["shape"]
    halo = (shape[1] - 64) // 2
    assert touched["load", "u"] == [(halo + 1) * (shape[2] * shape[3] + shape[3] + 1)]


def test_the_choice_goes_back():
    ranking = adapter.rank(diffusion((64, 64, 64)), "a100", block=[[32, 4, 2]])
    assert adapter.par_tile(ranking) == (32, 4, 2)
    code = str(diffusion((64, 64, 64), opt=adapter.opt(ranking)).ccode)
    # In a tile clause the first number belongs to the innermost loop.
    assert "tile(32,4,2)" in code
    flat = adapter.rank(two_dimensions(), "a100")
    assert len(adapter.par_tile(flat)) == 2


def test_all_nests_are_ranked_and_their_times_summed_up():
    ranking = adapter.rank(several_nests(), "a100", document_options={"registers": 32}, top=3)
    documents = adapter.documents(several_nests(), registers=32)
    alone = [wavecast.rank(document, "a100") for document in documents]
    assert [r["kernel"]["name"] for r in ranking] == [r["kernel"]["name"] for r in alone] and len(ranking) == 3
    assert [r.best.time for r in ranking] == [r.best.time for r in alone]
    assert [len(r["results"]) for r in ranking] == [3, 3, 3]
    # The first fills temporaries before time begins.
    assert [r["nest"]["each_step"] for r in ranking] == [False, True, True]
    assert ranking.time == pytest.approx(alone[1].best.time + alone[2].best.time)
    assert ranking.once == pytest.approx(alone[0].best.time)
    assert ranking.best == max(ranking[1:], key=lambda r: r.best.time).best
    # One block for both nests of a step: no other makes their sum less.
    block, time = ranking.common
    sums = [a.time + alone[2].place(a.block).time for a in alone[1]["results"] if alone[2].place(a.block)]
    assert time == pytest.approx(min(sums)) and time >= ranking.time
    assert time == pytest.approx(alone[1].place(block).time + alone[2].place(block).time)
    text = str(ranking)
    assert (
        text.startswith("Kernel on a100-40gb: 3 loop nests")
        and text.count("each step\n") == 2
        and "a time step" in text
    )
    assert "3 loop nests" in ranking._repr_html_() and len(ranking.frame()) == 9
    again = pickle.loads(pickle.dumps(ranking))
    assert (again.time, again.common, str(again)) == (ranking.time, ranking.common, text)


def test_each_nest_gets_its_tile():
    options = {"registers": 32, "blocks": [[64, 4, 1], [16, 4, 4], [32, 2, 8]]}
    ranking = adapter.rank(several_nests(), "a100", document_options=options)
    tiles = adapter.par_tile(ranking)
    assert tiles == ranking.tiles and len(tiles) == 3
    code = str(several_nests(opt=adapter.opt(ranking)).ccode)
    assert re.findall(r"tile\(([\d,]+)\)", code) == [",".join(map(str, tile)) for tile in tiles]


def test_what_is_left_out_is_said_and_not_summed():
    with pytest.warns(UserWarning, match="left out"):
        ranking = adapter.rank(acoustic(sparse=True), "a100", document_options={"registers": 32})
    assert not ranking.whole and len(ranking) == 1 and "left out, and not in these sums" in str(ranking)
    assert adapter.par_tile(ranking) == ranking[0].best.block


def test_several_devices_are_several_rankings():
    a100, h200 = adapter.rank(two_dimensions(), ["a100", "h200"], document_options={"registers": 20})
    assert [one[0]["device"]["id"] for one in (a100, h200)] == ["a100-40gb", "h200"]


def two_dimensions():
    grid = devito.Grid(shape=(256, 256), dtype=np.float32)
    u = devito.TimeFunction(name="u", grid=grid, space_order=2)
    return operator(devito.Eq(u.forward, u.laplace))


def test_an_operator_without_parallel_loops_says_so():
    grid = devito.Grid(shape=(8, 8))
    u = devito.TimeFunction(name="u", grid=grid)
    x, y = grid.dimensions
    recursion = devito.Eq(u.forward, u.forward.subs({x: x - x.spacing, y: y - y.spacing}) + 1)
    sequential = devito.Operator([recursion], opt="noop", platform="cpu64", language="C")
    with pytest.raises(adapter.Unsupported, match="GPU platform"):
        adapter.documents(sequential)
