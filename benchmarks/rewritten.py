"""The graph that the runtime makes of a file, as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx_ir as ir

from optimizer.isolation import Isolate
from optimizer.limits import JobLimits
from optimizer.model.writer import to_bytes
from optimizer.verify.runtime import as_file
from profiling.config import RunConfig
from profiling.execution.session import open_session

_LIMITS = JobLimits(seconds=300.0)


def rewritten(
    model: bytes | Path,
    config: RunConfig,
    *,
    pool: Isolate,
    cancelled: Callable[[], bool] | None = None,
) -> bytes:
    """What the runtime runs of a model under these options, weights included.

    Args:
        model: the file.
        config: says how far the runtime may go; above `extended` its layouts suit this machine.
        pool: opens it in a worker process.
        cancelled: asked now and then.

    Raises:
        RunError: the runtime refuses the model.
        LimitError: the weights do not fit into one file.
    """
    path = model.absolute() if isinstance(model, Path) else model
    return pool(_rewritten, path, config, limits=_LIMITS, cancelled=cancelled)


def _rewritten(model: bytes | Path, config: RunConfig) -> bytes:
    """In the worker."""
    copy = Path("rewritten.onnx").absolute()
    open_session(as_file(model), config, copy=copy)
    return to_bytes(ir.load(copy))
