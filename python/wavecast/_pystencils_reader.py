"""Reads the syntax tree of a pystencils GPU kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, NoReturn

import pystencils

try:
    from pystencils.backend.ast import expressions as ex
    from pystencils.backend.ast import structural as st
    from pystencils.backend.memory import BufferBasePtr
    from pystencils.codegen.properties import FieldShape, FieldStride
    from pystencils.types import PsIntegerType
except ImportError as error:
    # Releases before 2.0 have other syntax trees altogether.
    raise ImportError(
        f"wavecast reads kernels of pystencils 2.0, and {pystencils.__version__} is installed ({error}):"
        " pip install --upgrade pystencils lbmpy"
    ) from error

from ._document import Namespace, access, dtype
from ._pystencils_index import Indices
from ._symbolic import DIMENSIONS, Poly, Unsupported, indices

_ARITHMETIC = (ex.PsAdd, ex.PsSub, ex.PsMul, ex.PsDiv, ex.PsNeg)
#: How work items and, where a thread has several, threads are written.
_ITEMS = dict(zip(DIMENSIONS, DIMENSIONS))
_THREADS = {d: f"tid{d}" for d in DIMENSIONS}


@dataclass
class Buffer:
    """An array."""

    dtype: Any
    itemsize: int
    shape: list[int]
    strides: list[int]


class Reader:
    """What a kernel does, gathered in program order."""

    def __init__(self, kernel: Any, shape: Any, parameters: Mapping[str, int], index_layout: str | None):
        if not kernel.target.is_gpu():
            raise Unsupported(f"a kernel for {kernel.target.name}: create it with target=pystencils.Target.CUDA or HIP")
        self.kernel = kernel
        self.sizes = shape
        self.index_layout = index_layout
        self.indices = Indices(parameters)
        self.names, self.symbols = self.indices.names, self.indices.symbols
        self.namespace = Namespace()
        self.fields: dict[str, Buffer] = {}
        self.domain: list[tuple[str, int]] = []
        self.guard: list[str] = []
        self.start: int | None = None
        self.first_store: int | None = None
        self.steps = [1, 1, 1]
        #: Dimensions whose threads some counter is made of.
        self.counted: set[str] = set()
        self.fixed_block: list[int] | None = None
        self.has_loops = False
        self.body: list[Any] = []
        self.accesses: list[tuple[str, str, list[str]]] = []
        self.flops = 0
        self.widest = 4

    def read(self) -> None:
        """Reads the launch, then the statements."""
        for field in self.kernel.get_fields():
            if field.field_type == pystencils.FieldType.INDEXED:
                raise Unsupported(
                    f"a sparse kernel: its cells are data, in the index field `{field.name}`; describe one over as"
                    " many cells that lie as they do"
                )
        self._sizes()
        self._launch()
        if any(isinstance(n, ex.PsCall) and n.function.name.startswith("atomic") for n in _nodes(self.kernel.body)):
            raise Unsupported("a reduction: leave it out, what it adds to the traffic is little")
        self.has_loops = any(isinstance(n, st.PsLoop) for n in _nodes(self.kernel.body))
        # Loops and fixed blocks are not made of work items: threads and blocks stay as they are.
        if not self.has_loops and not self.fixed_block:
            self.indices.axes = dict(_THREADS if any(step > 1 for step in self.steps) else _ITEMS)
        self.body = self._block(self.kernel.body, [], top=True)

    @property
    def interior(self) -> int:
        """First interior element of a row: where the counter starts, or what the first item stores."""
        return self.start or self.first_store or 0

    # Launch

    def _sizes(self) -> None:
        for parameter in self.kernel.parameters:
            self._size_of(parameter.name, parameter.properties)

    def _size_of(self, name: str, properties: Any) -> None:
        for given in properties:
            if isinstance(given, FieldShape):
                self.symbols[name] = Poly.of(self._shape(given.field)[given.coordinate])
            elif isinstance(given, FieldStride):
                self.symbols[name] = Poly.of(self._strides(given.field)[given.coordinate])

    def _shape(self, field: Any) -> list[int]:
        sizes = self.sizes
        if isinstance(sizes, Mapping):
            sizes = sizes.get(field.name)
        if sizes is None:
            raise Unsupported(f"the size of field `{field.name}` is symbolic: give shape=(...), ghost layers included")
        # A size may be that of the space alone or have the index dimensions too.
        shape = [*sizes, *field.index_shape][: len(field.shape)]
        return [int(n) for n in shape]

    def _strides(self, field: Any) -> list[int]:
        shape, strides, stride = self._shape(field), [0] * len(field.shape), 1
        space = list(reversed(field.layout))
        index = list(range(len(space), len(shape)))
        # Of symbolic fields, pystencils keeps the order of the space only.
        c_order = list(field.layout) == sorted(field.layout) and len(space) > 1
        together = self.index_layout == "aos" or (self.index_layout is None and c_order)
        for dimension in [*reversed(index), *space] if together else [*space, *index]:
            strides[dimension] = stride
            stride *= shape[dimension]
        return strides

    def _launch(self) -> None:
        configuration = self.kernel.get_launch_configuration()
        items = getattr(configuration, "num_work_items", None)
        if items is None:
            self._fixed_launch(configuration)
            return
        extents = [self._extent(item) for item in items]
        self._starts()
        used = [i + 1 for i, n in enumerate(extents) if n > 1 or DIMENSIONS[i] in self.counted]
        rank = max(used, default=1)
        for dimension, extent, step in zip(DIMENSIONS[:rank], extents, self.steps):
            self.domain.append((dimension, extent * step))
            for name in (dimension, f"tid{dimension}", f"blockIdx.{dimension}"):
                self.names.bounds[name] = (0, extent - 1)

    def _fixed_launch(self, configuration: Any) -> None:
        arguments = {p.name: self.symbols[p.name].constant for p in configuration.parameters}
        try:
            block, grid = configuration.evaluate(**arguments)
        except NotImplementedError as error:
            # pystencils cannot launch such a kernel either.
            raise Unsupported(f"the launch grid has no value ({error}): give the fields fixed sizes") from error
        except (ValueError, AttributeError, pystencils.codegen.errors.CodegenError) as error:
            raise Unsupported(
                f"the launch grid is left open ({error}): create the kernel without manual_launch_grid, and with the"
                " indexing scheme Linear3D where blocks become too large"
            ) from error
        self.fixed_block = [int(n) for n in block]
        for dimension, threads, blocks in zip(DIMENSIONS, self.fixed_block, grid):
            self.domain.append((dimension, threads * int(blocks)))
            self.names.bounds[f"threadIdx.{dimension}"] = (0, threads - 1)
            self.names.bounds[f"blockIdx.{dimension}"] = (0, int(blocks) - 1)

    def _extent(self, item: Any) -> int:
        missing = [p.name for p in item.parameters if p.name not in self.symbols]
        if missing:
            raise Unsupported(f"the iteration space depends on {', '.join(missing)}: give parameters={{...}}")
        try:
            return int(item(**{p.name: self.symbols[p.name].constant for p in item.parameters}))
        except NotImplementedError:
            # pystencils evaluates no choice, as it writes for slices with steps in symbolic sizes.
            size = self.indices.poly(item._expr)
            if size is None or size.constant is None:
                raise Unsupported(f"the iteration space `{item}` has no value: give the fields fixed sizes") from None
            return size.constant

    def _starts(self) -> None:
        """Where the counters start and by how much they step: from their declarations."""
        for node in _nodes(self.kernel.body):
            if not isinstance(node, st.PsDeclaration) or not _is_integer(node.lhs):
                continue
            counter = self.indices.poly(node.rhs)
            for position, dimension in enumerate(DIMENSIONS):
                step = counter.coefficient(f"threadIdx.{dimension}") if counter is not None else 0
                if counter is None or step <= 0:
                    continue
                self.counted.add(dimension)
                if counter.coefficient(f"blockIdx.{dimension}", f"blockDim.{dimension}") == step:
                    self.steps[position] = step
                    if position == 0:
                        self.start = counter.coefficient()

    # Statements

    def _block(self, block: Any, conditions: list[str], top: bool = False) -> list[Any]:
        found: list[Any] = []
        for node in block.statements:
            for step in self._statement(node, conditions, top):
                # Steps under one condition stand together.
                if found and isinstance(step, dict) and "when" in step and _same_condition(found[-1], step):
                    found[-1]["at"] += step["at"]
                else:
                    found.append(step)
        return found

    def _statement(self, node: Any, conditions: list[str], top: bool) -> list[Any]:
        if isinstance(node, st.PsDeclaration):
            steps = self._loads(node.rhs, conditions)
            value = self.indices.poly(node.rhs) if _is_integer(node.lhs) else None
            if value is not None:
                self.symbols[node.lhs.symbol.name] = value
            return steps
        if isinstance(node, st.PsAssignment):
            if isinstance(node.lhs, ex.PsSymbolExpr):
                # No longer what it was declared as.
                self.symbols.pop(node.lhs.symbol.name, None)
            return self._loads(node.rhs, conditions) + self._store(node.lhs, conditions)
        if isinstance(node, st.PsConditional):
            return self._conditional(node, conditions, top)
        if isinstance(node, st.PsLoop):
            return [self._loop(node, conditions)]
        if isinstance(node, st.PsBlock):
            return self._block(node, conditions, top)
        if isinstance(node, st.PsStatement):
            return self._loads(node.expression, conditions)
        if isinstance(node, st.PsEmptyLeafMixIn):
            return []
        raise Unsupported(f"a statement of type {type(node).__name__}: it has no counterpart in a kernel document")

    def _conditional(self, node: Any, conditions: list[str], top: bool) -> list[Any]:
        parts = self.indices.conditions(node.condition)
        whole = top and node.branch_false is None and not self.has_loops and not self.accesses
        if whole:
            # The guard of the whole kernel, of which what the domain says already is left out.
            self.guard += parts
            return self._block(node.branch_true, conditions, top=True)
        found = self._block(node.branch_true, conditions + parts)
        if node.branch_false is not None:
            negation = [f"!({' && '.join(parts)})"] if parts else ["0 > 1"]
            found += self._block(node.branch_false, conditions + negation)
        return found

    def _loop(self, node: Any, conditions: list[str]) -> Any:
        start, stop, step = (self.indices.poly(e) for e in (node.start, node.stop, node.step))
        if start is None or stop is None or step is None:
            raise Unsupported(f"a loop over {node.counter.symbol.name} whose bounds are no index expressions")
        for dimension in DIMENSIONS:
            if step.coefficient(f"blockDim.{dimension}", f"gridDim.{dimension}") > 1:
                # Its blocks begin where those of another step would: cells are left out, threads overlap.
                raise Unsupported("a grid-strided loop over a slice with steps: choose the indexing scheme Linear3D")
        name = self.namespace.name("loop", node.counter.symbol.name)
        self.symbols[node.counter.symbol.name] = Poly.of(name)
        low, high = self.names.between(start), self.names.between(stop - 1)
        if low is not None and high is not None:
            self.names.bounds[name] = (low[0], max(low[0], high[1]))
        range_ = {"from": str(start), "to": str(stop - 1), "step": str(step)}
        return {"loop": {name: range_}, "body": self._block(node.body, conditions)}

    # Accesses

    def _loads(self, expression: Any, conditions: list[str]) -> list[Any]:
        found: list[Any] = []
        if isinstance(expression, ex.PsMemAcc):
            return self._loads(expression.offset, conditions) + [self._access("load", expression, conditions)]
        if isinstance(expression, ex.PsTernary):
            return self._choice(expression, conditions)
        for child in expression.children:
            found += self._loads(child, conditions)
        if isinstance(expression, _ARITHMETIC) and not isinstance(expression.dtype, PsIntegerType):
            self.flops += not isinstance(expression, ex.PsNeg)
        return found

    def _choice(self, node: Any, conditions: list[str]) -> list[Any]:
        """What both sides load: under the condition if it is one of indices. If it is one of data, warps have
        threads of both kinds, and both sides count for all."""
        found = self._loads(node.condition, conditions)
        parts = self.indices.of_indices(node.condition)
        if parts is None:
            return found + self._loads(node.case_then, conditions) + self._loads(node.case_else, conditions)
        negation = [f"!({' && '.join(parts)})"] if parts else ["0 > 1"]
        return (
            found + self._loads(node.case_then, conditions + parts) + self._loads(node.case_else, conditions + negation)
        )

    def _store(self, target: Any, conditions: list[str]) -> list[Any]:
        if isinstance(target, ex.PsMemAcc):
            return self._loads(target.offset, conditions) + [self._access("store", target, conditions)]
        return []

    def _access(self, verb: str, node: Any, conditions: list[str]) -> Any:
        buffer = self._buffer(node.pointer)
        offset = self.indices.poly(node.offset)
        if offset is None:
            self._explain(node)
        field = self.fields[buffer]
        found = indices(offset, field.strides, field.shape)
        if verb == "store" and found is not None and self.first_store is None:
            self.first_store = found[0].coefficient()
        text = access(buffer, found, offset)
        self.accesses.append((verb, text, conditions))
        step = f"{verb} {text}"
        return {"when": " && ".join(conditions), "at": [step]} if conditions else step

    def _explain(self, node: Any) -> NoReturn:
        """Says why an address is no index expression."""
        names = {n.symbol.name for n in _nodes(node.offset) if isinstance(n, ex.PsSymbolExpr)}
        numbers = {p.name for p in self.kernel.parameters if isinstance(p.dtype, PsIntegerType)}
        unknown = sorted(names & numbers - set(self.symbols))
        if unknown:
            raise Unsupported(f"the address `{node}` depends on {', '.join(unknown)}: give parameters={{...}}")
        raise Unsupported(
            f"the address `{node}` depends on data or is no sum of products, quotients and remainders of indices:"
            " give a representative address in its place"
        )

    def _buffer(self, pointer: Any) -> str:
        properties = pointer.symbol.get_properties(BufferBasePtr) if isinstance(pointer, ex.PsSymbolExpr) else ()
        for found in properties:
            buffer = found.buffer
            name = self.namespace.name("field", buffer.name)
            if name not in self.fields:
                itemsize = buffer.element_type.itemsize
                if not hasattr(buffer.element_type, "numpy_dtype") or itemsize is None:
                    raise Unsupported(f"field `{buffer.name}` has elements of type {buffer.element_type}")
                self.widest = max(self.widest, min(itemsize, 8))
                shape, strides = ([self._number(n) for n in ns] for ns in (buffer.shape, buffer.strides))
                if len(shape) > 1 and shape[-1] == 1:
                    # pystencils gives a field without index dimensions one of size 1.
                    shape, strides = shape[:-1], strides[:-1]
                self.fields[name] = Buffer(dtype(buffer.element_type.numpy_dtype), itemsize, shape, strides)
            return name
        raise Unsupported(f"an access through the pointer `{pointer}`, which is no field")

    def _number(self, size: Any) -> int:
        if hasattr(size, "value"):
            return int(size.value)
        self._size_of(size.name, size.properties)
        known = self.symbols.get(size.name)
        number = None if known is None else known.constant
        if number is None:
            raise Unsupported(f"the size `{size.name}` is not known: give shape=(...) or parameters={{...}}")
        return number


def _same_condition(one: Any, other: Any) -> bool:
    return isinstance(one, dict) and one.get("when") == other["when"]


def _nodes(node: Any) -> Any:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _is_integer(expression: Any) -> bool:
    return isinstance(expression.dtype, PsIntegerType)
