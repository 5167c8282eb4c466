"""loopy (2025.2) kernels as kernel documents.

>>> from wavecast.loopy import rank, rank_variants
>>> rank(program, "a100", parameters={"n": 4096})
>>> best = rank_variants(build, [(16, 16), (32, 8)], "a100")   # build(16, 16) gives a program
>>> best.choice                                                # the arguments of the best one

loopy writes its block size into the addresses, so that a program is one candidate; `rank_variants` builds a
program for each choice and ranks them as variants of one document. Covers group and local tags on any axes,
serial and unrolled loops, prefetches into local memory with their barriers, predicates, choices, bounds that cut
the last block or depend on other loops, atomics, C and Fortran order, offsets and padding. Arrays and inames whose
names mean something in a document (`x`, `min`, ...) get an underscore. Registers are those of loopy's CUDA text by
ptxas, where that and NVRTC are installed. Does not cover ILP and vector tags, programs
of several kernels (global barriers), calls of other kernels and C instructions; data-dependent addresses neither.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Mapping

from ._api import Device
from ._api import rank as _rank
from ._devices import of_devices
from ._document import launch
from ._kernels import at_once
from ._loopy_reader import Reader
from ._ranking import Ranking
from ._registers import TYPES, Code, asked, said, with_registers
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
    by_name = {_title(choice): choice for choice in choices}
    documents = {title: document(_built(build, c), name=name, **options) for title, c in by_name.items()}
    return _merged(documents, name), by_name


def rank(
    program: Any, device: Device | None = None, *, document_options: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """Ranks the one launch of a program: what it would reach. ``parameters`` and others go to :func:`document`
    in ``document_options``. Without ``registers`` among them, ptxas is asked for those of loopy's CUDA text, where it
    is installed with NVRTC; the ranking's key ``registers`` says what it told."""
    if not isinstance(device, (str, os.PathLike)) and device is not None:
        more = dict(document_options=document_options, **options)
        return of_devices("rank", device, lambda one: rank(program, one, **more))
    given = _given(document_options, options)
    told = asked(lambda: code(program), device) if given.get("registers") is None else None
    return said(_rank(with_registers(document(program, **given), told), device, **options), told)


def rank_variants(
    build: Callable[..., Any],
    choices: Iterable[Any],
    device: str | None = None,
    *,
    document_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> VariantRanking:
    """Ranks what ``build`` makes of each choice; the ranking's ``choice`` is that of the best one. Registers are those
    of each variant, as :func:`rank` asks for them."""
    given = _given(document_options, options)
    by_name = {_title(choice): choice for choice in choices}
    programs = {title: _built(build, choice) for title, choice in by_name.items()}
    told = {}
    if given.get("registers") is None:
        # Texts are made one after the other, and compiled several at a time.
        found = at_once(lambda text: asked(text, device), [_text(program) for program in programs.values()])
        told = {title: one for title, one in zip(programs, found) if one is not None}
    name = given.get("name")
    documents = {t: with_registers(document(p, **given), told.get(t)) for t, p in programs.items()}
    ranking = VariantRanking(_rank(_merged(documents, name), device, **options))
    ranking.choices = by_name
    return said(ranking, told)  # type: ignore[no-any-return]


def code(program: Any) -> Code:
    """The CUDA text of a program, whatever its target is."""
    import loopy

    program = program.copy(target=loopy.CudaTarget())
    return Code(TYPES + loopy.generate_code_v2(program).device_code(), ("-w",))


def _text(program: Any) -> Callable[[], Code]:
    """The text of a program, or why there is none, for whoever asks for it."""
    try:
        found = code(program)
    except Exception as why:
        reason = why

        def fails() -> Code:
            raise reason

        return fails
    return lambda: found


def _given(document_options: Mapping[str, Any] | None, options: dict[str, Any]) -> dict[str, Any]:
    """What goes to :func:`document`."""
    given = dict(document_options or {})
    if "parameters" in options:
        given["parameters"] = options.pop("parameters")
    return given


def _merged(documents: Mapping[str, dict[str, Any]], name: str | None) -> dict[str, Any]:
    """One document of several, as its variants."""
    if not documents:
        raise ValueError("no choices to build programs from")
    parts = [
        {"name": title, **{k: v for k, v in one.items() if k not in ("wavecast", "kernel")}}
        for title, one in documents.items()
    ]
    return {"wavecast": 1, "kernel": name or next(iter(documents.values()))["kernel"], "variants": parts}


def _title(choice: Any) -> str:
    return "x".join(map(str, choice)) if isinstance(choice, (tuple, list)) else str(choice)


def _built(build: Callable[..., Any], choice: Any) -> Any:
    if isinstance(choice, Mapping):
        return build(**choice)
    return build(*choice) if isinstance(choice, (tuple, list)) else build(choice)
