"""Fleets: the same files, byte by byte, whoever did the work and whatever happened meanwhile."""

import itertools
import json
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
import wavecast
import wavecast.fleet
from wavecast import _fleet_cost, _fleet_jobs
from wavecast.fleet import Run, rank_many

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: pip install pyarrow")

#: Seconds of a chunk: small, so that there are many.
SHORT = 0.01
DEVICES = ("a100", "h200")


def copy(n):
    return {
        "wavecast": 1,
        "kernel": f"copy{n}",
        "fields": {"a": {"dtype": "f64", "size": n}, "b": {"like": "a"}},
        "domain": [{"x": n}],
        "loads": ["a[x]"],
        "stores": ["b[x]"],
        "launch": {"block": {"x": "pow2(32..256)"}, "registers": 16},
    }


BROKEN = {**copy(64), "kernel": "broken", "loads": ["a[q]"]}


def some_jobs(count=240):
    """Many jobs, every tenth of which fails."""
    for number in range(count):
        kernel = copy(4096 + number // 2) if number % 10 else BROKEN
        yield {"kernel": kernel, "device": DEVICES[number % 2], "id": f"job {number}"}


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial")
    run = rank_many(some_jobs(), folder, top=2, chunk_seconds=SHORT)
    assert run.complete and len(run.parts) > 8
    return run


def same_as(serial, folder):
    assert contents(folder) == contents(serial.folder)


def test_rows_are_those_of_rank(serial):
    rows = serial.table().to_pylist()
    assert [row["job"] for row in rows] == sorted(row["job"] for row in rows)
    assert {row["job"] for row in rows} == set(range(240)) and serial.jobs == 240
    assert serial.failed == 24 and serial.rows == len(rows) == 24 + 2 * 216
    row, second = [row for row in rows if row["job"] == 3]
    ranking = wavecast.rank(copy(4097), "h200", top=2)
    best = ranking.best
    assert (row["id"], row["kernel"], row["device"]) == ("job 3", "copy4097", "h200")
    assert (row["rank"], second["rank"]) == (1, 2) and second["relative"] == ranking["results"][1]["relative"]
    assert (row["block_x"], row["block_y"], row["block_z"]) == best.block and row["fold_z"] == 1
    assert (row["time_s"], row["rate_per_s"], row["limiter"]) == (best.time, best["rate_per_s"], best["limiter"])
    assert (row["time_low_s"], row["time_high_s"]) == best.interval
    assert row["dram_load"] == best["volumes"]["dram"]["load"]["total"]
    assert row["l2_load"] == best["volumes"]["l2"]["load"]["total"]
    codes = [one["code"] for one in (*ranking["warnings"], *best["warnings"])]
    assert row["warnings"] == codes == ["flops-missing"] and row["error_code"] is None
    # The next has half as many blocks, for 132 SMs.
    codes = [one["code"] for one in (*ranking["warnings"], *ranking["results"][1]["warnings"])]
    assert second["warnings"] == codes == ["flops-missing", "few-blocks"]


def test_errors_are_rows(tmp_path):
    one = copy(4096)
    kernel = tmp_path / "gone.yaml"
    given = [
        {"kernel": BROKEN, "device": "a100"},
        {"kernel": one, "device": "nothing"},
        {"kernel": one, "device": "a100", "blok": 64},
        {"kernel": kernel, "device": "a100"},
        {"device": "a100"},
        "copy",
        {"kernel": one, "device": "a100", "block": [[2048]]},
        {"kernel": one, "device": "a100", "top": "many"},
        {"kernel": one, "device": "a100", "set": {"N": object()}},
        {"kernel": one, "device": ["a100", "h200"], "top": 1},
    ]
    rows = rank_many(given, tmp_path / "out").table().to_pylist()
    assert [row["job"] for row in rows] == [*range(10), 9]
    codes = [row["error_code"] for row in rows]
    with pytest.raises(wavecast.KernelError) as why:
        wavecast.rank(BROKEN, "a100")
    assert codes[0] == why.value.code and why.value.errors[0]["message"] in rows[0]["error_message"]
    assert codes[1:7] == ["unknown-device", "bad-job", "cannot-read", "bad-job", "bad-job", "no-launch"]
    assert rows[1]["device"] == "nothing" and "wavecast devices" in rows[1]["error_help"]
    assert "'blok' is no keyword" in rows[2]["error_message"] and "gone.yaml" in rows[3]["error_message"]
    assert "2048 > 1024" in rows[6]["error_message"]
    assert "top" in rows[7]["error_message"] and "set.N" in rows[8]["error_message"]
    assert [row["device"] for row in rows[9:]] == ["a100-40gb", "h200"] and codes[9:] == [None, None]


def test_mistakes_of_the_call_are_raised(tmp_path):
    with pytest.raises(TypeError, match="'blok' is no keyword"):
        rank_many([], tmp_path / "out", blok=64)
    with pytest.raises(TypeError, match="dask.distributed.Client"):
        rank_many([], tmp_path / "out", client=7)
    with pytest.raises(TypeError, match="several"):
        rank_many(copy(64), tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="rank_many writes"):
        Run(tmp_path)


def test_no_jobs_are_no_rows(tmp_path):
    run = rank_many([], tmp_path)
    assert run.complete and run.table().num_rows == 0 and "time_s" in run.table().schema.names


def test_json_lines(tmp_path, serial):
    lines = [json.dumps(job) for job in some_jobs()]
    path = tmp_path / "jobs.jsonl"
    path.write_text("\n\n".join(lines) + "\n")
    rank_many(path, tmp_path / "out", top=2, chunk_seconds=SHORT)
    same_as(serial, tmp_path / "out")
    path.write_text(lines[1] + "\n{\n")
    good, *_, bad = rank_many(str(path), tmp_path / "bad").table().to_pylist()
    assert good["id"] == "job 1" and bad["job"] == 1
    assert bad["error_code"] == "bad-json" and f"{path}:2: " in bad["error_message"]


def test_parameters_and_texts(tmp_path):
    text = json.dumps({**copy("N"), "params": {"N": 4096}}).replace("copyN", "copy")
    named = tmp_path / "copy.yaml"
    named.write_text(text)
    kernels = [text, named, str(named), json.loads(text), wavecast.Kernel(text)]
    given = [{"kernel": kernel, "device": "a100", "params": {"N": 8192}} for kernel in kernels]
    given.append({"kernel": text, "device": "a100", "set": {"N": 8192}})
    given.append({"kernel": wavecast.Kernel(text, N=8192), "device": "a100"})
    rows = rank_many(given, tmp_path / "out", top=1).table().to_pylist()
    assert {row["time_s"] for row in rows} == {wavecast.rank(copy(8192), "a100").best.time}


def test_executors(tmp_path, serial):
    for kind in (ThreadPoolExecutor, ProcessPoolExecutor):
        with kind(2) as executor:
            rank_many(some_jobs(), tmp_path / kind.__name__, client=executor, top=2, chunk_seconds=SHORT)
        same_as(serial, tmp_path / kind.__name__)
    with ProcessPoolExecutor(2) as executor:
        out = tmp_path / "shared"
        rank_many(some_jobs(), out, client=executor, shared=True, top=2, chunk_seconds=SHORT)
    same_as(serial, out)


def test_jobs_are_read_as_they_are_needed(tmp_path):
    read = 0

    def counted():
        nonlocal read
        for job in some_jobs():
            read += 1
            yield job

    chunks = _fleet_jobs.chunks(counted(), {}, SHORT)
    first = next(chunks)
    assert read == first.jobs < 40


def test_chunks_end_where_there_are_many_rows(monkeypatch):
    monkeypatch.setattr(_fleet_jobs, "MOST_ROWS", 100)
    chunks = list(_fleet_jobs.chunks(some_jobs(), {}, 1e9))
    assert [chunk.jobs for chunk in chunks] == [25] * 9 + [15]
    assert [chunk.jobs for chunk in _fleet_jobs.chunks(some_jobs(), {"top": 1}, 1e9)] == [100, 100, 40]


def test_a_run_goes_on_after_a_crash(tmp_path, serial):
    out = tmp_path / "out"

    def crashing():
        yield from itertools.islice(some_jobs(), 150)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank_many(crashing(), out, top=2, chunk_seconds=SHORT)
    before = Run(out)
    assert not before.complete and 0 < before.jobs < 150 and "not all jobs yet" in repr(before)
    # What a crash of the machine leaves: files that are lost, cut off, half written.
    kept, gone, cut = before.parts[0], before.parts[1], before.parts[2]
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:100])
    (out / f"{gone.name}.0123abcd.tmp").write_bytes(b"PAR1")
    manifest = out / "manifest.jsonl"
    manifest.write_text(manifest.read_text() + '{"part": 99, "fir')
    written = kept.stat().st_mtime_ns, kept.stat().st_ino
    rank_many(some_jobs(), out, top=2)
    same_as(serial, out)
    assert (kept.stat().st_mtime_ns, kept.stat().st_ino) == written


