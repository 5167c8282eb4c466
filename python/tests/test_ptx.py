"""Reading PTX: the fixtures of tests/ptx, which need no compiler."""

import ctypes
import json
from pathlib import Path

import pytest
import wavecast
import wavecast.ptx
from wavecast import _arguments
from wavecast.cuda import Array

PTX = Path(__file__).resolve().parents[2] / "tests" / "ptx"
SAXPY = PTX / "nvrtc" / "saxpy.ptx"
N = 1 << 20


def test_a_kernel_is_read():
    reading = wavecast.ptx.read(SAXPY, args={0: N})
    assert [a["op"] for a in reading.accesses] == ["load", "load", "store"]
    assert all(a["status"] == "exact" and a["width"] == 4 for a in reading.accesses)
    assert reading.document["domain"] == {"x": N} and reading["registers"]["source"] == "liveness"
    assert reading.kernel.name == "saxpy" and str(reading) == reading.text and reading.text in repr(reading)
    assert reading.kernel.rank("a100").best.block == (512, 1, 1)
    [entry] = wavecast.ptx.entries(SAXPY.read_text())
    assert reading.entries == [entry] and [p["type"] for p in entry["parameters"]] == ["u32", "f32", "u64", "u64"]
    assert json.loads(json.dumps(reading))["schema"] == "wavecast/reading/1"


def test_arguments_go_by_number_by_name_and_in_order():
    x, y = Array(N), Array(N)
    by_number = wavecast.ptx.read(SAXPY, args={0: N, 2: "x:f32[1048576]", 3: "y"}, blocks=[64, 128])
    by_name = wavecast.ptx.read(SAXPY, args=dict(n=N, a=2.5, x=x, y=y), names=["n", "a", "x", "y"], blocks=[64, 128])
    in_order = wavecast.ptx.read(SAXPY, "saxpy", (N, 2.5, x, y), names=["n", "a", "x", "y"], blocks=[64, 128])
    assert by_number.document == by_name.document == in_order.document
    assert set(by_name.document["fields"]) == {"x", "y"}
    found = by_name.check(16)
    assert [f["block"] for f in found] == [[64, 1, 1], [128, 1, 1]]
    assert all(f["holds"] and f["threads"] == 16 and f["accesses"] == 48 for f in found)


