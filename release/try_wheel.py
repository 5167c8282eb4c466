"""Installs a wheel in a bare venv, and tries it there: `python3 try_wheel.py FOLDER WHEEL`."""

import subprocess
import sys
import venv
from pathlib import Path

MOST = 0.060  # seconds that `import wavecast` may take
TRIED = """
import pickle, subprocess, sys
def once():
    code = "import time; a = time.perf_counter(); import wavecast; print(time.perf_counter() - a)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
once()
took = min(once() for _ in range(9))  # whatever else the machine does
import wavecast
kernel = {"wavecast": 1, "kernel": "scale", "fields": {"a": {"dtype": "f64", "size": 1048576}}, "domain": {"i": 1048576},
          "loads": ["a[i]"], "stores": ["a[i]"], "work": {"flops": 1}, "launch": {"block": [[64], [256]], "registers": 16}}
ranking = wavecast.rank(kernel, device="a100")
assert ranking.best["config"]["block"][0] in (64, 256), ranking
assert pickle.loads(pickle.dumps(ranking)) == ranking
print(f"{took:.4f}")
"""


def main():
    folder, wheel = Path(sys.argv[1]), sys.argv[2]
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-index", wheel], check=True)
    said = subprocess.run([python, "-I", "-c", TRIED], cwd=folder, capture_output=True, text=True, check=True).stdout
    seconds = float(said)
    command = subprocess.run([folder / "bin" / "wavecast", "--version"], capture_output=True, text=True, check=True)
    print(f"{Path(wheel).name}: import takes {1000 * seconds:.1f} ms; {command.stdout.strip()}")
    if seconds > MOST:
        sys.exit(f"import wavecast takes more than {1000 * MOST:.0f} ms")


if __name__ == "__main__":
    main()
