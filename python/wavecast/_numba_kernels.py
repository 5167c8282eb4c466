"""Numba kernels to PTX, without a GPU."""

from __future__ import annotations

import atexit
import inspect
import os
import re
import shutil
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Iterator, Mapping, Sequence

from . import _arguments
from ._errors import KernelError
from ._errors import error as _error
from ._nvrtc import Missing, packaged
from ._sources import Block, Compiled, Source, lines_of

INSTALL = "pip install 'wavecast[numba]'"
#: What Numba asks for is changed while it compiles. It compiles one kernel at a time anyway.
_ONE_AT_A_TIME = threading.Lock()


@dataclass
class Numba(Source):
    """A kernel of Numba: what `@cuda.jit` gives, or the Python function."""

    kernel: Any
    #: The types of its arguments, as Numba takes them.
    signature: Any = None
    #: What it gets, by name.
    values: Mapping[str, Any] | None = None

    @property
    def function(self) -> Any:
        """The Python function."""
        return getattr(self.kernel, "py_func", self.kernel)

    @property
    def names(self) -> tuple[str, ...]:
        """Its parameters."""
        return tuple(inspect.signature(self.function).parameters)

    def bound(self, args: Any) -> Numba:
        """The same with its arguments, on which its types depend."""
        if isinstance(args, Mapping):
            unknown = [str(key) for key in args if key not in self.names]
            if unknown:
                said = f"`{self.function.__name__}` has no parameter `{unknown[0]}`"
                raise KernelError([_error("ptx-argument", said, f"it has: {', '.join(self.names)}")])
            values = dict(args)
        else:
            if len(args) > len(self.names):
                said = f"{len(args)} arguments for the {len(self.names)} parameters of `{self.function.__name__}`"
                raise KernelError([_error("ptx-argument", said, f"it has: {', '.join(self.names)}")])
            values = dict(zip(self.names, args))
        return replace(self, values=values)

    def compiled(self, arch: int, block: Block | None) -> Compiled:
        cuda = _numba_cuda()
        signature = self._signature()
        options = getattr(self.kernel, "targetoptions", {})
        same = {k: options[k] for k in ("fastmath", "opt") if k in options}
        # Lines of the source, for messages.
        same["lineinfo"] = True
        try:
            ptx = _compiled(cuda, self.function, signature, divmod(arch, 10), same)
        except Missing:
            raise
        except Exception as error:
            # The first line says at which step.
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            first = [line for line in lines if not line.startswith("Failed in")] or lines or [type(error).__name__]
            help = "signature= gives the types as Numba takes them, as in 'void(float32[::1], int64)'"
            said = f"Numba does not compile `{self.function.__name__}` for {signature}: {first[0]}"
            wrong = _error("numba-compile", said, help)
            source, file = lines_of(self.function)
            place = re.search(rf'File "[^"]*{re.escape(file or "?")}", line (\d+)', str(error))
            wrong |= {"file": file, "line": int(place[1])} if place else {}
            raise KernelError([wrong], source, file) from error
        source, file = lines_of(self.function)
        head = self.function.__code__.co_firstlineno
        return Compiled(ptx=ptx, name=self.function.__name__, arch=arch, source=source, file=file, head=head)

    def arguments(self, args: Any, compiled: Compiled) -> tuple[Any, tuple[str, ...] | None]:
        """An array is 5 words and two for each dimension: two that kernels do not use, elements, bytes of an element,
        the pointer, extents, strides in bytes."""
        found: dict[int, Any] = {}
        names: list[str] = []
        types = self._types()
        for name, kind in zip(self.names, types):
            value = (self.values or {}).get(name)
            dimensions = getattr(kind, "ndim", None)
            at = len(names)
            if dimensions is None:
                names.append(name)
                if value is not None:
                    found[at] = value
                continue
            words = ["meminfo", "parent", "nitems", "itemsize", None]
            words += [f"{what}_{d}" for what in ("shape", "stride") for d in range(dimensions)]
            names += [name if word is None else f"{name}_{word}" for word in words]
            known = None if value is None else _arguments.array(value)
            if known is not None:
                given = [0, 0, known.size, known.itemsize, value, *known.shape, *known.strides]
                found |= {at + i: v for i, v in enumerate(given)}
        return found, tuple(names)

    def _signature(self) -> Any:
        if self.signature is not None:
            return self.signature
        compiled = getattr(self.kernel, "signatures", None)
        if compiled and not self.values:
            return compiled[0]
        return tuple(self._types())

    def _types(self) -> Sequence[Any]:
        """Numba's types of its arguments."""
        from numba import types
        from numba.core import sigutils

        signature = self.signature
        if signature is None and not self.values and getattr(self.kernel, "signatures", None):
            signature = self.kernel.signatures[0]
        if signature is not None:
            found = sigutils.normalize_signature(signature)[0] if not isinstance(signature, tuple) else signature
            if len(found) != len(self.names):
                said = f"{len(found)} types for the parameters {', '.join(self.names)}"
                raise KernelError([_error("ptx-argument", said, "signature= has one type for each")])
            return found
        values = self.values or {}
        missing = [name for name in self.names if name not in values]
        if missing:
            help = f"give it in args, as {missing[0]}=wavecast.cuda.Array(shape, dtype) or a number, or signature="
            said = f"the type of the argument {missing[0]} of `{self.function.__name__}` is not known"
            raise KernelError([_error("ptx-argument", said, help)])
        return [_type(types, name, values[name]) for name in self.names]


