"""Small models in ONNX text, as bytes."""

from __future__ import annotations

import onnx.parser


def model(body: str, *, imports: str = '"" : 18') -> bytes:
    """`body` is the graph; the rest is the usual."""
    text = f"<ir_version: 9, opset_import: [{imports}]>\n{body}"
    return onnx.parser.parse_model(text).SerializeToString()


SCALED = """
g (float[batch,4] x) => (float[batch,4] y) {{
    c = Constant<value: tensor = float {{{}}}>()
    y = Mul(x, c)
}}
"""


def scaled(factor: float) -> bytes:
    """Y = factor * x."""
    return model(SCALED.format(factor))


DIVISION = """
g (int32[1] x) => (int32[1] y) {
    big = Constant<value: tensor = int32[1] {-2147483648}>()
    one = Constant<value: tensor = int32[1] {-1}>()
    d = Div(big, one)
    y = Add(x, d)
}
"""
