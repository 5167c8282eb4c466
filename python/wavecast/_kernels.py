"""Kernels as people have them, compiled to PTX: CUDA text, PTX, CuPy. Numba, Triton and Warp have their own files."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from . import _nvrtc, _signature
from ._errors import KernelError
from ._errors import error as _error
from ._sources import Block, Compiled, Given, Options, Source
from ._store import kept

#: What can be a kernel.
KINDS = (
    "CUDA text or PTX (or the path of a .cu or .ptx file), a CuPy RawKernel, a Numba kernel (@cuda.jit, or its Python "
    "function), a Triton kernel (@triton.jit) or a Warp kernel (@wp.kernel)"
)


@dataclass
class Cuda(Source):
    """CUDA text, for NVRTC."""

    text: str
    entry: Any = None
    options: Options = ()
    file: str = "kernel.cu"
    #: Lines of loops of which somebody says how often they run: compilers unroll them, and then they run less often.
    loops: Sequence[int] = ()

    def __post_init__(self) -> None:
        if isinstance(self.options, str):
            self.options = self.options.split()
        self.per_block = (
            callable(self.options)
            or callable(self.entry)
            or any(_is_template(text) for text in (*self.options, self.entry or ""))
        )

    def compiled(self, arch: int, block: Block | None) -> Compiled:
        options = self.options(block) if callable(self.options) else self.options  # type: ignore[arg-type]
        options = [_filled(o, block) for o in ([options] if isinstance(options, str) else options)]
        entry = self.entry(block) if callable(self.entry) else self.entry and _filled(self.entry, block)
        kernel = self._kernel(entry)
        # A template is compiled for the arguments that its name has; others are in the PTX anyway.
        expression = entry and (kernel is None or kernel.template or "<" in entry)
        if any(o.startswith(("-arch", "--gpu-architecture")) for o in options):
            arch = int((re.search(r"_(\d+)", " ".join(options)) or [0, arch])[1])
            options = [o for o in options if not o.startswith(("-arch", "--gpu-architecture"))]
        found = self._made(arch, options, [entry] if expression and "(" not in entry else [])
        name = entry or (kernel.name if kernel else None)
        parameters = kernel.parameters if kernel else ()
        known = all(p is not None for p in parameters) and kernel is not None
        return Compiled(
            ptx=found["ptx"],
            entry=found["names"].get(entry) or (kernel.name if kernel else entry),
            name=name,
            parameters=tuple(p for p in parameters if p) if known else None,
            arch=found["arch"],
            log=found["log"],
            source=self.text,
        )

    def _kernel(self, entry: str | None) -> _signature.Kernel | None:
        """The kernel that is meant, as it is written in the text."""
        all_of_them = _signature.kernels(self.text)
        listed = ", ".join(k.name + ("<...>" if k.template else "") for k in all_of_them)
        if entry is not None:
            base = re.sub(r"<.*", "", entry).rpartition("::")[2].strip()
            found = [k for k in all_of_them if k.name == base]
            if not found and "#include" not in self.text and "#define" not in self.text and not entry.startswith("_Z"):
                raise KernelError(
                    [_error("cuda-entry", f"the text has no kernel `{entry}`", f"entry= is one of: {listed or 'none'}")]
                )
            if found and found[0].template and "<" not in entry:
                help = f"say its arguments, as in entry='{base}<float>'"
                raise KernelError([_error("cuda-entry", f"`{base}` is a template", help)])
            return found[0] if found else None
        if len(all_of_them) == 1:
            return self._kernel(all_of_them[0].name)
        if not all_of_them:
            if "#include" in self.text or "#define" in self.text:
                return None
            help = "a kernel is a function with `__global__`; other kinds: " + KINDS
            raise KernelError([_error("cuda-entry", "the text has no kernel", help)])
        raise KernelError(
            [
                _error(
                    "cuda-entry", "the text has several kernels", f"say which one is meant: entry= is one of: {listed}"
                )
            ]
        )

    def _made(self, arch: int, options: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
        nvrtc = _nvrtc.library()
        arch = nvrtc.nearest(arch)
        # Lines of the source, for messages.
        given = ["--generate-line-info", *options]
        text = _signature.not_unrolled(self.text, self.loops)

        def make() -> dict[str, Any]:
            ptx, lowered, log = nvrtc.compile(text, arch, given, names, self.file)
            return {"ptx": ptx, "names": lowered, "log": log, "arch": arch}

        if re.search(r'#\s*include\s*"|__has_include', self.text) or any(
            o.startswith(("-I", "--include", "-include")) for o in options
        ):
            # Files that may change.
            return make()
        made: dict[str, Any] = kept(["nvrtc", nvrtc.version, text, self.file, arch, given, list(names)], make)
        return made


def source(
    kernel: Any,
    entry: Any = None,
    options: Options = (),
    *,
    signature: Any = None,
    constexprs: Mapping[str, Any] | None = None,
    configs: Sequence[Any] | None = None,
    compile_options: Mapping[str, Any] | None = None,
    trips: Mapping[int, int] | None = None,
) -> Source:
    """What a kernel is, ready to be compiled. Raises `TypeError` for what is none."""
    found = _source(kernel, entry, options, signature, constexprs, configs, compile_options)
    return replace(found, loops=tuple(trips)) if trips and isinstance(found, Cuda) else found


def _source(
    kernel: Any, entry: Any, options: Options, signature: Any, constexprs: Any, configs: Any, compile_options: Any
) -> Source:
    module = type(kernel).__module__.partition(".")[0]
    if isinstance(kernel, Compiled):
        return Given(replace(kernel, entry=entry) if entry else kernel)
    if isinstance(kernel, os.PathLike) or (isinstance(kernel, str) and "\n" not in kernel and "{" not in kernel):
        return _file(Path(kernel), entry, options)
    if isinstance(kernel, str):
        return _text(kernel, entry, options)
    if module == "triton" and hasattr(kernel, "fn"):
        from ._triton_kernels import Triton

        return Triton(kernel, constexprs or {}, configs, compile_options or {})
    if module == "warp" and hasattr(kernel, "adj"):
        from ._warp_kernels import Warp

        return Warp(kernel, (compile_options or {}).get("dim"))
    if (module.startswith("numba") and hasattr(kernel, "py_func")) or type(kernel).__name__ == "function":
        from ._numba_kernels import Numba

        return Numba(kernel, signature)
    code = getattr(kernel, "code", None)
    if isinstance(code, str):
        # A CuPy RawKernel or RawModule, which has its text.
        own = getattr(kernel, "options", ()) or ()
        added = options if callable(options) else (*own, *([options] if isinstance(options, str) else options))
        return _text(code, entry or getattr(kernel, "name", None), added)
    raise TypeError(f"a {type(kernel).__module__}.{type(kernel).__name__} is no kernel: give {KINDS}")


def at_once(work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """What `work` makes of each, or the error that it raises."""

    def tried(item: Any) -> Any:
        try:
            return work(item)
        except Exception as error:
            return error

    with ThreadPoolExecutor(min(len(items), os.cpu_count() or 1) or 1) as pool:
        return list(pool.map(tried, items))


def _file(path: Path, entry: Any, options: Options) -> Source:
    if path.suffix not in (".ptx", ".cu", ".cuh", ".cl", ".hip"):
        raise ValueError(
            f"{str(path)!r} is neither CUDA text nor PTX, nor the path of a .cu or .ptx file; give {KINDS}"
        )
    if path.suffix in (".cl", ".hip"):
        raise ValueError(
            f"{path}: OpenCL and HIP are not compiled here; compile it to PTX with clang, and give the .ptx"
        )
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ptx":
        return Given(Compiled(text, entry))
    if not callable(options):
        options = ([options] if isinstance(options, str) else [*options]) + [f"--include-path={path.parent}"]
    return Cuda(text, entry, options, path.name)


def _text(text: str, entry: Any, options: Options) -> Source:
    if re.search(r"(?m)^\s*\.version\s+\d", text):
        return Given(Compiled(text, entry))
    if "__kernel" in text and "__global__" not in text:
        raise ValueError("OpenCL is not compiled here; compile it to PTX with clang, and give that")
    if re.search(r"(?m)^wavecast:|^\s*\{\s*[\"']?wavecast", text):
        raise ValueError("this is a kernel document: wavecast.rank(document, device) takes it as it is")
    return Cuda(text, entry, options)


def bare_text(kernel: Any) -> str:
    """The text of a kernel, or of the file that it names, without comments."""
    if isinstance(kernel, os.PathLike) or (isinstance(kernel, str) and "\n" not in kernel and "{" not in kernel):
        kernel = Path(kernel).read_text(encoding="utf-8")
    return _signature.bare(kernel)


def _is_template(text: Any) -> bool:
    return isinstance(text, str) and re.search(r"\{[xyz]\}", text) is not None


def _filled(text: str, block: Block | None) -> str:
    if block is None or not _is_template(text):
        return text
    return re.sub(r"\{([xyz])\}", lambda m: str(block["xyz".index(m[1])]), text)
