"""loopy programs, built anew: those of tests/clients, variants, and what cannot be said."""

import pytest

lp = pytest.importorskip("loopy", reason="loopy is not installed: pip install loopy")

import numpy as np
import wavecast
from clients import assert_same_as_client
from wavecast import loopy as adapter


def program(domain, instructions, arguments, **more):
    return lp.make_kernel(domain, instructions, arguments, target=lp.CudaTarget(), lang_version=(2018, 2), **more)


def matmul(x=16, y=16, n=4096, order="C"):
    arrays = [lp.GlobalArg(name, np.float32, shape=(n, n), order=order) for name in "abc"]
    built = program(f"{{[i,j,k]: 0<=i,j,k<{n}}}", "c[i,j] = sum(k, a[i,k]*b[k,j])", arrays)
    built = lp.split_iname(built, "i", y, outer_tag="g.1", inner_tag="l.1")
    return lp.split_iname(built, "j", x, outer_tag="g.0", inner_tag="l.0")


def transpose(tile=32, n=4096):
    arrays = [lp.GlobalArg(name, np.float32, shape=(n, n)) for name in ("inp", "out")]
    built = program(f"{{[i,j]: 0<=i,j<{n}}}", "out[j,i] = inp[i,j]", arrays)
    built = lp.split_iname(built, "i", tile, outer_tag="g.0", inner_tag="l.0")
    built = lp.split_iname(built, "j", tile, outer_tag="g.1", inner_tag="l.1")
    return lp.add_prefetch(built, "inp", ["i_inner", "j_inner"], default_tag="l.auto")


def vectors(block=256):
    arrays = [
        lp.GlobalArg("vec", np.float64, shape=("n", 3)),
        lp.GlobalArg("out", np.float64, shape=("n", 3)),
        lp.GlobalArg("s", np.float64, shape=("n",)),
        lp.ValueArg("n", np.int32),
    ]
    built = program("{[i,c]: 0<=i<n and 0<=c<3}", "out[i,c] = s[i]*vec[i,c]", arrays, assumptions="n>=1")
    return lp.split_iname(built, "i", block, outer_tag="g.0", inner_tag="l.0")


@pytest.mark.parametrize(
    ("name", "build", "options"),
    [
        ("loopy_matmul_naive", matmul, {}),
        ("loopy_transpose_tiled", transpose, {}),
        ("loopy_vec3_strided", vectors, {"parameters": {"n": 5_000_000}}),
    ],
)
def test_clients(name, build, options):
    assert_same_as_client(adapter.document(build(), **options), name)


def test_flops_and_shared_memory_are_counted():
    assert adapter.document(matmul())["work"]["flops"] == 2 * 4096
    document = adapter.document(transpose())
    assert document["launch"]["shared"] == 32 * 32 * 4
    assert document["body"].count("sync") == 1


def test_tiles_of_a_loop_are_fetched_in_it():
    n = 512
    arrays = [lp.GlobalArg(name, np.float64, shape=(n, n)) for name in "abc"]
    built = program(f"{{[i,j,k]: 0<=i,j,k<{n}}}", "c[i,j] = sum(k, a[i,k]*b[k,j])", arrays)
    for iname, axis in (("i", 1), ("j", 0)):
        built = lp.split_iname(built, iname, 16, outer_tag=f"g.{axis}", inner_tag=f"l.{axis}")
    built = lp.split_iname(built, "k", 16)
    built = lp.add_prefetch(built, "a", ["k_inner", "i_inner"], default_tag="l.auto")
    built = lp.add_prefetch(built, "b", ["j_inner", "k_inner"], default_tag="l.auto")
    document = adapter.document(built)
    assert document["launch"]["shared"] == 2 * 16 * 16 * 8 and document["work"]["flops"] == 2 * n
    outer = next(step for step in document["body"] if "loop" in step)
    assert "k_outer" in outer["loop"] and outer["body"].count("sync") == 2
    touched = wavecast.touches(document, [16, 16], block_index=[1, 2], thread=[3, 4])
    # One element of each tile, and from shared memory a row of one and a column of the other.
    assert len(touched["load", "a"]) == len(touched["load", "b"]) == n // 16
    assert len(touched["load", "a_fetch"]) == len(touched["load", "b_fetch"]) == 16
    assert touched["store", "c"] == [(2 * 16 + 4) * n + 16 + 3]


def test_starts_are_a_guard():
    arrays = [lp.GlobalArg("o,u", np.float64, shape=("n", "n")), lp.ValueArg("n", np.int32)]
    built = program("{[i,j]: 1<=i,j<n-1}", "o[i,j] = u[i,j-1] + u[i-1,j]", arrays, assumptions="n>=3")
    built = lp.split_iname(built, "j", 32, outer_tag="g.0", inner_tag="l.0")
    document = adapter.document(lp.split_iname(built, "i", 4, outer_tag="g.1", inner_tag="l.1"), parameters={"n": 100})
    assert document["domain"] == [{"x": 99}, {"y": 99}]
    stores = {t: wavecast.touches(document, [32, 4], block_index=[0, 0], thread=[t, 1]) for t in (0, 1)}
    assert stores[0] == {} and stores[1]["store", "o"] == [101]


def test_order_is_that_of_the_arrays():
    assert adapter.document(matmul(order="F"))["fields"]["a"]["strides"] == [1, 4096]


def test_bounds_of_inner_loops_follow_outer_ones():
    arrays = [lp.GlobalArg("a", np.float64, shape=(64, 64)), lp.GlobalArg("b", np.float64, shape=(64,))]
    built = program("{[i,j]: 0<=i<64 and 0<=j<=i}", "b[i] = sum(j, a[i,j])", arrays)
    built = lp.split_iname(built, "i", 32, outer_tag="g.0", inner_tag="l.0")
    document = adapter.document(built)
    found = wavecast.touches(document, [32], block_index=[1], thread=[3])
    assert found["load", "a"] == [35 * 64 + j for j in range(36)]


def test_variants_are_ranked_and_the_choice_comes_back():
    choices = [(16, 16), (32, 8), (64, 4), (8, 32)]
    ranking = adapter.rank_variants(lambda x, y: matmul(x, y, 512), choices, "a100")
    assert ranking["summary"]["feasible"] == 4
    assert ranking.choice in choices and "x".join(map(str, ranking.choice)) == ranking.best["config"]["variant"]
    assert ranking.best["config"]["block"] == [*ranking.choice, 1]
    assert adapter.rank(matmul(16, 16, 512), "a100").best["rate_per_s"] <= ranking.best["rate_per_s"]


def test_what_cannot_be_said_says_why():
    arrays = [lp.GlobalArg("a,b", np.float64, shape=(64,)), lp.GlobalArg("p", np.int32, shape=(64,))]
    built = program("{[i]: 0<=i<64}", "b[i] = a[p[i]]", arrays)
    with pytest.raises(adapter.Unsupported, match="representative address"):
        adapter.document(lp.split_iname(built, "i", 32, outer_tag="g.0", inner_tag="l.0"))
    with pytest.raises(adapter.Unsupported, match="parameters="):
        adapter.document(vectors())
