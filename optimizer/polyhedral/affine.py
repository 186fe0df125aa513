"""An index of a loop's body as a function that isl knows: sums, and parts by whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from optimizer.loops.scalar import Apply, Element, FreeSize, Number, Scalar, Var
from optimizer.polyhedral.bounds import NotFollowed

Values = Mapping[str, isl.PwAff]
"""Variables by name, all over the points of one set."""


def value(scalar: Scalar, variables: Values, zero: isl.PwAff) -> isl.PwAff:
    """What an index is at every point.

    Args:
        scalar: of variables.
        variables: their values.
        zero: the constant function over the same points.

    Raises:
        NotFollowed: it is no sum of multiples of variables, or of parts of such.
    """
    match scalar:
        case Var():
            return variables[scalar.name]
        case Number():
            return plus(zero, int(scalar.value))
        case FreeSize():
            raise NotFollowed(f"{scalar.name} is no number: isl is asked about sizes that are.")
        case Element():
            raise NotFollowed(
                f"A place is read from {scalar.tensor}, so it is known only when the kernel runs: "
                "such a nest is not affine, and isl cannot follow it."
            )
        case Apply():
            return _applied(scalar, [value(one, variables, zero) for one in scalar.arguments])


def _applied(scalar: Apply, arguments: Sequence[isl.PwAff]) -> isl.PwAff:
    first, second = arguments[0], arguments[-1]
    match scalar.function:
        case "add":
            return first.add(second)
        case "sub":
            return first.sub(second)
        case "neg":
            return first.neg()
        case "min":
            return first.min(second)
        case "max":
            return first.max(second)
        case "cast":
            return first
        case "mul":
            known = constant(second)
            return times(first, known) if known is not None else times(second, _needed(first))
        case "floor_div":
            return first.scale_down_val(isl.Val(_needed(second))).floor()
        case "floor_mod":
            return first.mod_val(isl.Val(_needed(second)))
        case _:
            raise NotFollowed(
                f"A place is found by {scalar.function}: such a nest is not affine, and isl cannot "
                "follow it."
            )


def constant(function: isl.PwAff) -> int | None:
    """The one value of a function; None where it has several."""
    image = isl.Map.from_pw_aff(function).range()
    return image.dim_max_val(0).to_python() if image.is_singleton() else None


def _needed(function: isl.PwAff) -> int:
    known = constant(function)
    if known is None or known == 0:
        raise NotFollowed(
            "A place is a product or a quotient of loops: such a nest is not affine, and isl "
            "cannot follow it."
        )
    return known


def plus(function: isl.PwAff, number: int) -> isl.PwAff:
    """A function and a constant."""
    one = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(function.get_domain_space()))
    return function.add(isl.PwAff.from_aff(one.add_constant_val(isl.Val(number))))


def times(function: isl.PwAff, factor: int) -> isl.PwAff:
    """A multiple of a function."""
    return function.scale_val(isl.Val(factor))


def joined(functions: Sequence[isl.PwAff], space: isl.Space) -> isl.Map:
    """The map to all of these values side by side.

    Args:
        functions: over the points of one set.
        space: of that set, for where there are none.
    """
    found = isl.Map.from_domain_and_range(
        isl.Set.universe(space), isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))
    )
    for one in functions:
        found = found.flat_range_product(isl.Map.from_pw_aff(one))
    return found
