"""Small models in ONNX text with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser

Weights = dict[str, Any]


def parsed(body: str, weights: Weights, *, opset: int = 17) -> bytes:
    """A model whose initializers are `weights`."""
    text = f'<ir_version: 9, opset_import: ["" : {opset}]>\n{body}'
    model = onnx.parser.parse_model(text)
    for name, array in weights.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model.SerializeToString()


def floats(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
