"""Integers and arrays of NumPy wherever numbers may stand."""

import os

import pytest

os.environ.setdefault("DEVITO_LOGGING", "ERROR")
np = pytest.importorskip("numpy", reason="NumPy is not installed: pip install numpy")

import wavecast
import wavecast.trace

N = np.int64
REGISTERS = {"registers": N(20)}


def copy(size=1 << 16):
    return {
        "wavecast": 1,
        "kernel": "copy",
        "params": {"N": N(size)},
        "domain": [{"x": "N"}],
        "fields": {"a": {"dtype": "f32", "size": "N"}, "b": {"like": "a"}},
        "loads": ["a[x]"],
        "stores": ["b[x]"],
        "launch": {"block": np.array([[32], [64]]), "registers": np.uint8(16)},
    }


def test_questions():
    plain = wavecast.rank({**copy(), "launch": {"block": [[32], [64]], "registers": 16}, "params": {"N": 1 << 16}}, "a100")
    assert wavecast.rank(copy(), "a100") == plain
    best = wavecast.rank(copy(), "a100", block=np.array([[64], [128]]), top=N(1), set={"N": np.int32(4096)})
    assert len(best["results"]) == 1 and plain.place(np.array([64])) == plain.place([64])
    times = [wavecast.predict(copy(), b, device="a100")["result"]["time_s"] for b in (64, N(64), np.array([64]))]
    assert len(set(times)) == 1
    assert len(wavecast.sweep(copy(), {"N": np.arange(1024, 4096, 1024)}, "a100")["points"]) == 3
    place = dict(block_index=np.array([0, 0, 0]), thread=(N(1), 0, 0))
    assert wavecast.touches(copy(), np.array([32, 1, 1]), **place) == {("load", "a"): [1], ("store", "b"): [1]}
    assert wavecast.compare(copy(), "a100", block=N(256), warm_waves=N(1))["schema"] == "wavecast/comparison/1"


def test_traces():
    text = wavecast.trace.synth(copy(), block=N(128), blocks=N(4))
    assert wavecast.trace.reuse(text, cores=N(2))["misses"]["compulsory"] == 16


def test_fleets(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")
    from wavecast import fleet

    jobs = [
        {"kernel": copy(), "device": "a100", "top": N(1)},
        {"kernel": copy(), "device": "a100", "block": np.array([[64]]), "set": {"N": N(128)}},
    ]
    run = fleet.rank_many(jobs, tmp_path, chunk_seconds=np.float64(1), in_flight=N(2))
    assert (run.jobs, run.failed, run.rows) == (2, 0, 2)
    assert fleet.cache(copy(), N(2), block=N(64), blocks=N(4))["reads"] == 8


def test_blocks_of_a_compiled_kernel():
    from wavecast import cuda

    ptx = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "ptx", "nvrtc", "saxpy.ptx")
    given = dict(args={0: N(1 << 20)}, device="a100", registers=N(20))
    found = [cuda.rank(ptx, blocks=b, **given) for b in ([64, 128], np.array([64, 128]), np.array([[64, 1], [128, 1]]))]
    assert found[0] == found[1] == found[2] and len(found[0]["results"]) == 2


def test_pystencils():
    pytest.importorskip("pystencils", reason="pystencils is not installed: pip install pystencils")
    from test_pystencils import star
    from wavecast.pystencils import document, rank

    options = dict(blocks=np.array([[32, 4, 1]]), align=N(128), **REGISTERS)
    assert rank(star(1, (66, 66, 66)), "a100", document_options=options).best.block == (32, 4, 1)
    assert document(star(1, None, symbolic=True), shape=np.array([66, 66, 66]))["domain"][0] == {"x": 64}


def test_loopy():
    pytest.importorskip("loopy", reason="loopy is not installed: pip install loopy")
    from test_loopy import matmul
    from wavecast.loopy import rank_variants

    choices = [tuple(c) for c in np.array([[16, 16], [32, 8]])]
    ranking = rank_variants(lambda x, y: matmul(x, y, 512), choices, "a100", document_options=REGISTERS)
    assert ranking.choice in choices


def test_devito():
    pytest.importorskip("devito", reason="devito is not installed: pip install devito")
    from test_devito import two_dimensions
    from wavecast.devito import rank

    options = dict(blocks=np.array([[32, 4], [64, 2]]), **REGISTERS)
    assert len(rank(two_dimensions(), "a100", document_options=options)[0]["results"]) == 2
