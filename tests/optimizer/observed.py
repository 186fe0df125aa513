"""Passes as random graphs need them: with tables of what these compute, and with small bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields

import numpy as np
import onnx

from optimizer.registry import Pass
from tests.optimizer.graphs import opened
from tests.optimizer.running import feeds_for, run


def configured(declared: type[Pass], proto: onnx.ModelProto) -> Pass:
    """The pass with its defaults, tables of what this graph computes, and bounds for small ones."""
    options = {option.name for option in fields(declared)}
    small = {name: SMALL[name] for name in options & SMALL.keys()}
    wanted = options & TABLES.keys()
    values = observed(proto) if wanted else {}
    return declared(**small, **{name: TABLES[name](values) for name in wanted})


def observed(proto: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Every float32 value of the main graph in one run; none where it does not run."""
    graph = opened(proto).ir.graph
    named = {value.name: value for node in graph for value in node.outputs}
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    there = {value.name for value in copy.graph.output}
    wanted = [
        name for name, value in named.items()
        if name and name not in there and value.dtype is not None and value.dtype.name == "FLOAT"
    ]  # fmt: skip
    copy.graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in wanted
    )
    feeds = feeds_for(proto)
    try:
        results = run(copy, feeds)
    except Exception:
        return {}
    found = dict(zip((value.name for value in copy.graph.output), results, strict=True))
    return {
        name: array
        for name, array in {**feeds, **found}.items()
        if array.dtype == np.float32 and array.size and bool(np.isfinite(array).all())
    }


def ranges(values: Mapping[str, np.ndarray]) -> tuple[tuple[str, float, float], ...]:
    """The smallest and the largest number of each."""
    return tuple((name, float(a.min()), float(a.max())) for name, a in values.items())


def maxima(values: Mapping[str, np.ndarray]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """The largest |x| of each channel, which is the last axis."""
    wide = {name: a.reshape(-1, a.shape[-1]) for name, a in values.items() if a.ndim > 1}
    return tuple((name, tuple(np.abs(a).max(axis=0).tolist())) for name, a in wide.items())


def means(values: Mapping[str, np.ndarray]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """The mean of each channel, the second of four axes and the last of fewer."""
    wide = {
        name: np.moveaxis(a, 1, -1) if a.ndim == 4 else a
        for name, a in values.items()
        if a.ndim > 1
    }
    return tuple(
        (name, tuple(a.reshape(-1, a.shape[-1]).mean(axis=0).tolist())) for name, a in wide.items()
    )


TABLES: Mapping[str, Callable[[Mapping[str, np.ndarray]], object]] = {
    "ranges": ranges,
    "maxima": maxima,
    "means": means,
}
"""How the tables that passes have as options are made, by the option's name."""

SMALL: Mapping[str, int] = {"cache_bytes": 256}
"""Bounds of passes that are for large tensors only, as a graph of small ones needs them."""
