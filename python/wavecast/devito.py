"""Devito (4.8) operators as kernel documents, and the chosen block as a `par-tile`.

>>> from wavecast.devito import rank, opt
>>> ranking = rank(operator, "a100")                       # of all loop nests: a list with the sum of their times
>>> ranking.time, ranking[0].best.block
>>> Operator(eqs, opt=opt(ranking), platform="nvidiaX", language="openacc")

Covers parallel loop nests of up to three loops, as the pragmas name them, over functions, time functions (buffered,
saved, snapshots) and temporary arrays of compile-time size, with sub-domains, reductions and serial loops inside.
`documents` gives one document per nest. Registers are those of a CUDA kernel with the statements of a nest, by ptxas,
where that and NVRTC are installed: what compilers of OpenACC make of it may need others. Functions whose names mean
something in a document (`min`, ...) get an underscore. Nests whose addresses depend on data (sparse functions: sources and receivers) are left out with a
warning. Nothing is allocated, and the operator is not compiled.
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Mapping

from ._api import Device
from ._api import rank as _rank
from ._devito_code import code
from ._devito_reader import Nest, nests
from ._document import block_of, launch, unique
from ._operator import Common, OperatorRanking, common_block
from ._registers import asked, said, with_registers
from ._symbolic import Unsupported

__all__ = ["Common", "OperatorRanking", "Unsupported", "documents", "document", "opt", "par_tile", "rank"]


def documents(
    operator: Any,
    *,
    sizes: Mapping[str, int] | None = None,
    blocks: Any = None,
    registers: int | None = None,
) -> list[dict[str, Any]]:
    """A kernel document for each parallel loop nest of an operator, in the order in which they run.
    ``sizes`` gives the sizes of dimensions that no function of the operator has."""
    found, reasons = _read(operator, sizes)
    for reason in reasons:
        warnings.warn(reason, stacklevel=2)
    return [_document(operator, nest, blocks, registers) for nest in found]


def document(operator: Any, **options: Any) -> dict[str, Any]:
    """The document of the nest that touches most: its accesses times its work items."""
    return max(documents(operator, **options), key=_weight)


def rank(
    operator: Any, device: Device | None = None, *, document_options: Mapping[str, Any] | None = None, **options: Any
) -> OperatorRanking | list[OperatorRanking]:
    """Ranks the blocks of every parallel loop nest of an operator: a list of rankings, with the sum of their times. Of
    several devices a list of such lists. ``document_options`` are those of :func:`documents`, the rest goes to
    :func:`wavecast.rank`. Without ``registers`` among them, ptxas is asked for those of each nest, where it is
    installed with NVRTC."""
    given = dict(document_options or {})
    found, reasons = _read(operator, given.pop("sizes", None))
    for reason in reasons:
        warnings.warn(reason, stacklevel=2)
    if not isinstance(device, (str, os.PathLike)) and device is not None:
        return [_ranked(operator, found, one, given, options, not reasons) for one in device]
    return _ranked(operator, found, device, given, options, not reasons)


def _ranked(
    operator: Any, found: list[Nest], device: Any, given: dict[str, Any], options: dict[str, Any], whole: bool
) -> OperatorRanking:
    # A block for all nests is looked for among all that there are.
    top = options.get("top")
    rankings = []
    for nest in found:
        told = asked(lambda: code(nest), device) if given.get("registers") is None else None
        document = _document(operator, nest, given.get("blocks"), given.get("registers"))
        ranking = said(_rank(with_registers(document, told), device, **{**options, "top": None}), told)
        ranking["nest"] = {"number": nest.number, "loops": list(nest.axes), "each_step": nest.each_step}
        rankings.append(ranking)
    every = OperatorRanking(rankings)
    common = common_block(every.steps())
    for ranking in rankings:
        ranking["results"] = ranking["results"][:top]
    return OperatorRanking(rankings, common, whole)


def _read(operator: Any, sizes: Mapping[str, int] | None) -> tuple[list[Nest], list[str]]:
    """The nests that can be described, and why others cannot."""
    found, reasons = [], []
    for nest in nests(operator, sizes or {}):
        try:
            nest.read()
        except Unsupported as why:
            reasons.append(f"the loop nest over {', '.join(nest.axes)} is left out: {why}")
        else:
            found.append(nest)
    if not found:
        said_ = "; ".join(reasons) or "it has none that is parallel"
        raise Unsupported(
            f"no loop nest of this operator can be described ({said_}): create it for a GPU platform, as with"
            ' platform="nvidiaX", language="openacc"'
        )
    return found, reasons


def par_tile(choice: Any) -> tuple[Any, ...]:
    """The `par-tile` of a choice: a ranking, one of its results, or a shape. As in a tile clause, the first number
    belongs to the innermost loop. Of an operator with several nests it is a tile for each, in their order; if some
    of them could not be described, the one for all."""
    if isinstance(choice, OperatorRanking):
        if len(choice) == 1:
            return par_tile(choice[0])
        if choice.whole and all(choice.tiles):
            return choice.tiles
        chosen = choice.common.block if choice.common else choice.best
        if chosen is None:
            raise ValueError("no launch of this ranking can run: the key `infeasible` of each nest says why")
        return block_of(chosen, max(len(r["kernel"]["domain"]) for r in choice))
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
