"""Tuners fork: what a child process asks is answered, and never waits for threads that its parent has."""

import multiprocessing
import os
import threading

import pytest
import wavecast

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

#: Far more than the work takes; a child that hangs is a failure then, and ends with the pool.
SECONDS = 60
COPY = {
    "wavecast": 1,
    "kernel": "copy",
    "fields": {"a": {"dtype": "f64", "size": 4096}, "b": {"like": "a"}},
    "domain": [{"x": 4096}],
    "loads": ["a[x]"],
    "stores": ["b[x]"],
    "launch": {"block": {"x": "1..128"}, "registers": 16},
}


def ranked(_=None):
    return wavecast.rank(COPY, "a100")


def predicted(block):
    return wavecast.predict(COPY, block, device="a100")["result"]["rate_per_s"]


def test_forked_workers_answer_as_their_parent():
    expected = ranked()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(ranked, range(4)).get(timeout=SECONDS) == [expected] * 4
        blocks = [32, 64, 128]
        assert pool.map_async(predicted, blocks).get(timeout=SECONDS) == [predicted(b) for b in blocks]


def test_forks_while_other_threads_rank():
    expected, done = ranked(), threading.Event()

    def work():
        while not done.is_set():
            ranked()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            with multiprocessing.get_context("fork").Pool(1) as pool:
                assert pool.apply_async(ranked).get(timeout=SECONDS) == expected
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_the_command_line_works_in_a_fork():
    ranked()
    arguments = ["wavecast", "rank", "-d", "a100", "-o", os.devnull, os.path.join(os.path.dirname(__file__), "copy.json")]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        from wavecast import _wavecast

        # The kernel is not there: an exit code, not a hang, is what counts.
        assert pool.apply_async(_wavecast.command_line, (arguments,)).get(timeout=SECONDS) == 2
