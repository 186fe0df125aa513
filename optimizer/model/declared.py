"""Checks of declared types and shapes: graph inputs, outputs, `value_info`, type attributes."""

from __future__ import annotations

from dataclasses import dataclass

from onnx import TypeProto, ValueInfoProto

from optimizer.errors import InvalidGraph, LimitError, Unsupported
from optimizer.model.report import Findings, Where
from optimizer.model.tensors import KNOWN_TYPES, MOST_ELEMENTS

MAP_REASON = "Map types can be shown but not optimized."
_MOST_NESTED = 16


@dataclass(slots=True)
class TypeFacts:
    """What walking one declared type found.

    Attributes:
        problem: why the type is invalid; empty if it is not.
        has_map: whether a map occurs in it.
        unknown_sizes: dimensions of size -1, a common way to say "unknown", cleared on the way.
    """

    problem: str = ""
    has_map: bool = False
    unknown_sizes: int = 0


def examine_type(declared: TypeProto) -> TypeFacts:
    """Walk a declared type down to its element type, clearing sizes of -1."""
    facts, current = TypeFacts(), declared
    for _ in range(_MOST_NESTED):
        kind = current.WhichOneof("value")
        if kind == "tensor_type" or kind == "sparse_tensor_type":
            _examine_tensor(getattr(current, kind), facts)
            return facts
        if kind == "map_type":
            facts.has_map = True
            return facts
        if kind not in {"sequence_type", "optional_type"}:
            facts.problem = "No element type is declared."
            return facts
        current = getattr(current, kind).elem_type
    facts.problem = "The type is nested too deeply."
    return facts


def check_input(info: ValueInfoProto, where: Where, report: Findings) -> None:
    """A graph input must say what it is."""
    if info.type.WhichOneof("value") is None:
        report.error(InvalidGraph, where, "It has no type.")
        return
    check_declared(info, where, report)


def check_declared(info: ValueInfoProto, where: Where, report: Findings) -> None:
    """A declared type must be possible; a map is taken out, since the graph cannot hold it."""
    if info.type.WhichOneof("value") is None:
        return
    facts = examine_type(info.type)
    if facts.problem:
        report.error(InvalidGraph, where, facts.problem)
    if facts.unknown_sizes:
        report.note(where, "A size of -1 was read as unknown.")
    if facts.has_map:
        info.ClearField("type")
        report.warning(where, MAP_REASON, blocks=("optimizable", "runnable"))


def check_type_attribute(declared: TypeProto, where: Where, report: Findings) -> None:
    """A type held in an attribute must be one that the graph can hold."""
    facts = examine_type(declared)
    if facts.problem:
        report.error(InvalidGraph, where, facts.problem)
    if facts.has_map:
        report.error(Unsupported, where, "A map type in an attribute is not supported.", remedy="")


def check_name(name: str, where: Where, *, limit: int, report: Findings) -> None:
    """A name that belongs to the model's interface is never cut, so it must be short enough."""
    if len(name) > limit:
        message = f"The name has {len(name):,} characters (limit {limit:,})."
        report.error(LimitError, where, message, remedy="Rename it.")


def _examine_tensor(tensor: TypeProto.Tensor, facts: TypeFacts) -> None:
    if tensor.elem_type not in KNOWN_TYPES:
        facts.problem = f"The element type {tensor.elem_type} is not defined by ONNX."
        return
    elements = 1
    for dim in tensor.shape.dim:
        if not dim.HasField("dim_value"):
            continue
        size = dim.dim_value
        if size == -1:
            dim.ClearField("dim_value")
            facts.unknown_sizes += 1
        elif size < 0:
            facts.problem = f"The size {size} is negative."
        else:
            elements *= size or 1
    if elements * 16 > MOST_ELEMENTS:
        facts.problem = "The shape has more elements than 63 bits can count."
