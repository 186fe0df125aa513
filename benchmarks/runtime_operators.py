"""Which operators ONNX Runtime leaves of a network. A module of its own: workers import it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import onnx

from optimizer.limits import JobLimits
from profiling.config import RunConfig
from profiling.execution.session import open_session
from profiling.workers import default_pool

TAKEN_IN = "Transpose in a product"
Operators = Mapping[str, int]
_LIMITS = JobLimits(seconds=300.0)


def operators_of(proto: onnx.ModelProto) -> Counter[str]:
    """The main graph's operators."""
    return Counter(node.op_type for node in proto.graph.node)


def left_by_runtime(path: Path) -> Operators:
    """The operators of the graph that ONNX Runtime makes of a file.

    Raises:
        RunError: it does not get through.
    """
    config = RunConfig(graph_optimization="all", intra_threads=1)
    return default_pool()(_left, path.absolute(), config, limits=_LIMITS)


def _left(path: Path, config: RunConfig) -> Counter[str]:
    """In the worker; of Transposes also those that products have taken in."""
    copy = Path("rewritten.onnx").absolute()
    open_session(path, config, copy=copy)
    proto = onnx.load(copy, load_external_data=False)
    found = operators_of(proto)
    found[TAKEN_IN] = sum(
        bool(attribute.i)
        for node in proto.graph.node
        if node.op_type in ("FusedMatMul", "TransposeMatMul")
        for attribute in node.attribute
        if attribute.name in ("transA", "transB")
    )
    return found
