"""Each command of the command line as a function: the same answers, the same mistakes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import wavecast
from test_api import COPY, ROOT

STAR = ROOT / "kernels" / "star3d7.yaml"
MEASURED = ROOT / "tests" / "measured" / "star3d7.csv"
SAXPY = ROOT / "tests" / "ptx" / "nvrtc" / "saxpy.ptx"
LOG = ROOT / "tests" / "cache_probe" / "small.csv"
#: A small launch of it, which is simulated in no time.
SMALL = {"NX": 32, "NY": 32, "NZ": 32}


def printed(*arguments, text=None):
    """What the command line prints, run as a program of its own."""
    command = [sys.executable, "-m", "wavecast", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def answered(*arguments, text=None):
    return json.loads(printed(*arguments, "--format", "json", text=text))


def test_comparisons_are_those_of_the_command_line():
    sizes = [f"--set={name}={n}" for name, n in SMALL.items()]
    expected = answered("compare", STAR, "-d", "v100", "--block", "32,2,2", "--warm-waves", "1", *sizes)
    found = wavecast.compare(STAR, "v100", block=(32, 2, 2), warm_waves=1, set=SMALL)
    assert found == expected and found["quantities"]
    kernel = wavecast.Kernel(STAR, **SMALL)
    assert wavecast.compare(kernel, device="v100", block=[[32, 2, 2]], warm_waves=1) == expected
    plain = printed("compare", STAR, "-d", "v100", "--block", "32,2,2", "--warm-waves", "1", *sizes)
    assert str(found).split() == plain.split()
    both = wavecast.compare(STAR, ["v100", "a100"], block=(32, 2, 2), warm_waves=0, set=SMALL)
    assert [c["device"]["id"] for c in both] == ["v100-pcie-32gb", "a100-40gb"]


def test_two_predictions_beside_each_other(tmp_path):
    file = tmp_path / "copy.yaml"
    file.write_text(json.dumps(COPY))
    expected = answered("diff", file, "-d", "v100", "--block", "64,1,1", "--block", "256,1,1")
    found = wavecast.diff(COPY, device="v100", block=[[64], [256]])
    assert found == expected == wavecast.diff(COPY, device="v100", block=[[64], [256, 1]])
    saved = [wavecast.predict(COPY, block, device="v100") for block in (64, 256)]
    assert wavecast.diff(*saved)["speedup"] == found["speedup"]
    assert wavecast.diff(*map(dict, saved)) == wavecast.diff(*saved)
    larger = {**COPY, "params": {"N": 1 << 24}}
    kernels = wavecast.diff(COPY, larger, "a100", block=256)
    assert kernels["a"]["time_s"] < kernels["b"]["time_s"]
    devices = wavecast.diff(COPY, device=["a100", "h200"], block=256)
    assert (devices["a"]["device"], devices["b"]["device"]) == ("a100-40gb", "h200")


def test_measurements_may_be_files_texts_and_frames():
    folder = ROOT / "kernels"
    expected = answered("validate", MEASURED, "--kernels", folder, "--worst", "1")
    assert wavecast.validate(MEASURED, kernels=folder, worst=1) == expected
    assert wavecast.validate(MEASURED.read_text(), kernels=folder, worst=1) == expected
    assert wavecast.validate([str(MEASURED)], kernel=[STAR], worst=1) == expected
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(MEASURED, comment="#")
    found = wavecast.validate(frame, kernels=folder, worst=1)
    assert found["summary"] == expected["summary"] and found["order"] == expected["order"]


def test_curves_are_fitted_and_used(tmp_path):
    curves = tmp_path / "v100.yaml"
    fitted = wavecast.fit(MEASURED, kernels=ROOT / "kernels", bootstrap=0, output=curves)
    assert fitted["schema"] == "wavecast/fit/1" and fitted["launches"] == 27
    assert "wavecast-curves: 1" in curves.read_text()
    before = wavecast.validate(MEASURED, kernels=ROOT / "kernels")
    after = wavecast.validate(MEASURED, kernels=ROOT / "kernels", curves=curves)
    error = [
        {q["quantity"]: q["mean_absolute_error_percent"] for q in v["quantities"]}["rate"]
        for v in (before, after)
    ]
    assert error[1] < error[0]


def test_caches_are_probed():
    assert wavecast.cache_probe(LOG) == answered("cache-probe", LOG)
    found = wavecast.cache_probe(LOG.read_text())
    assert found["structure"]["line_bytes"]["value"] == 32 and found["sources"] == ["log.csv"]
    spec = {"line": 32, "sets": 4, "ways": 2, "mapping": "bits", "replacement": "lru", "hit": 40, "miss": 200}
    text = wavecast.cache_probe(simulate=spec, chase=["64,1", "80,-1,cold"])
    assert text.startswith("# wavecast-pchase") and wavecast.cache_probe(text)["runs"] == 2


def test_programs_are_emitted(tmp_path):
    program = wavecast.emit(COPY, "a100", lang="hip", block=[[64], [2048]])
    assert "hipcc" in program and "2048" not in program
    assert wavecast.emit(COPY, output=tmp_path / "copy.cu") == ""
    assert "__global__" in (tmp_path / "copy.cu").read_text()
    with pytest.raises(wavecast.KernelError, match="is there already\n  help: add force= to replace it"):
        wavecast.emit(COPY, output=tmp_path / "copy.cu")
    assert wavecast.emit(COPY, output=tmp_path / "copy.cu", force=True, kernels_only=True) == ""


def test_ptx_is_read():
    assert [e["name"] for e in wavecast.read(SAXPY)["entries"]] == ["saxpy"]
    arguments = ["--entry", "saxpy", "--arg", "0=4096", "--block", "128,1,1"]
    expected = answered("read", SAXPY, *arguments)
    assert wavecast.read(SAXPY, "saxpy", arg={0: 4096}, block=128) == expected
    found = wavecast.read(SAXPY.read_text(), "saxpy", arg={0: 4096}, block=128)
    assert wavecast.rank(found["document"], "a100").best.block == (128, 1, 1)


def test_traces_are_commands_of_a_module():
    import wavecast.trace as trace

    assert wavecast.trace is trace
    text = trace.synth(COPY, block=64, blocks=2)
    assert text.startswith("# wavecast-trace 1\n") and text.count("\n") == 2 * 128 + 3
    arguments = ["trace", "reuse", "-", "--cores", "2", "--without", "mshr"]
    assert trace.reuse(text, cores=2, without=["mshr"])["runs"] == answered(*arguments, text=text)["runs"]
    assert trace.info(COPY, blocks=2)["launches"][0]["accesses"] == 256
    assert trace.cache(COPY, blocks=2, device="a100")["volumes"]["blocks"] == 2
    assert trace.hot(text, top=1)["misses"] == trace.cache(text)["read_misses"]
    assert {row["parameter"] for row in trace.sweep(text).rows()} >= {"associativity"}
    assert trace.convert(text, to="jsonl").startswith("{")
    assert trace.plot(text)._repr_svg_().startswith("<svg")


def test_each_command_is_there():
    shown = printed("--help").partition("Commands:")[2].partition("Options:")[0]
    commands = {
        line.split()[0].replace("-", "_")
        for line in shown.splitlines()
        if line[:2] == "  " and line[2] != " "
    }
    assert {"rank", "cache_probe"} <= commands
    # Those that make no sense in a program: they write files, or are about the command line itself.
    others = {"import", "new", "serve", "batch", "schema", "completions", "licences", "help"}
    missing = {name for name in commands - others if not hasattr(wavecast, name)}
    assert not missing and set(wavecast.__all__) <= set(dir(wavecast)) | {"trace"}


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (
            lambda: wavecast.compare({**COPY, "lunch": 1}),
            r"kernel.yaml:\d+:\d+: unknown key `lunch`(.|\n)*\^",
        ),
        (lambda: wavecast.compare(COPY, "a1000"), "there is no device `a1000`"),
        (lambda: wavecast.compare(COPY, wais=3), r"unexpected argument 'wais=' found"),
        (lambda: wavecast.diff(COPY, device="a100"), "two predictions are compared, and one is named"),
        (lambda: wavecast.diff(COPY, COPY, "a100", block=2048), "2048 > 1024"),
        (lambda: wavecast.validate("none.csv"), "cannot read none.csv"),
        (lambda: wavecast.validate("kernel,device\n1,2\n"), r"measurements\.csv"),
        (lambda: wavecast.cache_probe("nothing\n1\n"), r"log\.csv"),
        (lambda: wavecast.emit(COPY, lang="basic"), "invalid value 'basic' for 'lang= <LANGUAGE>'"),
        (lambda: wavecast.trace.reuse(COPY, line=100), "128 bytes|power|line"),
        (lambda: wavecast.read(SAXPY, "sapxy"), "sapxy"),
    ],
)
def test_mistakes_are_said_in_words_of_python(question, says, tmp_path):
    with pytest.raises(wavecast.KernelError, match=says) as caught:
        question()
    said = str(caught.value)
    assert "--" not in said and "Usage" not in said and "wavecast-" not in said.replace("wavecast-trace", "")
    assert caught.value.code and caught.value.errors[0]["message"]


def test_what_has_no_place_here_is_refused():
    with pytest.raises(TypeError, match=r"compare\(\) takes no format=: the result is a document"):
        wavecast.compare(COPY, format="csv")
    with pytest.raises(TypeError, match="a int is neither a path nor a text"):
        wavecast.cache_probe(3)


def test_nothing_is_printed(capfd):
    wavecast.emit(COPY, "a100")
    wavecast.fit(MEASURED, kernels=ROOT / "kernels", bootstrap=0)
    with pytest.raises(wavecast.KernelError):
        wavecast.diff(COPY)
    assert capfd.readouterr() == ("", "")


def test_numpy_integers_are_integers():
    numpy = pytest.importorskip("numpy")
    block = numpy.array([32, 2, 2])
    found = wavecast.compare(STAR, "v100", block=block, warm_waves=numpy.int8(1), set={"NX": numpy.int64(32)})
    assert found == wavecast.compare(STAR, "v100", block=(32, 2, 2), warm_waves=1, set={"NX": 32})
    two = wavecast.diff(COPY, device="a100", block=numpy.array([[64, 1], [256, 1]]))
    assert two == wavecast.diff(COPY, device="a100", block=[[64], [256]])
    assert wavecast.trace.synth(COPY, blocks=numpy.uint16(1), block=numpy.int32(64)).count("\n") == 131
    assert wavecast.explain(COPY, numpy.int64(64), device="a100") == wavecast.explain(COPY, 64, device="a100")
    vary = {"N": numpy.array([1024, 2048])}
    assert wavecast.sweep(COPY, vary, "a100") == wavecast.sweep(COPY, {"N": "1024,2048"}, "a100")
    shapes = wavecast.sweep(COPY, {"block": numpy.array([[64, 1], [256, 1]])}, "a100")
    assert shapes == wavecast.sweep(COPY, {"block": "64x1x1,256x1x1"}, "a100")
    ranking = wavecast.rank(COPY, "a100", threads=numpy.array([64, 128]), tie=numpy.float32(4))
    assert ranking.place(numpy.array([64])) and ranking.table(numpy.int8(1)) == ranking.table(1)


def test_the_page_of_a_kernel_path_is_a_path(tmp_path, monkeypatch):
    # A path with an odd name is not taken for an option.
    path = tmp_path / "--set.yaml"
    path.write_text(json.dumps(COPY))
    monkeypatch.chdir(tmp_path)
    assert wavecast.diff("--set.yaml", device="a100", block=[[64], [256]])["a"]["kernel"] == "copy"
    assert wavecast.emit(Path("--set.yaml"))
