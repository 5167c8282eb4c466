"""The examples of README.md, docs/python.md, docs/generators.md, docs/fleet.md, docs/first-quarter-hour.md and the
package's README run, as far as what they need is installed."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import wavecast
import wavecast.cuda
from wavecast import _nvrtc

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
GENERATORS = PAGE.with_name("generators.md")
README = PAGE.parents[1] / "python" / "README.md"
KERNELS = PAGE.parents[1] / "kernels"
FLEET = PAGE.with_name("fleet.md")
NEEDS = {"numba": "import cuda\n", "triton": "import triton\n"}


def blocks_of(page):
    return re.findall(r"(?ms)^```python\n(.*?)^```$", page.read_text())


def test_the_page_is_true(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    try:
        _nvrtc.library()
    except ImportError:
        pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")
    monkeypatch.setenv("WAVECAST_CACHE", str(tmp_path))
    blocks = blocks_of(PAGE)
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


def test_the_page_about_generators_is_true(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setenv("WAVECAST_CACHE", str(tmp_path))
    monkeypatch.setenv("DEVITO_LOGGING", "ERROR")
    blocks = blocks_of(GENERATORS)
    generators = ("pystencils", "loopy", "devito", "kernel_tuner")
    assert len(blocks) == 1 + len(generators)
    names: dict = {}
    for block in blocks:
        needed = [name for name in generators if re.search(rf"^(import|from) {name}\b", block, re.M)]
        if any(importlib.util.find_spec(name) is None for name in needed):
            continue
        exec(compile(block, str(GENERATORS), "exec"), names)
    assert names["ranking"] is not None
    if "pruner" in names:
        pruner = names["pruner"]
        assert 0 < len(pruner.order()) < len(pruner.times)


def test_the_readme_of_the_package_is_true(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    first, of_cuda = blocks_of(README)
    monkeypatch.chdir(KERNELS)
    exec(compile(first, str(README), "exec"), {})
    try:
        _nvrtc.library()
    except ImportError:
        pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")
    monkeypatch.setenv("WAVECAST_CACHE", str(tmp_path))
    x = wavecast.cuda.Array(1 << 20, "float32")
    text = "__global__ void twice(int n, const float *x, float *y) { int i = blockIdx.x*blockDim.x + threadIdx.x; if (i < n) y[i] = 2*x[i]; }"
    names = {"kernel": text + "\n", "n": 1 << 20, "x": x, "y": x}
    exec(compile(of_cuda, str(README), "exec"), names)
    assert names["ranking"].best.time > 0


def test_the_page_about_fleets_is_true(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    first, of_dask, of_duckdb, of_traces = blocks_of(FLEET)
    names: dict = {"__name__": "__main__"}
    exec(compile(first, str(FLEET), "exec"), names)
    run = repr(names["run"])
    assert f"# {run}\n" in first
    assert names["frame"]["time_s"].min() > 0
    exec(compile(of_traces, str(FLEET), "exec"), names)
    assert names["whole"]["misses"]["compulsory"] > 0
    parts = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}
    if importlib.util.find_spec("distributed") is not None:
        exec(compile(of_dask, str(FLEET), "exec"), names)
        assert repr(names["run"]) == run
        # The same call goes on with what is there; elsewhere it does all.
        exec(compile(of_dask.replace("results/", "others/"), str(FLEET), "exec"), names)
        assert {path.name: path.read_bytes() for path in (tmp_path / "others").iterdir()} == parts
    if importlib.util.find_spec("duckdb") is not None:
        exec(compile(of_duckdb, str(FLEET), "exec"), names)
        assert [kernels for *_, kernels in names["best"]] == [50, 50, 50] and names["wrong"] == []


def test_columns_of_fleets_are_in_the_page():
    from wavecast._fleet_rows import COLUMNS

    table = FLEET.read_text().partition("| column |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines() if row.count("|") > 2))
    assert named == list(COLUMNS)


def test_the_lines_of_the_readme_run(monkeypatch, capsys):
    root = PAGE.parents[1]
    monkeypatch.chdir(root)
    (block,) = blocks_of(root / "README.md")
    exec(compile(block, "README.md", "exec"), {})
    best, others = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\(\d+, \d+, \d+\) \w+", best)
    times = ast.literal_eval(others)
    assert len(times) == 2 and all(0 < time < 1 for time in times)


def test_the_kernel_of_the_first_quarter_of_an_hour_compiles(tmp_path):
    """The commands that tests/readme.rs does not run, and that what they make is ranked as the page shows."""
    try:
        _nvrtc.library()
    except ImportError:
        pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")
    page = PAGE.with_name("first-quarter-hour.md")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", page.read_text()):
        subprocess.run(["sh", "-ec", block], cwd=tmp_path, env={**os.environ, "PATH": path}, check=True)
    given = ["wavecast", "rank", "saxpy.ptx", "--arg", "0=16777216", "-d", "a100", "--top", "3"]
    ours, shown = (
        subprocess.run([sys.executable, "-m", *given], cwd=folder, capture_output=True, text=True, check=True).stdout
        for folder in (tmp_path, checked_in(tmp_path / "checked-in"))
    )
    assert ours == shown
    assert shown.splitlines()[0] in page.read_text()


def checked_in(folder):
    folder.mkdir()
    (folder / "saxpy.ptx").write_bytes((PAGE.parents[1] / "tests/ptx/nvrtc/saxpy.ptx").read_bytes())
    return folder


def test_the_first_lines_of_the_page_about_generators_run(monkeypatch):
    """The other blocks there are parts of the programs in examples/python, which CI runs whole."""
    pytest.importorskip("pandas")
    root = PAGE.parents[1]
    monkeypatch.chdir(root)
    names = {"kernel": "kernels/star3d25.yaml"}
    exec(compile(blocks_of(PAGE.with_name("generators.md"))[0], "generators.md", "exec"), names)
    assert names["ranking"].place((16, 2, 32))["rank"] > 0
