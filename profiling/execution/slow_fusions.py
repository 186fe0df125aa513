"""Operators with slow kernels that the runtime writes into a graph. Only in a worker process."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import onnx_ir as ir

from profiling.config import RunConfig
from profiling.config.advice import SLOW_OPERATORS
from profiling.execution.session import open_session

_FUSED = frozenset({"LayerNormalization", "ReduceMean", "Gelu", "Erf"})
"""One of them is in every graph that such an operator is written into."""


def written_slow(model: Path, config: RunConfig) -> dict[str, int]:
    """By operator, how many the file does not have itself; none of most files.

    Raises:
        SessionError: the runtime refuses the file.
    """
    before = _counts(model)
    if _FUSED.isdisjoint(before):
        return {}
    copy = Path("ran.onnx").absolute()
    open_session(model, config, copy=copy)
    more = _counts(copy) - before
    return {name: more[name] for name in SLOW_OPERATORS.values() if more[name]}


def _counts(model: Path) -> Counter[str]:
    loaded = ir.load(model)
    functions = (node for function in loaded.functions.values() for node in function)
    return Counter(node.op_type for node in (*loaded.graph, *functions))
