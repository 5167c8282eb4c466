"""Results show themselves: as text, in notebooks, as frames and pictures; they are plain data all the
same."""

import copy
import json
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from html.parser import HTMLParser
from pathlib import Path

import pytest
import wavecast
import wavecast.cuda
from test_api import COPY, ROOT
from test_commands import MEASURED, SAXPY, SMALL, STAR, printed

LARGE = {**COPY, "params": {"N": 1 << 26}}
MADE = {
    "rank": lambda: wavecast.rank(LARGE, "v100"),
    "predict": lambda: wavecast.predict(LARGE, 64, device="v100"),
    "explain": lambda: wavecast.explain(LARGE, 64, device="v100"),
    "sweep": lambda: wavecast.sweep(LARGE, {"N": [1 << 20, 1 << 24]}, "v100"),
    "check": lambda: wavecast.check(LARGE),
    "compare": lambda: wavecast.compare(STAR, "v100", block=(32, 2, 2), warm_waves=0, set=SMALL),
    "diff": lambda: wavecast.diff(LARGE, device="v100", block=[[64], [1024]]),
    "validate": lambda: wavecast.validate(MEASURED, kernel=STAR),
    "fit": lambda: wavecast.fit(MEASURED, kernel=STAR, bootstrap=0),
    "cache_probe": lambda: wavecast.cache_probe(ROOT / "tests" / "cache_probe" / "small.csv"),
    "read": lambda: wavecast.read(SAXPY),
    "trace": lambda: wavecast.trace.reuse(COPY, blocks=2),
    "devices": lambda: wavecast.rank(LARGE, ["v100", "a100", "mi100"]),
    "kernels": lambda: wavecast.predict([COPY, {**LARGE, "kernel": "large"}], 64, device="v100"),
    "with an error": lambda: wavecast.predict(
        [COPY, {**COPY, "launch": {"registers": 99999}}], 64, device="v100"
    ),
}
#: What has no picture.
WITHOUT = {"check", "read", "trace"}


@pytest.fixture(scope="module", params=MADE)
def made(request):
    try:
        return request.param, MADE[request.param]()
    except wavecast.KernelError as error:
        pytest.fail(f"{request.param}: {error}")