def test_a_run_that_is_over_does_nothing(tmp_path, monkeypatch):
    rank_many(some_jobs(40), tmp_path, chunk_seconds=SHORT)
    before = contents(tmp_path)
    monkeypatch.setattr("wavecast._fleet_work.answers", lambda sent: pytest.fail("done again"))
    rank_many(some_jobs(40), tmp_path)
    assert contents(tmp_path) == before


def test_other_jobs_do_not_go_on(tmp_path):
    rank_many(some_jobs(40), tmp_path, top=1, chunk_seconds=SHORT)
    with pytest.raises(ValueError, match="other jobs"):
        rank_many(some_jobs(40), tmp_path, top=2)
    with pytest.raises(ValueError, match="not there any more"):
        rank_many(itertools.islice(some_jobs(), Run(tmp_path).table().column("job")[0].as_py()), tmp_path)
    with pytest.raises(ValueError, match="chunk_seconds 0.01, and now it is 3"):
        rank_many(some_jobs(40), tmp_path, chunk_seconds=3)
    (tmp_path / "manifest.jsonl").unlink()
    with pytest.raises(ValueError, match="has parts and no manifest"):
        rank_many(some_jobs(40), tmp_path)


def test_an_executor_whose_process_died_says_how_to_go_on(tmp_path, serial):
    def deadly(executor):
        for number, job in enumerate(some_jobs()):
            if number == 120:
                os.kill(next(iter(executor._processes)), signal.SIGKILL)
            yield job

    with ProcessPoolExecutor(2) as executor, pytest.raises(RuntimeError, match="call rank_many again"):
        rank_many(deadly(executor), tmp_path, client=executor, top=2, chunk_seconds=SHORT)
    assert Run(tmp_path).jobs > 0
    rank_many(some_jobs(), tmp_path, top=2)
    same_as(serial, tmp_path)


