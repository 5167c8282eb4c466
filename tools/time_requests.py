#!/usr/bin/env python3
"""How long `wavecast serve` takes for a prediction of a kernel that it knows: latency seen by a client that waits for
each answer, and processor time of the server. Beside it stands what `cat` takes to echo the same requests: to wake another
process and to be woken by it costs that much on this machine, whatever it does.

    tools/time_requests.py PROGRAM [REQUESTS] [-- WRAPPER ...]

With a wrapper (`-- valgrind --tool=callgrind`) the server runs under it, and nothing is timed.
"""

import json
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNEL = (ROOT / "kernels" / "star3d7.yaml").read_text()
BLOCKS = [[64, 4, 1], [32, 8, 1], [32, 4, 4], [128, 2, 1]]


def latencies(program, requests, wrapper):
    """Seconds of each request, after the kernel was defined and asked about once."""
    command = [*wrapper, program, "serve", "--stdio", "-d", "a100"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:

        def ask(request):
            """Seconds from the line being there to that of the answer."""
            line = json.dumps(request).encode() + b"\n"
            started = time.perf_counter()
            server.stdin.write(line)
            server.stdin.flush()
            answer = server.stdout.readline()
            taken = time.perf_counter() - started
            if b'"ok":true' not in answer:
                sys.exit(f"no answer: {answer!r}")
            return taken

        ask({"id": 0, "op": "define", "name": "star", "kernel_text": KERNEL})
        found = []
        for number in range(1, requests + 2):
            block = BLOCKS[number % len(BLOCKS)]
            found.append(ask({"id": number, "op": "predict", "kernel_ref": "star", "options": {"block": block}}))
        server.stdin.close()
    return found[1:]


def processor_seconds():
    """Of the user and of the system."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime


def echo_latency(requests):
    """Seconds until a line as long as a request comes back from another process."""
    line = json.dumps({"id": 1, "op": "predict", "kernel_ref": "star", "options": {"block": BLOCKS[0]}}).encode() + b"\n"
    found = []
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as echo:
        for _ in range(requests):
            started = time.perf_counter()
            echo.stdin.write(line)
            echo.stdin.flush()
            echo.stdout.readline()
            found.append(time.perf_counter() - started)
        echo.stdin.close()
    return statistics.median(found)


def main():
    arguments, wrapper = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, wrapper = arguments[:at], arguments[at + 1 :]
    if not arguments:
        sys.exit(__doc__)
    requests = int(arguments[1]) if len(arguments) > 1 else 3000
    if wrapper:
        latencies(arguments[0], requests, wrapper)
        return
    start = processor_seconds()
    latencies(arguments[0], 1, [])
    first = processor_seconds()
    median = statistics.median(latencies(arguments[0], requests, []))
    user, system = (
        1e6 * ((now - before) - (before - begun)) / requests for begun, before, now in zip(start, first, processor_seconds())
    )
    echo = echo_latency(requests)
    print(
        f"median latency {median * 1e6:.0f} us, of which an echo takes {echo * 1e6:.0f} us; "
        f"processor time of a request: program {user:.0f} us, system {system:.0f} us"
    )


if __name__ == "__main__":
    main()
