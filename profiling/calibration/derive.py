"""From the times of micro models to rates, with the formulas that predictions use.

A rate is what `optimizer.cost` counts in a node, over the time that is left when the launch is
taken off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import onnx_ir as ir

from optimizer.cost.classes import MOVING, PER_ELEMENT, OperatorClass, operator_class
from optimizer.cost.device import Level, RateCurve
from optimizer.cost.node import Cost, node_cost
from optimizer.cost.predict import elements, operator_of
from optimizer.cost.sizes import Sizes
from optimizer.cost.widths import width_of
from profiling.calibration.micro import Micro, model_of
from profiling.calibration.table import BANDWIDTH, LAUNCH, OWN, PACKING

_LEAST_US = 0.2
_SHARES = (16 << 20, 48 << 20)
_LEAST_MEMORY, _MOST_MEMORY = 64 << 20, 128 << 20
_BASE = "Add"
_STANDS_FOR = {
    OperatorClass.ATTENTION: OperatorClass.BATCHED_MATMUL,
    OperatorClass.RECURRENT: OperatorClass.GEMM,
}
"""Classes that take the curve of another: they have no micro model of their own."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A node with its time, launch taken off; `purpose` as of the micro model that it is in."""

    purpose: str
    node: ir.Node
    kind: OperatorClass
    cost: Cost
    width: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Rates:
    """The part of a device profile that comes from micro models."""

    rates: Mapping[OperatorClass, RateCurve]
    strided: Mapping[OperatorClass, RateCurve]
    operators: Mapping[str, RateCurve]
    element_operations: Mapping[str, float]
    packing: RateCurve | None


def samples(micros: Sequence[Micro], times_us: Sequence[float | None]) -> list[Sample]:
    """What was measured, beside what is counted; what did not run is left out."""
    timed = [
        (one.purpose, model_of(one).graph[0], us)
        for one, us in zip(micros, times_us, strict=True)
        if us is not None
    ]
    launch_us = min((us for purpose, _, us in timed if us and purpose == LAUNCH), default=0.0)
    found = (_sample(purpose, node, us - launch_us) for purpose, node, us in timed)
    return [sample for sample in found if sample is not None]


def _sample(purpose: str, node: ir.Node, us: float) -> Sample | None:
    sizes = Sizes()
    cost, kind = node_cost(node, sizes), operator_class(node, sizes)
    width = None if kind is None else width_of(node, kind, sizes)
    if cost is None or kind is None or width is None:
        return None
    return Sample(purpose, node, kind, cost, width, max(us, _LEAST_US) / 1e6)


def derive(found: list[Sample]) -> Rates:
    """Curves of classes and of single operators."""
    plain = [sample for sample in found if not sample.purpose]
    rates = {OperatorClass.ELEMENTWISE: _elementwise(plain)}
    operators = _by_operator(sample for sample in found if sample.purpose == OWN)
    strided: dict[OperatorClass, RateCurve] = {}
    for kind in dict.fromkeys(s.kind for s in plain if s.kind not in PER_ELEMENT):
        ours = [sample for sample in plain if sample.kind == kind]
        curve = _curve((s.width, _rate(s)) for s in ours)
        (strided if kind in MOVING else rates)[kind] = curve
        single = _by_operator(ours)
        operators |= single if len(single) > 1 else {}
    rates |= {kind: rates[other] for kind, other in _STANDS_FOR.items() if other in rates}
    return Rates(rates, strided, operators, _per_element(plain), _packing(found, rates))


def _by_operator(found: Iterable[Sample]) -> dict[str, RateCurve]:
    points: dict[str, list[tuple[float, float]]] = {}
    for sample in found:
        points.setdefault(sample.node.op_type, []).append((sample.width, _rate(sample)))
    return {name: _curve(ours) for name, ours in points.items()}


