"""ONNX Runtime's own graph transformers, one at a time.

It tells in its log which of them changed a graph, and in which order; all others can be switched
off by name while it writes the graph down. Rules inside a rule-based transformer have names of
their own, but are not in the log: those that may find their operator are tried.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
from onnx import TensorProto, helper

RULES: Mapping[str, tuple[str, ...]] = {
    "EliminateIdentity": ("Identity",),
    "EliminateSlice": ("Slice",),
    "UnsqueezeElimination": ("Unsqueeze",),
    "EliminateDropout": ("Dropout",),
    "ExpandElimination": ("Expand",),
    "CastElimination": ("Cast",),
    "CastChainElimination": ("Cast",),
    "PreShapeNodeElimination": ("Shape",),
    "NoopElimination": ("Add", "Sub", "Mul", "Div"),
    "DivMulFusion": ("Div",),
    "FuseReluClip": ("Relu",),
    "GemmSumFusion": ("Gemm",),
    "GemmTransposeFusion": ("Gemm",),
    "NotWhereFusion": ("Where",),
    "ConvAddFusion": ("Conv",),
    "ConvMulFusion": ("Conv",),
    "ConvBNFusion": ("Conv",),
    "Pad_Fusion": ("Pad",),
    "MatMul_BatchNormalization_Fusion": ("MatMul",),
    "LabelEncoderFusion": ("LabelEncoder",),
    "ClipQuantRewrite": ("Clip",),
    "ReluQuantRewrite": ("Relu",),
}
"""Rules of the rule-based transformers, and operators they look at. Source: ONNX Runtime 1.31."""

LOADING = "GraphResolve"
"""What is done with every transformer switched off."""
_SEEN = re.compile(r"GraphTransformer (\S+) modified: ([01])")
_LEVELS = {"basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL"}


def stages(model: bytes, options: Mapping[str, Any]) -> list[str]:
    """Loading, then what changed the graph, in order; of rule-based ones, the rules that may."""
    wanted = options["transformers"]
    operators = {node.op_type for node in onnx.ModelProto.FromString(model).graph.node}
    rules = [rule for rule, roots in RULES.items() if operators.intersection(roots)]
    found = [LOADING]
    for name, modified in _SEEN.findall(_log_of(model, options["level"])):
        if modified == "1":
            found += rules if _rule_based(name) else [name]
    return [name for name, _ in groupby(found) if not wanted or name in wanted]


def run(model: bytes, stage: str, options: Mapping[str, Any]) -> bytes:
    """The graph after one transformer or rule."""
    others = {*_transformers(options["level"]), *RULES} - {stage}
    if stage in RULES:
        others = {name for name in others if not _rule_based(name)}
    with TemporaryDirectory(prefix="passlens-") as folder:
        target = Path(folder) / "made.onnx"
        _session(model, options["level"], disabled=sorted(others), target=target)
        return target.read_bytes()


@cache
def _transformers(level: str) -> frozenset[str]:
    """The names of all: each is in the log, whatever the model."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    return frozenset(name for name, _ in _SEEN.findall(_log_of(model.SerializeToString(), level)))


def _rule_based(name: str) -> bool:
    return name.endswith("RuleBasedTransformer")


def _log_of(model: bytes, level: str) -> str:
    with TemporaryDirectory(prefix="passlens-") as folder:
        log = Path(folder) / "session.log"
        with _stderr_into(log):
            _session(model, level, disabled=[], target=None)
        return log.read_text(errors="replace")


def _session(model: bytes, level: str, *, disabled: list[str], target: Path | None) -> None:
    import onnxruntime

    ort: Any = onnxruntime
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, _LEVELS[level])
    options.log_severity_level = 4 if target is not None else 0
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if target is not None:
        options.optimized_model_filepath = str(target)
    ort.InferenceSession(
        model, options, providers=["CPUExecutionProvider"], disabled_optimizers=disabled
    )


@contextmanager
def _stderr_into(path: Path) -> Generator[None]:
    """What native code writes to stderr, into a file."""
    kept = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
