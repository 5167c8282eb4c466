"""The package itself: questions, answers, mistakes, threads, the command line that comes with it."""

import copy
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import wavecast
from wavecast import _wavecast

ROOT = Path(__file__).resolve().parents[2]
STAR = ROOT / "kernels" / "star3d25.yaml"
COPY = {
    "wavecast": 1,
    "kernel": "copy",
    "params": {"N": 4096},
    "fields": {"a": {"dtype": "f64", "size": "N"}, "b": {"like": "a"}},
    "domain": [{"x": "N"}],
    "loads": ["a[x]"],
    "stores": ["b[x]"],
    "work": {"flops": 0},
    "launch": {"block": [[64], [256], [2048]], "registers": 16},
}


def command_line(*arguments, text=""):
    command = [sys.executable, "-m", "wavecast", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_answers_are_those_of_the_command_line():
    text = json.dumps(COPY)
    for function in [wavecast.rank, wavecast.predict, wavecast.explain, wavecast.check]:
        arguments = [function.__name__, "-", "-d", "v100", "--set", "N=8192", "--format", "json"]
        printed = json.loads(command_line(*arguments, text=text).stdout)
        assert function(COPY, device="v100", set={"N": 8192}) == printed
        assert function(text, device="v100", set=["N=8192"]) == printed


def difference(a, b, where=""):
    """Where two documents differ: also in the order of their keys, and in the kinds of their numbers."""
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return f"{where}: {list(a)}, {list(b)}"
        pairs = [(key, a[key], b[key]) for key in a]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = list(zip(range(len(a)), a, b))
    else:
        return None if type(a) is type(b) and a == b else f"{where}: {a!r}, {b!r}"
    return next(filter(None, (difference(x, y, f"{where}.{key}") for key, x, y in pairs)), None)


@pytest.mark.parametrize("path", sorted((ROOT / "kernels").glob("*.yaml")), ids=lambda path: path.stem)
def test_answers_are_what_their_json_says(path):
    for op, more in [("predict", {}), ("check", {}), ("rank", {"top": 2})]:
        found = getattr(wavecast, op)(path, "a100", **more)
        options = [f"--{name}={value}" for name, value in more.items()]
        status, output, *_ = _wavecast.run(["wavecast", op, str(path), "-d", "a100", *options, "--format", "json"])
        assert status == 0 and difference(found, json.loads(output)) is None, op


def test_series_are_those_of_the_command_line():
    arguments = ["sweep", "-", "-d", "v100", "--vary", "N=1024..4096 step 1024", "--vary", "block=64,256"]
    printed = json.loads(command_line(*arguments, "--format", "json", text=json.dumps(COPY)).stdout)
    vary = {"N": "1024..4096 step 1024", "block": "64,256"}
    assert wavecast.sweep(COPY, vary, "v100") == printed and len(printed["points"]) == 8
    kernel = wavecast.Kernel(COPY)
    assert kernel.sweep([f"{n}={v}" for n, v in vary.items()], "v100") == printed
    assert kernel.sweep({"clock": "1GHz"}, "v100", best=True, threads=64)["best"]
    near = kernel.explain(64, device="v100", near=True)["neighbours"]
    assert near["compared"] < kernel.explain(64, device="v100")["neighbours"]["compared"]
    for wrong, says in [({"M": "1..2"}, "neither the kernel nor the device"), ({}, "options.vary")]:
        with pytest.raises(wavecast.KernelError, match=says):
            kernel.sweep(wrong, "v100")
    with pytest.raises(wavecast.KernelError, match="unknown field `nearer`"):
        kernel.explain("v100", nearer=True)


def test_a_kernel_may_be_given_in_many_ways(tmp_path):
    ranking = wavecast.rank(STAR, "a100")
    assert wavecast.rank(str(STAR), "a100") == ranking
    assert wavecast.rank(STAR.read_text(), "a100") == ranking
    kernel = wavecast.Kernel(STAR)
    assert kernel.name == "star3d25" and kernel.rank("a100") == ranking
    assert wavecast.Kernel(STAR, NX=320).rank("a100")["kernel"]["domain"][0] == 320
    several = wavecast.predict([COPY, {**COPY, "kernel": "other"}], 128, device="a100")
    assert [p["kernel"]["name"] for p in several] == ["copy", "other"]


def test_options_are_those_of_the_command_line():
    ranking = wavecast.rank(COPY, "a100", block=[[32], 64, (128, 1, 1)], fold=2, top=2, tie=1.5, model="roofline")
    assert ranking["summary"] == {"candidates": 3, "feasible": 3, "tie_error": 0.015}
    assert len(ranking["results"]) == 2 and ranking["model"]["id"] == "roofline"
    assert all(r["config"]["fold"] == [2, 1, 1] for r in ranking["results"])
    less = wavecast.predict(COPY, 64, device="a100", device_set={"sm.count": 54}, engine="runs", verify=True)
    assert less["result"]["counting"]["engines"] == ["runs"]
    assert wavecast.rank(COPY, "a100", threads=[64, 128])["summary"]["candidates"] == 2
    slow = wavecast.rank(COPY, "a100", clock="705MHz")
    assert slow["model"]["clock"] == "705 MHz" and "clock" not in ranking["model"]
    assert wavecast.predict(COPY, 64, device="a100", clock="705MHz")["model"]["clock"] == "705 MHz"


def test_variants_and_folds_can_be_chosen():
    tiled = ROOT / "kernels" / "transpose-tiled.yaml"
    one = wavecast.predict(tiled, device="a100", variant="8 rows")
    assert one["result"]["config"]["variant"] == "8 rows" and one["choice"]["block"] == "only"
    assert wavecast.rank(tiled, "a100", variant=["8 rows", "4 rows"])["summary"]["candidates"] == 2
    assert wavecast.check(tiled, variant="16 rows")["kernel"]["variant"] == "16 rows"
    with pytest.raises(wavecast.KernelError, match="no variant `9 rows`"):
        wavecast.rank(tiled, "a100", variant="9 rows")
    folded = {**COPY, "launch": {**COPY["launch"], "fold": [[4]]}}
    block = wavecast.predict(folded, 128, device="a100")
    assert block["result"]["config"]["fold"] == [4, 1, 1] and block["choice"]["fold"] == "only"


def test_a_ranking_can_be_looked_at():
    ranking = wavecast.rank(COPY, "a100")
    assert isinstance(ranking, dict) and ranking.best["rank"] == 1
    assert ranking.place([256])["config"]["block"] == [256, 1, 1] and ranking.place((8, 8)) is None
    printed = str(ranking)
    assert "copy on NVIDIA A100" in printed and "10^9 LUP/s" in printed and "3 launches, 2 can run" in printed
    json.dumps(ranking)


def test_a_ranking_is_a_frame():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: pip install pandas")
    frame = wavecast.rank(STAR, "a100").frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 168
    assert list(frame["rank"]) == list(range(1, 169))
    assert (frame["time_low_s"] < frame["time_s"]).all() and (frame["time_s"] < frame["time_high_s"]).all()
    best = frame.iloc[0]
    assert best["block_x"] * best["block_y"] * best["block_z"] == 1024
    assert best["volumes.dram.load.total"] > 0 and best["limits_per_s.dram"] > best["rate_per_s"]


def test_mistakes_have_places():
    wrong = copy.deepcopy(COPY)
    wrong["loads"] = ["a[x]", "a[y + 1]"]
    wrong["lunch"] = {}
    with pytest.raises(wavecast.KernelError) as caught:
        wavecast.rank(wrong, "a100")
    errors = {e["code"]: e for e in caught.value.errors}
    assert set(errors) == {"unknown-key", "unknown-name"}
    place = errors["unknown-name"]
    line = caught.value.text.splitlines()[place["line"] - 1]
    assert line[place["column"] - 1] == "y" and "a[y + 1]" in str(caught.value)
    assert "did you mean `launch`?" in str(caught.value)
    text = "wavecast: 1\nkernel: x\nload: []\n"
    with pytest.raises(wavecast.KernelError) as caught:
        wavecast.check(text)
    assert caught.value.text == text and caught.value.code == caught.value.errors[0]["code"]
    misspelt = next(e for e in caught.value.errors if e["code"] == "unknown-key")
    assert (misspelt["line"], misspelt["column"]) == (3, 1) and caught.value.line == 1
    for bad, says in [
        (lambda: wavecast.rank(COPY, "a1000"), "no device `a1000`"),
        (lambda: wavecast.predict(COPY, 2048, device="a100"), "2048 > 1024"),
        (lambda: wavecast.predict(COPY, [0], device="a100"), "65536"),
        (lambda: wavecast.rank(COPY, "a100", engine="isl"), "built without isl"),
        (lambda: wavecast.rank(COPY, "a100", set={"M": 1}), "no document has a parameter `M`"),
    ]:
        with pytest.raises(wavecast.KernelError, match=says):
            bad()
    assert issubclass(wavecast.KernelError, ValueError)


def test_other_threads_run_meanwhile():
    # While one thread ranks, another one counts: with the lock held it would not get far.
    kernel = wavecast.Kernel(STAR)
    done = threading.Event()
    counted = 0

    def work():
        for n in range(8):
            kernel.rank("a100", set={"NX": 600 + n})
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        counted += 1
    thread.join()
    assert counted > 1000


def test_threads_get_their_own_answers():
    failures = []

    def work(n):
        for i in range(20):
            size = 1024 * (1 + n + i)
            if wavecast.predict(COPY, 64, device="a100", set={"N": size})["kernel"]["domain"] != [size]:
                failures.append((n, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_what_a_thread_touches():
    touched = wavecast.touches(COPY, [64], [2], block_index=[1], thread=[3])
    assert touched == {("load", "a"): [134, 135], ("store", "b"): [134, 135]}
    with pytest.raises(ValueError, match="unknown key"):
        wavecast.touches({**COPY, "lunch": 1}, [64], block_index=[0], thread=[0])


def test_the_build_says_what_it_is():
    features = wavecast.features()
    assert features["isl"] is False and "linear" in features["engines"] and "isl" not in features["engines"]
    assert features["version"] == wavecast.__version__
    version = next(
        line.split('"')[1] for line in (ROOT / "Cargo.toml").read_text().splitlines() if line.startswith("version")
    )
    assert wavecast.__version__ == version
    assert "a100-40gb" in wavecast.devices()


def test_the_wheel_carries_the_command_line():
    assert command_line("--version").stdout == f"wavecast {wavecast.__version__}\n"
    assert command_line("rank", "no-such-file").returncode == 2
    assert command_line("rank", "-", "-d", "a100", "--block", "2048", text=json.dumps(COPY)).returncode == 1
    answered = command_line("serve", "--stdio", text='{"id": 1, "op": "rank"}\n')
    assert json.loads(answered.stdout)["id"] == 1


def test_numbers_may_be_numpy_s():
    numpy = pytest.importorskip("numpy")
    document = copy.deepcopy(COPY)
    document["params"] = {"N": numpy.int64(4096)}
    document["launch"] = {"block": numpy.array([[64], [256]]), "registers": numpy.float64(16.0)}
    document["work"] = {"flops": numpy.float32(0.5)}
    plain = {**COPY, "launch": {"block": [[64], [256]], "registers": 16}, "work": {"flops": 0.5}}
    assert wavecast.rank(document, "a100") == wavecast.rank(plain, "a100")
    found = wavecast.rank(COPY, "a100", block=(numpy.int32(64),), top=numpy.uint8(1), verify=numpy.bool_(True))
    assert found == wavecast.rank(COPY, "a100", block=64, top=1, verify=True)
    assert wavecast.predict(COPY, numpy.array([128, 1]), device="a100") == wavecast.predict(COPY, 128, device="a100")
    assert wavecast.rank(COPY, "a100", set={"N": numpy.float64(8192)})["kernel"]["domain"] == [8192]
    with pytest.raises(TypeError, match=r"document\.fields\.a\.size: a complex is nothing"):
        wavecast.rank({**COPY, "fields": {"a": {"dtype": "f64", "size": 4j}}})


def test_a_device_in_the_place_of_the_block_is_the_device():
    assert wavecast.predict(COPY, "v100") == wavecast.predict(COPY, device="v100")
    assert wavecast.Kernel(COPY).predict("v100") == wavecast.predict(COPY, device="v100")
    for arguments in [("v100", [64]), ("v100", None, "a100")]:
        with pytest.raises(TypeError, match="'v100' is no block; give the device by name"):
            wavecast.predict(COPY, *arguments)


def test_frames_say_what_they_are_of():
    pandas = pytest.importorskip("pandas")
    frames = [wavecast.rank(COPY, device).frame() for device in ("a100", "v100")]
    both = pandas.concat(frames)
    assert list(both.columns[:2]) == ["kernel", "device"]
    assert set(both["kernel"]) == {"copy"} and set(both["device"]) == {"a100-40gb", "v100-pcie-32gb"}


def test_a_ranking_knows_its_question():
    ranking = wavecast.rank(COPY, "v100", set={"N": 8192}, caches="cold")
    best = ranking.best
    assert (best.block, best.fold, best.variant) == (tuple(best["config"]["block"]), (1, 1, 1), None) and best.grid[
        1:
    ] == (1, 1)
    assert best.interval[0] < best.time < best.interval[1]
    assert ranking.explain() == wavecast.explain(
        COPY, best.block, best.fold, device="v100", set={"N": 8192}, caches="cold"
    )
    assert ranking.explain((64,)) == wavecast.explain(
        COPY, 64, (1, 1, 1), device="v100", set={"N": 8192}, caches="cold"
    )
    assert ranking.document is COPY and wavecast.rank(wavecast.Kernel(COPY), "v100").document is COPY
    with pytest.raises(ValueError, match="block \\(2048,\\)"):
        ranking.explain((2048,))
    with pytest.raises(ValueError, match="not made here"):
        wavecast.Ranking(dict(ranking)).explain()
    assert copy.deepcopy(ranking).explain() == ranking.explain()
