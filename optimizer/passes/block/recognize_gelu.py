"""GELU spelled out, exactly or by its tanh approximation, in any association and order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from optimizer.passes.block.polynomials import ARITHMETIC, Formula, Polynomial, agrees
from optimizer.passes.wording import escaping
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement

REACH = 8
_DEPTH = 4
_MOST_CANDIDATES = 6

_X, _T = (1, 0), (0, 1)
_WHOLE: Polynomial = {(1, 0): 0.5, (1, 1): 0.5}
_ERF_ARGUMENT: Polynomial = {(1, 0): math.sqrt(0.5)}
_TANH_ARGUMENT: Polynomial = {
    (1, 0): math.sqrt(2.0 / math.pi),
    (3, 0): math.sqrt(2.0 / math.pi) * 0.044715,
}

_TOLERANCES = {
    ir.DataType.FLOAT: 2e-5,
    ir.DataType.FLOAT16: 1e-3,
    ir.DataType.BFLOAT16: 8e-3,
}
"""How far constants may be off: they were rounded to the element type, or typed by hand."""


@dataclass(frozen=True, slots=True)
class Gelu:
    """A GELU that ends at some node.

    Attributes:
        source: its argument.
        form: `erf` is exact, `tanh` the approximation.
        nodes: all its nodes.
    """

    source: ir.Value
    form: Literal["erf", "tanh"]
    nodes: tuple[ir.Node, ...]


def find_gelu(root: ir.Node, operator: str, context: Context) -> Gelu | Declined | None:
    """The GELU whose last node is `root` and whose curve comes from `operator`, Erf or Tanh."""
    output = root.outputs[0]
    tolerance = None if output.dtype is None else _TOLERANCES.get(output.dtype)
    curve = _upstream(root, operator)
    if tolerance is None or curve is None:
        return None
    wanted = _ERF_ARGUMENT if operator == "Erf" else _TANH_ARGUMENT
    for source in _sources(curve, context):
        argument = Formula({source: _X}, context)
        if not agrees(argument.of(curve.inputs[0]), wanted, tolerance):
            continue
        whole = Formula({source: _X, curve.outputs[0]: _T}, context)
        if not agrees(whole.of(output), _WHOLE, tolerance):
            return None
        if context.symbolic.shape(source) != context.symbolic.shape(output):
            return None
        nodes = tuple(dict.fromkeys([*argument.nodes, curve, *whole.nodes]))
        form = "erf" if operator == "Erf" else "tanh"
        return escaping(nodes, root) or Gelu(source, form, nodes)
    return None


def _upstream(root: ir.Node, operator: str) -> ir.Node | None:
    """The nearest node of this operator above, through arithmetic alone."""
    front = [root]
    for _ in range(_DEPTH):
        following: list[ir.Node] = []
        for node in front:
            for value in node.inputs:
                above = None if value is None else value.producer()
                if above is None or above.domain:
                    continue
                if above.op_type == operator:
                    return above
                if above.op_type in ARITHMETIC:
                    following.append(above)
        front = following[:_MOST_CANDIDATES]
    return None


def _sources(curve: ir.Node, context: Context) -> Iterator[ir.Value]:
    """Values above the curve that may be its argument: those that something else reads too."""
    seen: set[ir.Value] = set()
    front = [curve.inputs[0]]
    for _ in range(_DEPTH + 1):
        following: list[ir.Value | None] = []
        for value in front:
            producer = None if value is None else value.producer()
            if producer is None or producer.domain or producer.op_type not in ARITHMETIC:
                continue
            for operand in producer.inputs:
                if operand is None or operand in seen or context.is_constant(operand):
                    continue
                seen.add(operand)
                following.append(operand)
                if len(operand.uses()) > 1:
                    yield operand
        front = following[:_MOST_CANDIDATES]


OPSET = 20
OLDER = "For an older opset fuse-gelu-runtime makes ONNX Runtime's own Gelu (preset runtime)."
"""What a user can do without raising the opset."""
"""The first operator set with Gelu."""


@register
class RecognizeGelu(Pass):
    """Recognize Gelu.

    What it does:
        Exporters spell GELU out with Erf, or with Tanh in its approximation, in five to eight
        nodes. They become ONNX's Gelu. Associations and the order of operands do not matter: the
        formula is compared as a polynomial.
    Before:
        x · 0.5 · (1 + Erf(x / √2))
    After:
        Gelu(x)
    When it is safe:
        The model uses opset 20 or later, which has Gelu. Nothing else reads the values in
        between. The constants are GELU's, to the precision of the element type.
    Numerics:
        The same function; the runtime's kernel rounds differently.
    Source:
        Hendrycks and Gimpel 2016, Gaussian error linear units.
    """

    id = "recognize-gelu"
    exactness = "reassociates"
    order = 80

    @rule("Mul", "Div", name="ErfGelu", reach=REACH)
    def exact(self, node: ir.Node, context: Context) -> Outcome:
        """The exact form."""
        return _recognized(node, find_gelu(node, "Erf", context), context)

    @rule("Mul", "Div", name="TanhGelu", reach=REACH)
    def approximate(self, node: ir.Node, context: Context) -> Outcome:
        """The approximation."""
        return _recognized(node, find_gelu(node, "Tanh", context), context)


def _recognized(root: ir.Node, found: Gelu | Declined | None, context: Context) -> Outcome:
    if not isinstance(found, Gelu):
        return found
    if context.opset() < OPSET:
        reason = f"Gelu needs opset {OPSET}, the model has opset {context.opset()}"
        return Declined(reason, found.nodes, OLDER)
    attributes = {"approximate": "tanh"} if found.form == "tanh" else {}
    made = NewNode("Gelu", [found.source], attributes)
    reason = f"These {len(found.nodes)} nodes compute GELU."
    return Replacement(found.nodes, {root.outputs[0]: made.output()}, reason, [made])


@register
class FuseGeluRuntime(Pass):
    """Fuse Gelu for ONNX Runtime.

    What it does:
        GELU spelled out becomes ONNX Runtime's Gelu, or FastGelu for the tanh approximation. For
        models older than opset 20, where ONNX has no Gelu of its own.
    Before:
        x · 0.5 · (1 + Erf(x / √2))
    After:
        com.microsoft.Gelu(x)
    When it is safe:
        The model is to run in ONNX Runtime. Nothing else reads the values in between. The
        constants are GELU's, to the precision of the element type.
    Numerics:
        The same function; the runtime's kernel rounds differently.
    Source:
        ONNX Runtime contrib operators, Gelu and FastGelu; Hendrycks and Gimpel 2016.
    """

    id = "fuse-gelu-runtime"
    exactness = "reassociates"
    presets = ("runtime", "generated")
    order = 81

    @rule("Mul", "Div", name="RuntimeErfGelu", reach=REACH)
    def exact(self, node: ir.Node, context: Context) -> Outcome:
        """The exact form."""
        return _fused(node, find_gelu(node, "Erf", context))

    @rule("Mul", "Div", name="RuntimeTanhGelu", reach=REACH)
    def approximate(self, node: ir.Node, context: Context) -> Outcome:
        """The approximation."""
        return _fused(node, find_gelu(node, "Tanh", context))


def _fused(root: ir.Node, found: Gelu | Declined | None) -> Outcome:
    if not isinstance(found, Gelu):
        return found
    operator = "Gelu" if found.form == "erf" else "FastGelu"
    made = NewNode(operator, [found.source], domain="com.microsoft")
    reason = f"These {len(found.nodes)} nodes compute GELU, which ONNX Runtime has as {operator}."
    return Replacement(found.nodes, {root.outputs[0]: made.output()}, reason, [made])
