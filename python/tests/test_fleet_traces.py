"""Long traces cut by SM: the same bytes as serial, whoever counts, also if workers die."""

import json
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")

import wavecast.trace
from wavecast import fleet

CORES = 5


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Threads that read places of their own and of others: 61 blocks, so that SMs differ."""
    path = tmp_path_factory.mktemp("trace") / "places.csv"
    kernel = {
        "wavecast": 1,
        "kernel": "places",
        "params": {"N": 61 * 64},
        "fields": {"a": {"dtype": "f32", "size": 1 << 16}, "b": {"like": "a"}},
        "domain": [{"x": "N"}],
        "loads": [f"a[(x*{n} + {m}) % 60000]" for n, m in ((1, 0), (33, 5), (2, 64), (7, 1), (1, 9000), (129, 3))],
        "stores": ["b[x]", "b[(x*33) % 60000]"],
        "work": {"flops": 1},
        "launch": {"block": [[64]], "registers": 16},
    }
    wavecast.trace.synth(kernel, block=64, output=path)
    return path


def reuse_of(document):
    """What is compared with a trace as a whole, as bytes: no part knows how many lines there are in all."""
    return json.dumps({k: v for k, v in document.items() if k != "lines"}, sort_keys=True)


@pytest.mark.parametrize("deviation", [0, 30])
def test_the_parts_make_the_serial_result(trace, deviation):
    # Small caches and few MSHRs, so that each kind of miss is there; random latencies, which each SM has its own of.
    options = dict(static_batches=True, size=4096, mshrs=4, deviation=deviation, active_blocks=2)
    whole = wavecast.trace.reuse(trace, cores=CORES, **options)
    parts = fleet.reuse(trace, CORES, **options)
    assert reuse_of(parts) == reuse_of(whole)
    assert "lines" in whole and "lines" not in parts
    full = parts["runs"][0]
    assert len(full["histogram"]) > 5 and full["refusals"] > 0 and parts["misses"]["capacity"] > 0
    assert list(parts.frame()["run"]) == list(whole.frame()["run"])


def test_one_core_has_all(trace):
    assert reuse_of(fleet.reuse(trace, 1)) == reuse_of(wavecast.trace.reuse(trace))
    assert json.dumps(fleet.cache(trace, 1)) == json.dumps(wavecast.trace.cache(trace))


def test_more_cores_than_blocks_have_some_without_work(trace):
    options = dict(static_batches=True)
    assert reuse_of(fleet.reuse(trace, 64, **options)["runs"][0]) == reuse_of(
        wavecast.trace.reuse(trace, cores=64, **options)["runs"][0]
    )


def test_caches_of_all_sms_add_up(trace):
    parts = [wavecast.trace.cache(trace, part=f"{n}/{CORES}", size=2048)["runs"][0] for n in range(CORES)]
    found = fleet.cache(trace, CORES, size=2048)["runs"][0]
    for name in ("reads", "read_misses", "writes", "cold", "capacity", "conflict"):
        assert found[name] == sum(part[name] for part in parts)
    assert found["reads"] == wavecast.trace.cache(trace, size=2048)["runs"][0]["reads"]
    assert found["capacity"] > 0


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_two_processes_give_the_same_bytes(trace, start):
    with ProcessPoolExecutor(2, mp_context=get_context(start)) as client:
        for function in (fleet.reuse, fleet.cache):
            assert json.dumps(function(trace, CORES, client=client)) == json.dumps(function(trace, CORES))


def test_a_kernel_may_be_traced_by_the_workers():
    kernel = {
        "wavecast": 1,
        "kernel": "copy",
        "domain": [{"x": 1 << 14}],
        "loads": ["a[x]"],
        "stores": ["b[x]"],
        "fields": {"a": {"dtype": "f32", "size": 1 << 14}, "b": {"like": "a"}},
        "launch": {"block": [[64]], "registers": 16},
    }
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as client:
        found = fleet.reuse(kernel, 4, client=client, block=64)
    assert found["misses"]["compulsory"] == (1 << 14) * 4 // 128
    assert json.dumps(found) == json.dumps(fleet.reuse(kernel, 4, block=64))


def killed_when_busy(pids):
    """Kills one of the processes in the middle of a run."""
    time.sleep(0.4)
    os.kill(pids[0], signal.SIGKILL)


def test_dask_does_the_parts_of_a_dead_worker_again(trace):
    distributed = pytest.importorskip("distributed", reason='Dask is not installed: pip install "dask[distributed]"')
    serial = json.dumps(fleet.reuse(trace, 40))
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        workers = list(client.run(os.getpid).values())
        killer = threading.Thread(target=killed_when_busy, args=(workers,))
        killer.start()
        found = json.dumps(fleet.reuse(trace, 40, client=client))
        killer.join()
        assert found == serial
        assert set(client.run(os.getpid).values()) != set(workers), "the worker did not die"


def test_ray_gives_the_same_bytes(trace):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    try:
        assert json.dumps(fleet.cache(trace, CORES, client="ray")) == json.dumps(fleet.cache(trace, CORES))
    finally:
        ray.shutdown()


def test_a_broken_executor_says_what_to_do(trace):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as client:
        client.submit(os.getpid).result()
        killer = client.submit(os._exit, 1)
        with pytest.raises(Exception):
            killer.result()
        with pytest.raises(RuntimeError, match="call again with a new executor"):
            fleet.reuse(trace, 3, client=client)


def test_mistakes_are_said():
    with pytest.raises(ValueError, match="cores=0"):
        fleet.reuse("trace.csv", 0)
    with pytest.raises(TypeError, match="takes no ablate="):
        fleet.reuse("trace.csv", 2, ablate=True)
    with pytest.raises(wavecast.KernelError, match="nowhere.csv"):
        fleet.cache("nowhere.csv", 2)
    with pytest.raises(wavecast.KernelError, match="2/15"):
        wavecast.trace.reuse("trace.csv", part="5/5")
