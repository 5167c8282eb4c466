"""Reads a loopy program that is scheduled."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

import islpy as isl
import loopy as lp
import pymbolic.primitives as prim
from loopy.kernel.array import FixedStrideArrayDimTag
from loopy.kernel.data import AddressSpace, GroupInameTag, LocalInameTag, UnrollTag
from loopy.schedule import Barrier, CallKernel, EnterLoop, LeaveLoop, ReturnFromKernel, RunInstruction
from loopy.symbolic import TypeCast

from ._document import access, dtype
from ._symbolic import DIMENSIONS, Names, Poly, Unsupported


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
        self.inames: dict[str, str] = {}
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

    def _number(self, size: Any) -> int:
        poly = self._poly(size)
        if poly is None or poly.constant is None:
            raise Unsupported(f"the size `{size}` is not known: give parameters={{...}}")
        return poly.constant

    def _cut(self) -> None:
        """Where the last block is used in part, the domain ends with what all instructions have in common."""
        per_instruction = [self._conditions(i.within_inames) for i in self.kernel.instructions if self._writes(i)]
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
        self.common = common

    def _writes(self, instruction: Any) -> bool:
        return any(isinstance(a, prim.Subscript) for a in getattr(instruction, "assignees", ()))

    def _conditions(self, inames: Iterable[str]) -> list[Poly]:
        """What the bounds say of threads and blocks, of which what the launch says already is left out."""
        parallel = [i for i in inames if i in self.inames]
        if not parallel:
            return []
        found = []
        for low, poly in self._constraints(parallel):
            if low is None or low < 0:
                found.append(poly)
        return sorted(found, key=str)

    def _constraints(self, inames: Iterable[str]) -> Iterable[tuple[int | None, Poly]]:
        inames = list(inames)
        domain = self.kernel.get_inames_domain(frozenset(inames))
        domain = domain.project_out_except(inames, [isl.dim_type.set])
        for basic in domain.get_basic_sets() if isinstance(domain, isl.Set) else [domain]:
            for constraint in basic.get_constraints():
                poly = self._of_constraint(constraint)
                bounds = self.names.between(poly)
                yield None if bounds is None else bounds[0], poly

    def _of_constraint(self, constraint: Any) -> Poly:
        poly = Poly()
        for name, value in constraint.get_coefficients_by_name().items():
            number = int(value.to_python())
            poly = poly + (Poly.of(number) if name == 1 else Poly({(self.inames.get(name, name),): number}))
        return poly

    # Schedule

    def _steps(self, items: list[Any], at: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        while at < len(items):
            item = items[at]
            at += 1
            if isinstance(item, EnterLoop):
                range_ = self._range(item.iname)
                body, at = self._steps(items, at)
                self.trips.pop()
                found.append({"loop": {item.iname: range_}, "body": body})
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

    def _range(self, iname: str) -> Any:
        """The bounds of a serial loop, which may depend on the loops and threads around it."""
        lower, upper = [], []
        domain = self.kernel.get_inames_domain(iname)
        for constraint in domain.get_constraints():
            poly = self._of_constraint(constraint)
            factor = poly.coefficient(iname)
            rest = poly - Poly({(iname,): factor})
            if abs(factor) > 1:
                raise Unsupported(f"a bound `{poly}` of loop `{iname}`: split the iname so that its bounds are whole")
            if factor == 1 or (factor and constraint.is_equality()):
                lower.append(-rest if factor == 1 else rest)
            if factor == -1 or (factor and constraint.is_equality()):
                upper.append(rest if factor == -1 else -rest)
        if not lower or not upper:
            raise Unsupported(f"loop `{iname}` has no bounds")
        trip = None
        if len(lower) == len(upper) == 1 and (upper[0] - lower[0]).constant is not None:
            trip = (upper[0] - lower[0]).constant + 1
        self.trips.append(trip)
        return {"from": _extreme("max", lower), "to": _extreme("min", upper)}

    def _instruction(self, instruction: Any) -> list[Any]:
        if isinstance(instruction, lp.NoOpInstruction):
            return []
        if not isinstance(instruction, lp.Assignment):
            raise Unsupported(f"instruction `{instruction.id}` is a {type(instruction).__name__}, not an assignment")
        steps = self._loads(instruction.expression)
        target = instruction.assignee
        if isinstance(target, prim.Subscript):
            for index in target.index_tuple:
                steps += self._loads(index)
            steps += self._access("atomic" if instruction.atomicity else "store", target)
        self._count(instruction.expression)
        conditions = [f"{c} >= 0" for c in self._conditions(instruction.within_inames) if c not in self.common]
        conditions += [self._condition(p) for p in instruction.predicates]
        if conditions and steps:
            return [{"when": " && ".join(sorted(conditions)), "at": steps}]
        return steps

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

    def _loads(self, node: Any) -> list[Any]:
        steps: list[Any] = []
        for child in _children(node):
            steps += self._loads(child)
        if isinstance(node, prim.Subscript):
            steps += self._access("load", node)
        return steps

    def _access(self, verb: str, node: Any) -> list[Any]:
        name = node.aggregate.name
        array = self.kernel.arg_dict.get(name) or self.kernel.temporary_variables[name]
        if array.address_space == AddressSpace.PRIVATE:
            return []
        if name not in self.fields:
            self._field(name, array)
        found = [self._poly(i) for i in node.index_tuple]
        if None in found:
            raise Unsupported(f"the address `{node}` depends on data: give a representative address in its place")
        return [f"{verb} {access(name, found, None)}"]

    def _field(self, name: str, array: Any) -> None:
        kind = array.dtype.numpy_dtype
        strides = []
        for tag in array.dim_tags:
            if not isinstance(tag, FixedStrideArrayDimTag):
                raise Unsupported(f"array `{name}` is laid out as {tag}: only strides are covered")
            strides.append(self._number(tag.stride))
        shape = [self._number(n) for n in array.shape]
        self.fields[name] = {"dtype": dtype(kind), "shape": shape, "strides": strides}
        if kind.kind == "f":
            self.widest = max(self.widest, kind.itemsize)
        if array.address_space == AddressSpace.LOCAL:
            self.fields[name]["space"] = "shared"
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
            return Poly.of(self.inames.get(node.name, node.name)) if node.name in known else None
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


def _extreme(which: str, bounds: list[Poly]) -> str:
    text = str(bounds[0])
    for bound in bounds[1:]:
        text = f"{which}({text}, {bound})"
    return text


def _children(node: Any) -> Iterable[Any]:
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
