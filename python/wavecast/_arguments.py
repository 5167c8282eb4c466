"""What the parameters of a kernel get, as the reader of PTX takes it."""

from __future__ import annotations

import ctypes
import math
import operator
import re
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Callable, Iterator, Mapping, Sequence

from ._document import RESERVED

#: Bytes of the elements that arrays may have, by the names that NumPy, CuPy and PyTorch give them.
BYTES = {
    **{f"{kind}{bits}": bits // 8 for kind in ("float", "int", "uint") for bits in (16, 32, 64)},
    **{"int8": 1, "uint8": 1, "bool": 1, "bfloat16": 2, "complex64": 8, "complex128": 16},
    **{name: 1 for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")},
}
#: Other names for them: NumPy's short ones, in bytes, and those of documents, in bits; `i8` is NumPy's.
ALIASES = {
    **{f"{c}{bits}": f"{kind}{bits}" for c, kind in zip("fiu", ("float", "int", "uint")) for bits in (16, 32, 64)},
    **{f"{c}{n}": f"{kind}{8 * n}" for c, kind in zip("fiu", ("float", "int", "uint")) for n in (2, 4, 8)},
    **{
        "i1": "int8",
        "u1": "uint8",
        "c8": "complex64",
        "c16": "complex128",
        "?": "bool",
        "b1": "bool",
        "bf16": "bfloat16",
    },
    **{
        "half": "float16",
        "float": "float64",
        "double": "float64",
        "single": "float32",
        "int": "int64",
        "uint": "uint64",
    },
}


class Array:
    """An array that need not exist: ``Array((4096, 4096), "float32")``. ``strides`` are in bytes, as NumPy has them;
    by default the last index is the contiguous one."""

    def __init__(self, shape: int | Sequence[int], dtype: Any = "float32", strides: Sequence[int] | None = None):
        self.shape = tuple(operator.index(n) for n in (shape if isinstance(shape, Sequence) else (shape,)))
        self.dtype = dtype_name(dtype)
        if self.dtype not in BYTES:
            raise TypeError(f"dtype={dtype!r}: name an element type, such as {', '.join(list(BYTES)[:12])}")
        self.itemsize = BYTES[self.dtype]
        self.strides = contiguous(self.shape, self.itemsize) if strides is None else tuple(map(int, strides))

    def __repr__(self) -> str:
        return f"Array({self.shape}, {self.dtype!r})"


@dataclass(frozen=True)
class Described:
    """What is known of an array without looking into it. Strides in bytes."""

    shape: tuple[int, ...]
    dtype: str
    itemsize: int
    strides: tuple[int, ...]

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """From the first byte to the last one."""
        if self.size == 0:
            return 0
        return sum((n - 1) * abs(s) for n, s in zip(self.shape, self.strides)) + self.itemsize


def contiguous(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """The strides of an array whose last index is the contiguous one."""
    strides = [itemsize]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return tuple(strides[: len(shape)])


def dtype_name(dtype: Any) -> str:
    """`float32` for NumPy's, CuPy's and PyTorch's type and for its name."""
    for attribute in ("name", "__name__"):
        if isinstance(getattr(dtype, attribute, None), str):
            dtype = getattr(dtype, attribute)
    text = str(dtype).rpartition(".")[2].lstrip("<|=")
    return ALIASES.get(text, text)


#: Kinds of `__cuda_array_interface__`.
KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}


def array(value: Any) -> Described | None:
    """What is known of an array; ``None`` of what is no array."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None and not hasattr(value, "dtype"):
        kind, itemsize = interface["typestr"][1], int(interface["typestr"][2:])
        dtype = KINDS.get(kind, kind) + ("" if kind == "b" else str(itemsize * 8))
        extents = tuple(map(int, interface["shape"]))
        return Described(extents, dtype, itemsize, tuple(interface.get("strides") or contiguous(extents, itemsize)))
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if dtype is None or shape is None or isinstance(value, type) or (len(shape) == 0 and hasattr(value, "item")):
        return None
    shape, name = tuple(map(int, shape)), dtype_name(dtype)
    known = getattr(value, "itemsize", None) or getattr(dtype, "itemsize", None) or BYTES.get(name)
    if known is None:
        raise TypeError(f"{type(value).__name__} of {dtype}: its elements have no known size")
    itemsize = int(known)
    strides = getattr(value, "strides", None)
    if strides is None and callable(getattr(value, "stride", None)):
        strides = [n * itemsize for n in value.stride()]
    return Described(shape, name, itemsize, tuple(map(int, strides)) if strides else contiguous(shape, itemsize))


def number(value: Any) -> int | float | None:
    """A number as Python has it; ``None`` of what is no number."""
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, (int, float)) and hasattr(value, "item") and getattr(value, "shape", ()) == ():
        value = value.item()
    if isinstance(value, ctypes._SimpleCData):
        value = value.value
    if isinstance(value, float):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return None


def whole(name: str, kind: str, value: Any) -> Any:
    """What a parameter gets that holds a whole number or a pointer: 1e6 will do, 0.5 is a mistake."""
    found = None if array(value) is not None else number(value)
    if not isinstance(found, float):
        if found is not None and abs(found) >= 2**64:
            raise ValueError(f"argument {name}: {shown(found)} does not fit into a parameter of type {kind}")
        return value
    if not found.is_integer():
        raise ValueError(f"argument {name}: {found!r} is no whole number, but the parameter is {kind}")
    return int(found)


def check_kind(args: Any) -> None:
    """Raises `TypeError` for what says nothing of parameters."""
    if not isinstance(args, (Mapping, Sequence)) or isinstance(args, (str, bytes, range)):
        raise TypeError(
            f"args={shown(args)}: give what the parameters get by name, as in dict(n=1024), by number, as in "
            "{0: 1024}, or as a list in their order"
        )


def called(grid: Callable[..., Any], given: Any, what: str) -> Any:
    """What a function for the grid gives, and if it raises, for what."""
    try:
        return grid(given)
    except Exception as error:
        said = f"{error} (in the function grid, called with {what} {shown(given)})"
        try:
            same = type(error)(said)
        except Exception:
            # Some cannot be made of a text alone.
            same = RuntimeError(f"{type(error).__name__}: {said}")
        raise same from error


def field(name: str) -> str:
    """A name that a field of a document may have."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    plain = f"_{plain}" if plain[:1].isdigit() or plain.startswith("get_") else plain
    return f"{plain}_" if plain in RESERVED or not plain else plain


def given(place: str, name: str, value: Any) -> Iterator[str]:
    """How the reader is told of a parameter: ``place`` is its number, or number and byte."""
    known = array(value)
    if known is not None:
        if known.nbytes >= 2**63:
            raise ValueError(f"argument {name}: an array of {known.nbytes} bytes is larger than any memory")
        yield f"{place}={field(name)}:b8[{max(known.nbytes, 1)}]"
    elif isinstance(value, str):
        yield f"{place}={value}"
    elif value is None:
        return
    elif isinstance(value, Mapping):
        for offset, item in value.items():
            if not isinstance(offset, Integral) or not 0 <= int(offset) < 2**16:
                raise TypeError(f"argument {name}: {shown(offset)} is no byte of a struct; give {{byte: value, ...}}")
            yield from given(_byte(place, int(offset)), f"{name}_{offset}", item)
    elif isinstance(value, (ctypes.Structure, ctypes.Array)):
        for byte, item in flat(value):
            yield from given(_byte(place, byte), f"{name}_{byte}", item)
    elif isinstance(value, tuple):
        raise TypeError(f"argument {name}: give a tuple as {{byte: value, ...}}")
    elif getattr(getattr(value, "dtype", None), "fields", None):
        for member, (_, offset, *_) in value.dtype.fields.items():
            yield from given(_byte(place, offset), f"{name}_{member}", value[member])
    else:
        plain = number(value)
        if plain is None:
            raise TypeError(
                f"argument {name}: a {type(value).__name__} is neither a number nor an array; give a number, something "
                "with shape and dtype, wavecast.cuda.Array(shape, dtype), or for a struct {byte: value, ...}"
            )
        yield f"{place}={plain!r}"


def flat(value: Any, at: int = 0) -> Iterator[tuple[int, Any]]:
    """The numbers of a struct of `ctypes` with their bytes."""
    if isinstance(value, ctypes.Structure):
        for member, *_ in value._fields_:
            yield from flat(getattr(value, member), at + getattr(type(value), member).offset)
    elif isinstance(value, ctypes.Array):
        for number, item in enumerate(value):
            yield from flat(item, at + number * ctypes.sizeof(value._type_))
    elif value is not None:
        yield at, value


def _byte(place: str, offset: int) -> str:
    number, _, before = place.partition("+")
    return f"{number}+{int(before or 0) + offset}"


#: No device launches more blocks along a dimension, or threads.
MOST = 2**31 - 1


def shape3(shape: Any, what: str = "") -> tuple[int, int, int]:
    """A block or a grid along x, y, z; ``what`` says in messages which one."""
    if hasattr(shape, "x") and hasattr(shape, "y"):
        shape = (shape.x, shape.y, getattr(shape, "z", 1))
    said = shown(shape) + (f" ({what})" if what else "")
    wrong = f"{said} is no shape: give up to three whole numbers, as in (32, 8)"
    if isinstance(shape, (str, bytes, bool, Mapping, set, frozenset)):
        raise TypeError(wrong)
    try:
        extents = [operator.index(shape)]
    except TypeError:
        try:
            extents = [operator.index(n) for n in shape]
        except TypeError:
            raise TypeError(wrong) from None
    if not 1 <= len(extents) <= 3 or min(extents) < 1:
        raise ValueError(f"{said} is no shape: give up to three numbers from 1, as in (32, 8)")
    if max(extents) > MOST:
        raise ValueError(f"{said} is no shape: no device launches more than {MOST} along a dimension")
    x, y, z = [*extents, 1, 1, 1][:3]
    return x, y, z


def shown(value: Any) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def shapes(given: Any) -> list[tuple[int, int, int]]:
    """Blocks as a list: one shape, a number for each, or several shapes. A tuple of numbers is one shape, a list or an
    array of numbers several blocks of one dimension."""
    if given is None:
        return []
    if hasattr(given, "tolist") and getattr(given, "ndim", 0) > 0:
        given = given.tolist()
    if isinstance(given, (list, set, frozenset, range)) or (
        isinstance(given, tuple) and any(isinstance(n, (tuple, list)) for n in given)
    ):
        if not given:
            raise ValueError("blocks is empty: give at least one block, as in [(32, 8)], or leave it out")
        return list(dict.fromkeys(shape3(n) for n in given))
    return [shape3(given)]
