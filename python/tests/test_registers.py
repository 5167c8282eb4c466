"""Adapters ask ptxas for the registers of what their generators emit, where it is installed, and say so."""

import os

import pytest

os.environ.setdefault("DEVITO_LOGGING", "ERROR")

import wavecast
from wavecast import _nvrtc, _ptxas


@pytest.fixture(autouse=True)
def compilers(tmp_path, monkeypatch):
    if _ptxas.find() is None:
        pytest.skip("ptxas is not installed: pip install nvidia-cuda-nvcc-cu12")
    try:
        _nvrtc.library()
    except ImportError:
        pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")
    monkeypatch.setenv("WAVECAST_CACHE", str(tmp_path))


def star(radius, dtype="float64"):
    ps = pytest.importorskip("pystencils", reason="pystencils is not installed: pip install pystencils")
    src, dst = (ps.Field.create_fixed_size(n, (64, 64, 64), layout="fzyx", dtype=dtype) for n in ("src", "dst"))
    around = [(a, s * r) for r in range(1, radius + 1) for a in range(3) for s in (-1, 1)]
    total = src.center + sum(src[tuple(d * (a == axis) for axis in range(3))] for a, d in around)
    config = ps.CreateKernelConfig(target=ps.Target.CUDA, ghost_layers=radius, default_dtype=dtype)
    return ps.create_kernel(ps.Assignment(dst.center, total), config)


def known(ranking):
    """What a ranking says of its registers."""
    [one] = ranking["registers"]
    return one["registers"], one["spilled_bytes"], one["source"]


def test_pystencils(monkeypatch):
    from wavecast import cuda
    from wavecast.pystencils import code, rank

    ranking = rank(star(4), "a100", top=2)
    registers, spilled, source = known(ranking)
    assert (spilled, source) == (0, "ptxas for sm_80") and f"{registers} registers of a thread, says ptxas" in str(
        ranking
    )
    assert "says ptxas for sm_80" in ranking._repr_html_()
    # As the same text by the other road, and not the 32 that are assumed of a kernel of which nothing is known.
    text, options, _ = code(star(4))
    args = {f"_data_{name}": cuda.Array((64, 64, 64), "float64") for name in ("src", "dst")}
    other = cuda.rank(text, args, (2, 2, 2), "a100", options=list(options), blocks=[(32, 4, 1)])
    assert registers == other.document["launch"]["registers"]
    assert "registers-assumed" not in {w["code"] for w in ranking["warnings"]}
    # What is given is not asked for, nor is it of a device that is not NVIDIA's, nor if nobody is to be asked.
    assert "registers" not in rank(star(1), "a100", document_options={"registers": 24})
    assert "registers" not in rank(star(1), "mi300x")
    both = rank(star(1), ["a100", "h200"], top=1)
    assert [known(one)[2] for one in both] == ["ptxas for sm_80", "ptxas for sm_90"]
    assert both[0]["device_relative"] < both[1]["device_relative"] == 1
    monkeypatch.setenv("WAVECAST_PTXAS", "")
    assert "registers" not in rank(star(1), "a100")


def test_what_was_told_is_kept(monkeypatch):
    from wavecast import _registers
    from wavecast.pystencils import rank

    first = rank(star(2), "a100", top=1)

    def compiled(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(_registers, "_compiled", compiled)
    assert rank(star(2), "a100", top=1) == first
    with pytest.warns(UserWarning, match="ptxas was not asked for registers.*compiled again"):
        other = rank(star(3), "a100", top=1)
    assert "registers" not in other and other.best is not None


def test_spilled_registers_are_a_warning(monkeypatch):
    from wavecast import pystencils as adapter

    monkeypatch.setattr("wavecast._ptxas.assembled", lambda *_: (16, 64))
    ranking = adapter.rank(star(4), "a100", top=1)
    assert known(ranking)[:2] == (16, 64)
    [warning] = ranking["warnings"]
    assert warning["code"] == "registers-spilled" and "64 bytes of registers are spilled" in warning["message"]
    assert "warning: kernel: 64 bytes" in str(ranking)


def test_lbmpy():
    pytest.importorskip("lbmpy", reason="lbmpy is not installed: pip install lbmpy")
    from lbmpy import Stencil
    from test_lbmpy import cuda, update_rule
    from wavecast.lbmpy import rank

    registers, spilled, _ = known(rank(update_rule(Stencil.D2Q9, (66, 66)), cuda(ghost_layers=1), "a100", top=1))
    assert registers > 24 and spilled == 0


def test_loopy_has_them_for_each_variant():
    pytest.importorskip("loopy", reason="loopy is not installed: pip install loopy")
    from test_loopy import matmul
    from wavecast.loopy import rank, rank_variants

    choices = [(16, 16), (32, 8)]
    ranking = rank_variants(lambda x, y: matmul(x, y, 512), choices, "a100")
    assert [one["of"] for one in ranking["registers"]] == ["16x16", "32x8"]
    alone = rank(matmul(16, 16, 512), "a100")
    assert known(alone)[0] == ranking["registers"][0]["registers"]
    given = rank(matmul(16, 16, 512), "a100", document_options={"registers": 40})
    assert "registers" not in given and given.best["config"]["block"] == [16, 16, 1]


def test_devito_has_them_for_each_nest():
    devito = pytest.importorskip("devito", reason="devito is not installed: pip install devito")
    from test_devito import diffusion, several_nests
    from wavecast.devito import rank

    ranking = rank(several_nests(), "a100")
    assert len(ranking) == 3 and all(known(one)[2] == "ptxas for sm_80" for one in ranking)
    wide, narrow = (rank(diffusion((32, 32, 32)), "a100")[0], rank(copy_of(devito), "a100")[0])
    assert known(wide)[0] > known(narrow)[0]


def copy_of(devito):
    grid = devito.Grid(shape=(32, 32, 32))
    u = devito.TimeFunction(name="u", grid=grid, space_order=2)
    return devito.Operator(devito.Eq(u.forward, u), platform="nvidiaX", language="openacc")


def test_the_document_says_what_the_device_needs():
    from wavecast.pystencils import document

    # A document is made without a compiler, and says nothing of registers.
    assert "registers" not in document(star(1))["launch"]
    assert wavecast.check(document(star(1)))["kernel"]["name"]
