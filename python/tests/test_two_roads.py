"""Two roads to one document: what adapters say of some kernels against what is read of their PTX. `tools/two_roads.py`
goes over many more."""

import argparse
import copy
import itertools
import pathlib
import shutil
import sys
import sysconfig

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
pytest.importorskip("nvidia.cuda_nvrtc", reason="NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")
pytest.importorskip("nvidia.cuda_runtime", reason="its headers are not: pip install nvidia-cuda-runtime-cu12")
# The program of the package that is tested; another one otherwise.
WAVECAST = shutil.which("wavecast", path=sysconfig.get_path("scripts")) or shutil.which("wavecast")
if not TOOLS.is_dir() or not WAVECAST:
    pytest.skip("needs tools/ of the repository and the program `wavecast`", allow_module_level=True)
sys.path.insert(0, str(TOOLS))

import two_roads


@pytest.fixture
def roads(tmp_path):
    return two_roads.Roads(argparse.Namespace(wavecast=WAVECAST, folder=tmp_path, device="a100"))


def cases(generator, *which):
    pytest.importorskip(generator, reason=f"{generator} is not installed: pip install {generator}")
    return [build() for build in itertools.islice(two_roads.GENERATORS[generator](), *which)]


@pytest.mark.parametrize("generator", ["pystencils", "loopy"])
def test_both_roads_lead_to_the_same(generator, roads):
    for case in cases(generator, 0, 5, 4):
        verdicts = roads.verdicts(case)
        assert verdicts
        for what, words, different in verdicts:
            assert isinstance(words, set), (what, words, different)


def test_a_wrong_document_is_found(roads):
    [case] = cases("pystencils", 1)
    assert all(words == set() for _, words, _ in roads.verdicts(case))
    # An access of a neighbour further on, a field that is shorter, and one that is stored to another place.
    loads = case.document["loads"]
    far = [load.replace("+ 1", "+ 2") for load in loads]
    assert far != loads
    for wrong in (dict(loads=far), dict(loads=loads[1:]), dict(stores=["b[x]"])):
        other = copy.copy(case)
        other.document = case.document | wrong
        for what, words, different in roads.verdicts(other):
            assert words is None and different[0] == "other accesses", (wrong, what, words, different)
    # What cannot be read is refused, and not passed over.
    other = copy.copy(case)
    other.text = case.text.replace("_data_b[", "_data_b[(int64_t) _data_a[0] + ")
    assert other.text != case.text
    assert all(isinstance(words, two_roads.Refused) for _, words, _ in roads.verdicts(other))
