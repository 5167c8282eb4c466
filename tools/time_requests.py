#!/usr/bin/env python3
"""How long `wavecast serve` takes for a prediction of a kernel that it knows: latency seen by a client that waits for
each answer, and processor time of the server.

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
            server.stdin.write(json.dumps(request).encode() + b"\n")
            server.stdin.flush()
            answer = server.stdout.readline()
            if b'"ok":true' not in answer:
                sys.exit(f"no answer: {answer!r}")

        ask({"id": 0, "op": "define", "name": "star", "kernel_text": KERNEL})
        found = []
        for number in range(1, requests + 2):
            block = BLOCKS[number % len(BLOCKS)]
            started = time.perf_counter()
            ask({"id": number, "op": "predict", "kernel_ref": "star", "options": {"block": block}})
            found.append(time.perf_counter() - started)
        server.stdin.close()
    return found[1:]


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
    of_requests = (processor_seconds() - first) - (first - start)
    print(f"median latency {median * 1e6:.0f} us, processor time {of_requests / requests * 1e6:.0f} us a request")


if __name__ == "__main__":
    main()
