"""How a node is written at an older opset: what is an operand today was an attribute once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx

Attributes = Mapping[str, Any]
_OPERANDS_SINCE: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "Dropout": (12, ("ratio",)),
    "Pad": (11, ("pads",)),
    "ReduceMean": (18, ("axes",)),
    "Slice": (10, ("starts", "ends", "axes")),
    "Squeeze": (13, ("axes",)),
    "Unsqueeze": (13, ("axes",)),
}
"""By operator: from which opset on these stand among the operands, after the first."""


class NotInOpset(Exception):
    """An operator, or this form of it, does not exist at the opset."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a node is made of.

    Attributes:
        operands: names of values, "" for those left out.
        attributes: by name.
    """

    operands: Sequence[str]
    attributes: Attributes


def form(op_type: str, today: Form, opset: int, constants: Mapping[str, Any]) -> Form:
    """The node of opset 18 as `opset` has it; `constants` are the numbers of constant values.

    Raises:
        NotInOpset: there is none.
    """
    if not _known(op_type, opset):
        raise NotInOpset(op_type)
    since, names = _OPERANDS_SINCE.get(op_type, (0, ()))
    attributes = dict(today.attributes)
    if op_type == "Split" and opset < 18:
        del attributes["num_outputs"]
    if opset >= since:
        return Form(today.operands, attributes)
    first, *others = today.operands
    if any(name not in constants for name in others):
        raise NotInOpset(op_type)
    numbers = (constants[name].tolist() for name in others)
    return Form([first], {**attributes, **dict(zip(names, numbers, strict=False))})


def _known(op_type: str, opset: int) -> bool:
    try:
        onnx.defs.get_schema(op_type, max_inclusive_version=opset)
    except onnx.defs.SchemaError:
        return False
    return True
