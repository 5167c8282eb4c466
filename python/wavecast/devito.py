"""Devito (4.8) operators as kernel documents, and the chosen block as a `par-tile`.

>>> from wavecast.devito import rank, opt
>>> ranking = rank(operator, "a100")                       # of the loop nest that does most work
>>> Operator(eqs, opt=opt(ranking), platform="nvidiaX", language="openacc")

Covers parallel loop nests of up to three loops, as the pragmas name them, over functions, time functions (buffered,
saved, snapshots) and temporary arrays of compile-time size, with sub-domains, reductions and serial loops inside.
`documents` gives one document per nest. Functions whose names mean something in a document (`min`, ...) get an
underscore. Nests whose addresses depend on data (sparse functions: sources and receivers) are left out with a
warning. Nothing is allocated and nothing compiled.
"""

from __future__ import annotations

import warnings
from typing import Any, Mapping

from ._api import rank as _rank
from ._devito_reader import Nest, nests
from ._document import block_of, launch, unique
from ._ranking import Ranking
from ._symbolic import Unsupported

__all__ = ["Unsupported", "documents", "document", "opt", "par_tile", "rank"]


def documents(
    operator: Any,
    *,
    sizes: Mapping[str, int] | None = None,
    blocks: Any = None,
    registers: int | None = None,
) -> list[dict[str, Any]]:
    """A kernel document for each parallel loop nest of an operator, in the order in which they run.
    ``sizes`` gives the sizes of dimensions that no function of the operator has."""
    found, reasons = [], []
    for nest in nests(operator, sizes or {}):
        try:
            nest.read()
        except Unsupported as why:
            reasons.append(f"the loop nest over {', '.join(nest.axes)} is left out: {why}")
        else:
            found.append(_document(operator, nest, blocks, registers))
    if not found:
        said = "; ".join(reasons) or "it has none that is parallel"
        raise Unsupported(
            f"no loop nest of this operator can be described ({said}): create it for a GPU platform, as with"
            ' platform="nvidiaX", language="openacc"'
        )
    for reason in reasons:
        warnings.warn(reason, stacklevel=2)
    return found


def document(operator: Any, **options: Any) -> dict[str, Any]:
    """The document of the nest that touches most: its accesses times its work items."""
    return max(documents(operator, **options), key=_weight)


def rank(
    operator: Any, device: str | None = None, *, document_options: Mapping[str, Any] | None = None, **options: Any
) -> Ranking:
    """Ranks the blocks of the nest that touches most; :func:`documents` gives all of them."""
    ranking: Ranking = _rank(document(operator, **(document_options or {})), device, **options)
    return ranking


def par_tile(choice: Any) -> tuple[int, ...]:
    """The `par-tile` of a choice: a ranking (its best), one of its results, or a shape. As in a tile clause,
    the first number belongs to the innermost loop."""
    axes = len(choice["kernel"]["domain"]) if isinstance(choice, dict) and "kernel" in choice else 3
    return block_of(choice, axes)


def opt(choice: Any, mode: str = "advanced", **more: Any) -> tuple[str, dict[str, Any]]:
    """The argument `opt` of an operator with the block of a choice."""
    return mode, {**more, "par-tile": par_tile(choice)}


def _document(operator: Any, nest: Nest, blocks: Any, registers: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"wavecast": 1, "kernel": f"{operator.name}_{nest.number}", "fields": nest.fields}
    found["about"] = f"Devito operator {operator.name}, loop nest over {', '.join(nest.axes)}"
    # The innermost loop runs along threads x.
    found["domain"] = [{axis: extent} for axis, extent in reversed(nest.axes.items())]
    steps = nest.steps
    if all(isinstance(step, str) for step in steps):
        for key, verb in (("loads", "load "), ("stores", "store "), ("atomics", "atomic ")):
            accesses = unique(s.removeprefix(verb) for s in steps if s.startswith(verb))
            if accesses:
                found[key] = accesses
    else:
        found["body"] = steps
    found["work"] = {"flops": nest.flops, "precision": "f64" if nest.widest > 4 else "f32"}
    found["launch"] = launch(len(nest.axes), blocks, None, registers)
    return found


def _weight(found: dict[str, Any]) -> int:
    items = 1
    for axis in found["domain"]:
        items *= next(iter(axis.values()))
    return items * sum(len(found.get(key, ())) for key in ("loads", "stores", "atomics", "body"))
