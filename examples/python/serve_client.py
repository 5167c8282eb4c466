"""A search that asks a running Wavecast instead of starting one for every question. Needs only the command line.

cargo install --path .
python3 examples/python/serve_client.py
"""

import json
import subprocess

KERNEL = {
    "wavecast": 1,
    "kernel": "scale",
    "params": {"N": 1048576},
    "fields": {"a": {"dtype": "f64", "size": "N"}, "b": {"like": "a"}},
    "domain": [{"i": "N"}],
    "loads": ["b[i]"],
    "stores": ["a[i]"],
    "work": {"flops": 1},
    "launch": {"block": [[64], [128], [256], [512]], "registers": 10},
}

with subprocess.Popen(
    ["wavecast", "serve", "--stdio", "-d", "a100"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
) as server:

    def ask(**request):
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        if not answer["ok"]:
            raise RuntimeError(answer["error"]["errors"][0]["message"])
        return answer["result"]

    ask(id=0, op="define", name="scale", kernel=KERNEL)
    for number, size in enumerate((1 << 20, 1 << 22, 1 << 24), 1):
        ranking = ask(id=number, op="rank", kernel_ref="scale", options={"set": {"N": size}, "top": 1})
        best = ranking["results"][0]
        print(
            f"N = {size}: blocks of {best['config']['block'][0]} threads, {best['rate_per_s'] / 1e9:.1f} * 10^9 items/s"
        )
    # The end of its input ends the server.
    server.stdin.close()
