"""What ONNX's operator definitions say about one operator, looked up once and kept.

The tables come from `onnx.defs`, which is native code, but only its tables are read: nothing of a
model passes through it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from onnx import defs

ALIAS = "ai.onnx"
"""Another spelling of ONNX's own domain, whose proper name is empty."""
RUNTIME_IR_VERSION = 13
"""Newest IR version that ONNX Runtime opens."""
RUNTIME_OPSETS: Mapping[str, int] = {
    "": 26,
    "ai.onnx.ml": 5,
    "ai.onnx.preview.training": 1,
    "ai.onnx.preview": 1,
    "ai.onnx.training": 1,
    "com.microsoft": 1,
    "com.microsoft.nchwc": 1,
    "com.ms.internal.nhwc": 26,
}
"""Newest version of every operator set that ONNX Runtime knows by itself."""
OLDEST_SUPPORTED_OPSET = 7
"""Below it, ONNX Runtime promises nothing."""
DEFINED_DOMAINS = frozenset({"", "ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.preview"})
"""Operator sets whose definitions are known here."""
RUNTIME_EXTRAS = frozenset(
    {
        "Affine",
        "Crop",
        "DynamicSlice",
        "ImageScaler",
        "LayerNormalization",
        "MeanVarianceNormalization",
        "ParametricSoftplus",
        "RMSNormalization",
        "Scale",
        "ScaledTanh",
        "SimplifiedLayerNormalization",
        "ThresholdedRelu",
    }
)
"""Operators that ONNX Runtime accepts in ONNX's own domain, at any version, besides ONNX's."""


_MOST_VERSION = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Formal:
    """One declared input or output.

    Attributes:
        name: the name in the operator's documentation.
        type_name: a type variable such as `T`, or one concrete type.
        allowed: the types it may have, as `tensor(float)`.
        optional: whether it may be left out.
        variadic: whether it stands for all that follow.
        same: for a variadic one, whether all must have the same type.
    """

    name: str
    type_name: str
    allowed: frozenset[str]
    optional: bool
    variadic: bool
    same: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """What an operator takes and gives.

    Attributes:
        since: the opset version this definition dates from.
        deprecated: whether the operator was withdrawn in that version.
        inputs: fewest and most inputs.
        outputs: fewest and most outputs.
        attributes: attribute name to its type, a number of `AttributeProto.AttributeType`.
        required: names of the attributes that must be present.
        closed: whether no other attributes may be present.
    """

    since: int
    deprecated: bool
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    attributes: Mapping[str, int]
    required: frozenset[str]
    closed: bool
    formal_inputs: tuple[Formal, ...]
    formal_outputs: tuple[Formal, ...]


@lru_cache(maxsize=8192)
def signature(domain: str, operator: str, version: int) -> Signature | None:
    """The definition of an operator at an opset version; None if there is none."""
    if not 1 <= version <= _MOST_VERSION:
        return None
    try:
        schema = defs.get_schema(operator, version, domain)
    except defs.SchemaError:
        return None
    return Signature(
        since=schema.since_version,
        deprecated=schema.deprecated,
        inputs=(schema.min_input, schema.max_input),
        outputs=(schema.min_output, schema.max_output),
        attributes={
            name: int(a.type)  # pyright: ignore[reportArgumentType] onnx's stub omits __int__
            for name, a in schema.attributes.items()
        },
        required=frozenset(name for name, a in schema.attributes.items() if a.required),
        closed=True,
        formal_inputs=tuple(_formal(item) for item in schema.inputs),
        formal_outputs=tuple(_formal(item) for item in schema.outputs),
    )


def newest_opset() -> int:
    """The newest version of ONNX's own operator set that is defined here."""
    return defs.onnx_opset_version()


def first_version(domain: str, operator: str) -> int | None:
    """The opset version in which an operator appeared, if it ever did."""
    newest = signature(domain, operator, newest_opset())
    if newest is None:
        return None
    return next(v for v in range(1, newest.since + 1) if signature(domain, operator, v))


def _formal(item: defs.OpSchema.FormalParameter) -> Formal:
    option = defs.OpSchema.FormalParameterOption
    return Formal(
        name=item.name,
        type_name=item.type_str,
        allowed=frozenset(item.types),
        optional=item.option == option.Optional,
        variadic=item.option == option.Variadic,
        same=item.is_homogeneous,
    )
