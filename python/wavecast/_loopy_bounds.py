"""What the iteration domains of a loopy program say about loops and conditions."""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable

import islpy as isl

from ._symbolic import Names, Poly, Unsupported


class Domains:
    """The domains of a kernel, in the names of a document: threads, blocks and serial loops. A constraint is a
    polynomial that is not negative."""

    def __init__(self, kernel: Any, name_of: Callable[[str], str], names: Names):
        self._kernel = kernel
        self._name_of = name_of
        self._names = names

    def constraints(self, inames: Iterable[str]) -> list[Poly]:
        """What is known of some inames, whatever the others are."""
        return self._polynomials(self._projected(inames))

    def range(self, iname: str, around: Iterable[str]) -> tuple[list[Poly], list[Poly], list[Poly]]:
        """Lower and upper bounds of a loop inside the loops and threads around it, and what holds within."""
        lower, upper, within, name = [], [], [], self._name_of(iname)
        for poly in self.constraints({iname, *around}):
            factor = poly.coefficient(name)
            rest = poly - Poly({(name,): factor})
            if any(re.search(rf"\b{name}\b", inner) for inner in rest.names()):
                raise Unsupported(f"the bound `{poly}` of loop `{iname}`: split the iname so that its bounds are whole")
            if factor > 0:
                lower.append(self._names.quotient(-rest + (factor - 1), factor))
                within.append(poly)
            elif factor < 0:
                upper.append(self._names.quotient(rest, -factor))
                within.append(poly)
        if not lower or not upper:
            raise Unsupported(f"loop `{iname}` has no bounds")
        return lower, upper, within

    def conditions(self, inames: Iterable[str], known: Iterable[Poly]) -> list[Poly]:
        """What is left of the constraints on some inames where others are known to hold."""
        domain = self._projected(inames)
        space = domain.get_space()
        given = isl.BasicSet.universe(space)
        positions = {self._name_of(n): n for n in space.get_var_names(isl.dim_type.set)}
        for poly in known:
            if all(len(m) == (1 if m else 0) and set(m) <= positions.keys() for m in poly.terms):
                terms = {positions[m[0]] if m else 1: c for m, c in poly.terms.items()}
                given = given.add_constraint(isl.Constraint.ineq_from_names(space, terms))
        return sorted(set(self._polynomials(domain.gist(given))), key=str)

    def _projected(self, inames: Iterable[str]) -> Any:
        inames = list(inames)
        domain = self._kernel.get_inames_domain(frozenset(inames))
        return domain.project_out_except(inames, [isl.dim_type.set])

    def _polynomials(self, domain: Any) -> list[Poly]:
        parts = domain.get_basic_sets() if isinstance(domain, isl.Set) else [domain]
        if len(parts) != 1:
            raise Unsupported(f"the domain {domain}, which is no single polyhedron")
        found = []
        for constraint in parts[0].compute_divs().get_basic_sets()[0].get_constraints():
            poly = self._polynomial(constraint.get_aff())
            found += [poly, -poly] if constraint.is_equality() else [poly]
        return found

    def _polynomial(self, aff: Any) -> Poly:
        """An affine form of whole numbers, in which rounded quotients may stand."""
        total = Poly.of(int(aff.get_constant_val().to_python()))
        for position in range(aff.dim(isl.dim_type.in_)):
            name = self._name_of(aff.get_dim_name(isl.dim_type.in_, position))
            total = total + Poly({(name,): _number(aff, isl.dim_type.in_, position)})
        for position in range(aff.dim(isl.dim_type.div)):
            factor = _number(aff, isl.dim_type.div, position)
            if factor:
                inner = aff.get_div(position)
                below = int(inner.get_denominator_val().to_python())
                quotient = self._names.quotient(self._polynomial(inner.scale_val(isl.Val(below))), below)
                total = total + quotient * factor
        return total


def _number(aff: Any, kind: Any, position: int) -> int:
    return int(aff.get_coefficient_val(kind, position).to_python())
