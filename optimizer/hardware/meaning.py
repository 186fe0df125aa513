"""Whether a node means the same in another version of ONNX's operator set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import onnx
import onnx_ir as ir

from optimizer.model.signatures import Formal, Signature, signature

_CHANGED: Mapping[str, tuple[int, ...]] = {
    "AveragePool": (19,),
    "BatchNormalization": (9, 14),
    "GridSample": (20,),
    "GroupNormalization": (21,),
    "Hardmax": (13,),
    "LogSoftmax": (13,),
    "Max": (8,),
    "Mean": (8,),
    "Min": (8,),
    "RoiAlign": (16,),
    "Softmax": (13,),
    "Sum": (8,),
    "Upsample": (9,),
}
"""Versions that gave an operator another meaning under the same form."""
_NEW_VALUES: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("Pad", "mode"): {"wrap": 19},
    ("Resize", "coordinate_transformation_mode"): {"half_pixel_symmetric": 19},
    ("DepthToSpace", "mode"): {"CRD": 11},
}
"""Values of attributes that a later version allowed."""


def means_the_same(node: ir.Node, *, now: int, then: int) -> bool:
    """Whether a node of ONNX's own set may stand as it is in a model of another version.

    Attributes that the other version does not know are no obstacle where they have the value that
    says nothing; they have to go.

    Args:
        node: of the version `now`.
        now: the version of its model.
        then: the version it would be read in.
    """
    here, there = (signature("", node.op_type, version) for version in (now, then))
    if here is None or there is None or there.deprecated:
        return False
    if here.since == there.since:
        return True
    return (
        not _meaning_changed(node, here.since, there.since)
        and _operands_fit(node, there)
        and _attributes_fit(node, there, max(now, then), then)
    )


def _meaning_changed(node: ir.Node, first: int, second: int) -> bool:
    low, high = sorted((first, second))
    changed = any(low < version <= high for version in _CHANGED.get(node.op_type, ()))
    if node.op_type == "BatchNormalization" and low >= 9:
        return changed and len(node.outputs) > 1
    if node.op_type == "AveragePool":
        return changed and bool(node.attributes.get_int("ceil_mode", 0))
    return changed


def _operands_fit(node: ir.Node, there: Signature) -> bool:
    inputs = len(node.inputs)
    if not there.inputs[0] <= inputs <= there.inputs[1] or len(node.outputs) > there.outputs[1]:
        return False
    return _all_typed(there.formal_inputs, node.inputs) and _all_typed(
        there.formal_outputs, node.outputs
    )


def _all_typed(formals: tuple[Formal, ...], values: Sequence[ir.Value | None]) -> bool:
    """Each value by its formal parameter; the last one repeats where it stands for many."""
    return all(map(_typed, chain(formals, repeat(formals[-1])), values)) if values else True


def _typed(formal: Formal, value: ir.Value | None) -> bool:
    if value is None:
        return formal.optional
    if value.dtype is None or not isinstance(value.type, ir.TensorType):
        return True
    return _tensor_of(value.dtype) in formal.allowed


@lru_cache(maxsize=64)
def _tensor_of(dtype: ir.DataType) -> str:
    return f"tensor({dtype.name.lower()})"


def _attributes_fit(node: ir.Node, there: Signature, newer: int, then: int) -> bool:
    defaults = _defaults(node.op_type, newer)
    for name, attribute in node.attributes.items():
        value: Any = attribute.value
        if name not in there.attributes and defaults.get(name, _NONE) != value:
            return False
        allowed_since = _NEW_VALUES.get((node.op_type, name), {})
        if isinstance(value, str) and allowed_since.get(value, 0) > then:
            return False
    return there.required <= set(node.attributes)


_NONE = object()


@lru_cache(maxsize=1024)
def _defaults(operator: str, version: int) -> Mapping[str, object]:
    """Attributes that say nothing when they have this value."""
    schema = onnx.defs.get_schema(operator, version)
    found = {
        name: onnx.helper.get_attribute_value(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.name
    }
    return {
        name: value.decode() if isinstance(value, bytes) else value for name, value in found.items()
    }