def test_the_grid_may_be_a_function_an_expression_or_numbers():
    def read(**more):
        return wavecast.ptx.read(SAXPY, args={0: N}, names=["n"], **more).document

    followed = read()
    assert read(grid=lambda b: -(-N // b[0])) == read(grid="ceil(n / blockDim.x)") == followed
    assert read(grid="ceil(arg0 / blockDim.x)") == followed
    # With more blocks than the bounds ask for, the grid is said.
    assert "grid" in read(grid=lambda b: 2 * N // b[0], blocks=[64, 256])["launch"]
    assert read(grid=8192, blocks=[(128, 1)]) == read(blocks=128)
    for wrong, says in [
        (lambda b: N / b[0], "no shape"),
        (0, "numbers from 1"),
        (lambda b: b[3], "in the function grid"),
    ]:
        with pytest.raises((TypeError, ValueError, IndexError), match=says):
            read(grid=wrong, blocks=[64])


def test_what_cannot_be_read_is_said():
    reading = wavecast.ptx.read(PTX / "nvrtc" / "gather.ptx", args={3: 1024})
    assert reading.text is None and len(reading.refused) == 1
    for ask in (lambda: reading.document, lambda: reading.kernel, lambda: reading.check()):
        with pytest.raises(wavecast.KernelError, match="ld.global") as error:
            ask()
        assert error.value.code == "not-read" and error.value.line == reading.refused[0]["line"]
    assert "proxy" in str(reading)


@pytest.mark.parametrize(
    ("ask", "code", "says"),
    [
        (lambda: wavecast.ptx.read("\n.version 7.0\n.target sm_80\n.foo bar"), None, "foo"),
        (lambda: wavecast.ptx.read(SAXPY, "sexpy"), "ptx-entry", "entry= is one of: saxpy"),
        (lambda: wavecast.ptx.read(SAXPY, args=dict(n=4)), "ptx-argument", "no parameter `n`(.|\n)*0 saxpy_param_0"),
        (lambda: wavecast.ptx.read(SAXPY, args=[1, 2, 3, 4, 5]), "ptx-argument", "5 arguments for the 4 parameters"),
        (lambda: wavecast.ptx.read(SAXPY, args={0: Array(4)}), "ptx-argument", "no pointer"),
        (lambda: wavecast.ptx.read(SAXPY), "ptx-grid", "grid=lambda"),
        (lambda: wavecast.ptx.read(PTX / "nvrtc" / "matmul_tile.ptx", args={0: 64}), "ptx-block", "blocks="),
        (lambda: wavecast.ptx.read(SAXPY, args={0: 4}, blocks=4096), "ptx-block", "1024 threads"),
    ],
)
def test_mistakes(ask, code, says):
    with pytest.raises(wavecast.KernelError, match=says) as error:
        ask()
    assert "--" not in str(error.value), "options of the command line mean nothing here"
    assert code is None or error.value.code == code


def test_entries_are_found_by_their_names_in_the_source():
    from wavecast._module import _is_mangled

    assert _is_mangled("_Z5saxpyifPKfPf", "saxpy") and _is_mangled("_ZN2ns5saxpyEi", "ns::saxpy")
    assert not _is_mangled("_Z5saxpyifPKfPf", "axpy")
    text = SAXPY.read_text().replace("saxpy", "_Z5saxpyifPKfPf")
    assert wavecast.ptx.read(text, "saxpy", {0: N})["entry"] == "_Z5saxpyifPKfPf"


class Torch:
    """What PyTorch's tensors have."""

    class dtype:
        itemsize = 4

        def __str__(self):
            return "torch.float32"

    dtype = dtype()
    shape = (4, 6)

    def stride(self):
        return (8, 1)


class Interface:
    """What only has `__cuda_array_interface__`."""

    __cuda_array_interface__ = {"shape": (3, 5), "typestr": "<f8", "data": (0, False), "version": 3, "strides": None}


def test_arrays_of_all_kinds():
    known = _arguments.array(Torch())
    assert (known.shape, known.dtype, known.strides, known.nbytes) == ((4, 6), "float32", (32, 4), 3 * 32 + 24)
    known = _arguments.array(Interface())
    assert (known.shape, known.dtype, known.strides, known.nbytes) == ((3, 5), "float64", (40, 8), 120)
    known = _arguments.array(Array((2, 3), "bfloat16"))
    assert (known.itemsize, known.strides, known.size) == (2, (6, 2), 6)
    assert [Array(1, d).dtype for d in ("f8", "<i4", "f16", float, "u1")] == [
        "float64",
        "int32",
        "float16",
        "float64",
        "uint8",
    ]
    assert [_arguments.array(v) for v in (3, 2.5, None, "x", (1, 2))] == [None] * 5
    with pytest.raises(TypeError, match="dtype='bfloat'"):
        Array(4, "bfloat")
    numpy = pytest.importorskip("numpy")
    assert _arguments.array(numpy.zeros((4, 6), "f4")[:, ::2]).nbytes == 3 * 24 + 4 * 4 + 4
    assert _arguments.number(numpy.int32(7)) == 7 and _arguments.array(numpy.float32(1)) is None


def test_structs_are_values_at_their_bytes():
    class Sizes(ctypes.Structure):
        _fields_ = [("flag", ctypes.c_bool), ("n", ctypes.c_int), ("m", ctypes.c_long)]

    assert list(_arguments.given("2", "s", {0: 5, 8: Array(4, "f8")})) == ["2+0=5", "2+8=s_8:b8[32]"]
    assert list(_arguments.given("2", "s", Sizes(True, 7, 9)))[1:] == ["2+4=7", "2+8=9"]
    for wrong in (object(), (1, 2)):
        with pytest.raises(TypeError, match="argument s"):
            list(_arguments.given("2", "s", wrong))


def test_a_document_may_have_the_text_in_it():
    code = {"ptx": SAXPY.read_text(), "entry": "saxpy", "args": {0: "N", 1: 2.0, 2: "x", 3: "y"}}
    document = {"wavecast": 1, "kernel": "saxpy", "params": {"N": N}, "code": code, "domain": {"i": "N"}}
    document |= {
        "fields": {"x": {"dtype": "f32", "size": "N"}, "y": {"like": "x"}},
        "launch": {"block": [[128], [256]]},
    }
    kernel = wavecast.Kernel(document)
    own = wavecast.ptx.read(SAXPY, args={0: N, 2: "x", 3: "y"}, blocks=[128, 256]).kernel.rank("a100")
    volumes = lambda ranking: [(r.block, r["volumes"]) for r in ranking["results"]]
    assert volumes(kernel.rank("a100")) == volumes(own)
    fewer = kernel.rank("a100", set={"N": 4096})
    assert fewer.best.grid in ((32, 1, 1), (16, 1, 1))
    # A file is none of a document that comes without one.
    with pytest.raises(wavecast.KernelError, match="give the text of the PTX itself"):
        wavecast.rank({**document, "code": {**code, "ptx": str(SAXPY)}}, "a100")
    with pytest.raises(wavecast.KernelError, match="^the PTX of the document:50:1: expected"):
        wavecast.rank({**document, "code": {**code, "ptx": code["ptx"].replace("ret;", "foo bar")}}, "a100")


@pytest.mark.parametrize(
    "written", ["{ptx: saxpy.ptx, entry: saxpy, args: [N, 2.0, x, y]}", "\n  ptx: 'saxpy.ptx'  # here"]
)
def test_a_document_that_is_a_file_may_name_files(tmp_path, monkeypatch, written):
    (tmp_path / "saxpy.ptx").write_text(SAXPY.read_text())
    document = tmp_path / "saxpy.yaml"
    text = f"wavecast: 1\nkernel: saxpy\nparams: {{N: {N}}}\ncode: {written}\n"
    document.write_text(text + ("" if "args" in written else f"  args: {{0: {N}}}\n") + "launch: {block: [[128]]}\n")
    ranking = wavecast.rank(document, "a100")
    assert ranking.best.grid == (N // 128, 1, 1)
    monkeypatch.chdir(tmp_path)
    assert wavecast.rank("saxpy.yaml", "a100") == ranking
    (tmp_path / "saxpy.ptx").unlink()
    with pytest.raises(wavecast.KernelError, match="`saxpy.ptx` is a file"):
        wavecast.rank("saxpy.yaml", "a100")
