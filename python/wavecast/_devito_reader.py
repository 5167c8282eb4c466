"""Reads the loop nests of a Devito operator."""

from __future__ import annotations

import re
from typing import Any, Iterator, Mapping

import sympy
from devito.ir.iet import Conditional, Expression, FindNodes, FindSymbols, Iteration
from devito.ir.support import PARALLEL_IF_ATOMIC
from devito.symbolics import IntDiv, estimate_cost, retrieve_indexed
from devito.types.dense import DiscreteFunction

from ._document import Namespace, dtype
from ._symbolic import Names, Poly, Unsupported

#: Where time stands. Functions that keep all steps have one before.
TIME = 1


class Nest:
    """Parallel loops and what happens inside them."""

    def __init__(self, number: int, loops: list[Any], values: Mapping[Any, Any], namespace: Namespace):
        self.number = number
        #: Whether it runs in each time step, and not once.
        self.each_step = False
        self.loops = loops
        self.values = values
        self.namespace = namespace
        self.axes: dict[str, int] = {self._axis(loop): 0 for loop in loops}
        self.starts: dict[str, Poly] = {}
        self.fields: dict[str, Any] = {}
        self.steps: list[Any] = []
        self.names = Names()
        self.equations: list[Any] = []
        self.widest = 4
        self.trips = 1
        self.flops = 0

    def read(self) -> None:
        """Reads the bounds, then the statements."""
        sparse = [f.name for f in FindSymbols().visit(self.loops[0]) if getattr(f, "is_SparseTimeFunction", False)]
        sparse += [f.name for f in FindSymbols().visit(self.loops[0]) if getattr(f, "is_SparseFunction", False)]
        if sparse:
            raise Unsupported(f"where the points of {', '.join(sorted(set(sparse)))} lie is data")
        if len(self.loops) > 3:
            raise Unsupported(f"{len(self.loops)} parallel loops: a launch has three dimensions")
        for loop in self.loops:
            low, high = self._bounds(loop)
            if low.constant is None or high.constant is None:
                raise Unsupported(f"the bounds of loop {loop.dim.name} are {low} and {high}: give sizes={{...}}")
            axis = self._axis(loop)
            self.axes[axis] = high.constant - low.constant + 1
            # Work items count from 0.
            self.starts[loop.dim.name] = low + axis
            self.names.bounds[axis] = (0, high.constant - low.constant)
        self.steps = self._inside(self.loops[-1].nodes)

    def _axis(self, loop: Any) -> str:
        return self.namespace.name("axis", loop.dim.name)

    def _bounds(self, loop: Any) -> tuple[Poly, Poly]:
        low, high, step = loop.limits
        if step != 1:
            raise Unsupported(f"loop {loop.dim.name} has steps of {step}: create the operator without blocking")
        begin, end = (self._poly(bound) for bound in (low, high))
        if begin is None or end is None:
            raise Unsupported(f"the bounds of loop {loop.dim.name} are {low} and {high}: give sizes={{...}}")
        return begin, end

    def _inside(self, nodes: Any) -> list[Any]:
        steps: list[Any] = []
        for node in nodes:
            if isinstance(node, (tuple, list)):
                steps += self._inside(node)
            elif isinstance(node, Iteration):
                steps.append(self._loop(node))
            elif isinstance(node, Expression):
                steps += self._expression(node)
            elif isinstance(node, Conditional) and FindNodes(Expression).visit(node):
                raise Unsupported(f"a statement under the condition {node.condition}")
            else:
                steps += self._inside(node.children)
        return steps

    def _loop(self, loop: Any) -> Any:
        low, high = self._bounds(loop)
        name = self.namespace.name("loop", loop.dim.name)
        self.starts[loop.dim.name] = Poly.of(name)
        before, trips = self.trips, (high - low).constant
        self.trips *= 1 if trips is None else trips + 1
        step = {"loop": {name: {"from": str(low), "to": str(high)}}, "body": self._inside(loop.nodes)}
        self.trips = before
        return step

    def _expression(self, node: Any) -> list[Any]:
        equation = node.expr
        steps = [f"load {self._access(i)}" for i in retrieve_indexed(equation.rhs, deep=True)]
        stored = retrieve_indexed(equation.lhs)
        if stored and node.is_reduction and self._shared():
            steps += self._reduced(stored[0], node)
        elif stored:
            if node.is_reduction:
                steps.append(f"load {self._access(stored[0])}")
            steps.append(f"store {self._access(stored[0])}")
        self.flops += int(estimate_cost(equation)) * self.trips
        return steps

    def _reduced(self, target: Any, node: Any) -> list[str]:
        access = self._access(target)
        if any(re.search(rf"\b{axis}\b", access) for axis in self.axes):
            return [f"atomic {access}"]
        # One sum over all threads is no traffic: they add up among themselves first.
        return []

    def _shared(self) -> bool:
        return any(PARALLEL_IF_ATOMIC in loop.properties for loop in self.loops)

    def _access(self, indexed: Any) -> str:
        function = indexed.function
        found = []
        for index in indexed.indices:
            poly = self._poly(index)
            if poly is None:
                raise Unsupported(f"the address {indexed} depends on data or on something unknown")
            found.append(str(poly))
        name = self.namespace.name("field", function.name)
        if name not in self.fields:
            self._field(name, function)
        return f"{name}[{', '.join(found)}]"

    def _field(self, name: str, function: Any) -> None:
        shape = function.shape_allocated if isinstance(function, DiscreteFunction) else function.symbolic_shape
        sizes = []
        for size in shape:
            poly = self._poly(sympy.sympify(size))
            if poly is None or poly.constant is None:
                raise Unsupported(f"the shape {shape} of {function.name} is not known: give sizes={{...}}")
            sizes.append(poly.constant)
        self.widest = max(self.widest, int(sympy.Integer(function.dtype().itemsize)))
        field = {"dtype": dtype(function.dtype), "shape": sizes, "order": "C"}
        field["align"] = int(function._data_alignment)
        self.fields[name] = field

    def _poly(self, expression: Any) -> Poly | None:
        """An index expression; ``None`` for anything else."""
        if getattr(expression, "is_Integer", False) or isinstance(expression, int):
            return Poly.of(int(expression))
        if expression in self.values:
            return Poly.of(self.values[expression])
        if expression.is_Symbol:
            return self.starts.get(expression.name)
        if isinstance(expression, IntDiv):
            one, two = self._poly(expression.lhs), self._poly(expression.rhs)
            if one is None or two is None or two.constant is None:
                return None
            return self.names.quotient(one, two.constant)
        if expression.is_Add or expression.is_Mul:
            total = Poly.of(0 if expression.is_Add else 1)
            for argument in expression.args:
                part = self._poly(argument)
                if part is None:
                    return None
                total = total + part if expression.is_Add else total * part
            return total
        return None


