"""Triton kernels to PTX, without a GPU."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Mapping, Sequence

from . import _arguments
from ._errors import KernelError
from ._errors import error as _error
from ._sources import Block, Compiled, Source, lines_of
from ._store import kept

#: What Triton calls element types.
POINTERS = {
    **{"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "bool": "i1"},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    **{"float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5"},
}
#: Words of a configuration that are none of the kernel's constants.
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


@dataclass
class Triton(Source):
    """A kernel of Triton, for one configuration or for several."""

    kernel: Any
    constexprs: Mapping[str, Any]
    configs: Sequence[Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def function(self) -> Any:
        """What `@triton.jit` gave, below `@triton.autotune` and `@triton.heuristics`."""
        found = self.kernel
        while not hasattr(found, "arg_names") or not hasattr(found, "params"):
            found = found.fn
        return found

    @property
    def name(self) -> str:
        return str(self.function.__name__)

    def programs(self, args: Any) -> list[tuple[str | None, Triton]]:
        """One for each configuration, with its name."""
        names = self.function.arg_names
        if not isinstance(args, Mapping) and len(args) > len(names):
            said = f"{len(args)} arguments for the {len(names)} parameters of `{self.name}`"
            raise KernelError([_error("ptx-argument", said, f"it has: {', '.join(names)}")])
        values = dict(args) if isinstance(args, Mapping) else dict(zip(names, args))
        if not isinstance(self.constexprs, Mapping):
            raise TypeError(
                f"constexprs={_arguments.shown(self.constexprs)}: give the constants by name, as in dict(B=256)"
            )
        configs = self.configs if self.configs is not None else getattr(self.kernel, "configs", None)
        if configs is None:
            return [(None, self._with(values, {}))]
        if not isinstance(configs, Sequence) or isinstance(configs, str):
            raise TypeError(f"configs={_arguments.shown(configs)}: give a list of triton.Config, or of dicts")
        if not configs:
            raise ValueError("configs is empty: give at least one configuration")
        return [(named(config), self._with(values, settings(config))) for config in configs]

    def _with(self, values: Mapping[str, Any], config: Mapping[str, Any]) -> Triton:
        options = {k: v for k, v in {**self.options, **config}.items() if k in OPTIONS and v is not None}
        constants = {**self.constexprs, **{k: v for k, v in config.items() if k not in OPTIONS}}
        merged = {**values, **constants}
        for around in self._around():
            # Constants that are computed from the arguments.
            merged |= {name: compute(merged) for name, compute in around.items()}
        names = self.function.arg_names
        unknown = [key for key in merged if key not in names]
        if unknown:
            said = f"`{self.name}` has no parameter `{unknown[0]}`"
            raise KernelError([_error("ptx-argument", said, f"it has: {', '.join(names)}")])
        return replace(self, values=merged, options=options)

    def _around(self) -> list[Mapping[str, Callable[..., Any]]]:
        found, layer = [], self.kernel
        while layer is not self.function:
            if hasattr(layer, "values"):
                found.append(layer.values)
            layer = layer.fn
        return found[::-1]

    def specialized(self) -> tuple[dict[str, str], dict[str, Any], dict[tuple[int, ...], Any]]:
        """Types, constants and attributes, as a launch has them."""
        signature: dict[str, str] = {}
        constants: dict[str, Any] = {}
        attributes: dict[tuple[int, ...], Any] = {}
        for number, parameter in enumerate(self.function.params):
            name = parameter.name
            if name not in self.values:
                default = getattr(parameter, "default", None)
                if not getattr(parameter, "has_default", False):
                    kind = "constant" if parameter.is_constexpr else "argument"
                    help = (
                        f"give it in args, or as constexprs=dict({name}=...)"
                        if parameter.is_constexpr
                        else "give it in args"
                    )
                    raise KernelError([_error("ptx-argument", f"`{self.name}` needs the {kind} {name}", help)])
                value = default
            else:
                value = self.values[name]
            known = None if value is None or parameter.is_constexpr else _arguments.array(value)
            fixed = getattr(parameter, "do_not_specialize", False)
            if parameter.is_constexpr or value is None:
                signature[name], constants[name] = "constexpr", value
            elif known is not None:
                if known.dtype not in POINTERS:
                    raise TypeError(f"argument {name}: Triton has no arrays of {known.dtype}")
                signature[name] = f"*{POINTERS[known.dtype]}"
                if not getattr(parameter, "do_not_specialize_on_alignment", False):
                    attributes[(number,)] = [["tt.divisibility", 16]]
            else:
                self._scalar(number, parameter, value, fixed, signature, constants, attributes)
        return signature, constants, attributes

    def _scalar(
        self,
        number: int,
        parameter: Any,
        value: Any,
        fixed: bool,
        signature: dict[str, str],
        constants: dict[str, Any],
        attributes: dict[tuple[int, ...], Any],
    ) -> None:
        name, plain = parameter.name, _arguments.number(value)
        if plain is None:
            raise TypeError(f"argument {name}: a {type(value).__name__} is neither a number nor an array")
        said = getattr(parameter, "annotation_type", "")
        if isinstance(value, bool):
            signature[name] = said or "u1"
        elif isinstance(plain, float):
            signature[name] = said or "fp32"
        elif plain == 1 and not fixed:
            signature[name], constants[name] = "constexpr", 1
        else:
            wide = "i32" if -(2**31) <= plain < 2**31 else "i64" if plain < 2**63 else "u64"
            signature[name] = said or wide
            if plain % 16 == 0 and not fixed and not getattr(parameter, "do_not_specialize_on_alignment", False):
                attributes[(number,)] = [["tt.divisibility", 16]]

    def compiled(self, arch: int, block: Block | None) -> Compiled:
        import triton

        signature, constants, attributes = self.specialized()
        key = ["triton", triton.__version__, self.function.cache_key, signature, constants, sorted(attributes.items())]
        found = kept(
            [*key, sorted(self.options.items()), arch], lambda: self._made(arch, signature, constants, attributes)
        )
        names = tuple(n for n, kind in signature.items() if kind != "constexpr")
        # Triton says lines of the source itself, unless TRITON_DISABLE_LINE_INFO is set.
        source, file = lines_of(self.function.fn) if ".loc" in found["ptx"] else (None, None)
        return Compiled(
            ptx=found["ptx"],
            entry=found["entry"],
            name=self.name,
            parameters=names,
            arch=arch,
            registers=found["registers"],
            shared=found["shared"],
            source=source,
            file=file,
        )

    def _made(self, arch: int, signature: Any, constants: Any, attributes: Any) -> dict[str, Any]:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource

        try:
            source = ASTSource(self.function, signature, constants, attributes)
            made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=dict(self.options))
        except Exception as error:
            first = " ".join(str(error).split())[:400] or type(error).__name__
            said = f"Triton does not compile `{self.name}` with {_settings(self.values, self.options)}: {first}"
            raise KernelError([_error("triton-compile", said)]) from error
        ptx = made.asm["ptx"]
        return {
            "ptx": ptx,
            "entry": made.metadata.name,
            "shared": made.metadata.shared,
            "registers": registers(made.asm.get("cubin")),
        }

    def arguments(self, args: Any, compiled: Compiled) -> tuple[Any, tuple[str, ...] | None]:
        given = {n: self.values[n] for n in compiled.parameters or () if self.values.get(n) is not None}
        return given, compiled.parameters

    def grid(self, grid: Any, args: Any) -> Any:
        """The grid as numbers. A function gets the configuration and the arguments, as Triton's own does."""
        given = {**self.options, **self.values}
        return _arguments.called(grid, given, "the configuration") if callable(grid) else grid


