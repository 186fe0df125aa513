"""Shapes that must fit each other: broadcasting, sizes that agree, axes counted from the front."""

from __future__ import annotations

from optimizer.dimension import Expression, at_least
from optimizer.operators.call import Call, Contradiction, Dim, Fact, Shape, Typed


def same(left: Dim, right: Dim) -> Dim:
    """The size of two dimensions that must be equal: the number where one is known."""
    if left is None or (isinstance(right, int) and not isinstance(left, int)):
        return right
    if isinstance(left, int) and isinstance(right, int) and left != right:
        raise Contradiction(f"{left} and {right} should be the same size")
    return left


def broadcast_dim(left: Dim, right: Dim) -> Dim:
    """The size where two sizes are broadcast together.

    A number above 1 wins over anything unknown: the other one is either 1 or the same.
    """
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    if isinstance(left, int) and isinstance(right, int):
        raise Contradiction(f"sizes {left} and {right} do not broadcast")
    if isinstance(left, int):
        return left
    return right if isinstance(right, int) else None


def broadcast(*shapes: Shape | None) -> Shape | None:
    """The common shape of several tensors under ONNX's multidirectional broadcasting."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        if shape == result:
            continue
        longer, shorter = (shape, result) if len(shape) >= len(result) else (result, shape)
        lead = len(longer) - len(shorter)
        pairs = zip(longer[lead:], shorter, strict=True)
        result = longer[:lead] + tuple(broadcast_dim(a, b) for a, b in pairs)
    return result


def non_negative(dim: Dim) -> Dim:
    """The size, or None where it might be negative for some sizes of the inputs."""
    if isinstance(dim, Expression):
        return dim if at_least(dim, 0) else None
    if dim is not None and dim < 0:
        raise Contradiction(f"a size of {dim}")
    return dim


def agreed_type(one: Fact, other: Fact) -> Typed:
    """What two alternatives have in common."""
    dtype = one.dtype if one.dtype == other.dtype else None
    if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
        return dtype, None
    pairs = zip(one.shape, other.shape, strict=True)
    return dtype, tuple(a if a == b else None for a, b in pairs)


def like_first(call: Call) -> list[Typed]:
    """The first output is like the first input; further outputs are not described."""
    return [(call.dtype(0), call.shape(0))]