def test_estimates(tmp_path):
    read = _fleet_cost._read
    assert read(json.dumps(copy(64)))[0] == 4
    listed = "launch:\n  block: {x: pow2(16..512), y: pow2(1..16), threads: [256, 512]}\n  fold: [[1], [1, 2]]\n"
    assert read(listed)[0] == 2 * len(
        [(x, y) for x in (16, 32, 64, 128, 256, 512) for y in (1, 2, 4, 8, 16) if x * y in (256, 512)]
    )
    assert read("launch:\n  block:\n    - [64, 1]\n    - [32, 2]\n  registers: 3\n")[0] == 2
    assert read("launch: {block: {x: 32..1024 step 32}}")[0] == 32
    few, many = (_fleet_cost.cost(listed, {"block": block}) for block in ([64], [[64], [128], [256]]))
    assert few.seconds < many.seconds < _fleet_cost.cost(listed, {"threads": [128, 256]}).seconds
    assert (many.rows, _fleet_cost.cost(listed, {"top": 2}).rows) == (3, 2)


def test_the_line_of_progress(tmp_path, capfd, monkeypatch):
    from wavecast._progress import Progress

    line = Progress(False, lambda: None)
    line._total, line._done = 3000, 1000
    assert line.line(10.0) == "wavecast: 1,000 of 3,000 jobs, 100 a second, about 20 s left"
    monkeypatch.setattr(Progress, "EVERY", 0.0)
    rank_many(some_jobs(40), tmp_path / "quiet", chunk_seconds=SHORT)
    assert capfd.readouterr() == ("", "")
    rank_many(list(some_jobs(40)), tmp_path / "told", chunk_seconds=SHORT, progress=True)
    assert "40 of 40 jobs" in capfd.readouterr().err


def test_frames_and_queries(serial):
    pytest.importorskip("pandas")
    frame = serial.frame()
    best = frame[frame["rank"] == 1].set_index("id")
    assert best.loc["job 3", "block_x"] == wavecast.rank(copy(4097), "h200").best.block[0]
    assert str(frame["block_x"].dtype) == "Int32" and frame["time_s"].notna().sum() == 2 * 216
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install duckdb")
    found = duckdb.sql(f"select count(distinct job) from '{serial.folder}/*.parquet' where error_code is null")
    assert found.fetchall() == [(216,)]


