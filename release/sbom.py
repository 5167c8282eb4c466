"""What the program is made of, as a CycloneDX 1.5 document: `python3 sbom.py FILE`.

All of it is what `cargo metadata` says for the default features without those of tests, with the checksums of
Cargo.lock. It has no date and no number of its own, so that the same sources give the same bytes.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRIPLE = "x86_64-unknown-linux-gnu"


def package_url(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def linked(metadata):
    """The packages below the root that are not for its tests and tools alone."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = next(p["id"] for p in metadata["packages"] if p["name"] == "wavecast" and p["source"] is None)
    seen, waiting = {}, [root]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        kinds = lambda dependency: {kind["kind"] for kind in dependency["dep_kinds"]}
        seen[at] = sorted(d["pkg"] for d in nodes[at]["deps"] if kinds(d) & {None, "build"})
        waiting += seen[at]
    return root, seen


def main():
    said = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TRIPLE],
        cwd=ROOT, capture_output=True, check=True,
    )
    metadata = json.loads(said.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(p["name"], p["version"]): p["checksum"] for p in locked if "checksum" in p}
    root, depends = linked(metadata)

    def component(package, kind):
        entry = {"type": kind, "bom-ref": package_url(package), "name": package["name"], "version": package["version"]}
        if package["description"]:
            entry["description"] = " ".join(package["description"].split())
        if (checksum := checksums.get((package["name"], package["version"]))) is not None:
            entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if package["license"]:
            entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        entry["purl"] = package_url(package)
        return entry

    refer = lambda package: package_url(packages[package])
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(packages[root], "application")},
        "components": [component(packages[p], "library") for p in sorted(depends, key=refer) if p != root],
        "dependencies": [
            {"ref": refer(p), "dependsOn": sorted(refer(d) for d in depends[p])} for p in sorted(depends, key=refer)
        ],
    }
    missing = [c["name"] for c in document["components"] if "hashes" not in c or "licenses" not in c]
    if missing:
        sys.exit(f"sbom: no checksum or licence of {', '.join(missing)}")
    Path(sys.argv[1]).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"sbom: {len(document['components'])} components")


if __name__ == "__main__":
    main()
