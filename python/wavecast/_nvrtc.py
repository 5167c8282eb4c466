"""CUDA text to PTX with NVRTC, which comes from PyPI and needs no GPU."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import glob
import os
import re
import sys
from typing import Any, Iterator, Sequence

from ._errors import KernelError

INSTALL = "pip install 'wavecast[cuda]' (NVIDIA's compiler NVRTC from PyPI, without a GPU), or give PTX"
#: Where NVIDIA's packages for CUDA 12 and 13 have the library, under `nvidia/`, and where a toolkit has it.
LIBRARIES = [
    "cuda_nvrtc/lib/libnvrtc.so.*",
    "cu*/lib/libnvrtc.so.*",
    "cuda_nvrtc/bin/nvrtc64_*_0.dll",
    "cu*/bin/nvrtc64_*_0.dll",
]
TOOLKIT = ["lib64/libnvrtc.so*", "lib/libnvrtc.so*", "bin/nvrtc64_*_0.dll"]
HEADERS = ["cuda_runtime/include", "cu*/include", "cuda_cccl/include", "cuda_cccl/include/cccl"]


class CompileError(KernelError):
    """A text that does not compile. ``log`` is all that the compiler has said."""

    __module__ = "wavecast.cuda"

    def __init__(self, errors: list[dict[str, Any]], text: str | None, log: str):
        super().__init__(errors, text)
        self.log = log

    def __reduce__(self) -> Any:
        return type(self), (self.errors, self.text, self.log)


class Missing(ImportError):
    """A compiler that is not installed; the message says how to get it."""


def packaged(pattern: str) -> list[str]:
    """Files of NVIDIA's packages in this Python, newest first."""
    found = (glob.glob(os.path.join(path, "nvidia", pattern)) for path in dict.fromkeys(sys.path) if path)
    return [file for each in found for file in sorted(each, reverse=True)]


def toolkits() -> Iterator[str]:
    """Folders of CUDA toolkits."""
    given = (os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH"))
    return (folder for folder in (*given, "/usr/local/cuda") if folder and os.path.isdir(folder))


@functools.lru_cache(maxsize=1)
def library() -> Library:
    """NVRTC. Raises :class:`Missing`."""
    files = [f for pattern in LIBRARIES for f in packaged(pattern) if "builtins" not in f]
    files += [
        f for folder in toolkits() for p in TOOLKIT for f in glob.glob(os.path.join(folder, p)) if "builtins" not in f
    ]
    system = ctypes.util.find_library("nvrtc")
    for file in [*files, *([system] if system else [])]:
        try:
            return Library(ctypes.CDLL(file))
        except OSError as error:
            failed = f"; {file} cannot be loaded: {error}"
    raise Missing(f"CUDA text needs NVRTC{failed if files or system else ', which is not installed'}: {INSTALL}")


class Library:
    """NVRTC as it was loaded."""

    def __init__(self, loaded: ctypes.CDLL):
        self._call = loaded
        loaded.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check(loaded.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        self.version = f"{major.value}.{minor.value}"
        count = ctypes.c_int()
        self._check(loaded.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
        archs = (ctypes.c_int * count.value)()
        self._check(loaded.nvrtcGetSupportedArchs(archs))
        #: Architectures that it compiles for, as in compute_80.
        self.archs = sorted(archs)

    def nearest(self, arch: int) -> int:
        """The newest architecture that is not newer than this one; the oldest if all are."""
        archs: list[int] = self.archs
        return max((a for a in archs if a <= arch), default=archs[0])

    def compile(
        self, text: str, arch: int, options: Sequence[str], names: Sequence[str], file: str = "kernel.cu"
    ) -> tuple[str, dict[str, str], str]:
        """PTX, the names that it has for names of the source, and what the compiler has said."""
        call, program = self._call, ctypes.c_void_p()
        self._check(call.nvrtcCreateProgram(ctypes.byref(program), text.encode(), file.encode(), 0, None, None))
        try:
            for name in names:
                self._check(call.nvrtcAddNameExpression(program, name.encode()))
            given = [o.encode() for o in (f"--gpu-architecture=compute_{arch}", *_includes(), *options)]
            status = call.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
            log = self._text(program, "nvrtcGetProgramLog").strip()
            if status:
                raise _failed(log or call.nvrtcGetErrorString(status).decode(), text, file, options)
            lowered = {name: self._lowered(program, name) for name in names}
            return self._text(program, "nvrtcGetPTX"), lowered, log
        finally:
            call.nvrtcDestroyProgram(ctypes.byref(program))

    def _lowered(self, program: ctypes.c_void_p, name: str) -> str:
        found = ctypes.c_char_p()
        self._check(self._call.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(found)))
        return (found.value or name.encode()).decode()

    def _text(self, program: ctypes.c_void_p, function: str) -> str:
        size = ctypes.c_size_t()
        self._check(getattr(self._call, f"{function}Size")(program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._call, function)(program, text))
        return text.value.decode(errors="replace")

    def _check(self, status: int) -> None:
        if status:
            raise RuntimeError(f"NVRTC: {self._call.nvrtcGetErrorString(status).decode()}")


def _includes() -> list[str]:
    """Folders of CUDA's headers, of the packages or else of a toolkit."""
    found = [f for pattern in HEADERS for f in packaged(pattern)]
    found = found or [include for include in (os.path.join(t, "include") for t in toolkits()) if os.path.isdir(include)]
    return [f"--include-path={folder}" for folder in dict.fromkeys(found)]


#: What a mistake often comes from, and what to do.
HINTS = [
    (
        r"cannot open source file|could not open source file",
        "NVRTC compiles device code alone: leave out what the host needs (<cstdio>, <vector>, main ...), give folders "
        "of headers as options=['-I/path'], or compile with `nvcc -ptx` and give the PTX",
    ),
    (
        r"name expression|no instance of function template|could not be resolved",
        "entry= is a name of the text, for a template with its arguments, as in entry='axpy<float>'",
    ),
    (
        r"identifier .* is undefined",
        "what -D defines for nvcc goes into options=['-DNAME=value'], for each block as '-DBLOCK_X={x}'",
    ),
]


def _failed(log: str, text: str, file: str, options: Sequence[str]) -> CompileError:
    errors = []
    for found in re.finditer(
        r"(?m)^(?P<file>[^\n]*?)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<said>.*)$", log
    ):
        here = found["file"] == file
        hint = next((help for pattern, help in HINTS if re.search(pattern, found["said"])), None)
        errors.append(
            {
                "code": "cuda-compile",
                "message": found["said"].strip()
                if here
                else f"{found['file']}:{found['line']}: {found['said'].strip()}",
                "file": "kernel" if here else None,
                "line": int(found["line"]) if here else None,
                "column": None,
                "help": hint,
            }
        )
    if not errors:
        hint = next((help for pattern, help in HINTS if re.search(pattern, log)), None)
        message = f"NVRTC does not compile this (options {' '.join(options) or 'none'}): {log}"
        errors = [
            {"code": "cuda-compile", "message": message, "file": None, "line": None, "column": None, "help": hint}
        ]
    return CompileError(errors[:10], text, log)
