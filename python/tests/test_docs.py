"""The examples of docs/python.md run, as far as their compilers are installed."""

import importlib.util
import re
from pathlib import Path

import pytest
import wavecast
from wavecast import _nvrtc

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
NEEDS = {"numba": "import cuda\n", "triton": "import triton\n"}


def test_the_page_is_true(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    try:
        _nvrtc.library()
    except ImportError:
        pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")
    monkeypatch.setenv("WAVECAST_CACHE", str(tmp_path))
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE.read_text())
    assert len(blocks) == 8
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for number, block in enumerate(blocks):
        missing = [m for m, line in NEEDS.items() if line in block and importlib.util.find_spec(m) is None]
        if missing:
            continue
        # Triton reads the source of its kernels in a file.
        file = tmp_path / f"block{number}.py"
        file.write_text(block)
        exec(compile(block, str(file), "exec"), names)
        best = names["ranking"].best
        assert best.time > 0
        if number == 0:
            # As the comment says.
            assert f"# {best.block}" in block
        if "difference" in block:
            assert f'# {names["difference"]["speedup"]:.2f}' in block
            assert f'# {wavecast.trace.reuse(names["trace"])["misses"]["compulsory"]}\n' in block
        if "both" in block:
            relative = ", ".join(f"{result['device_relative']:.2f}" for result in names["both"])
            assert f"# {relative}\n" in block
