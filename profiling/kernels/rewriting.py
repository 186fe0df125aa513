"""A workload written another way, alone or in its model. Runs in workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx_ir as ir

from optimizer.isolation import within_worker
from optimizer.model.graph import Model, node_id
from optimizer.model.loader import load_path
from optimizer.model.writer import to_bytes, write
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import Trace
from optimizer.source import complete
from optimizer.verify.runtime import as_file
from profiling.config import RunConfig
from profiling.execution.session import session_options
from profiling.kernels.reformulations import BY_ID


@dataclass(frozen=True, slots=True)
class Written:
    """A workload written another way.

    Attributes:
        model: as a file; empty where it cannot be written so.
        reason: why not.
        missing: why it would run, but not with a kernel of its own.
    """

    model: bytes = b""
    reason: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Substitute:
    """Where to write a workload another way in a model.

    Attributes:
        nodes: names of the nodes of each of its places.
        reformulation: id of the way.
    """

    nodes: tuple[tuple[str, ...], ...]
    reformulation: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of it.

    Attributes:
        places: that were written anew.
        reasons: why others were not, each once.
    """

    places: int
    reasons: tuple[str, ...]


def written_alone(model: bytes, config: RunConfig, ids: Sequence[str]) -> dict[str, Written]:
    """An extracted workload in each of these ways."""
    path = as_file(model)
    found: dict[str, Written] = {}
    for identity in ids:
        loaded = load_path(path)
        place = tuple(node.name or "" for node in loaded.ir.graph)
        trace = _rewritten(loaded, [Substitute((place,), identity)])
        if not trace.rewrites:
            reasons = "; ".join(dict.fromkeys(declined.reason for declined in trace.declined))
            found[identity] = Written(reason=reasons or "there is nothing like it here")
            continue
        data = to_bytes(loaded.ir)
        missing = missing_kernels(data, config) if BY_ID[identity].half else ""
        found[identity] = Written(data, missing=missing)
    return found


def _rewritten(model: Model, changes: Sequence[Substitute]) -> Trace:
    """Run the passes of some changes, each at its places."""
    ids = {node.name: node_id(node) for node in model.ir.graph}
    places: dict[str, frozenset[str]] = {}
    passes: dict[Pass, None] = {}
    for change in changes:
        for one in BY_ID[change.reformulation].passes:
            passes[one] = None
            inside = frozenset(ids[name] for names in change.nodes for name in names)
            places[one.id] = places.get(one.id, frozenset()) | inside
    return optimize(model, Pipeline(tuple(passes), places=places))


def missing_kernels(model: bytes, config: RunConfig) -> str:
    """Why a model in a 16-bit type has no kernels of that type here; empty if it has.

    Where a kernel is missing, the runtime casts to float32 and back: that is no other kernel.
    """
    import onnxruntime

    if config.device != "cpu":
        return ""
    ort: Any = onnxruntime
    ort.set_default_logger_severity(4)
    options = session_options(ort, config)
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    planned = Path("planned.onnx").absolute()
    planned.unlink(missing_ok=True)
    options.optimized_model_filepath = str(planned)
    path = as_file(model)
    try:
        ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime has a dozen classes for this
        if "Could not find an implementation" in str(error):
            return "the CPU provider has no kernel of this type"
        return "the runtime does not take this type here"
    if _computes_in_float32(ir.load(planned)):
        return "the CPU provider has no kernel of this type; it would cast to float32 and back"
    return ""


def _computes_in_float32(planned: ir.Model) -> bool:
    """Whether any operator reads float32: what was cast to it, or an input as it came."""
    for node in planned.graph:
        if node.op_type == "Cast":
            continue
        for value in node.inputs:
            producer = None if value is None else value.producer()
            if producer is not None and producer.op_type == "Cast":
                if producer.attributes.get_int("to") == ir.DataType.FLOAT:
                    return True
            elif value is not None and value.is_graph_input() and value.dtype == ir.DataType.FLOAT:
                return True
    return False


def write_changed(
    model: bytes | Path, changes: Sequence[Substitute], target: Path, properties: Mapping[str, str]
) -> tuple[Changed, ...]:
    """The model with these places written anew, as `target`; one result a change.

    Args:
        model: the file, or its bytes.
        changes: places by the names of their nodes.
        target: the file to write.
        properties: added to the model's metadata.
    """
    loaded = complete(load_path(as_file(model)), isolate=within_worker)
    names = {node_id(node): node.name for node in loaded.ir.graph}
    trace = _rewritten(loaded, changes)
    loaded.ir.metadata_props.update(properties)
    write(loaded.ir, target)
    return tuple(_changed(change, trace, names) for change in changes)


def _changed(change: Substitute, trace: Trace, names: Mapping[str, str | None]) -> Changed:
    inside = {name for place in change.nodes for name in place}
    ids = {one.id for one in BY_ID[change.reformulation].passes}
    places = sum(r.pass_id in ids and names.get(r.root) in inside for r in trace.rewrites)
    reasons = [
        declined.reason
        for declined in trace.declined
        if declined.pass_id in ids and names.get(declined.root) in inside
    ]
    return Changed(places, tuple(dict.fromkeys(reasons)))
