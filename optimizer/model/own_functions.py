"""The functions that Passlens writes into models: what operators of other layouts mean, in ONNX.

A file with such a function opens with its calls as they are, if the function is letter for letter
this one; any other function of a model is inlined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

import onnx_ir as ir
from onnx import AttributeProto, FunctionProto, NodeProto, defs, helper
from onnx_ir import serde

from optimizer.operators.layouts import BLOCKED, LAYOUTS, NHWC, WRAPPED

VERSION = 1
"""Of their operator set."""
OLDEST_OPSET = 12
"""Since which constants can be lists that a function is given."""

_INTS = "INTS"
_INTO, _BACK = "TransData", "TransDataBack"
_FORMATS = ("src_format", "dst_format")


def is_own(function: FunctionProto) -> bool:
    """Whether a function of a model is one of these."""
    if function.domain != LAYOUTS or function.overload:
        return False
    opsets = {entry.domain: entry.version for entry in function.opset_import}
    own = own_function(function.name, opsets.get("", 0))
    return own is not None and _text(own) == _text(function)


def _text(function: FunctionProto) -> bytes:
    """What counts of it: types of inner values may have been written beside it."""
    copy = FunctionProto()
    copy.CopyFrom(function)
    del copy.value_info[:]
    copy.doc_string = ""
    return copy.SerializeToString(deterministic=True)


@lru_cache(maxsize=256)
def own_function(name: str, opset: int) -> FunctionProto | None:
    """The function with this name in a model of this opset; None where there is none.

    `TransData` fills up the channels, cuts them into blocks and moves the inner ones to the end;
    `TransDataBack` is its inverse.
    """
    if opset < OLDEST_OPSET:
        return None
    if name == _INTO:
        return _function(name, opset, ["x"], [*_FORMATS, "pads", "blocks"], _into("x", "y", "pads"))
    if name == _BACK:
        return _function(name, opset, ["x"], [*_FORMATS, "channels"], _back("x", "y"))
    for form in (NHWC, BLOCKED):
        if name.startswith(form) and name.removeprefix(form) in WRAPPED:
            return _wrapped(form, name.removeprefix(form), opset)
    return None


def functions_of(operators: Iterable[str], opset: int) -> list[ir.Function]:
    """The functions of these operators and those they call, callees first.

    Args:
        operators: of the domain `passlens.layout`.
        opset: of the model, `OLDEST_OPSET` or newer.
    """
    names: dict[str, None] = {}
    for name in operators:
        names |= dict.fromkeys([_INTO, _BACK, name] if name.startswith(BLOCKED) else [name])
    protos = (own_function(name, opset) for name in names)
    return [serde.deserialize_function(proto) for proto in protos if proto is not None]


def _wrapped(form: str, name: str, opset: int) -> FunctionProto:
    """The standard operator between two conversions."""
    schema = defs.get_schema(name, opset, "")
    inputs = [f"x{index}" for index in range(len(schema.inputs))]
    own: Mapping[str, str] = {
        key: cast("Any", attribute.type).name
        for key, attribute in sorted(schema.attributes.items())
    }
    inner = helper.make_node(name, ["plain", *inputs[1:]], ["made"], name=name)
    inner.attribute.extend(_reference(key, kind) for key, kind in own.items())
    if form == NHWC:
        nodes = [
            helper.make_node("Transpose", ["x0"], ["plain"], name="before", perm=[0, 3, 1, 2]),
            inner,
            helper.make_node("Transpose", ["made"], ["y"], name="after", perm=[0, 2, 3, 1]),
        ]
        return _function(f"{form}{name}", opset, inputs, [*own], nodes)
    before = helper.make_node(_BACK, ["x0"], ["plain"], name="before", domain=LAYOUTS)
    before.attribute.append(_reference("channels", _INTS))
    after = helper.make_node(_INTO, ["made"], ["y"], name="after", domain=LAYOUTS)
    after.attribute.extend([_reference("pads", _INTS, "padding"), _reference("blocks", _INTS)])
    given = [*own, "channels", "padding", "blocks"]
    return _function(f"{form}{name}", opset, inputs, given, [before, inner, after])


def _into(data: str, result: str, pads: str) -> list[NodeProto]:
    nodes = [
        _given("fill", pads),
        helper.make_node("Pad", [data, "fill"], ["filled"], name="filled"),
        *_cut("filled", rest=2),
        _given("cut", "blocks"),
        helper.make_node("Concat", ["batch", "cut", "places"], ["shape"], name="shape", axis=0),
        helper.make_node("Reshape", ["filled", "shape"], ["parts"], name="parts"),
    ]
    moved = helper.make_node("Transpose", ["parts"], [result], name="moved", perm=[0, 1, 3, 4, 2])
    return [*nodes, moved]


def _back(data: str, result: str) -> list[NodeProto]:
    return [
        helper.make_node("Transpose", [data], ["parts"], name="moved", perm=[0, 1, 4, 2, 3]),
        *_cut("parts", rest=3),
        _constant("all", -1),
        helper.make_node("Concat", ["batch", "all", "places"], ["shape"], name="shape", axis=0),
        helper.make_node("Reshape", ["parts", "shape"], ["filled"], name="filled"),
        _given("count", "channels"),
        helper.make_node("Slice", ["filled", "zero", "count", "one"], [result], name="slice"),
    ]


def _cut(data: str, *, rest: int) -> Iterator[NodeProto]:
    """The first size of some data, and those from `rest` on."""
    yield helper.make_node("Shape", [data], ["sizes"], name="sizes")
    for name, number in (("zero", 0), ("one", 1), ("rest", rest), ("end", 9)):
        yield _constant(name, number)
    yield helper.make_node("Slice", ["sizes", "zero", "one"], ["batch"], name="batch")
    yield helper.make_node("Slice", ["sizes", "rest", "end"], ["places"], name="places")


def _constant(name: str, number: int) -> NodeProto:
    return helper.make_node("Constant", [], [name], name=name, value_ints=[number])


def _given(name: str, attribute: str) -> NodeProto:
    """A constant that is an attribute of the call."""
    node = helper.make_node("Constant", [], [name], name=name)
    node.attribute.append(_reference("value_ints", _INTS, attribute))
    return node


def _reference(name: str, kind: str, to: str | None = None) -> AttributeProto:
    return AttributeProto(name=name, type=kind, ref_attr_name=to or name)


def _function(
    name: str, opset: int, inputs: list[str], attributes: list[str], nodes: list[NodeProto]
) -> FunctionProto:
    imports = [helper.make_opsetid("", opset)]
    if any(node.domain == LAYOUTS for node in nodes):
        imports.append(helper.make_opsetid(LAYOUTS, VERSION))
    return helper.make_function(LAYOUTS, name, inputs, ["y"], nodes, imports, attributes)
