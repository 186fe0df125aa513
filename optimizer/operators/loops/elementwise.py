"""Operators that compute one number from one number of each input."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optimizer.loops import formulas
from optimizer.loops.building import Indices, LoopTensor, NotGenerated, common_shape, one_number
from optimizer.loops.formulas import FLOATS, add, choose, converted, div, mul, number, wide
from optimizer.loops.scalar import BOOL, Number, Scalar, ScalarFunction, apply, cast
from optimizer.operators.call import Call
from optimizer.operators.loops.site import LoopRule, NodeLoops

ScalarFormula = Callable[..., Scalar]
"""A number from numbers, those of 16 bits as float32."""


def combined(
    site: NodeLoops, tensors: Sequence[LoopTensor], formula: ScalarFormula, *, name: str = ""
) -> LoopTensor:
    """Tensors broadcast together, one number from one number of each.

    Raises:
        NotGenerated: two sizes are not known to be equal, or an operator set before 7 meets two
            shapes.
    """
    shape = common_shape(tensors)
    if 0 < site.call.opset < 7 and any(tensor.shape != shape for tensor in tensors):
        raise site.decline("broadcasts as before operator set 7")
    parts = [tensor.broadcast(shape) for tensor in tensors]
    like = next((part.dtype for part in parts if part.dtype != BOOL), BOOL)

    def body(indices: Indices) -> Scalar:
        result = formula(*(cast(part.at(indices), wide(part.dtype)) for part in parts))
        return cast(result, like) if result.dtype == wide(like) else result

    return site.func(shape, body, name=name)


def with_attributes(
    formula_of: Callable[[Call], ScalarFormula], *, floats: bool = True
) -> LoopRule:
    """The rule of an operator whose attributes say which formula of its inputs it is.

    Args:
        formula_of: the formula; it may raise `NotGenerated`.
        floats: whether it is written for floating point alone.
    """

    def rule(site: NodeLoops) -> list[LoopTensor]:
        tensors = site.operands()
        if floats and tensors[0].dtype not in FLOATS:
            raise site.decline(f"has no loops for elements of type {tensors[0].dtype.name}")
        return [combined(site, tensors, formula_of(site.call))]

    return rule


def mapped(formula: ScalarFormula, *, floats: bool = True) -> LoopRule:
    """The rule of an operator that is this formula of its inputs."""
    return with_attributes(lambda _: formula, floats=floats)


def function(name: ScalarFunction, *, floats: bool = False) -> LoopRule:
    """The rule of an operator that is one function of numbers."""
    return mapped(lambda *numbers: apply(name, *numbers), floats=floats)


def folded(name: ScalarFunction) -> LoopRule:
    """The rule of an operator of any number of inputs, combined from left to right."""

    def formula(*numbers: Scalar) -> Scalar:
        result = numbers[0]
        for one in numbers[1:]:
            result = apply(name, result, one)
        return result

    return mapped(formula, floats=False)


def mean(*numbers: Scalar) -> Scalar:
    """The sum over the count."""
    return div(add(*numbers), number(len(numbers), numbers[0]))


def is_inf(call: Call) -> ScalarFormula:
    """Infinities of the signs that count."""
    signs = [
        sign
        for sign, name in ((1, "detect_positive"), (-1, "detect_negative"))
        if call.number(name, 1)
    ]

    def formula(a: Scalar) -> Scalar:
        found: Scalar = Number(False, BOOL)
        for sign in signs:
            one = apply("eq", a, Number(sign * float("inf"), a.dtype))
            found = one if isinstance(found, Number) else apply("or", found, one)
        return found

    return formula


def modulo(call: Call) -> ScalarFormula:
    """The sign follows the divisor, or the dividend with `fmod`."""
    towards_zero = bool(call.number("fmod", 0))

    def formula(a: Scalar, b: Scalar) -> Scalar:
        if a.dtype in FLOATS:
            if not towards_zero:
                raise NotGenerated("Mod of floats without fmod means nothing")
            return apply("fmod", a, b)
        return formulas.remainder(a, b) if towards_zero else formulas.modulo(a, b)

    return formula


def power(site: NodeLoops) -> list[LoopTensor]:
    """A base in floating point to any power, or whole numbers to the power 1, 2 or 3."""
    base, exponent = site.operand(0), site.operand(1)
    whole = _small_power(site.call)

    def formula(a: Scalar, b: Scalar) -> Scalar:
        return mul(*[a] * whole) if whole else apply("pow", a, converted(b, a.dtype))

    if not whole and base.dtype not in FLOATS:
        raise site.decline(f"of {base.dtype.name} has loops for the powers 1, 2 and 3 alone")
    return [combined(site, [base, exponent], formula)]


def _small_power(call: Call) -> int:
    """1, 2 or 3 where that is the exponent of every element, else 0."""
    exponent = call.constant(1)
    if exponent is None or exponent.size != 1:
        return 0
    value = float(exponent.reshape(()))
    return int(value) if value in (1.0, 2.0, 3.0) else 0


def where(site: NodeLoops) -> list[LoopTensor]:
    """One of two numbers, unchanged."""
    tensors = site.operands()
    shape = common_shape(tensors)
    condition, yes, no = (tensor.broadcast(shape) for tensor in tensors)
    return [site.func(shape, lambda i: choose(condition.at(i), yes.at(i), no.at(i)))]


def cast_to(site: NodeLoops) -> list[LoopTensor]:
    """Another element type: towards zero to whole numbers, which must be in its range."""
    data, dtype = site.operand(0), site.dtype()
    return [site.func(data.shape, lambda i: converted(data.at(i), dtype), dtype=dtype)]


def clip(site: NodeLoops) -> list[LoopTensor]:
    """Between two limits; the upper one wins where they cross."""
    data, limits = site.operand(0), _limits(site)
    tensors = [data, *(limit for limit in limits if limit is not None)]
    has_low = limits[0] is not None

    def formula(a: Scalar, *given: Scalar) -> Scalar:
        rest = list(given)
        if has_low:
            a = formulas.largest(a, rest.pop(0))
        return formulas.least(a, rest[0]) if rest else a

    return [combined(site, tensors, formula)]


def _limits(site: NodeLoops) -> list[LoopTensor | None]:
    """The lower and the upper limit, from attributes before operator set 11."""
    if site.call.opset >= 11 or not site.call.opset:
        return [site.optional(place) for place in (1, 2)]
    dtype = site.operand(0).dtype
    given = site.node.attributes
    return [
        one_number(site.call.real(name, 0.0), dtype) if name in given else None
        for name in ("min", "max")
    ]


def prelu(site: NodeLoops) -> list[LoopTensor]:
    """Below zero, times a slope that is broadcast to the data."""
    data = site.operand(0)
    slope = site.operand(1).broadcast(data.shape)

    def formula(a: Scalar, factor: Scalar) -> Scalar:
        return choose(apply("lt", a, number(0, a)), mul(factor, a), a)

    return [combined(site, [data, slope], formula)]
