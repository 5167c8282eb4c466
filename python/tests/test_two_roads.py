"""Two roads to one document: what adapters say of some kernels against what is read of their PTX. `tools/two_roads.py`
goes over many more."""

import argparse
import itertools
import pathlib
import shutil
import sys

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
pytest.importorskip("nvidia.cuda_nvrtc", reason="NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")
pytest.importorskip("nvidia.cuda_runtime", reason="its headers are not: pip install nvidia-cuda-runtime-cu12")
if not TOOLS.is_dir() or not shutil.which("wavecast"):
    pytest.skip("needs tools/ of the repository and the program `wavecast` on the path", allow_module_level=True)
sys.path.insert(0, str(TOOLS))

import two_roads


@pytest.mark.parametrize("generator", ["pystencils", "loopy"])
def test_both_roads_lead_to_the_same(generator, tmp_path):
    pytest.importorskip(generator, reason=f"{generator} is not installed: pip install {generator}")
    given = argparse.Namespace(wavecast=shutil.which("wavecast"), folder=tmp_path, device="a100")
    roads = two_roads.Roads(given)
    for build in itertools.islice(two_roads.GENERATORS[generator](), 0, 9, 4):
        case = build()
        for what, words, different in roads.verdicts(case):
            assert words is not None, (what, different)
