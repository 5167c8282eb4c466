"""Triton: kernels that are read, and an early prune and a performance model for `prune_configs_by`.

>>> from wavecast.triton import prune_configs_by
>>> @triton.autotune(configs, key=["n"], prune_configs_by=prune_configs_by(lambda: kernel, "h100-pcie", top_k=4))
... @triton.jit
... def kernel(...): ...

Each configuration is compiled (which needs no GPU), read, and predicted; what Triton has made is kept for the next
time in `$WAVECAST_CACHE` or `~/.cache/wavecast`. :func:`wavecast.cuda.rank` ranks a Triton kernel outside of a tuner.

Instead of a kernel there may be a description: a function that is called with the arguments of the kernel and the
values of a configuration, by name, and returns a kernel document with one launch. It works with every tuner that calls
its functions as Triton (3.x) does; Triton itself is not needed then.

Triton coalesces each access by itself: of two that walk a tile in different directions, it hands the values
from thread to thread in between, through shared memory. Where all accesses have the same contiguous extent,
:func:`block_and_fold` gives block and fold of a document in work items. Otherwise the body says what each thread
does: :func:`tile_access` for each access, :func:`tile_launch` for the launch.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable, Mapping, Sequence

from ._api import KernelLike, predict
from ._errors import KernelError

__all__ = ["block_and_fold", "prune_configs_by", "tile_access", "tile_launch"]

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


def tile_launch(
    tile: Sequence[int], num_warps: int, grid: Sequence[int], warp_size: int = 32, **more: Any
) -> dict[str, Any]:
    """The key `launch` of a document whose body is made of :func:`tile_access`: programs of ``num_warps`` warps,
    ``grid`` of them, each of which does a tile. ``more`` are further keys, such as `registers` and `shared`."""
    threads = num_warps * warp_size
    items = 1
    for extent in tile:
        items *= int(extent)
    return {"block": [[threads]], "grid": [int(n) for n in grid], "units_per_thread": f"{items}/{threads}", **more}


def tile_access(
    verb: str,
    field: str,
    tile: Sequence[int],
    num_warps: int,
    origin: Sequence[str] = (),
    itemsize: int = 4,
    warp_size: int = 32,
) -> dict[str, Any]:
    """A statement of a body: what the threads of a program do to ``load`` or ``store`` a tile of ``field``, coalesced
    as Triton does it. ``tile`` is the tile in the order of the indices of the field, whose first extent is the
    contiguous one, ``origin`` where it begins in the field, such as ``("64*blockIdx.x", "32*blockIdx.y")``."""
    block, fold = block_and_fold(tile, num_warps, itemsize, warp_size)
    vector = max(1, min(WIDEST // itemsize, fold[0]))
    # Block and fold of an extent: threads side by side, each with a vector, again and again.
    thread, indices, loops = "threadIdx.x", [], {}
    for position, (along, items) in enumerate(zip(block[: len(tile)], fold)):
        width = vector if position == 0 else 1
        terms = [origin[position]] if origin else []
        if along > 1:
            terms.append(f"{width}*({thread} % {along})")
        if items > width:
            loops[f"r{position}"] = f"0..{items // width - 1}"
            terms.append(f"{width * along}*r{position}")
        thread = f"({thread} / {along})" if along > 1 else thread
        indices.append(" + ".join(terms) or "0")
    statement: dict[str, Any] = {"at": f"{verb} {field}[{', '.join(indices)}]"}
    if vector > 1:
        statement["width"] = vector * itemsize
    return {"for": loops, **statement} if loops else statement


def prune_configs_by(
    kernel: Any,
    device: str | None = None,
    *,
    grid: Any = None,
    top_k: int | float | None = None,
    slowdown: float = 2.0,
    **options: Any,
) -> dict[str, Any]:
    """The argument `prune_configs_by` of `triton.autotune`.

    ``kernel`` is what `@triton.jit` or `@triton.autotune` gave, or a function without parameters that returns it
    (``lambda: kernel``), as its name is not there yet where a decorator is written; or a function that describes a
    configuration. ``grid`` is only needed where a tuner does not hand over that of the launch, as Triton does.

    ``early_config_prune`` leaves out what cannot run on the device and what is predicted to take more than
    ``slowdown`` times as long as the best; if nothing can run, all stay. ``perf_model`` gives predicted
    milliseconds; with ``top_k``, a number or a share, Triton measures the best so many only. A configuration with an
    access that cannot be read stays, with a warning, and its time counts as 0; if none can be read,
    :class:`wavecast.KernelError` is raised.
    """
    compiled = hasattr(kernel, "fn") or not inspect.signature(kernel).parameters
    model = _Compiled(kernel, device, grid, options) if compiled else None

    def perf_model(**arguments: Any) -> float:
        if model is not None:
            return model.milliseconds([arguments])[0]
        return _milliseconds(kernel, arguments, device, options)

    def early_config_prune(configs: Sequence[Any], named_args: Mapping[str, Any], **arguments: Any) -> list[Any]:
        calls = [{**named_args, **arguments, **_values(config)} for config in configs]
        times = model.milliseconds(calls) if model is not None else [perf_model(**call) for call in calls]
        limit = slowdown * min((time for time in times if time > 0), default=0.0)
        kept = [config for config, time in zip(configs, times) if time <= limit and time != float("inf")]
        return kept or list(configs)

    found = {"perf_model": perf_model, "early_config_prune": early_config_prune}
    return found if top_k is None else {**found, "top_k": top_k}


class _Compiled:
    """Predictions of a kernel that is compiled and read."""

    def __init__(self, kernel: Any, device: str | None, grid: Any, options: dict[str, Any]):
        self._kernel, self._device, self._grid, self._options = kernel, device, grid, options
        #: Milliseconds by what they depend on: a tuner asks for the same again.
        self._known: dict[str, float] = {}

    def milliseconds(self, calls: Sequence[Mapping[str, Any]]) -> list[float]:
        """Predictions of calls, several at a time; infinity for what cannot run."""
        from ._kernels import at_once

        kernel = self._kernel if hasattr(self._kernel, "fn") else self._kernel()
        found = at_once(lambda call: self._one(kernel, call), calls)
        wrong = [e for e in found if isinstance(e, Exception)]
        # A configuration that Triton refuses is no candidate, and one that cannot be read may be the best; where it is
        # the same for all, the kernel or its description is wrong.
        unread = [e for e in wrong if isinstance(e, KernelError) and e.code == "not-read"]
        refused = [e for e in wrong if isinstance(e, KernelError) and e.code == "triton-compile"]
        for error in wrong:
            if error not in unread and error not in refused or len(wrong) == len(found) > 1:
                raise error
        if unread:
            first = str(unread[0]).splitlines()[0]
            warnings.warn(
                f"{len(unread)} of {len(found)} configurations cannot be read and stay: {first}", stacklevel=4
            )
        return [0.0 if e in unread else float("inf") if isinstance(e, Exception) else e for e in found]

    def _one(self, kernel: Any, call: Mapping[str, Any]) -> float:
        from . import cuda
        from ._arguments import array
        from ._triton_kernels import OPTIONS, Triton

        function = Triton(kernel, {}).function
        config = {name: value for name, value in call.items() if name in OPTIONS and value is not None}
        values = {name: value for name, value in call.items() if name in function.arg_names}
        grid = call.get("grid", self._grid)
        numbers = grid({**call}) if callable(grid) else grid
        key = repr([function.cache_key, config, numbers, [(n, array(v) or v) for n, v in values.items()]])
        if key not in self._known:
            document = cuda.document(function, values, numbers, self._device, configs=[config])
            self._known[key] = _time(document, self._device, self._options)
        return self._known[key]


def _values(config: Any) -> dict[str, Any]:
    """What a configuration calls a kernel with."""
    return dict(config.all_kwargs() if hasattr(config, "all_kwargs") else config)


def _milliseconds(
    describe: Callable[..., KernelLike], arguments: dict[str, Any], device: str | None, options: dict[str, Any]
) -> float:
    return _time(describe(**arguments), device, options)


def _time(kernel: KernelLike, device: str | None, options: dict[str, Any]) -> float:
    try:
        return float(predict(kernel, device=device, **options)["result"]["time_s"]) * 1e3
    except KernelError as error:
        if error.line is not None or error.code in ("unknown-device", "ambiguous-device", "request"):
            # A mistake in the document, not a launch that cannot run.
            raise
        return float("inf")
