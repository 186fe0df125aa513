"""Loops of the runtime's own operators, evaluated in NumPy, and what ONNX Runtime gives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.optimizer.fusion.regions import computed
from tests.optimizer.graphs import parsed
from tests.optimizer.running import feeds_for, run

HEADER = '<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]>\n'
ROWS = "float[2, 5, 24]"
OPERATORS = {
    "gelu": f"({ROWS} x) => ({ROWS} y) {{ y = com.microsoft.Gelu(x) }}",
    "bias and gelu": f"""({ROWS} x, float[24] b) => ({ROWS} y) {{
        y = com.microsoft.BiasGelu(x, b)
    }}""",
    "fast gelu": f"({ROWS} x) => ({ROWS} y) {{ y = com.microsoft.FastGelu(x) }}",
    "bias and fast gelu": f"""({ROWS} x, float[24] b) => ({ROWS} y) {{
        y = com.microsoft.FastGelu(x, b)
    }}""",
    "quick gelu": f"""({ROWS} x) => ({ROWS} y) {{
        y = com.microsoft.QuickGelu<alpha = 0.7>(x)
    }}""",
    "residual and normalization": f"""({ROWS} x, {ROWS} s, float[24] g) => ({ROWS} y) {{
        y = com.microsoft.SkipLayerNormalization<epsilon = 0.01>(x, s, g)
    }}""",
    "residual, bias and normalization, with the sum": f"""
        ({ROWS} x, {ROWS} s, float[24] g, float[24] h, float[24] b) => ({ROWS} y, {ROWS} t) {{
        y, , , t = com.microsoft.SkipLayerNormalization(x, s, g, h, b)
    }}""",
    "residual and root mean square": f"""
        ({ROWS} x, {ROWS} s, float[24] g, float[24] b) => ({ROWS} y, {ROWS} t) {{
        y, , , t = com.microsoft.SkipSimplifiedLayerNormalization(x, s, g, b)
    }}""",
    "rotary, all positions alike": """
        (float[2, 5, 24] x, float[8, 4] c, float[8, 4] s) => (float[2, 5, 24] y)
        <int64[1] p = {2}> {
        y = com.microsoft.RotaryEmbedding(x, p, c, s)
    }""",
    "rotary of heads, interleaved": """
        (float[2, 3, 5, 8] x, float[8, 4] c, float[8, 4] s) => (float[2, 3, 5, 8] y)
        <int64[2, 5] p = {0, 1, 2, 3, 4, 7, 6, 5, 4, 3}> {
        y = com.microsoft.RotaryEmbedding<interleaved = 1>(x, p, c, s)
    }""",
    "rotary of part of each head": """
        (float[2, 5, 24] x, float[8, 2] c, float[8, 2] s) => (float[2, 5, 24] y)
        <int64[2, 5] p = {0, 1, 2, 3, 4, 7, 6, 5, 4, 3}> {
        y = com.microsoft.RotaryEmbedding<num_heads = 3, rotary_embedding_dim = 4>(x, p, c, s)
    }""",
    "root mean square": f"""({ROWS} x, float[24] g) => ({ROWS} y) {{
        y = SimplifiedLayerNormalization<axis = -1, epsilon = 0.1>(x, g)
    }}""",
}


@pytest.mark.parametrize("name", OPERATORS)
def test_loops_give_what_the_runtime_gives(name: str) -> None:
    proto = parsed(f"{HEADER}g {OPERATORS[name]}")
    feeds = feeds_for(proto)
    for mine, given in zip(computed(proto, feeds), run(proto, feeds), strict=True):
        np.testing.assert_allclose(mine, given, rtol=1e-4, atol=1e-5)