def footprints(caches: tuple[int, int]) -> tuple[int, ...]:
    """Bytes to stream through for each level: well inside of it."""
    return (caches[0] // 4, *(3 * size // 4 for size in _shares(caches[1])), _memory_bytes(caches))


def levels(found: list[Sample], caches: tuple[int, int]) -> tuple[Level, ...]:
    """Second-level cache, last-level cache and memory, as far as they were measured.

    Of the second level a node counts on one half: the other holds what else it touches. An element
    takes 4/read + 4/write with one operand and 8/read + 4/write with two. Neither can be more than
    three times as fast as the other, nor faster than in a nearer level.
    """
    shares = _shares(caches[1])
    names = [f"L3, {size >> 20} MiB" if len(shares) > 1 else "L3" for size in shares]
    told = zip(("L2", *names, "memory"), (caches[0] // 2, *shares, None), strict=True)
    nearer_read = nearer_write = 0.0
    levels: list[Level] = []
    for (name, size), (single, double) in zip(told, _undisturbed(found), strict=False):
        least = max(single / 4, nearer_read)
        most = min(3 * single / 4, single - nearer_write)
        nearer_read = min(max(double - single, least), most)
        nearer_write = single - nearer_read
        levels.append(Level(name, size, 4 / nearer_read, 4 / nearer_write))
    return tuple(levels)


def _shares(last: int) -> tuple[int, ...]:
    """A large last-level cache is shared with other processors: nearer and farther part."""
    return tuple(size for size in _SHARES if size < last) or (last,)


def _memory_bytes(caches: tuple[int, int]) -> int:
    return min(max(2 * caches[1], _LEAST_MEMORY), _MOST_MEMORY)


def _undisturbed(found: list[Sample]) -> list[tuple[float, float]]:
    """Seconds an element with one operand and with two, by level, the nearest first.

    Neighbours only ever slow a machine down: a level that looks slower than one behind it was
    disturbed, and is taken to be as fast.
    """
    streams = [s.seconds / elements(s.node, s.cost) for s in found if s.purpose == BANDWIDTH]
    times = list(zip(streams[::2], streams[1::2], strict=True))
    for near in range(len(times) - 2, -1, -1):
        one, two = zip(times[near], times[near + 1], strict=True)
        times[near] = (min(one), min(two))
    return times


def _rate(sample: Sample) -> float:
    work = sample.cost.bytes_moved if sample.kind in MOVING else sample.cost.flops
    return max(work, 1) / sample.seconds


def _per_element(plain: list[Sample]) -> dict[str, float]:
    """Operations of the machine; an addition without broadcasting is one."""
    times = [s.seconds / elements(s.node, s.cost) for s in plain if s.node.op_type == _BASE]
    return {
        operator_of(s.node): s.seconds / elements(s.node, s.cost) / min(times)
        for s in plain
        if s.kind in PER_ELEMENT and s.node.op_type != _BASE
    }


def _elementwise(plain: list[Sample]) -> RateCurve:
    """Elements a second of an addition, by how far it gets before broadcasting changes."""
    ours = (s for s in plain if s.node.op_type == _BASE)
    return _curve((s.width, elements(s.node, s.cost) / s.seconds) for s in ours)


def _packing(found: list[Sample], rates: Mapping[OperatorClass, RateCurve]) -> RateCurve | None:
    """What a product takes longer when its right side is no constant."""
    points: list[tuple[float, float]] = []
    for sample in found:
        right = sample.node.inputs[1] if len(sample.node.inputs) > 1 else None
        if sample.purpose != PACKING or right is None:
            continue
        size_bytes = Sizes().size_bytes(right)
        longer = sample.seconds - sample.cost.flops / rates[sample.kind].at(sample.width)
        if size_bytes and longer > 0.1 * sample.seconds:
            points.append((size_bytes, size_bytes / longer))
    return _curve(points) if points else None


def _curve(points: Iterable[tuple[float, float]]) -> RateCurve:
    """Points by width; several at one width become their geometric mean."""
    by_width: dict[float, list[float]] = {}
    for width, rate in points:
        by_width.setdefault(width, []).append(log(rate))
    return RateCurve(
        tuple((width, exp(sum(logs) / len(logs))) for width, logs in sorted(by_width.items()))
    )
