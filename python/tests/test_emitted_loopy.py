"""Documents of loopy against the CUDA text that it emits: random threads of each program touch the same elements
in both."""

import pytest

pytest.importorskip("pycparser", reason="pycparser is not installed: pip install pycparser")
lp = pytest.importorskip("loopy", reason="loopy is not installed: pip install loopy")

import islpy
import numpy as np
import wavecast
from agreement import assert_threads_agree
from wavecast import loopy as adapter

# loopy 2025.2 asks for what islpy no longer has, when it emits loops with several bounds.
if not hasattr(islpy.Aff, "is_equal"):
    islpy.Aff.is_equal = islpy.Aff.plain_is_equal


def array(names, *shape, **more):
    return lp.GlobalArg(names, np.float64, shape=shape, **more)


def program(domain, instructions, arrays, splits=(), unrolled=()):
    built = lp.make_kernel(domain, instructions, arrays, lang_version=(2018, 2), target=lp.CudaTarget())
    for iname, size, group, local in splits:
        built = lp.split_iname(built, iname, size, outer_tag=group, inner_tag=local)
    return lp.tag_inames(built, {iname: "unr" for iname in unrolled})


X16, Y16 = ("j", 16, "g.0", "l.0"), ("i", 16, "g.1", "l.1")


def matmul(n, step, order="C", prefetch=False):
    arrays = [array("a,b,c", n, n, order=order)]
    instruction = "c[i,j] = sum(k, a[i,k]*b[k,j])"
    built = program(f"{{[i,j,k]: 0<=i,j,k<{n}}}", instruction, arrays, [Y16, X16, ("k", step, None, None)])
    if prefetch:
        built = lp.add_prefetch(built, "a", ["k_inner", "i_inner"], default_tag="l.auto")
        built = lp.add_prefetch(built, "b", ["j_inner", "k_inner"], default_tag="l.auto")
        built = lp.add_inames_for_unused_hw_axes(built)
    return built


def stencil(n):
    instruction = "o[i,j] = u[i+1,j] + u[i-1,j] + u[i,j+1] + u[i,j-1]"
    built = program(f"{{[i,j]: 1<=i,j<{n - 1}}}", instruction, [array("u,o", n, n)], [("i", 4, "g.1", "l.1"), X16])
    return lp.add_prefetch(built, "u", ["i_inner", "j_inner"], fetch_bounding_box=True, default_tag="l.auto")


def batched():
    arrays = [array("a,c,d", 7, 20, 20)]
    built = program("{[b,i,j,k]: 0<=b<7 and 0<=i,j,k<20}", "c[b,i,j] = sum(k, a[b,i,k]*d[b,k,j])", arrays, [X16, Y16])
    return lp.tag_inames(built, {"b": "g.2"})


def joined():
    built = program("{[i,j]: 0<=i<10 and 0<=j<13}", "y[i,j] = x[j,i]", [array("x", 13, 10), array("y", 10, 13)])
    return lp.split_iname(lp.join_inames(built, ["i", "j"], "ij"), "ij", 32, outer_tag="g.0", inner_tag="l.0")


I32 = [("i", 32, "g.0", "l.0")]
PROGRAMS = {
    "arrays called x and y": lambda: program(
        "{[i]: 0<=i<1000}", "y[i] = 2*x[i] + y[i]", [array("x,y", 1000)], [("i", 128, "g.0", "l.0")]
    ),
    "inames called x and k, arrays called step": lambda: program(
        "{[x,k]: 0<=x<64 and 0<=k<5}", "y[x,k] = step[x]", [array("y", 64, 5), array("step", 64)], [("x", *I32[0][1:])]
    ),
    "matmul": lambda: matmul(48, 16),
    "matmul of steps that do not divide": lambda: matmul(50, 16, "F"),
    "matmul of odd steps": lambda: matmul(48, 5),
    "matmul with tiles": lambda: matmul(48, 16, prefetch=True),
    "matmul with tiles that do not divide": lambda: matmul(50, 16, "F", prefetch=True),
    "stencil with a tile": lambda: stencil(66),
    "stencil with a tile that does not divide": lambda: stencil(61),
    "batched": batched,
    "joined": joined,
    "unrolled and strided": lambda: lp.tag_inames(
        lp.split_iname(
            lp.split_iname(
                program("{[i]: 0<=i<1000}", "y[2*i] = x[3*i+1]", [array("x", 3001), array("y", 2000)]), "i", 4
            ),
            "i_outer",
            64,
            outer_tag="g.0",
            inner_tag="l.0",
        ),
        {"i_inner": "unr"},
    ),
    "several instructions": lambda: program(
        "{[i,j]: 0<=i<200 and 0<=j<10}",
        ["<>t = x[i]*2", "y[i,j] = t + z[j] {dep=*}", "w[i] = t"],
        [array("x,w", 200), array("y", 200, 10), array("z", 10)],
        I32,
    ),
    "triangular": lambda: program(
        "{[i,j]: 0<=i<64 and i<=j<64}", "y[i,j] = x[j,i]", [array("x,y", 64, 64)], [X16, ("i", 8, "g.1", "l.1")]
    ),
    "triangular sum": lambda: program(
        "{[i,j]: 0<=i<64 and i<=j<64}", "y[i] = sum(j, x[i,j])", [array("x", 64, 64), array("y", 64)], I32
    ),
    "predicates and choices": lambda: program(
        "{[i]: 0<=i<100}",
        ["y[i] = if(i > 5, x[i], x[i+100]) {if=i>3}", "z[i] = 0 {if=i%2==0}"],
        [array("x", 200), array("y,z", 100)],
        I32,
    ),
    "quotients and remainders, also below zero": lambda: program(
        "{[i]: 0<=i<100}",
        "y[i] = x[(i+1) % 100] + x[(i-1) % 100] + z[i//3] + z[(i-7)//2 + 4]",
        [array("x", 100), array("z", 60), array("y", 100)],
        I32,
    ),
    "offset and padding": lambda: program(
        "{[i,j]: 0<=i<30 and 0<=j<20}",
        "y[i,j] = x[i,j]",
        [array("x", 30, 20, strides=(24, 1)), array("y", 30, 20, order="F")],
        [X16, Y16],
    ),
    "atomic": lambda: program(
        "{[i]: 0<=i<100}", "y[i%10] = y[i%10] + x[i] {atomic}", [array("x", 100), array("y", 10, for_atomic=True)], I32
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    built = PROGRAMS[name]()
    document = adapter.document(built)
    code = lp.generate_code_v2(built).device_code()
    names = {original: f"{original}_" for original in ("x", "y", "z", "step") if f"{original}_" in document["fields"]}
    assert_threads_agree(document, code, {}, name, names=names)
    # What depends on other loops can be counted, too.
    assert wavecast.predict(document, device="a100")["result"]["time_s"] > 0


def test_an_offset_is_that_of_the_field():
    arrays = [array("a", 105, offset=5), array("b", 100)]
    document = adapter.document(program("{[i]: 0<=i<100}", "b[i] = a[i]", arrays, I32))
    assert document["fields"]["a"]["offset"] == 5 and "offset" not in document["fields"]["b"]
