"""Reshape targets that are constant although a size is not."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.dimension import Dimension, Expression, at_least

Dims = tuple[Dimension, ...]


def reshape_target(source: Dims, result: Dims, *, inferred: Sequence[int] = ()) -> list[int] | None:
    """A constant target that reshapes `source` to `result` for all sizes, empty tensors included.

    One size may be left to the runtime (-1) where the others are certainly not 0; sizes at the
    same place in both are copied (0).

    Args:
        source: dimensions of the input.
        result: dimensions of the output.
        inferred: places where -1 was there before, so that it asks for nothing new.

    Returns: the target, or None where no constant does.
    """
    symbolic = [i for i, dim in enumerate(result) if isinstance(dim, Expression)]
    fixed = [dim for dim in result if isinstance(dim, int)]
    if 0 in fixed:
        return _with_zeros(source, result)
    if not symbolic:
        return fixed
    if len(symbolic) == 1:
        return [-1 if isinstance(dim, Expression) else dim for dim in result]
    return _with_copies(source, result, inferred)


def _with_zeros(source: Dims, result: Dims) -> list[int] | None:
    """0 in a target copies, so every 0 must stand where the input has one too."""
    target = [_copied(source, place, dim) for place, dim in enumerate(result)]
    return None if None in target else [size for size in target if size is not None]


def _with_copies(source: Dims, result: Dims, inferred: Sequence[int]) -> list[int] | None:
    target = [_copied(source, place, dim) for place, dim in enumerate(result)]
    open_places = [place for place, size in enumerate(target) if size is None]
    if len(open_places) > 1:
        return None
    if open_places and open_places[0] not in inferred:
        others = (dim for place, dim in enumerate(result) if place != open_places[0])
        if not all(at_least(dim, 1) for dim in others):
            return None  # an empty tensor would leave the runtime nothing to infer from
    return [-1 if size is None else size for size in target]


def _copied(source: Dims, place: int, dim: Dimension) -> int | None:
    if place < len(source) and source[place] == dim:
        return dim if isinstance(dim, int) else 0
    return dim if isinstance(dim, int) and dim != 0 else None
