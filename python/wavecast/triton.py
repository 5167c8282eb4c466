"""Triton-style autotuning: a performance model and an early prune for `prune_configs_by`.

>>> from wavecast.triton import block_and_fold, prune_configs_by
>>> @triton.autotune(configs, key=["n"], prune_configs_by=prune_configs_by(describe, "h100-pcie", top_k=4))

``describe`` is called with the arguments of the kernel and the values of a configuration, by name, and returns
a kernel document with one launch. Triton's own program is not read: it says nothing of its addresses before
it is compiled. :func:`block_and_fold` gives the launch of a tile. Works with every tuner that calls its
functions as Triton (3.x) does; Triton itself is not needed.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from ._api import KernelLike, predict
from ._errors import KernelError

__all__ = ["block_and_fold", "prune_configs_by"]

#: Bytes that one instruction of a thread loads or stores at most.
WIDEST = 16


def block_and_fold(
    tile: Sequence[int], num_warps: int, itemsize: int = 4, warp_size: int = 32
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Threads of a program and work items per thread, along x, y, z, for a tile whose first extent is the
    contiguous one: as Triton lays out a coalesced access, up to 16 bytes for each thread, threads along the
    contiguous extent first. Extents are powers of two, as in Triton."""
    threads = num_warps * warp_size
    extents = [*(int(n) for n in tile), 1, 1, 1][:3]
    if len(tile) > 3 or any(n < 1 or n & (n - 1) for n in extents):
        raise ValueError(f"tile {tuple(tile)}: up to three extents, powers of two")
    if num_warps < 1 or itemsize < 1:
        raise ValueError(f"num_warps={num_warps}, itemsize={itemsize}: both are 1 at least")
    items = extents[0] * extents[1] * extents[2]
    vector = max(1, min(WIDEST // itemsize, items // threads, extents[0]))
    block, fold = [], []
    for position, extent in enumerate(extents):
        width = vector if position == 0 else 1
        along = min(threads, extent // width)
        threads //= along
        block.append(along)
        fold.append(extent // along)
    # Threads that have nothing of their own to do repeat what others do: they cost no traffic.
    return tuple(block), tuple(fold)


def prune_configs_by(
    describe: Callable[..., KernelLike],
    device: str | None = None,
    *,
    top_k: int | float | None = None,
    slowdown: float = 2.0,
    **options: Any,
) -> dict[str, Any]:
    """The argument `prune_configs_by` of `triton.autotune`.

    ``early_config_prune`` leaves out what cannot run on the device and what is predicted to take more than
    ``slowdown`` times as long as the best; if nothing can run, all stay. ``perf_model`` gives predicted
    milliseconds; with ``top_k``, a number or a share, Triton measures the best so many only.
    """

    def perf_model(**arguments: Any) -> float:
        return _milliseconds(describe, arguments, device, options)

    def early_config_prune(configs: Sequence[Any], named_args: Mapping[str, Any], **arguments: Any) -> list[Any]:
        times = [perf_model(**{**named_args, **arguments, **_values(config)}) for config in configs]
        limit = slowdown * min(times, default=0.0)
        kept = [config for config, time in zip(configs, times) if time <= limit and time != float("inf")]
        return kept or list(configs)

    found = {"perf_model": perf_model, "early_config_prune": early_config_prune}
    return found if top_k is None else {**found, "top_k": top_k}


def _values(config: Any) -> dict[str, Any]:
    """What a configuration calls a kernel with."""
    return dict(config.all_kwargs() if hasattr(config, "all_kwargs") else config)


def _milliseconds(
    describe: Callable[..., KernelLike], arguments: dict[str, Any], device: str | None, options: dict[str, Any]
) -> float:
    kernel = describe(**arguments)
    try:
        return predict(kernel, device=device, **options)["result"]["time_s"] * 1e3
    except KernelError as error:
        if error.line is not None or error.code in ("unknown-device", "request"):
            # A mistake in the document, not a launch that cannot run.
            raise
        return float("inf")
