"""What a generated kernel consists of, as text: its operators, its schedule, its loops in C."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import onnx
from onnx_ir import serde

from optimizer.errors import StudioError, plain
from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.schedule import Schedule
from optimizer.loops.scheduling import default_schedule
from optimizer.model.generated_functions import KernelBody, TensorSignature
from profiling.codegen.c_source import c_source

_FUNC = "func"


@dataclass(frozen=True, slots=True)
class KernelCode:
    """The code of a kernel.

    Attributes:
        operators: its function body, after what it takes and gives.
        schedule: the default one, a primitive a line; empty where there is none.
        c: its loops in plain C; empty where there are none.
        refused: why there is no schedule, or are no loops; empty if there are both.
    """

    operators: str
    schedule: str = ""
    c: str = ""
    refused: str = ""


def code_of(body: KernelBody) -> KernelCode:
    """The code of a kernel as its generators write it."""
    operators, c = operators_text(body), ""
    try:
        loops = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
        c = c_source(loops, body.name)
        return KernelCode(operators, schedule_text(default_schedule(loops)), c)
    except StudioError as error:
        return KernelCode(operators, c=c, refused=error.message)


def operators_text(body: KernelBody) -> str:
    """What a kernel takes and gives, then its operators as ONNX writes them."""
    named = [*zip(body.inputs, body.signature.inputs, strict=True)]
    given = [*zip(body.outputs, body.signature.outputs, strict=True)]
    lines = [f"takes  {value.name}: {_tensor(told)}" for value, told in named]
    lines += [f"gives  {value.name}: {_tensor(told)}" for value, told in given]
    function = serde.serialize_function(body.function)
    for node in function.node:
        node.ClearField("name")
    lines += ["", *(onnx.printer.to_text(node).strip() for node in function.node)]
    return "\n".join(plain(line) for line in lines)


def schedule_text(schedule: Schedule) -> str:
    """A line for each primitive, in the order in which they are applied."""
    return "\n".join(_primitives(schedule))


def _primitives(schedule: Schedule) -> Iterator[str]:
    for one in schedule.primitives:
        told = {
            field.name: getattr(one, field.name)
            for field in dataclasses.fields(one)
            if field.name != _FUNC and getattr(one, field.name) != field.default
        }
        arguments = ", ".join(f"{name}={_value(value)}" for name, value in told.items())
        yield f"{one.func}.{type(one).__name__}({arguments})"


def _value(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    parts = cast("tuple[object, ...]", value)
    return ", ".join(map(str, parts)).join("()")


def _tensor(told: TensorSignature) -> str:
    return f"{told.dtype.lower()}[{', '.join(map(str, told.shape))}]"