def deadly_poison():
    """Makes a kernel kill the process that ranks it."""
    from wavecast import _fleet_rows

    def deadly(kernel, *arguments, **options):
        if kernel["kernel"] == "poison":
            os.kill(os.getpid(), signal.SIGKILL)
        return wavecast.rank(kernel, *arguments, **options)

    _fleet_rows.rank = deadly


def check_poison(tmp_path, client):
    """Workers that are deadly do all jobs but the one that kills them."""
    given = list(some_jobs(60))
    safe = rank_many(given, tmp_path / "safe", top=2, chunk_seconds=SHORT)
    given[31] = {**given[31], "kernel": {**copy(4096), "kernel": "poison"}}
    run = rank_many(given, tmp_path / "run", client=client, top=2, chunk_seconds=SHORT)
    rows = run.table().to_pylist()
    assert run.complete and run.jobs == 60 and run.failed == safe.failed + 1
    (lost,) = [row for row in rows if row["job"] == 31]
    assert (lost["id"], lost["error_code"]) == ("job 31", "worker-lost") and lost["error_help"]
    assert [r for r in rows if r["job"] != 31] == [r for r in safe.table().to_pylist() if r["job"] != 31]


# Dask


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install dask[distributed]")
    import cloudpickle
    import test_fleet

    # Workers do not find this file.
    cloudpickle.register_pickle_by_value(test_fleet)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options, silence_logs=50) as cluster, distributed.Client(cluster) as client:
        yield client


def test_dask(tmp_path, serial, client):
    rank_many(some_jobs(), tmp_path / "a", client=client, top=2, chunk_seconds=SHORT)
    same_as(serial, tmp_path / "a")
    rank_many(some_jobs(), tmp_path / "b", client=client, top=2, chunk_seconds=SHORT, shared=True, in_flight=2)
    same_as(serial, tmp_path / "b")


def test_dask_with_a_worker_killed_in_the_middle(tmp_path, serial, client):
    workers = client.run(os.getpid)

    def deadly():
        for number, job in enumerate(some_jobs()):
            if number == 120:
                os.kill(list(workers.values())[0], signal.SIGKILL)
            yield job

    rank_many(deadly(), tmp_path, client=client, top=2, chunk_seconds=SHORT)
    same_as(serial, tmp_path)
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(workers.values())


def test_dask_goes_on_without_a_job_that_kills(tmp_path, client):
    from distributed import WorkerPlugin

    class Deadly(WorkerPlugin):
        """Of workers, and of the new ones that come in their place as well."""

        def setup(self, worker):
            deadly_poison()

        def teardown(self, worker):
            from wavecast import _fleet_rows

            _fleet_rows.rank = wavecast.rank

    client.register_plugin(Deadly(), name="deadly")
    try:
        check_poison(tmp_path, client)
    finally:
        client.unregister_worker_plugin("deadly")


# Ray


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install ray")
    import test_fleet

    ray.cloudpickle.register_pickle_by_value(test_fleet)
    options = {"num_cpus": 2, "include_dashboard": False, "log_to_driver": False, "configure_logging": False}
    ray.init(**options, runtime_env={"worker_process_setup_hook": deadly_poison})
    yield ray
    ray.shutdown()


def test_ray(tmp_path, serial, ray):
    rank_many(some_jobs(), tmp_path, client="ray", top=2, chunk_seconds=SHORT)
    same_as(serial, tmp_path)


def test_ray_with_workers_killed_in_the_middle(tmp_path, serial, ray):
    @ray.remote
    def pid():
        time.sleep(0.1)
        return os.getpid()

    pids = set(ray.get([pid.remote() for _ in range(4)]))

    def deadly():
        for number, job in enumerate(some_jobs()):
            if number == 120:
                for one in pids:
                    os.kill(one, signal.SIGKILL)
            yield job

    rank_many(deadly(), tmp_path, client=ray, top=2, chunk_seconds=SHORT)
    same_as(serial, tmp_path)


def test_ray_goes_on_without_a_job_that_kills(tmp_path, ray):
    check_poison(tmp_path, "ray")
