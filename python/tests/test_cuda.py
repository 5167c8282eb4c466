"""A kernel in one line: CUDA text, PTX, CuPy's kernels, Numba, Triton. What needs a compiler that is not installed is
skipped; the fixtures of tests/ptx need none."""

import multiprocessing
import os
from pathlib import Path

import pytest
import wavecast
import wavecast.cuda
from wavecast import _nvrtc, _signature, _store, _variants
from wavecast.cuda import Array

PTX = Path(__file__).resolve().parents[2] / "tests" / "ptx"
N = 1 << 20


def _has_nvrtc():
    try:
        _nvrtc.library()
    except ImportError:
        return False
    return True


nvrtc = pytest.mark.skipif(not _has_nvrtc(), reason="NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WAVECAST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "compiled"


AXPY = """
// __global__ void not_this(int a);
__global__ void axpy(int n, float a, const float *__restrict__ x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
MATMUL = """
template <typename T>
__global__ void __launch_bounds__(TILE * TILE) matmul(const T *a, const T *b, T *c, int n) {
    __shared__ T as[TILE][TILE], bs[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    T sum = 0;
    for (int t = 0; t < n; t += TILE) {
        as[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
"""
ROWS = """
__global__ void rows(const int *begin, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < begin[i]; j++)
        sum += x[j * n + i];
    y[i] = sum;
}
"""


def test_signatures_are_read():
    text = """
    /* __global__ void a(int x); */
    const char *s = "__global__ void b(int x)";
    extern "C" __global__ void __launch_bounds__(256, 2) one(int n, const float *__restrict__ x, float2 y[], int (&z)[3] = d) {}
    template <typename T, int N = 4> static __global__ void two(T *out, std::pair<int, T> p, unsigned) { }
    template __global__ void two<float>(float *out, std::pair<int, float> p, unsigned);
    __global__ __attribute__((used)) void none(void);
    """
    found = {k.name: k for k in _signature.kernels(text)}
    assert list(found) == ["one", "two", "none"]
    assert found["one"].parameters[:3] == ("n", "x", "y") and not found["one"].template
    assert found["two"].parameters == ("out", "p", None) and found["two"].template
    assert found["none"].parameters == ()


@nvrtc
def test_cuda_text():
    args = dict(n=N, a=2.5, x=Array(N), y=Array(N))
    ranking = wavecast.cuda.rank(AXPY, args, lambda b: -(-N // b[0]), "a100")
    document = ranking.document
    assert ranking["kernel"]["name"] == "axpy" and set(document["fields"]) == {"x", "y"}
    assert document["domain"] == {"axis_x": N} and "grid" not in document["launch"]
    assert ranking == wavecast.rank(document, "a100") and ranking.best.block == (512, 1, 1)
    assert ranking.explain()["sentences"] and ranking.best.interval[0] < ranking.best.time < ranking.best.interval[1]
    assert "64x1x1" in ranking.explain((64,))["sentences"][0]["text"]
    # The same in other words.
    assert wavecast.cuda.rank(AXPY, (N,), device="a100").document == document
    assert wavecast.cuda.rank(AXPY, dict(n=N), "ceil(n / blockDim.x)", "a100", entry="axpy").document == document
    one = wavecast.cuda.predict(AXPY, args, device="a100", block=512)
    assert one["result"]["time_s"] == pytest.approx(ranking.best.time)
    assert all(f["holds"] for f in wavecast.cuda.read(AXPY, args, blocks=[64, 256]).check(16))
    compiled = wavecast.cuda.compile(AXPY, device="v100")
    assert compiled.arch == 70 and ".target sm_70" in compiled.ptx and compiled.parameters == ("n", "a", "x", "y")
    assert wavecast.cuda.rank(compiled, dict(n=N), device="a100").document == document


@nvrtc
def test_blocks_in_the_source():
    n = 1024
    ask = dict(args=dict(n=n), grid=lambda b: (n // b[0], n // b[1]), device="a100", entry="matmul<float>")
    ranking = wavecast.cuda.rank(MATMUL, **ask, options="-DTILE={x}", blocks=[(8, 8), (16, 16), (32, 32)])
    assert [r.variant for r in ranking["results"]] == [f"{r.block[0]} x {r.block[1]} x 1" for r in ranking["results"]]
    assert len(ranking["results"]) == 3 and ranking["kernel"]["name"] == "matmul<float>"
    assert "8x8x1" in ranking.explain((8, 8))["sentences"][0]["text"]
    # Each reads two elements for each step, and as many tiles as it has steps.
    for result in ranking["results"]:
        tile = result.block[0]
        assert result["config"]["shared_bytes"] == 2 * 4 * tile * tile
    function = wavecast.cuda.rank(
        MATMUL, **ask, options=lambda b: [f"-DTILE={b[0]}"], blocks=[(8, 8), (16, 16), (32, 32)]
    )
    assert function == ranking
    one = wavecast.cuda.predict(MATMUL, **ask, options="-DTILE={x}", block=(16, 16))
    assert one["result"]["time_s"] == pytest.approx(ranking.place((16, 16)).time)
    with pytest.raises(wavecast.KernelError, match="blocks="):
        wavecast.cuda.rank(MATMUL, **ask, options="-DTILE={x}")
    with pytest.raises(wavecast.KernelError, match="entry='matmul<float>'"):
        wavecast.cuda.rank(MATMUL, **{**ask, "entry": None}, options="-DTILE=8")
    with pytest.raises(
        wavecast.cuda.CompileError, match=r'kernel:\d+: identifier "TILE" is undefined(.|\n)*BLOCK_X'
    ) as error:
        wavecast.cuda.rank(MATMUL, **ask)
    assert error.value.line == 3 and "TILE" in error.value.log


@nvrtc
def test_loops_whose_trips_are_data():
    with pytest.raises(wavecast.KernelError, match=r"kernel:7: load (.|\n)*trips=") as error:
        wavecast.cuda.rank(ROWS, dict(n=N), device="a100")
    assert "sum += x[j * n + i];" in str(error.value)
    with pytest.raises(wavecast.KernelError, match="line 7 has no `for`(.|\n)*begins in line 6"):
        wavecast.cuda.rank(ROWS, dict(n=N), device="a100", trips={7: 40})
    ranking = wavecast.cuda.rank(ROWS, dict(n=N), device="a100", trips={6: 40})
    loops = [s for s in ranking.document["body"] if isinstance(s, dict)]
    assert loops[0]["loop"] == {"i0": "0..39"} and len(loops[0]["body"]) == 1
    # What was said of the loop is not warned of.
    assert not ranking["warnings"]


@nvrtc
def test_what_compilers_made_is_kept(cache, monkeypatch):
    wavecast.cuda.compile(AXPY, arch=80)
    assert len(list(cache.iterdir())) == 1
    # Nothing is compiled the second time.
    monkeypatch.setattr(_nvrtc.Library, "compile", None)
    assert wavecast.cuda.compile(AXPY, arch=80).entry == "axpy"
    monkeypatch.setenv("WAVECAST_CACHE", "off")
    with pytest.raises(TypeError):
        wavecast.cuda.compile(AXPY, arch=80)


class RawKernel:
    """What CuPy's has: it cannot be imported without a GPU."""

    code, name, options, backend = AXPY, "axpy", ("-std=c++17",), "nvrtc"


@nvrtc
def test_cupy_kernels_have_their_text():
    assert wavecast.cuda.rank(RawKernel(), dict(n=N), device="a100") == wavecast.cuda.rank(
        AXPY, dict(n=N), device="a100"
    )


@nvrtc
def test_paths(tmp_path):
    (tmp_path / "half.h").write_text("#define HALF 0.5f\n")
    file = tmp_path / "axpy.cu"
    file.write_text('#include "half.h"\n' + AXPY.replace("a * x", "HALF * x"))
    ranking = wavecast.cuda.rank(file, dict(n=N), device="a100")
    assert ranking == wavecast.cuda.rank(str(file), dict(n=N), device="a100")
    assert len(wavecast.cuda.rank(PTX / "nvrtc" / "saxpy.ptx", {0: N}, device="a100")["results"]) == 5


@pytest.mark.parametrize(
    ("kernel", "kind", "says"),
    [
        (3, TypeError, "builtins.int is no kernel: give CUDA text"),
        ("kernel.txt", ValueError, "neither CUDA text nor PTX"),
        ("kernel.cu", FileNotFoundError, "kernel.cu"),
        ("__kernel void f(__global float *x) {\n}", ValueError, "OpenCL"),
        ("wavecast: 1\nkernel: x\n", ValueError, "wavecast.rank"),
        ("int main() {\n}", wavecast.KernelError, "no kernel"),
        (AXPY + "__global__ void other(int n) {}", wavecast.KernelError, "entry= is one of: axpy, other"),
    ],
)
def test_what_is_no_kernel(kernel, kind, says):
    with pytest.raises(kind, match=says):
        wavecast.cuda.rank(kernel, dict(n=N))
    with pytest.raises(wavecast.KernelError, match="did you mean `a100-40gb`"):
        wavecast.cuda.rank(AXPY, dict(n=N), device="a1000")


def test_a_compiler_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(_nvrtc, "packaged", lambda _: [])
    monkeypatch.setattr(_nvrtc, "toolkits", lambda: iter(()))
    monkeypatch.setattr(_nvrtc.ctypes.util, "find_library", lambda _: None)
    _nvrtc.library.cache_clear()
    try:
        with pytest.raises(ImportError, match=r"pip install 'wavecast\[cuda\]'"):
            wavecast.cuda.rank(AXPY, dict(n=N))
    finally:
        _nvrtc.library.cache_clear()


def test_variants_do_the_same_job():
    """Programs with different numbers of threads are compared in time."""
    whole = {"wavecast": 1, "kernel": "copy", "fields": {"a": {"dtype": "f32", "size": N}, "b": {"like": "a"}}}
    work = {"unit": "thread", "flops": 1, "precision": "f32", "instructions": {"fp32": 1, "global": 2}}
    one = "blockIdx.x*blockDim.x + threadIdx.x"
    fine = {
        **whole,
        "domain": {"x": N},
        "body": [f"load a + {one}", f"store b + {one}"],
        "work": work,
        "launch": {"block": [[256, 1, 1]], "registers": 16},
    }
    loop = {
        "loop": {"i": {"from": 0, "to": 3}},
        "body": [f"load a + {one} + {N // 4}*i", f"store b + {one} + {N // 4}*i"],
    }
    four = {**work, "flops": 4, "instructions": {"fp32": 4, "global": 8}}
    coarse = {
        **whole,
        "domain": {"x": N // 4},
        "body": [loop],
        "work": four,
        "launch": {"block": [[128, 1, 1]], "registers": 16},
    }
    ranking = wavecast.rank(_variants.merged([("fine", fine), ("coarse", coarse)]), "a100")
    times = {r.variant: r.time for r in ranking["results"]}
    assert times["fine"] == pytest.approx(wavecast.rank(fine, "a100").best.time, rel=0.02)
    assert times["coarse"] == pytest.approx(wavecast.rank(coarse, "a100").best.time, rel=0.02)
    assert _variants.merged([(None, fine)]) is fine


def _keep(folder, number):
    os.environ["WAVECAST_CACHE"] = folder
    for i in range(40):
        assert _store.kept(["x", i], lambda i=i: {"value": i, "pad": "." * 4000}) == {"value": i, "pad": "." * 4000}


def test_several_processes_share_what_is_kept(tmp_path, monkeypatch):
    spawned = multiprocessing.get_context("spawn")
    processes = [spawned.Process(target=_keep, args=(str(tmp_path), n)) for n in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [p.exitcode for p in processes] == [0, 0, 0]
    folder = tmp_path / "compiled"
    assert len(list(folder.iterdir())) == 40, "nothing half written is left"
    # It is bounded: what was not used for longest goes first.
    monkeypatch.setenv("WAVECAST_CACHE", str(tmp_path))
    monkeypatch.setattr(_store, "MOST", 100_000)
    _store.kept(["new"], lambda: {"value": 1})
    assert 10 < len(list(folder.iterdir())) < 25
    assert _store.kept(["new"], lambda: None) == {"value": 1}
    (folder / next(folder.iterdir()).name).write_text("{half")
    _keep(str(tmp_path), 0)


def test_numba():
    pytest.importorskip("numba", reason="Numba is not installed: pip install 'wavecast[numba]'")
    from numba import cuda

    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    x = Array(N)
    args = dict(a=2.5, x=x, y=x)
    ranking = wavecast.cuda.rank(cuda.jit(saxpy), args, device="a100")
    assert set(ranking.document["fields"]) == {"x", "y"} and ranking.best.block == (512, 1, 1)
    assert ranking.document["domain"] == {"axis_x": N}
    assert wavecast.cuda.rank(saxpy, args, device="a100") == ranking
    signature = "void(float64, float32[::1], float32[::1])"
    assert wavecast.cuda.rank(saxpy, args, device="a100", signature=signature) == ranking
    assert all(f["holds"] for f in wavecast.cuda.read(saxpy, args, blocks=128).check(8))

    def column(a, out):
        x, y = cuda.grid(2)
        if y < a.shape[0] and x < a.shape[1]:
            out[x, y] = a[y, x]

    # Every second element of each row.
    strided = Array((512, 256), "float64", (4096, 16))
    document = wavecast.cuda.document(column, (strided, Array((256, 512), "float64")), blocks=[(32, 8)])
    assert any("2*" in line for line in document["body"] if line.startswith("load")), document["body"]
    for wrong, says in [(dict(a=x), "out(.|\n)*signature="), (dict(a=x, q=x), "no parameter `q`(.|\n)*a, out")]:
        with pytest.raises(wavecast.KernelError, match=says):
            wavecast.cuda.rank(column, wrong)
    with pytest.raises(wavecast.KernelError, match="Numba does not compile `column`"):
        wavecast.cuda.rank(column, dict(a=1, out=2))


def test_numba_device_functions():
    """They are compiled for the device asked about, where there is no GPU."""
    pytest.importorskip("numba", reason="Numba is not installed: pip install 'wavecast[numba]'")
    import math

    from numba import cuda

    @cuda.jit(device=True)
    def wave(a):
        return math.sin(a) * 2

    @cuda.jit
    def waves(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = wave(x[i])

    args = dict(x=Array(N, "float64"), y=Array(N, "float64"))
    reading = wavecast.cuda.read(waves, args, blocks=128)
    assert all(found["holds"] for found in reading.check(16))
    # Coefficients lie in a table.
    anywhere = [a["field"] for a in reading.accesses if a.get("anywhere")]
    assert anywhere and set(anywhere) == {"__cudart_sin_cos_coeffs"}
    warnings = wavecast.cuda.rank(waves, args, device="a100", blocks=[128])["warnings"]
    about = [w["message"] for w in warnings if "sin_cos" in w["message"]]
    assert len(about) == 1 and "its beginning is counted" in about[0], warnings


def test_triton():
    triton = pytest.importorskip("triton", reason="Triton is not installed (285 MB): pip install 'wavecast[triton]'")
    tl = pytest.importorskip("triton.language")
    from wavecast.triton import prune_configs_by

    globals()["tl"] = tl

    @triton.jit
    def add(x, y, out, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    args = dict(x=Array(N), y=Array(N), out=Array(N), n=N)

    def grid(meta):
        return (triton.cdiv(meta["n"], meta["B"]),)

    configs = [triton.Config({"B": b}, num_warps=w) for b in (128, 1024) for w in (1, 4)]
    ranking = wavecast.cuda.rank(add, args, grid, "a100", configs=configs)
    assert len(ranking["results"]) == 4 and ranking.best.variant.startswith("B=")
    one = wavecast.cuda.predict(add, args, grid, "a100", constexprs={"B": 1024}, num_warps=4)
    assert one["result"]["config"]["block"] == [128, 1, 1] and one["result"]["config"]["registers"] > 0
    time = next(r.time for r in ranking["results"] if r.variant.startswith("B=1024, num_warps=4"))
    assert one["result"]["time_s"] == pytest.approx(time, rel=0.01)
    assert all(f["holds"] for f in wavecast.cuda.read(add, args, grid, constexprs={"B": 128}, num_warps=1).check(8))
    with pytest.raises(wavecast.KernelError, match="needs the constant B"):
        wavecast.cuda.rank(add, args, grid)

    functions = prune_configs_by(lambda: add, "a100", slowdown=1.5)
    # As Triton's autotuner calls them.
    call = {**args, "grid": grid, "warmup": False}
    kept = functions["early_config_prune"](configs, args, grid=grid, warmup=False)
    times = {c: functions["perf_model"](**call, **c.all_kwargs()) for c in configs}
    assert times[configs[3]] == pytest.approx(time * 1e3, rel=0.01)
    assert kept == [c for c in configs if times[c] <= 1.5 * min(times.values())]
    assert (
        prune_configs_by(add, "a100", grid=grid)["perf_model"](**args, **configs[3].all_kwargs()) == times[configs[3]]
    )
    wrong = [triton.Config({"B": 100}), triton.Config({"B": 200})]
    with pytest.raises(wavecast.KernelError, match="Triton does not compile `add`"):
        functions["early_config_prune"](wrong, args, grid=grid)
    assert functions["early_config_prune"]([*wrong, configs[3]], args, grid=grid) == [configs[3]]


@nvrtc
def test_addresses_that_are_data_may_be_assumed():
    text = AXPY.replace("y[i] = a * x[i] + y[i]", "\n        y[i] = x[(int)y[i]]")
    with pytest.raises(wavecast.KernelError, match=r"kernel:6: load (.|\n)*assume=\{LINE"):
        wavecast.cuda.rank(text, dict(n=N), device="a100")
    document = wavecast.cuda.document(text, dict(n=N), assume={6: "x[tidx]"})
    assert sum(line.startswith("load x") for line in document["body"] if isinstance(line, str)) == 1
    with pytest.raises(wavecast.KernelError, match="lines with accesses that cannot be read: 6"):
        wavecast.cuda.document(text, dict(n=N), assume={5: "x[tidx]"})


@nvrtc
def test_registers_come_from_ptxas(monkeypatch):
    from wavecast import _ptxas

    if _ptxas.find() is None:
        pytest.skip("ptxas is not installed: pip install nvidia-cuda-nvcc-cu12")
    told = wavecast.cuda.document(AXPY, dict(n=N), device="a100")["launch"]["registers"]
    assert _ptxas.assembled(wavecast.cuda.compile(AXPY, arch=80).ptx, "_Z4axpyifPKfPf", 80) == (told, 0)
    assert wavecast.cuda.document(AXPY, dict(n=N), registers=77)["launch"]["registers"] == 77
    monkeypatch.setenv("WAVECAST_PTXAS", "")
    counted = wavecast.cuda.document(AXPY, dict(n=N), device="a100")["launch"]["registers"]
    assert told >= counted == 9


STENCIL = """
__global__ void stencil(const float *a, float *b, int n) {
    int x = blockIdx.x * block_size_x + threadIdx.x, y = (blockIdx.y * block_size_y + threadIdx.y) * tile_size_y;
    // use_padding means nothing here
#pragma unroll
    for (int t = 0; t < tile_size_y; t++)
        if (x > 0 && y + t > 0 && x < n - 1 && y + t < n - 1)
            b[(y + t) * n + x] = a[(y + t) * n + x - 1] + a[(y + t) * n + x + 1] + a[(y + t - 1) * n + x] + a[(y + t + 1) * n + x];
}
"""


@nvrtc
def test_kernel_tuner_has_the_text():
    from wavecast.kernel_tuner import Pruner

    n = 2048
    parameters = {"block_size_x": [16, 64, 2048], "block_size_y": [1, 4], "tile_size_y": [1, 4], "use_padding": [0, 1]}
    field = Array((n, n))
    more = dict(grid_div_y=["block_size_y", "tile_size_y"], slowdown=1e9)
    pruner = Pruner.of_source("stencil", STENCIL, (n, n), [field, field, n], parameters, "a100", **more)
    assert set(pruner.times) == {(x, y, t) for x in (16, 64) for y in (1, 4) for t in (1, 4)}, "2048 threads cannot run"
    assert pruner.restriction(64, 4, 1, 0) and pruner.restriction(64, 4, 1, 1)
    options = [f"-Dblock_size_{a}={{{a}}}" for a in "xy"]
    alone = wavecast.cuda.predict(
        STENCIL, (field, field, n), (n // 64, n // 16), "a100", block=(64, 4), options=[*options, "-Dtile_size_y=4"]
    )
    assert pruner.times[64, 4, 4] == pytest.approx(alone["result"]["time_s"])
    broken = {**parameters, "tile_size_y": [1, "("]}
    kept = Pruner.of_source("stencil", STENCIL, (n, n), [field, field, n], broken, "a100", slowdown=1e9)
    assert {t for _, _, t in kept.times} == {1}, "what does not compile is no candidate"
    with pytest.raises(wavecast.cuda.CompileError, match="tile_size_y"):
        Pruner.of_source("stencil", STENCIL, (n, n), [field, field, n], {"block_size_x": [16], "block_size_y": [1]})


def test_warp():
    wp = pytest.importorskip("warp", reason="Warp is not installed (150 MB): pip install warp-lang")
    globals()["wp"] = wp

    @wp.kernel
    def axpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = a * x[i] + y[i]

    args = dict(a=2.5, x=Array(N), y=Array(N))
    ranking = wavecast.cuda.rank(axpy, args, dim=N, device="a100", blocks=[128, 256])
    assert [r.grid for r in ranking["results"]] == [(N // r.block[0], 1, 1) for r in ranking["results"]]
    assert {"x", "y"} < set(ranking.document["variants"][0]["fields"])
    assert all(f["holds"] for f in wavecast.cuda.read(axpy, args, dim=N, blocks=[128]).check(8))
    with pytest.raises(wavecast.KernelError, match="dim="):
        wavecast.cuda.rank(axpy, args, device="a100")
    with pytest.raises(wavecast.KernelError, match="no parameter `z`"):
        wavecast.cuda.rank(axpy, {**args, "z": 1}, dim=N, device="a100")
