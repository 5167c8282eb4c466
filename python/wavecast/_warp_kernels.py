"""Warp kernels to PTX, without a GPU: Warp has NVIDIA's compiler inside."""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from . import _arguments
from ._errors import KernelError
from ._errors import error as _error
from ._sources import Block, Compiled, Source

#: Blocks that are tried where nobody says which: a launch of Warp has one dimension of threads.
BLOCKS = [(n, 1, 1) for n in (64, 128, 256, 512, 1024)]
#: A module of Warp is compiled for one size of blocks at a time.
_LOCK = threading.Lock()


@dataclass
class Warp(Source):
    """A kernel of Warp, launched with `dim` threads."""

    kernel: Any
    dim: Any = None
    per_block = True

    #: Blocks to compile for where none are given.
    blocks = BLOCKS

    @property
    def extents(self) -> tuple[int, ...]:
        """Threads of the launch, in the order in which `wp.tid()` gives them."""
        if self.dim is None:
            help = "give dim=, as for wp.launch: a number or up to four"
            raise KernelError(
                [_error("ptx-grid", f"how many threads `{self.kernel.key}` is launched with is not known", help)]
            )
        return tuple(map(int, self.dim)) if isinstance(self.dim, (tuple, list)) else (int(self.dim),)

    def compiled(self, arch: int, block: Block | None) -> Compiled:
        import warp

        module = self.kernel.module
        threads = math.prod(block) if block else 256
        with _LOCK, tempfile.TemporaryDirectory() as folder, _quietly(warp):
            before = module.options.get("block_dim")
            module.options["block_dim"] = threads
            try:
                files = warp.compile_aot_module(module, arch=arch, module_dir=folder, use_ptx=True)
                text = next(Path(f).read_text() for f in files if str(f).endswith(".ptx"))
            except Exception as error:
                first = (str(error).strip().splitlines() or [type(error).__name__])[0]
                help = "Warp 1.8 or later compiles without a GPU; a generic kernel needs an overload (wp.overload)"
                said = f"Warp does not compile `{self.kernel.key}`: {first}"
                raise KernelError([_error("warp-compile", said, help)]) from error
            finally:
                module.options["block_dim"] = before
        wanted = re.escape(re.sub(r"\W", "_", self.kernel.key))
        entry = re.search(rf"\.entry\s+({wanted}\w*_cuda_kernel_forward)", text)
        if entry is None:
            raise KernelError([_error("warp-compile", f"Warp's PTX has no entry for `{self.kernel.key}`")])
        names = ("dim", *(argument.label for argument in self.kernel.adj.args))
        return Compiled(ptx=text, entry=entry[1], name=self.kernel.key, parameters=names, arch=arch)

    def arguments(self, args: Any, compiled: Compiled) -> tuple[Any, tuple[str, ...] | None]:
        """The first parameter is the launch, and an array is a struct of pointer, shape and strides."""
        names = compiled.parameters or ()
        values = dict(args) if isinstance(args, Mapping) else dict(zip(names[1:], args))
        unknown = [str(key) for key in values if key not in names[1:]]
        if unknown:
            said = f"`{self.kernel.key}` has no parameter `{unknown[0]}`"
            raise KernelError([_error("ptx-argument", said, f"it has: {', '.join(names[1:])}")])
        types = _types()
        found: dict[Any, Any] = {0: types.launch_bounds_t(self.extents)}
        for name, value in values.items():
            at, known = names.index(name), _arguments.array(value)
            if known is None:
                found[at] = value
                continue
            struct = types.array_t(0, 0, len(known.shape), known.shape, known.strides)
            found |= {f"{at}+{byte}": n for byte, n in _arguments.flat(struct) if byte >= 8}
            found[f"{at}+0"] = value
        return found, names

    def grid(self, grid: Any, args: Any) -> Any:
        """One block for each block's worth of threads, as `wp.launch` does it."""
        return grid if grid is not None else lambda block: -(-math.prod(self.extents) // math.prod(block))


def _types() -> Any:
    """Where Warp has its structs."""
    import warp

    return getattr(warp, "_src", warp).types


@contextlib.contextmanager
def _quietly(warp: Any) -> Iterator[None]:
    """Without lines on standard output about what is compiled, where Warp can be told so."""
    if not hasattr(warp.config, "quiet"):
        yield
        return
    before, warp.config.quiet = warp.config.quiet, True
    try:
        yield
    finally:
        warp.config.quiet = before