def nests(operator: Any, sizes: Mapping[str, int]) -> Iterator[Nest]:
    """The parallel loop nests of an operator, outermost parallel loops first."""
    values = _values(operator, sizes)
    # One step for buffers and for functions that keep all; without those, a step that is the first of every
    # buffer.
    saved = any(getattr(f, "is_TimeFunction", False) and f.save for f in operator.parameters)
    step = TIME if saved else 0
    inside: set[int] = set()
    number = 0
    times = [loop for loop in FindNodes(Iteration).visit(operator) if loop.dim.is_Time]
    each_step = {id(loop) for time in times for loop in FindNodes(Iteration).visit(time)}
    for loop in FindNodes(Iteration).visit(operator):
        for index in loop.uindices:
            # Of a buffer of k time steps, t0 is the first, t1 the second...
            if index.is_Modulo:
                values[index] = int(
                    sympy.sympify(index.offset).subs({d: step for d in sympy.sympify(index.offset).free_symbols})
                    % index.modulo
                )
        if not loop.is_ParallelRelaxed:
            if id(loop) not in inside and loop.dim.is_Time:
                values[loop.dim] = TIME
            continue
        if id(loop) in inside:
            continue
        inside |= {id(i) for i in FindNodes(Iteration).visit(loop)}
        nest = Nest(number, _chain(loop), values, Namespace(axes=()))
        nest.each_step = id(loop) in each_step
        yield nest
        number += 1


def _chain(loop: Any) -> list[Any]:
    """A loop and the parallel ones that it directly holds, one in the other: as many as its pragma names."""
    chain = [loop]
    most = getattr(loop, "ncollapsed", None)
    while True:
        if most is not None and len(chain) >= max(most, 1):
            return chain
        nodes = chain[-1].nodes
        while len(nodes) == 1 and not isinstance(nodes[0], Iteration) and not nodes[0].is_Expression:
            inner = [
                n for group in nodes[0].children for n in (group if isinstance(group, (tuple, list)) else (group,))
            ]
            if len(inner) != 1:
                break
            nodes = inner
        if len(nodes) != 1 or not isinstance(nodes[0], Iteration) or not nodes[0].is_ParallelRelaxed:
            return chain
        chain.append(nodes[0])


def _values(operator: Any, sizes: Mapping[str, int]) -> dict[Any, Any]:
    """What is known before a run: sizes and bounds of dimensions, thicknesses of sub-domains."""
    known: dict[Any, Any] = {}
    for function in operator.parameters:
        if not isinstance(function, DiscreteFunction):
            continue
        for dimension, size in zip(function.dimensions, function.shape):
            if not dimension.is_Time and not dimension.is_Stepping:
                known[dimension.root] = int(size)
    values: dict[Any, Any] = {}
    for dimension in operator.dimensions:
        size = sizes.get(dimension.name, known.get(dimension.root))
        if dimension.is_Conditional and dimension.symbolic_factor is not None:
            values[dimension.symbolic_factor] = int(dimension.factor_data)
        if dimension.is_Sub:
            for symbol, thickness in zip(dimension.thickness, [t.value for t in dimension.thickness]):
                if thickness is not None:
                    values[symbol] = int(thickness)
        root_size = sizes.get(dimension.root.name, known.get(dimension.root))
        for of, n in ((dimension, size), (dimension.root, root_size)):
            if n is not None and not of.is_Sub:
                values.update({of.symbolic_min: 0, of.symbolic_max: n - 1, of.symbolic_size: n})
    return values
