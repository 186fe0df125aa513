"""The nodes of a model that a kernel computes, with the loops that do so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.loops.algorithm import Algorithm
from optimizer.schedules.nest import NestNode


def origin_lines(
    algorithm: Algorithm, nodes: Sequence[NestNode]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A line for each ONNX node, and the numbers of the nest's nodes that compute its Funcs.

    A Func that is computed where it is read has no loops: it is in those of its readers.
    """
    computed: dict[str, list[int]] = {}
    for number, node in enumerate(nodes):
        if node.kind == "compute":
            computed.setdefault(node.func, []).append(number)
    places: dict[str, tuple[int, ...]] = {}
    for func in reversed(algorithm.funcs):
        own = computed.get(func.name)
        readers = (n for reader, _ in algorithm.readers(func.name) for n in places[reader.name])
        places[func.name] = tuple(own) if own else tuple(sorted(set(readers)))
    made: dict[str, list[str]] = {}
    for func in algorithm.funcs:
        if func.origin:
            made.setdefault(func.origin, []).append(func.name)
    for origin, names in made.items():
        numbers = {number for name in names for number in places[name]}
        yield f"{origin}: {', '.join(names)}", tuple(sorted(numbers))
