"""What is said by lines of the source, of CUDA and of Python, and errors that name such lines."""

import math
import os

import pytest
import wavecast
import wavecast.cuda
from test_cuda import AXPY, N, cache, nvrtc  # noqa: F401
from wavecast.cuda import Array

IF = """
__global__ void f(int n, const float *m, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (m[i] > 0.5f)
        y[i] = x[i];
}
"""
ELSE = """
__global__ void f(int n, const float *m, const float *x, const float *z, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s;
    if (m[i] > 0.5f)
        s = x[i];
    else
        s = z[2 * i];
    y[i] = s;
}
"""
RETURN = """
__global__ void f(int n, const int *m, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || m[i] == 3)
        return;
    y[i] = x[i];
}
"""


def shares(text, branch):
    """How often each field is accessed by 200 threads, block after block."""
    reading = wavecast.cuda.read(text, dict(n=N), device="a100", branch=branch, blocks=100)
    found = {}
    for place in range(200):
        at = dict(block_index=[place // 100, 0, 0], thread=[place % 100, 0, 0])
        for kind, field in wavecast.touches(reading.text, [100, 1, 1], **at):
            found[kind, field] = found.get((kind, field), 0) + 1
    return found


@nvrtc
@pytest.mark.parametrize(
    ("text", "line", "done", "left"),
    [(IF, 5, ("load", "x"), None), (ELSE, 6, ("load", "x"), ("load", "z")), (RETURN, 4, ("load", "x"), None)],
)
def test_the_probability_is_that_of_what_is_decided(text, line, done, left):
    # Whichever way the compiler has turned the condition round.
    for share in (0.1, 0.75):
        found = shares(text, {line: share})
        assert found["load", "m"] == 200
        assert abs(found[done] - 200 * share) <= 4
        assert left is None or found[left] == 200 - found[done]


@nvrtc
def test_where_data_decide_nothing_is_said():
    with pytest.raises(wavecast.KernelError, match="data decide nothing in line 3\n  help: .* decide: 5$") as error:
        wavecast.cuda.rank(IF, dict(n=N), device="a100", branch={3: 0.5})
    assert error.value.code == "ptx-branch"
    warned = wavecast.cuda.rank(IF, dict(n=N), device="a100")["warnings"]
    assert any("of line 5" in w["message"] and "branch={LINE: 0.3}" in w["help"] for w in warned)
    assert not wavecast.cuda.rank(IF, dict(n=N), device="a100", branch={5: 0.5})["warnings"]


@nvrtc
def test_parameters_are_called_as_in_the_source():
    text = IF.replace("x[i]", "x[(int) m[i]]")
    assumed = wavecast.cuda.read(text, dict(n=N), device="a100", assume={6: "x[(tidx*7) % n]"})
    assert "7*tidx" in str(assumed)
    # No place follows from the factor, so that nobody has to say what it is.
    assert all(f["holds"] for f in wavecast.cuda.read(AXPY, dict(n=N), device="a100").check())
    explained = wavecast.cuda.rank(IF, dict(n=N), device="a100", branch={5: 1}).explain()
    assert str(explained).startswith(explained["sentences"][0]["text"])


def gather(index, x, y):
    i = cuda.grid(1)  # noqa: F821
    if i < y.shape[0]:
        s = 0.0
        for j in range(index[i]):
            s += x[i, j]
        if s > 1.5:
            y[i] = math.sqrt(x[index[i], 3])


def test_numba_errors_name_lines_of_python():
    cuda = pytest.importorskip("numba.cuda", reason="Numba is not installed: pip install 'wavecast[numba]'")
    gather.__globals__["cuda"] = cuda
    first = gather.__code__.co_firstlineno
    args = dict(index=Array(N, "int32"), x=Array((N, 32)), y=Array(N))
    with pytest.raises(
        wavecast.KernelError, match=rf"test_said.py:{first + 5}: load in global memory(.|\n)*s \+= x\[i, j\]"
    ):
        wavecast.cuda.rank(gather, args, device="a100")
    with pytest.raises(wavecast.KernelError, match=rf"test_said.py:{first + 7}: (.|\n)*math.sqrt") as error:
        wavecast.cuda.rank(gather, args, device="a100")
    assert error.value.errors[0]["file"] == os.path.basename(__file__)
    with pytest.raises(wavecast.KernelError, match=rf"the loop of line {first + 4} is not one loop"):
        wavecast.cuda.rank(gather, args, device="a100", trips={first + 4: 20})
    with pytest.raises(wavecast.KernelError, match=rf"test_said.py:{first + 5}: Numba does not(.|\n)*s \+= x") as error:
        wavecast.cuda.rank(gather, args | dict(x=Array(N)), device="a100")
    assert error.value.code == "numba-compile"
    with pytest.raises(wavecast.KernelError, match=rf"line {first} begins no loop that only data end"):
        wavecast.cuda.rank(gather, args, device="a100", trips={first: 20})


def test_triton_errors_name_lines_of_python():
    triton = pytest.importorskip("triton", reason="Triton is not installed: pip install 'wavecast[triton]'")
    tl = pytest.importorskip("triton.language")

    def kernel(index, x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        k = tl.load(index + i, mask=i < n)
        tl.store(y + i, tl.load(x + k, mask=i < n), mask=i < n)

    kernel.__globals__["tl"] = tl
    args = dict(index=Array(N, "int32"), x=Array(N), y=Array(N), n=N)
    ask = dict(device="a100", constexprs=dict(B=256), grid=N // 256)
    line = kernel.__code__.co_firstlineno + 3
    with pytest.raises(wavecast.KernelError, match=rf"test_said.py:{line}: load in global memory(.|\n)*tl.store"):
        wavecast.cuda.rank(triton.jit(kernel), args, **ask)
    ranking = wavecast.cuda.rank(triton.jit(kernel), args, assume={line: "x[tidx]"}, **ask)
    assert ranking.best is not None
