"""Bodies with everything that is computed where it is read."""

from __future__ import annotations

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.scalar import Element, Scalar, cast, parts_of, rewritten, with_indices

MOST_PARTS = 4000
"""Of a body: longer ones take compilers minutes."""


def inlined_bodies(algorithm: Algorithm) -> dict[str, Scalar] | None:
    """By name of a Func its body, in which only inputs and reductions are read.

    Returns:
        None where a body would have more than `MOST_PARTS` parts.
    """
    bodies: dict[str, Scalar] = {}

    def change(part: Scalar) -> Scalar:
        func = algorithm.by_name.get(part.tensor) if isinstance(part, Element) else None
        if func is None or func.reduction is not None:
            return part
        assert isinstance(part, Element)
        places = zip(func.axes, part.indices, strict=True)
        return with_indices(bodies[func.name], {axis.name: index for axis, index in places})

    for func in algorithm.funcs:
        bodies[func.name] = cast(rewritten(func.body, change), func.dtype)
        if sum(1 for _ in parts_of(bodies[func.name])) > MOST_PARTS:
            return None
    return bodies
