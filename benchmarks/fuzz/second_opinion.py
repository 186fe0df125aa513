"""What differs on ONNX Runtime in float16, asked again: is it more than rounding?

ONNX Runtime keeps float16 values in float32 between some nodes. Both networks are run again by
ONNX's reference implementation: as they are, each value rounded, and in float64, hardly any.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator

from optimizer.errors import StudioError
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.passes.lowering.elementwise import LowerElementwise
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from optimizer.verify import Verification
from optimizer.verify.comparison import Tolerance, compare_output
from optimizer.verify.feeds import draw
from profiling.workers import default_pool

HALF, DOUBLE = onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE


def only_rounding(
    source: bytes, optimized: bytes, found: Verification, tolerance: Tolerance
) -> bool:
    """Whether two networks that differ on ONNX Runtime compute the same in float16 or in float64.

    What has to be the same to the bit is compared in float16 alone.
    """
    if not _has_half(onnx.load_model_from_string(source)):
        return False
    feeds = draw(found.feeds, seed=0)
    if tolerance.exact:
        return _agree(source, optimized, feeds, tolerance)
    first, second = _standard(source), _standard(optimized)
    if _agree(first, second, feeds, tolerance):
        return True
    wide = {name: _wide(array) for name, array in feeds.items()}
    return _agree(_widened(first), _widened(second), wide, tolerance)


def _agree(
    source: bytes, optimized: bytes, feeds: Mapping[str, np.ndarray], tolerance: Tolerance
) -> bool:
    try:
        first, second = (_outputs(model, feeds) for model in (source, optimized))
    except Exception as error:  # whatever an operator without a reference raises
        print(f"no second opinion: {error}", file=sys.stderr)
        return False
    pairs = zip(first, second, strict=True)
    return all(compare_output("", a, b, tolerance=tolerance).ok for a, b in pairs)


def _standard(model: bytes) -> bytes:
    """The model without functions of its own, ONNX Runtime's Gelus in ONNX's own operators."""
    pool = default_pool()
    flat = inline_local_functions(onnx.load_model_from_string(model)).SerializeToString()
    opened = complete(load_bytes(flat, name="model.onnx"), isolate=pool)
    if optimize(opened, Pipeline((LowerElementwise(),)), isolate=pool).failed:
        raise StudioError("An operator of ONNX Runtime's could not be lowered.")
    return to_bytes(opened.ir)


def _outputs(model: bytes, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = ReferenceEvaluator(model).run(None, dict(feeds))
    return [np.asarray(output) for output in outputs]


def _has_half(model: onnx.ModelProto) -> bool:
    """Whether any value or weight is of float16."""
    kinds = {value.type.tensor_type.elem_type for value in _values(model.graph)}
    return HALF in kinds | {one.data_type for one in model.graph.initializer}


def _widened(data: bytes) -> bytes:
    """The model with float64 wherever it says float16; networks of NNSmith's have no bodies."""
    model = onnx.load_model_from_string(data)
    graph = model.graph
    for value in _values(graph):
        if value.type.tensor_type.elem_type == HALF:
            value.type.tensor_type.elem_type = DOUBLE
    attributes = [one for node in graph.node for one in node.attribute]
    for one in attributes:
        if one.name in ("to", "dtype") and one.i == HALF:
            one.i = DOUBLE
    for tensor in (*graph.initializer, *(one.t for one in attributes if one.HasField("t"))):
        if tensor.data_type == HALF:
            wide = _wide(numpy_helper.to_array(tensor))
            tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
    return model.SerializeToString()


def _values(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    yield from graph.input
    yield from graph.value_info
    yield from graph.output


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64) if array.dtype == np.float16 else array
