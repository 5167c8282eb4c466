"""The notebooks of examples/ run from top to bottom; what they print is what stands in them."""

import base64
import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install nbclient ipykernel")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install nbclient ipykernel")
pytest.importorskip("pystencils", reason="pystencils is not installed: pip install pystencils")
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

from wavecast import _nvrtc, _ptxas

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples" / "notebooks").glob("*.ipynb"))
UPDATE = os.environ.get("WAVECAST_UPDATE") == "1"


def has_compilers():
    try:
        _nvrtc.library()
    except ImportError:
        return False
    return _ptxas.find() is not None


def printed(notebook):
    """What the cells print, cell by cell."""
    return [
        "".join(o["text"] for o in cell.get("outputs", ()) if o["output_type"] == "stream" and o["name"] == "stdout")
        for cell in notebook.cells
    ]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook(path, tmp_path, monkeypatch):
    monkeypatch.setenv("WAVECAST_CACHE", str(tmp_path))
    before = nbformat.read(path, 4)
    ran = nbformat.read(path, 4)
    for cell in ran.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # An exception in a cell is one here.
    nbclient.NotebookClient(ran, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in ran.cells for output in cell.get("outputs", ())]
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
    kinds = [kind for o in outputs for kind in o.get("data", ())]
    pictures = [base64.b64decode(o["data"]["image/png"]) for o in outputs if "image/png" in o.get("data", ())]
    assert len(pictures) >= 2 and all(p.startswith(b"\x89PNG") and len(p) > 5000 for p in pictures)
    tables = [o["data"]["text/html"] for o in outputs if "text/html" in o.get("data", ())]
    assert len(tables) >= 2 and all("<svg" in t and "<table" in t for t in tables), kinds
    if UPDATE:
        for cell in ran.cells:
            # Times of execution would differ each time.
            cell.metadata.pop("execution", None)
        nbformat.write(ran, path)
    elif has_compilers():
        assert printed(ran) == printed(before), "WAVECAST_UPDATE=1 puts the new outputs into the notebook"
