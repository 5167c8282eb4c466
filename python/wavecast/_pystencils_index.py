"""Index expressions and conditions of pystencils kernels."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from pystencils.backend.ast import expressions as ex
from pystencils.types import PsIntegerType

from ._symbolic import DIMENSIONS, Names, Poly, Unsupported, as_axes

_RELATIONS = {ex.PsLt: "<", ex.PsLe: "<=", ex.PsGt: ">", ex.PsGe: ">=", ex.PsEq: "==", ex.PsNe: "!="}
#: Threads of a block, on every device that pystencils knows.
MOST_THREADS = 1024


class Indices:
    """What is known of integer symbols, and the polynomials that expressions of them are."""

    def __init__(self, parameters: Mapping[str, int]):
        self.names = Names()
        self.symbols: dict[str, Poly] = {n: Poly.of(v) for n, v in parameters.items()}
        #: How threads are written by dimension; raw ones until the launch is known.
        self.axes: dict[str, str] = {}
        for dimension in DIMENSIONS:
            self.names.bounds[f"threadIdx.{dimension}"] = (0, MOST_THREADS - 1)
            self.names.bounds[f"blockDim.{dimension}"] = (1, MOST_THREADS)

    def poly(self, node: Any) -> Poly | None:
        """An index expression; ``None`` for anything else."""
        if isinstance(node, ex.PsCast):
            return self.poly(node.operand)
        if isinstance(node, ex.PsConstantExpr):
            return Poly.of(int(node.constant.value)) if isinstance(node.dtype, PsIntegerType) else None
        if isinstance(node, ex.PsLiteralExpr):
            return Poly.of(node.literal.text)
        if isinstance(node, ex.PsSymbolExpr):
            return self.symbols.get(node.symbol.name)
        if isinstance(node, ex.PsNeg):
            inner = self.poly(node.operand)
            return None if inner is None else -inner
        if isinstance(node, ex.PsTernary):
            return self._constant_choice(node)
        if not isinstance(node, ex.PsBinOp):
            return None
        one, two = self.poly(node.operand1), self.poly(node.operand2)
        if one is None or two is None:
            return None
        if isinstance(node, ex.PsAdd):
            return as_axes(one + two, self.axes)
        if isinstance(node, ex.PsSub):
            return as_axes(one - two, self.axes)
        if isinstance(node, ex.PsMul):
            return one * two
        return None if two.constant is None else self._by_constant(node, as_axes(one, self.axes), two.constant)

    def _constant_choice(self, node: Any) -> Poly | None:
        condition = node.condition
        if not isinstance(condition, ex.PsEq):
            return None
        sides = [self.poly(side) for side in (condition.operand1, condition.operand2)]
        one, two = sides
        if one is None or two is None or (one - two).constant is None:
            return None
        return self.poly(node.case_then if one == two else node.case_else)

    def _by_constant(self, node: Any, one: Poly, two: int) -> Poly | None:
        if isinstance(node, (ex.PsDiv, ex.PsIntDiv)):
            return self._rounded_to_zero(self.names.quotient, one, two)
        if isinstance(node, ex.PsRem):
            return self._rounded_to_zero(self.names.remainder, one, two)
        if isinstance(node, ex.PsLeftShift) and two >= 0:
            return one * (1 << two)
        if isinstance(node, ex.PsRightShift) and two >= 0:
            return self.names.quotient(one, 1 << two)
        if isinstance(node, ex.PsBitwiseAnd) and two >= 0 and two & (two + 1) == 0:
            return self.names.remainder(one, two + 1)
        return None

    def _rounded_to_zero(self, divide: Callable[[Poly, int], Poly], one: Poly, two: int) -> Poly:
        """As C divides; documents round down, which differs below zero."""
        known = self.names.between(one)
        if known is None or known[0] >= 0:
            return divide(one, two)
        if known[1] <= 0:
            return -divide(-one, two)
        raise Unsupported(f"a division of `{one}`, which has both signs: shift it above zero")

    def conditions(self, node: Any) -> list[str]:
        """The parts of a condition that may be false."""
        if isinstance(node, ex.PsAnd):
            return self.conditions(node.operand1) + self.conditions(node.operand2)
        if isinstance(node, ex.PsOr):
            either = [" && ".join(self.conditions(o)) for o in (node.operand1, node.operand2)]
            return [f"({either[0]} || {either[1]})"] if all(either) else []
        if isinstance(node, ex.PsNot):
            inner = " && ".join(self.conditions(node.operand))
            return [f"!({inner})"] if inner else ["0 > 1"]
        relation = _RELATIONS.get(type(node))
        one, two = (self.poly(node.operand1), self.poly(node.operand2)) if relation else (None, None)
        if one is None or two is None:
            raise Unsupported(f"the condition `{node}` depends on data: name a representative case in its place")
        bounds = self.names.between(two - one)
        if bounds is not None and (bounds[0] > 0 and relation == "<" or bounds[0] >= 0 and relation == "<="):
            return []
        return [f"{one} {relation} {two}"]

    def of_indices(self, condition: Any) -> list[str] | None:
        try:
            return self.conditions(condition)
        except Unsupported:
            return None
