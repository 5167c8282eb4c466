"""Documents of programs that do the same job, as the variants of one document."""

from __future__ import annotations

import math
from typing import Any, Sequence


def merged(parts: Sequence[tuple[str | None, dict[str, Any]]]) -> dict[str, Any]:
    """One document of all of them. Each part is a document with its name as a variant; a document that has variants
    itself gives all of them. They compete in time for the same job, which is measured in the threads of the smallest
    where they have different numbers of threads."""
    if len(parts) == 1:
        return parts[0][1]
    variants: list[dict[str, Any]] = []
    for name, document in parts:
        own = {k: v for k, v in document.items() if k not in ("wavecast", "kernel", "variants")}
        for inner in document.get("variants", [{}]):
            joined = {**own, **{k: v for k, v in inner.items() if k != "name"}}
            names = [n for n in (name, inner.get("name")) if n]
            variants.append({"name": ", ".join(dict.fromkeys(names)), **joined})
    sizes = [tuple(v["domain"].values()) for v in variants]
    if len(set(sizes)) > 1:
        _same_domain(variants, min(sizes, key=math.prod))
    return {"wavecast": 1, "kernel": parts[0][1]["kernel"], "variants": variants}


def _same_domain(variants: list[dict[str, Any]], sizes: tuple[int, ...]) -> None:
    """Gives all variants this domain. What followed from their own is written out: the grid and its bounds."""
    for variant in variants:
        own = tuple(variant["domain"].values())
        launch = variant["launch"]
        if "grid" not in launch:
            axes = list(zip("xyz", own))
            launch = {**launch, "grid": [f"({n} + blockDim.{a} - 1) / blockDim.{a}" for a, n in axes]}
            inside = " && ".join(f"tid{a} < {n}" for a, n in axes)
            variant["guard"] = f"({variant['guard']}) && {inside}" if variant.get("guard") else inside
        variant["launch"] = launch
        share = math.prod(own) / math.prod(sizes)
        work = variant["work"]
        scaled = {name: n * share for name, n in work.get("instructions", {}).items()}
        variant["work"] = {**work, "flops": work["flops"] * share, "instructions": scaled}
        names = list(variant["domain"])
        names += [a for a in ("axis_y", "axis_z") if len(names) < len(sizes)]
        variant["domain"] = dict(zip(names[: len(sizes)], sizes)) if len(names) >= len(sizes) else variant["domain"]