class Balanced(HTMLParser):
    """Counts tags that are open."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_results_are_plain_data(made):
    _, result = made
    again = json.loads(json.dumps(result))
    assert again == result
    assert isinstance(result, list) or isinstance(result, dict) and result["schema"].startswith("wavecast/")


def test_results_can_be_pickled_and_copied(made):
    _, result = made
    text, html = str(result), result._repr_html_()
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(other) is type(result) and other == result
        assert str(other) == text and other._repr_html_() == html
    deep = copy.deepcopy(result)
    (deep[0] if isinstance(deep, list) else deep)["schema"] = "changed"
    assert deep != result


def test_notebooks_show_a_table_and_a_picture(made):
    name, result = made
    html = result._repr_html_()
    parser = Balanced()
    parser.feed(html)
    assert not parser.open and "table" in parser.seen
    pictures = re.findall(r"<svg.*?</svg>", html, re.S)
    assert bool(pictures) != (name in WITHOUT)
    for picture in pictures:
        drawn = xml.fromstring(picture)
        wide = float(drawn.get("width"))
        bars = [e for e in drawn.iter() if e.tag.endswith("rect")]
        assert bars and all(0 <= float(b.get("x")) + float(b.get("width")) <= wide for b in bars)
        assert max(float(b.get("width")) for b in bars) > 100
    assert "<script" not in html and "href" not in html


def test_frames_say_what_they_are_about(made):
    pandas = pytest.importorskip("pandas")
    name, result = made
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) >= 1
    if name in ("rank", "predict", "explain", "sweep", "compare", "devices", "kernels"):
        assert list(frame.columns[:2]) == ["kernel", "device"] and frame["device"].notna().all()
        assert frame["block_x"].ge(32).all()
    if name == "devices":
        assert set(frame["device"]) == {"v100-pcie-32gb", "a100-40gb", "mi100"}
    if name == "validate":
        assert len(frame) == 4 * 27 and set(frame["quantity"]) >= {"rate", "l2_load"}
        assert (frame["predicted"] > 0).all() and frame["block_x"].max() <= 1024


def test_pictures_are_drawn(made):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    name, result = made
    if name in WITHOUT:
        with pytest.raises(ValueError, match=r"nothing to draw in this Document: frame\(\) has its numbers"):
            result.plot()
        return
    axes = result.plot()
    assert isinstance(axes, matplotlib.axes.Axes) and (axes.patches or axes.lines)
    _, own = pyplot.subplots()
    assert result.plot(ax=own) is own and result.plot(own) is own
    pyplot.close("all")


def test_texts_are_those_of_the_command_line(tmp_path):
    file = tmp_path / "copy.yaml"
    file.write_text(json.dumps(LARGE))
    for function, arguments in [
        ("predict", ["--block", "64,1,1"]),
        ("sweep", ["--vary", "N=1048576,16777216"]),
    ]:
        told = printed(function, file, "-d", "v100", *arguments)
        assert str(MADE[function]()).split() == told.split()
    assert (
        str(MADE["diff"]()).split()
        == printed("diff", file, "-d", "v100", "--block=64", "--block=1024").split()
    )
    assert str(wavecast.check(LARGE)).split() == printed("check", file).split()
    both = wavecast.predict([COPY, LARGE], 64, device="v100")
    assert str(both[1]) == str(MADE["predict"]()) != str(both[0])


def test_texts_are_escaped():
    ranking = wavecast.rank({**COPY, "variants": [{"name": "<b>&\"'", "launch": {}}]}, "v100")
    html = ranking._repr_html_()
    assert '<b>&"' not in html and "&lt;b&gt;&amp;&quot;" in html
    xml.fromstring(re.search(r"<svg.*?</svg>", html, re.S)[0])
    document = wavecast.Document(
        {"schema": "x/<i>/1", "key": "</td><script>alert(1)</script>", "warnings": ["<u>"]}
    )
    html = document._repr_html_()
    assert "<script>" not in html and "<u>" not in html and "<i>" not in html and "&lt;script&gt;" in html


def test_devices_are_compared_as_the_command_line_does(tmp_path):
    file = tmp_path / "copy.yaml"
    file.write_text(json.dumps([LARGE, COPY]))
    devices = ["v100", "a100", "mi100"]
    for function in (wavecast.rank, wavecast.predict):
        arguments = [function.__name__, file, *(a for d in devices for a in ("-d", d)), "--format", "json"]
        assert function([LARGE, COPY], device=devices) == json.loads(printed(*arguments))
    found = wavecast.rank(LARGE, devices)
    assert max(r["device_relative"] for r in found) == 1.0
    lines = str(found).splitlines()
    assert len(lines) == 4 and "relative" in lines[0] and "mi100" in lines[3]
    assert wavecast.Kernel(LARGE).rank(["v100"]) == [wavecast.rank(LARGE, "v100")]
    assert found[1].explain()["device"]["id"] == "a100-40gb"
    assert [e["device"]["id"] for e in wavecast.explain(LARGE, 64, device=devices[:2])] == [
        "v100-pcie-32gb",
        "a100-40gb",
    ]


def test_a_device_that_cannot_run_it_does_not_hide_the_others():
    # 96 KiB of shared memory are more than a block of the MI100 may have.
    kernel = {**COPY, "launch": {**COPY["launch"], "shared": 96 << 10}}
    found = wavecast.predict(kernel, 64, device=["mi100", "a100"])
    assert found[0]["schema"] == "wavecast/error/1" and "shared" in str(found[0])
    assert found[1]["device_relative"] == 1.0 and "cannot run" in str(found) and len(found.frame()) == 1
    assert "cannot run" in found._repr_html_() and pickle.loads(pickle.dumps(found)) == found
    ranked = wavecast.rank(kernel, ["mi100", "a100"])
    assert not ranked[0]["results"] and "cannot run" in str(ranked)
    with pytest.raises(wavecast.KernelError, match="no device `a1000`"):
        wavecast.predict(kernel, 64, device=["a100", "a1000"])
    with pytest.raises(wavecast.KernelError, match="2048 > 1024"):
        wavecast.predict(kernel, 2048, device=["a100", "v100"])
    for wrong in ([], [3], 3, {"a100": 1}):
        with pytest.raises(TypeError, match="name a device, or several"):
            wavecast.rank(kernel, wrong)


def test_what_is_not_installed_is_said(monkeypatch):
    for name in ("pandas", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    ranking = wavecast.rank(COPY, "a100")
    with pytest.raises(ImportError, match="pip install pandas"):
        ranking.frame()
    with pytest.raises(ImportError, match="pip install matplotlib"):
        ranking.plot()


def test_nothing_heavy_is_imported_before_it_is_needed():
    loaded = "{m.partition('.')[0] for m in sys.modules} - set(sys.stdlib_module_names)"
    text = f"import sys, wavecast; print(*sorted({loaded}))"
    folder = str(Path(wavecast.__file__).parent.parent)
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", text], capture_output=True, text=True, env={"PYTHONPATH": folder}
    )
    assert loaded.returncode == 0, loaded.stderr
    assert set(loaded.stdout.split()) <= {"wavecast", "__main__"}


def test_the_import_is_quick():
    text = "import time; t = time.perf_counter(); import wavecast; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", text], capture_output=True, text=True) for _ in range(5)]
    # The quickest, as the machine may do other things too.
    assert min(float(run.stdout) for run in runs) < 0.06


def asked(block):
    return str(wavecast.predict(COPY, block, device="a100")), wavecast.diff(
        COPY, device="a100", block=[[64], [block]]
    )


def refused(block):
    return wavecast.predict(COPY, block, device="a100")


def test_errors_go_from_process_to_process():
    with pytest.raises(wavecast.KernelError) as caught:
        wavecast.rank({**COPY, "loads": ["a[y]"]}, "a100")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is wavecast.KernelError and again.errors == caught.value.errors
    assert str(again) == str(caught.value) and again.text == caught.value.text
    compiled = wavecast.cuda.CompileError(again.errors, "text", "what was said")
    assert pickle.loads(pickle.dumps(compiled)).log == "what was said"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        with pytest.raises(wavecast.KernelError, match="2048 > 1024"):
            pool.apply_async(refused, (2048,)).get(timeout=60)


def test_processes_that_are_spawned_answer_alike():
    expected = [asked(block) for block in (64, 256)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map_async(asked, (64, 256)).get(timeout=60) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_processes_that_are_forked_answer_alike():
    expected = [asked(block) for block in (64, 256)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(asked, (64, 256)).get(timeout=60) == expected