def _type(types: Any, name: str, value: Any) -> Any:
    """Numba's type of a value, as a launch gives it."""
    known = _arguments.array(value)
    if known is not None:
        element = getattr(types, "boolean" if known.dtype == "bool" else known.dtype, None)
        if element is None:
            raise TypeError(f"argument {name}: Numba has no arrays of {known.dtype}")
        strides = _arguments.contiguous(known.shape, known.itemsize)
        backwards = _arguments.contiguous(known.shape[::-1], known.itemsize)[::-1]
        layout = "C" if known.strides == strides else "F" if known.strides == backwards else "A"
        return types.Array(element, len(known.shape), layout)
    if isinstance(value, bool):
        return types.boolean
    plain = _arguments.number(value)
    if plain is None:
        raise TypeError(
            f"argument {name}: a {type(value).__name__} is neither a number nor an array; signature= says its type"
        )
    if hasattr(value, "dtype"):
        return getattr(types, _arguments.dtype_name(value.dtype))
    return types.float64 if isinstance(plain, float) else types.int64


def _numba_cuda() -> Any:
    try:
        from numba import cuda
    except ImportError as error:
        raise Missing(f"a Python function is compiled by Numba, which is not installed: {INSTALL}") from error
    return cuda


@contextmanager
def _device(arch: tuple[int, int]) -> Iterator[None]:
    """Numba compiles device functions for the GPU that is there; where there is none, for this architecture."""
    from numba.cuda import dispatcher

    there = dispatcher.get_current_device

    def current() -> Any:
        try:
            return there()
        except Exception:
            return SimpleNamespace(compute_capability=arch)

    with _ONE_AT_A_TIME:
        dispatcher.get_current_device = current
        try:
            yield
        finally:
            dispatcher.get_current_device = there


def _compiled(cuda: Any, function: Any, signature: Any, arch: tuple[int, int], options: Mapping[str, Any]) -> str:
    with _device(arch):
        return _compiled_once(cuda, function, signature, arch, options)


def _compiled_once(
    cuda: Any, function: Any, signature: Any, arch: tuple[int, int], options: Mapping[str, Any]
) -> str:
    try:
        return str(cuda.compile_ptx(function, signature, cc=arch, **options)[0])
    except Exception as error:
        if not re.search(r"(?i)nvvm|libdevice", f"{type(error).__name__} {error}"):
            raise
        failed = error
    home = _home()
    if home is None:
        raise Missing(f"Numba needs NVVM, which is not found: {INSTALL}, or a CUDA toolkit with CUDA_HOME") from failed
    # Numba looks in a toolkit, and remembers what it has not found.
    before = os.environ.get("CUDA_HOME")
    os.environ["CUDA_HOME"] = home
    try:
        from numba.cuda import cuda_paths

        if hasattr(cuda_paths.get_cuda_paths, "_cached_result"):
            del cuda_paths.get_cuda_paths._cached_result
        return str(cuda.compile_ptx(function, signature, cc=arch, **options)[0])
    finally:
        if before is None:
            del os.environ["CUDA_HOME"]
        else:
            os.environ["CUDA_HOME"] = before


def _home() -> str | None:
    """What looks like a toolkit, of the package `nvidia-cuda-nvcc-cu12`: Numba wants a version in its name."""
    library, device = packaged("cuda_nvcc/nvvm/lib64/libnvvm.so"), packaged("cuda_nvcc/nvvm/libdevice")
    if not library or not device:
        return None
    home = Path(tempfile.mkdtemp(prefix="wavecast-nvvm-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / "nvvm" / "lib64").mkdir(parents=True)
    (home / "nvvm" / "lib64" / "libnvvm.so.4").symlink_to(library[0])
    (home / "nvvm" / "libdevice").symlink_to(device[0])
    (home / "lib64").symlink_to(next(iter(packaged("cuda_runtime/lib")), home))
    return str(home)
