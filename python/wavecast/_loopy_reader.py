"""Reads a loopy program that is scheduled."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

import loopy as lp
import pymbolic.primitives as prim
from loopy.kernel.array import FixedStrideArrayDimTag
from loopy.kernel.data import AddressSpace, GroupInameTag, LocalInameTag, UnrollTag
from loopy.schedule import Barrier, CallKernel, EnterLoop, LeaveLoop, ReturnFromKernel, RunInstruction
from loopy.symbolic import TypeCast

from ._document import Namespace, access, dtype
from ._loopy_bounds import Domains
from ._symbolic import DIMENSIONS, Names, Poly, Unsupported

#: An access and the conditions under which it is done.
Step = tuple[str, list[str]]


class Reader:
    """What a program does, in the order of its schedule."""

    def __init__(self, program: Any, parameters: Mapping[str, int]):
        if parameters:
            program = lp.fix_parameters(program, **parameters)
        if len(program.entrypoints) != 1:
            raise Unsupported(
                f"a program with {len(program.entrypoints)} entry points: pass program.with_kernel of one"
            )
        name = next(iter(program.entrypoints))
        program = lp.preprocess_program(lp.expand_subst(program))
        self.callables = program.callables_table
        self.kernel = lp.get_one_linearized_kernel(program[name], self.callables)
        self.names = Names()
        self.namespace = Namespace()
        self.inames: dict[str, str] = {}
        self.domains = Domains(self.kernel, self._name_of, self.names)
        #: Constraints that hold where the reader is: of the launch, of guards, of the loops around.
        self.known: list[Poly] = []
        self.around: list[str] = []
        self.fields: dict[str, Any] = {}
        self.domain: list[tuple[str, int]] = []
        self.block: list[int] = []
        self.guard: list[str] = []
        self.body: list[Any] = []
        self.flops: float | None = 0
        self.widest = 4
        self.shared = 0
        self.trips: list[int | None] = []

    def read(self) -> None:
        """Reads arrays and tags, then the schedule."""
        self._tags()
        self._launch()
        self._cut()
        items = list(self.kernel.linearization)
        if sum(isinstance(i, CallKernel) for i in items) > 1:
            raise Unsupported("a program of several kernels (global barriers): pass each as a program of its own")
        self.body, _ = self._steps(items, 0)

    # Launch

    def _tags(self) -> None:
        for name, iname in self.kernel.inames.items():
            for tag in iname.tags:
                if isinstance(tag, LocalInameTag):
                    self.inames[name] = f"threadIdx.{DIMENSIONS[tag.axis]}"
                elif isinstance(tag, GroupInameTag):
                    self.inames[name] = f"blockIdx.{DIMENSIONS[tag.axis]}"
                elif not isinstance(tag, UnrollTag):
                    raise Unsupported(f"iname `{name}` is tagged {tag}: tag it g.N, l.N or unr, or leave it serial")

    def _launch(self) -> None:
        groups, threads = self.kernel.get_grid_size_upper_bounds_as_exprs(self.callables)
        dimensions = max(len(groups), len(threads), 1)
        blocks, block = ([self._number(n) for n in [*sizes, 1, 1, 1][:dimensions]] for sizes in (groups, threads))
        self.block = block
        for dimension, size, count in zip(DIMENSIONS, block, blocks):
            self.domain.append((dimension, size * count))
            self.names.bounds[f"threadIdx.{dimension}"] = (0, size - 1)
            self.names.bounds[f"blockIdx.{dimension}"] = (0, count - 1)
            for name, last in ((f"threadIdx.{dimension}", size - 1), (f"blockIdx.{dimension}", count - 1)):
                self.known += [Poly.of(name), -Poly.of(name) + last]

    def _number(self, size: Any) -> int:
        poly = self._poly(size)
        if poly is None or poly.constant is None:
            raise Unsupported(f"the size `{size}` is not known: give parameters={{...}}")
        return poly.constant

    def _cut(self) -> None:
        """Where the last block is used in part, the domain ends with what all instructions have in common."""
        per_instruction = [self._conditions(i.within_inames) for i in self.kernel.instructions if self._touches(i)]
        common = (
            [c for c in per_instruction[0] if all(c in other for other in per_instruction)] if per_instruction else []
        )
        for poly in common:
            for position, (axis, extent) in enumerate(self.domain):
                last = poly + f"threadIdx.{axis}" + Poly({(f"blockIdx.{axis}",): self.block[position]})
                if last.constant is not None:
                    self.domain[position] = (axis, min(extent, last.constant + 1))
                    break
            else:
                self.guard.append(f"{poly} >= 0")
        self.known += common

    def _touches(self, instruction: Any) -> bool:
        arrays = set(self.kernel.arg_dict) | set(self.kernel.temporary_variables)
        reads = instruction.read_dependency_names() & arrays
        return bool(reads) or any(isinstance(a, prim.Subscript) for a in getattr(instruction, "assignees", ()))

    def _conditions(self, inames: Iterable[str]) -> list[Poly]:
        """What the bounds say of threads and blocks, of which what the launch says already is left out."""
        parallel = [i for i in inames if i in self.inames]
        return self.domains.conditions(parallel, self.known) if parallel else []

    def _name_of(self, iname: str) -> str:
        return self.inames.get(iname) or self.namespace.name("loop", iname)

    # Schedule

    def _steps(self, items: list[Any], at: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        while at < len(items):
            item = items[at]
            at += 1
            if isinstance(item, EnterLoop):
                loop, at = self._loop(items, at, item.iname)
                found.append(loop)
            elif isinstance(item, LeaveLoop):
                return found, at
            elif isinstance(item, RunInstruction):
                found += self._instruction(self.kernel.id_to_insn[item.insn_id])
            elif isinstance(item, Barrier):
                if item.synchronization_kind == "global":
                    raise Unsupported("a global barrier: pass the parts as programs of their own")
                found.append("sync")
            elif not isinstance(item, (CallKernel, ReturnFromKernel)):
                raise Unsupported(f"a schedule item of type {type(item).__name__}")
        return found, at

    def _loop(self, items: list[Any], at: int, iname: str) -> tuple[Any, int]:
        lower, upper, within = self.domains.range(iname, [*self.around, *self._threads_of(items, at, iname)])
        name = self._name_of(iname)
        trip = None
        if len(lower) == len(upper) == 1 and (upper[0] - lower[0]).constant is not None:
            trip = (upper[0] - lower[0]).constant + 1
        self.trips.append(trip)
        self.around.append(iname)
        before = len(self.known)
        self.known += within
        first, last = (self.names.between(p) for p in (lower[0], upper[0]))
        if first is not None and last is not None:
            self.names.bounds[name] = (first[0], max(first[0], last[1]))
        body, at = self._steps(items, at)
        del self.known[before:]
        self.around.pop()
        self.trips.pop()
        return {"loop": {name: {"from": _extreme("max", lower), "to": _extreme("min", upper)}}, "body": body}, at

    def _threads_of(self, items: list[Any], at: int, iname: str) -> set[str]:
        """Threads and blocks on which the bounds of a loop may depend: those that all its instructions have, and
        no threads where they meet at a barrier inside."""
        common: set[str] | None = None
        barrier, depth = False, 1
        while depth:
            item = items[at]
            at += 1
            depth += isinstance(item, EnterLoop) - isinstance(item, LeaveLoop)
            barrier = barrier or isinstance(item, Barrier)
            if isinstance(item, RunInstruction):
                within = {i for i in self.kernel.id_to_insn[item.insn_id].within_inames if i in self.inames}
                common = within if common is None else common & within
        return {i for i in common or () if not (barrier and self.inames[i].startswith("threadIdx"))}

    def _instruction(self, instruction: Any) -> list[Any]:
        if isinstance(instruction, lp.NoOpInstruction):
            return []
        if not isinstance(instruction, lp.Assignment):
            raise Unsupported(f"instruction `{instruction.id}` is a {type(instruction).__name__}, not an assignment")
        conditions = [f"{c} >= 0" for c in self.domains.conditions(instruction.within_inames, self.known)]
        conditions = sorted(conditions + [self._condition(p) for p in instruction.predicates])
        steps = self._loads(instruction.expression, conditions)
        target = instruction.assignee
        if isinstance(target, prim.Subscript):
            for index in target.index_tuple:
                steps += self._loads(index, conditions)
            if instruction.atomicity:
                # What it reads of its target is part of the atomic operation.
                own = self._access("load", target, conditions)
                steps = [step for step in steps if step not in own]
            steps += self._access("atomic" if instruction.atomicity else "store", target, conditions)
        self._count(instruction.expression)
        return _together(steps)

    def _condition(self, node: Any) -> str:
        if isinstance(node, prim.LogicalAnd):
            return " && ".join(f"({self._condition(c)})" for c in node.children)
        if isinstance(node, prim.LogicalOr):
            return " || ".join(f"({self._condition(c)})" for c in node.children)
        if isinstance(node, prim.LogicalNot):
            return f"!({self._condition(node.child)})"
        sides = [self._poly(s) for s in (node.left, node.right)] if isinstance(node, prim.Comparison) else [None]
        if None in sides:
            raise Unsupported(f"the predicate `{node}` depends on data: name a representative case in its place")
        operator = getattr(node.operator, "value", node.operator)
        return f"{sides[0]} {operator} {sides[1]}"

    # Accesses

    def _loads(self, node: Any, conditions: list[str]) -> list[Step]:
        if isinstance(node, prim.If):
            return self._choice(node, conditions)
        steps: list[Step] = []
        for child in _children(node):
            steps += self._loads(child, conditions)
        if isinstance(node, prim.Subscript):
            steps += self._access("load", node, conditions)
        return steps

    def _choice(self, node: Any, conditions: list[str]) -> list[Step]:
        """What both sides load: under the condition if it is one of indices. If it is one of data, warps have
        threads of both kinds, and both sides count for all."""
        found = self._loads(node.condition, conditions)
        try:
            condition = self._condition(node.condition)
        except Unsupported:
            return found + self._loads(node.then, conditions) + self._loads(node.else_, conditions)
        then, otherwise = [*conditions, f"({condition})"], [*conditions, f"!({condition})"]
        return found + self._loads(node.then, then) + self._loads(node.else_, otherwise)

    def _access(self, verb: str, node: Any, conditions: list[str]) -> list[Step]:
        name = node.aggregate.name
        array = self.kernel.arg_dict.get(name) or self.kernel.temporary_variables[name]
        if array.address_space == AddressSpace.PRIVATE:
            return []
        if self.namespace.name("field", name) not in self.fields:
            self._field(name, array)
        found = [self._poly(i) for i in node.index_tuple]
        if None in found:
            raise Unsupported(f"the address `{node}` depends on data: give a representative address in its place")
        return [(f"{verb} {access(self.namespace.name('field', name), found, None)}", conditions)]

    def _field(self, name: str, array: Any) -> None:
        kind = array.dtype.numpy_dtype
        strides = []
        for tag in array.dim_tags:
            if not isinstance(tag, FixedStrideArrayDimTag):
                raise Unsupported(f"array `{name}` is laid out as {tag}: only strides are covered")
            strides.append(self._number(tag.stride))
        shape = [self._number(n) for n in array.shape]
        field = {"dtype": dtype(kind), "shape": shape, "strides": strides}
        if isinstance(getattr(array, "offset", None), int) and array.offset:
            field["offset"] = array.offset
        self.fields[self.namespace.name("field", name)] = field
        if kind.kind == "f":
            self.widest = max(self.widest, kind.itemsize)
        if array.address_space == AddressSpace.LOCAL:
            field["space"] = "shared"
            last = sum((n - 1) * s for n, s in zip(shape, strides))
            self.shared += kind.itemsize * (last + 1)

    def _count(self, node: Any) -> None:
        trips = 1
        for trip in self.trips:
            if trip is None:
                self.flops = None
            trips *= trip or 1
        if self.flops is not None:
            self.flops += trips * _operations(node)

    def _poly(self, node: Any) -> Poly | None:
        """An index expression; ``None`` for anything else."""
        if isinstance(node, TypeCast):
            return self._poly(node.child)
        if isinstance(node, prim.Variable):
            known = self.kernel.all_inames()
            return Poly.of(self._name_of(node.name)) if node.name in known else None
        if isinstance(node, (prim.Sum, prim.Product)):
            total = Poly.of(0 if isinstance(node, prim.Sum) else 1)
            for child in node.children:
                part = self._poly(child)
                if part is None:
                    return None
                total = total + part if isinstance(node, prim.Sum) else total * part
            return total
        if isinstance(node, (prim.FloorDiv, prim.Remainder)):
            one, two = self._poly(node.numerator), self._poly(node.denominator)
            if one is None or two is None or two.constant is None:
                return None
            divide = self.names.quotient if isinstance(node, prim.FloorDiv) else self.names.remainder
            return divide(one, two.constant)
        try:
            return Poly.of(int(node)) if int(node) == node else None
        except (TypeError, ValueError):
            return None


def _together(steps: list[Step]) -> list[Any]:
    """Steps as a document has them, those under one condition together."""
    found: list[Any] = []
    for step, conditions in steps:
        when = " && ".join(conditions)
        if not when:
            found.append(step)
        elif found and isinstance(found[-1], dict) and found[-1]["when"] == when:
            found[-1]["at"].append(step)
        else:
            found.append({"when": when, "at": [step]})
    return found


def _extreme(which: str, bounds: list[Poly]) -> str:
    text = str(bounds[0])
    for bound in bounds[1:]:
        text = f"{which}({text}, {bound})"
    return text


def _children(node: Any) -> Any:
    if isinstance(node, prim.Subscript):
        return node.index_tuple
    if isinstance(node, (prim.Sum, prim.Product, prim.LogicalAnd, prim.LogicalOr, prim.Min, prim.Max)):
        return node.children
    if isinstance(node, (prim.Quotient, prim.FloorDiv, prim.Remainder)):
        return node.numerator, node.denominator
    if isinstance(node, prim.Power):
        return node.base, node.exponent
    if isinstance(node, prim.Call):
        return node.parameters
    if isinstance(node, prim.If):
        return node.condition, node.then, node.else_
    if isinstance(node, prim.Comparison):
        return node.left, node.right
    if isinstance(node, (TypeCast, prim.LogicalNot)):
        return (node.child,)
    if isinstance(node, prim.ExpressionNode) and not isinstance(node, prim.Variable):
        raise Unsupported(f"an expression of type {type(node).__name__}: `{node}`")
    return ()


def _operations(node: Any) -> int:
    """Floating-point operations of an expression, of which what stands in brackets is no part."""
    if isinstance(node, prim.Subscript):
        return 0
    own = 0
    if isinstance(node, (prim.Sum, prim.Product)):
        # A factor of -1 is a sign.
        own = len([c for c in node.children if not (isinstance(c, int) and c == -1)]) - 1
    elif isinstance(node, (prim.Quotient, prim.Power)):
        own = 1
    return own + sum(map(_operations, _children(node)))
