"""Integer index expressions of generators, written as Wavecast reads them.

An expression is a polynomial in names (``x``, ``blockIdx.y``, ``k``, ...) with integer coefficients. What is
no polynomial, a quotient or a remainder, becomes a name of its own: its text in parentheses.
"""

from __future__ import annotations

from typing import Callable, Iterable, Mapping

Monomial = tuple[str, ...]
Bounds = tuple[int, int]
DIMENSIONS = ("x", "y", "z")


class Unsupported(ValueError):
    """Something in a generator's kernel that no kernel document can say, with what to do about it."""


class Poly:
    """A polynomial with integer coefficients."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int] | None = None):
        self.terms = {m: c for m, c in (terms or {}).items() if c}

    @classmethod
    def of(cls, value: Poly | int | str) -> Poly:
        if isinstance(value, Poly):
            return value
        return cls({(value,): 1}) if isinstance(value, str) else cls({(): int(value)})

    def __add__(self, other: Poly | int | str) -> Poly:
        terms = dict(self.terms)
        for monomial, coefficient in Poly.of(other).terms.items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Poly(terms)

    def __mul__(self, other: Poly | int | str) -> Poly:
        terms: dict[Monomial, int] = {}
        for a, m in self.terms.items():
            for b, n in Poly.of(other).terms.items():
                key = tuple(sorted(a + b))
                terms[key] = terms.get(key, 0) + m * n
        return Poly(terms)

    def __neg__(self) -> Poly:
        return self * -1

    def __sub__(self, other: Poly | int | str) -> Poly:
        return self + -Poly.of(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    @property
    def constant(self) -> int | None:
        """The number, if it is one."""
        return self.terms.get((), 0) if all(not m for m in self.terms) else None

    def coefficient(self, *names: str) -> int:
        """The factor of a product of names."""
        return self.terms.get(tuple(sorted(names)), 0)

    def names(self) -> set[str]:
        """All names in it."""
        return {name for monomial in self.terms for name in monomial}

    def substitute(self, values: Mapping[str, Poly | int | str]) -> Poly:
        """With names replaced."""
        total = Poly()
        for monomial, coefficient in self.terms.items():
            product = Poly({(): coefficient})
            for name in monomial:
                product = product * values.get(name, name)
            total = total + product
        return total

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in sorted(self.terms.items(), key=lambda term: (not term[0], term[0])):
            factors = list(monomial) if abs(coefficient) == 1 and monomial else [str(abs(coefficient)), *monomial]
            sign = ("-" if coefficient < 0 else "") if not text else (" - " if coefficient < 0 else " + ")
            text += sign + "*".join(factors)
        return text or "0"


class Names:
    """What is known of names: which threads they are, and between which numbers they lie."""

    def __init__(self) -> None:
        self.bounds: dict[str, Bounds] = {}

    def between(self, poly: Poly) -> Bounds | None:
        """Least and greatest value, if they are known."""
        low = high = 0
        for monomial, coefficient in poly.terms.items():
            ends: list[int] = [coefficient]
            for name in monomial:
                if name not in self.bounds:
                    return None
                ends = [e * b for e in ends for b in self.bounds[name]]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def quotient(self, poly: Poly, by: int) -> Poly:
        """Division that rounds down, as C does for what is not negative."""
        return self._divided(poly, by, "/", lambda low, high: (low // by, high // by))

    def remainder(self, poly: Poly, by: int) -> Poly:
        """The remainder of that."""

        def bounds(low: int, high: int) -> Bounds:
            return (low % by, high % by) if low // by == high // by else (0, by - 1)

        return self._divided(poly, by, "%", bounds)

    def _divided(self, poly: Poly, by: int, operator: str, bounds: Callable[[int, int], Bounds]) -> Poly:
        if by <= 0:
            raise Unsupported(f"a division by {by} in an index: only positive numbers can be divisors")
        if by == 1:
            return poly if operator == "/" else Poly()
        if poly.constant is not None:
            return Poly.of(poly.constant // by if operator == "/" else poly.constant % by)
        known = self.between(poly)
        if known is not None and 0 <= known[0] and known[1] < by:
            return Poly() if operator == "/" else poly
        inner = str(poly)
        is_name = list(poly.terms.values()) == [1] and len(next(iter(poly.terms))) == 1
        name = f"({inner}{operator}{by})" if is_name else f"(({inner}){operator}{by})"
        if known is not None:
            self.bounds[name] = bounds(*known)
        return Poly.of(name)


def as_axes(poly: Poly, axes: Mapping[str, str], sizes: Mapping[str, int] | None = None) -> Poly:
    """With ``threadIdx.d + blockIdx.d*blockDim.d`` written as ``axes[d]``. ``sizes`` holds the block sizes that
    stand in the expression as numbers."""
    for dimension, axis in axes.items():
        thread, block = f"threadIdx.{dimension}", f"blockIdx.{dimension}"
        coefficient = poly.coefficient(thread)
        if not coefficient:
            continue
        size = (sizes or {}).get(dimension)
        whole = Poly({(thread,): coefficient})
        if size is None:
            whole = whole + Poly({tuple(sorted((f"blockDim.{dimension}", block))): coefficient})
        else:
            whole = whole + Poly({(block,): coefficient * size})
        rest = poly - whole
        if not {thread, block} & rest.names():
            poly = rest + Poly({(axis,): coefficient})
    return poly


def indices(offset: Poly, strides: Iterable[int], shape: Iterable[int]) -> list[Poly] | None:
    """One index per array dimension of a linear offset, or ``None`` where it has none: the digits of each
    coefficient, the largest stride first. What does not vary is inside the array, as addresses are."""
    strides, shape = list(strides), list(shape)
    order = sorted(range(len(strides)), key=lambda d: -strides[d])
    found = [Poly() for _ in strides]
    for monomial, coefficient in offset.terms.items():
        rest = abs(coefficient)
        sign = 1 if coefficient > 0 else -1
        for dimension in order:
            digit, rest = divmod(rest, strides[dimension]) if strides[dimension] > 0 else (0, rest)
            found[dimension] = found[dimension] + Poly({monomial: sign * digit})
        if rest:
            return None
    return found
