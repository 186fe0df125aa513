"""Giving free dimensions a size: `batch` becomes 1 wherever the model says `batch`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx_ir as ir

from optimizer.dimension_text import names_in, parse
from optimizer.errors import StudioError, quoted
from optimizer.model.graph import walk_graphs, walk_nodes
from optimizer.model.interface import keep_numbers_alone
from optimizer.model.known_values import discard

_SHOWN_NAMES = 12


def free_dimensions(model: ir.Model) -> tuple[str, ...]:
    """Names of the free dimensions of the model's inputs, in order of appearance."""
    names: dict[str, None] = {}
    for value in model.graph.inputs:
        for dim in value.shape or ():
            if isinstance(dim, ir.SymbolicDim) and dim.value:
                names.update(dict.fromkeys(names_in(dim.value)))
    return tuple(names)


def bind_dimensions(model: ir.Model, sizes: Mapping[str, int]) -> None:
    """Set every dimension named in `sizes` in inputs, outputs and intermediate values, in place.

    Expressions follow: with `{"past": 4}` the dimension `past + seq` becomes `seq + 4`.

    Raises:
        StudioError: if a name does not occur in the model or a size is negative.
    """
    for name, size in sizes.items():
        if size < 0:
            raise StudioError(f"Dimension {quoted(name)} cannot be bound to {size}; use 0 or more.")
    discard(model)
    keep_numbers_alone(model)
    existing = free_dimensions(model)
    found: set[str] = set()
    for value in _values(model):
        if value.shape is not None:
            value.shape, names = _bound(value.shape, sizes)
            found |= names
    missing = [name for name in sizes if name not in found]
    if missing:
        raise StudioError(_missing(missing[0], existing))


def _missing(name: str, existing: tuple[str, ...]) -> str:
    shown = ", ".join(quoted(other) for other in existing[:_SHOWN_NAMES])
    rest = len(existing) - _SHOWN_NAMES
    listing = f"{shown} and {rest} more" if rest > 0 else shown
    sentence = f"The model has no free dimension {quoted(name)}"
    return f"{sentence}; it has {listing}." if existing else f"{sentence}; all its sizes are fixed."


def _values(model: ir.Model) -> Iterator[ir.Value]:
    for graph in walk_graphs(model.graph):
        yield from graph.inputs
        yield from graph.outputs
    for node in walk_nodes(model.graph):
        yield from node.outputs


def _bound(shape: ir.Shape, sizes: Mapping[str, int]) -> tuple[ir.Shape, set[str]]:
    """The shape with `sizes` filled in, and the names that were found in it."""
    found: set[str] = set()
    bound = shape
    for axis, dim in enumerate(shape):
        if isinstance(dim, int) or dim.value is None:
            continue
        size, names = _size(dim.value, sizes)
        if names:
            bound = shape.copy() if bound is shape else bound  # clones of a model share shapes
            bound[axis] = size
            found |= names
    return bound, found


def _size(text: str, sizes: Mapping[str, int]) -> tuple[int | str, set[str]]:
    """What a dimension becomes, and which of the names it depends on."""
    if text in sizes:
        return sizes[text], {text}
    expression = parse(text)
    names = expression.symbols() & sizes.keys() if expression is not None else set[str]()
    if expression is None or not names:
        return text, set()
    size = expression.evaluate(sizes)
    if isinstance(size, int) and size < 0:
        given = ", ".join(f"{name}={sizes[name]}" for name in sorted(names))
        raise StudioError(f"With {given} the dimension {quoted(text)} would be {size}.")
    return (size if isinstance(size, int) else str(size)), set(names)