def settings(config: Any) -> dict[str, Any]:
    """What a configuration calls a kernel with."""
    given = dict(config.all_kwargs() if hasattr(config, "all_kwargs") else config)
    return {k: v for k, v in given.items() if v is not None and k not in ("pre_hook", "ir_override")}


def named(config: Any) -> str:
    """A name for a configuration."""
    return ", ".join(f"{k}={v}" for k, v in settings(config).items())


def _settings(values: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    plain = {k: v for k, v in values.items() if isinstance(v, (int, float, str))}
    return ", ".join(f"{k}={v}" for k, v in {**plain, **options}.items())


def registers(cubin: bytes | None) -> int | None:
    """Registers of a thread, as they stand in a cubin with one kernel."""
    if not cubin or cubin[:4] != b"\x7fELF":
        return None
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + i * size) for i in range(count)]
    strings = sections[names][4]
    for name, _, _, _, offset, length, *_ in sections:
        start = strings + name
        if cubin[start : cubin.index(b"\0", start)] != b".nv.info":
            continue
        at = offset
        while at + 4 <= offset + length:
            form, attribute, more = struct.unpack_from("<BBH", cubin, at)
            if form == 4 and attribute == 0x2F:
                return int(struct.unpack_from("<II", cubin, at + 4)[1])
            at += 4 + (more if form == 4 else 0)
    return None
