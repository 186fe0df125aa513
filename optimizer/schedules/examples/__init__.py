"""Algorithms with schedules that teach something, from the literature."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.schedules.examples.blur import BLUR
from optimizer.schedules.examples.convolution import CONVOLUTION_NCHW, CONVOLUTION_NHWC
from optimizer.schedules.examples.example import Example, NamedSchedule
from optimizer.schedules.examples.harris import HARRIS
from optimizer.schedules.examples.loop_order import LOOP_ORDER, TAIL, TILING
from optimizer.schedules.examples.matmul import MATMUL, SPLIT_MATMUL, THREE_NESTS
from optimizer.schedules.examples.softmax import SOFTMAX
from optimizer.schedules.examples.stencil import STENCIL_CHAIN

EXAMPLES: Mapping[str, Example] = {
    one.id: one
    for one in (
        LOOP_ORDER, TILING, TAIL, BLUR, SPLIT_MATMUL, MATMUL, THREE_NESTS, CONVOLUTION_NCHW,
        CONVOLUTION_NHWC, SOFTMAX, STENCIL_CHAIN, HARRIS,
    )
}  # fmt: skip
"""In the order in which to learn from them."""

__all__ = ["EXAMPLES", "Example", "NamedSchedule"]
