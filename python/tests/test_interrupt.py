"""Ctrl-C in the middle of long work: the exception comes at once, and the work ends."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import wavecast
from test_api import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="os.kill() ends a process here")

STAR = ROOT / "kernels" / "star3d25.yaml"
MEASURED = ROOT / "tests" / "measured" / "star3d7.csv"
#: How long the exception may take, on a machine that does other things too; alone it takes 25 ms at most.
SECONDS = 0.5
FOLDS = [[x, y, z] for x in range(1, 9) for y in range(1, 9) for z in range(1, 9)]
#: A launch that is counted point by point, of which there are many.
SLOW = {
    "wavecast": 1,
    "kernel": "slow",
    "fields": {"a": {"dtype": "f64", "size": 1 << 36}},
    "domain": {"x": 1 << 24},
    "loads": [{"for": {"i": "0..99"}, "at": "a[x*(i+1) + 1000*i]"}],
    "work": {"flops": 0},
    "launch": {"block": [[256]], "registers": 32},
}
#: Work that would take minutes.
LONG = {
    "predict": lambda: wavecast.predict(SLOW, device="a100", engine="sampling", limit={"steps": 10**12}),
    "rank": lambda: wavecast.rank(STAR, "a100", fold=FOLDS),
    "sweep": lambda: wavecast.sweep(STAR, {"NX": "64..8192"}, "a100", best=True),
    "compare": lambda: wavecast.compare(
        STAR, "a100", block=[[32, 4, 4], [64, 4, 4], [128, 4, 2]], caches="cold"
    ),
    "fit": lambda: wavecast.fit(
        ROOT / "tests" / "measured" / "star3d7.csv", kernels=STAR.parent, bootstrap=10**6
    ),
    "jobs": lambda: wavecast.fit(MEASURED, kernels=STAR.parent, bootstrap=10**6, jobs=2),
    "trace": lambda: wavecast.trace.synth(STAR, blocks=10**5, limit={"trace-memory": 1 << 40}),
}


@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_is_heard_at_once(what):
    sent = []

    def interrupt():
        time.sleep(0.4)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        LONG[what]()
        # Not finished too early.
        thread.join()
    assert sent and time.perf_counter() - sent[0] < SECONDS
    thread.join()
    # What is asked next is answered as if nothing had been.
    assert wavecast.predict(STAR, [32, 4, 4], device="a100")["result"]["rate_per_s"] > 0


@pytest.mark.parametrize("what", ["predict", "rank", "compare", "fit", "jobs"])
def test_the_work_ends_too(what):
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        LONG[what]()
        timer.join()
    # After a second at most none of the processors works any more.
    for _ in range(10):
        before = time.process_time()
        time.sleep(0.2)
        if time.process_time() - before < 0.05:
            return
    pytest.fail("the work goes on in the background")


def test_handlers_of_signals_run_meanwhile():
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(time.perf_counter()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        ranking = wavecast.rank(STAR, "a100", fold=FOLDS[:64], top=1)
        done = time.perf_counter()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ranking.best and heard and heard[0] < done


def test_a_program_ends_at_ctrl_c():
    text = f"import wavecast; print('begun', flush=True); wavecast.rank({str(STAR)!r}, 'a100', fold={FOLDS})"
    with subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout.readline() == "begun\n"
        time.sleep(0.3)
        started = time.perf_counter()
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=30)
    assert run.returncode in (-signal.SIGINT, 130) and "KeyboardInterrupt" in said
    assert time.perf_counter() - started < 4 * SECONDS


def test_errors_and_results_of_threads_come_back():
    # Signals are only for the main thread; others get their answers all the same.
    found = []
    thread = threading.Thread(target=lambda: found.append(wavecast.rank(STAR, "a100")))
    thread.start()
    thread.join()
    assert found == [wavecast.rank(STAR, "a100")]
