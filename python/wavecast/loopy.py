"""loopy (2025.2) kernels as kernel documents.

>>> from wavecast.loopy import rank, rank_variants
>>> rank(program, "a100", parameters={"n": 4096})
>>> best = rank_variants(build, [(16, 16), (32, 8)], "a100")   # build(16, 16) gives a program
>>> best.choice                                                # the arguments of the best one

loopy writes its block size into the addresses, so that a program is one candidate; `rank_variants` builds a
program for each choice and ranks them as variants of one document. Covers group and local tags on any axes,
serial and unrolled loops, prefetches into local memory with their barriers, predicates, choices, bounds that cut
the last block or depend on other loops, atomics, C and Fortran order, offsets and padding. Arrays and inames whose
names mean something in a document (`x`, `min`, ...) get an underscore. Does not cover ILP and vector tags, programs
of several kernels (global barriers), calls of other kernels and C instructions; data-dependent addresses neither.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping

from ._api import rank as _rank
from ._document import launch
from ._loopy_reader import Reader
from ._ranking import Ranking
from ._symbolic import Unsupported

__all__ = ["Unsupported", "VariantRanking", "document", "rank", "rank_variants", "variants"]


class VariantRanking(Ranking):
    """A ranking of variants that knows what each was built from."""

    choices: dict[str, Any]

    @property
    def choice(self) -> Any:
        """What the best variant was built from; ``None`` if none can run."""
        return self.choices[self.best["config"]["variant"]] if self.best else None


def document(
    program: Any,
    *,
    parameters: Mapping[str, int] | None = None,
    name: str | None = None,
    registers: int | None = None,
    flops: float | None = None,
) -> dict[str, Any]:
    """The kernel document of a program (a translation unit with one kernel) before or after preprocessing.
    ``parameters`` gives the sizes that are still open."""
    reader = Reader(program, parameters or {})
    reader.read()
    found: dict[str, Any] = {"wavecast": 1, "kernel": name or reader.kernel.name, "fields": reader.fields}
    found["domain"] = [{axis: extent} for axis, extent in reader.domain]
    if reader.guard:
        found["guard"] = " && ".join(reader.guard)
    found["body"] = reader.body
    work: dict[str, Any] = {"unit": "thread", "precision": "f64" if reader.widest > 4 else "f32"}
    if flops is not None or reader.flops is not None:
        work["flops"] = reader.flops if flops is None else flops
    found["work"] = work
    shared = {"shared": reader.shared} if reader.shared else {}
    found["launch"] = launch(len(reader.domain), [reader.block], None, registers, **shared)
    return found


def variants(
    build: Callable[..., Any], choices: Iterable[Any], *, name: str | None = None, **options: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One document whose variants are the programs that ``build`` makes of the choices (tuples are several
    arguments, mappings named ones), and the choices by the names of their variants."""
    documents, by_name = [], {}
    for choice in choices:
        one = document(_built(build, choice), name=name, **options)
        title = "x".join(map(str, choice)) if isinstance(choice, (tuple, list)) else str(choice)
        by_name[title] = choice
        documents.append({"name": title, **{k: v for k, v in one.items() if k not in ("wavecast", "kernel")}})
    if not documents:
        raise ValueError("no choices to build programs from")
    return {"wavecast": 1, "kernel": name or one["kernel"], "variants": documents}, by_name


def rank(
    program: Any, device: str | None = None, *, document_options: Mapping[str, Any] | None = None, **options: Any
) -> Ranking:
    """Ranks the one launch of a program: what it would reach. ``parameters`` and others go to :func:`document`
    in ``document_options``."""
    given = dict(document_options or {})
    if "parameters" in options:
        given["parameters"] = options.pop("parameters")
    ranking: Ranking = _rank(document(program, **given), device, **options)
    return ranking


def rank_variants(
    build: Callable[..., Any],
    choices: Iterable[Any],
    device: str | None = None,
    *,
    document_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> VariantRanking:
    """Ranks what ``build`` makes of each choice; the ranking's ``choice`` is that of the best one."""
    given = dict(document_options or {})
    if "parameters" in options:
        given["parameters"] = options.pop("parameters")
    found, by_name = variants(build, choices, **given)
    ranking = VariantRanking(_rank(found, device, **options))
    ranking.choices = by_name
    return ranking


def _built(build: Callable[..., Any], choice: Any) -> Any:
    if isinstance(choice, Mapping):
        return build(**choice)
    return build(*choice) if isinstance(choice, (tuple, list)) else build(choice)
