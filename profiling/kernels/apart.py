"""A workload written another way, alone or in its model. Runs in workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx_ir as ir

from optimizer.isolation import Progress, within_worker
from optimizer.model.graph import is_constant_node
from optimizer.model.loader import load_path
from optimizer.model.writer import to_bytes, write
from optimizer.source import complete
from optimizer.verify.runtime import as_file
from profiling.config import RunConfig
from profiling.execution.session import session_options
from profiling.kernels.block import Block
from profiling.kernels.reformulations.site import NotHere, Site
from profiling.kernels.reformulations.table import BY_ID


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
class Change:
    """What to do with the places of one workload in a model."""

    kind: str
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


def written_alone(
    model: bytes, kind: str, config: RunConfig, ids: Sequence[str]
) -> dict[str, Written]:
    """An extracted workload in each of these ways."""
    path = as_file(model)
    found: dict[str, Written] = {}
    for identity in ids:
        loaded = load_path(path).ir
        nodes = tuple(node for node in loaded.graph if not is_constant_node(node))
        try:
            BY_ID[identity].rewrite(Site(loaded, Block(kind, nodes), mark="passlens."))
        except NotHere as why:
            found[identity] = Written(reason=str(why))
            continue
        drop_unused(loaded.graph)
        data = to_bytes(loaded)
        missing = missing_kernels(data, config) if BY_ID[identity].half else ""
        found[identity] = Written(data, missing=missing)
    return found


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
    model: bytes | Path,
    changes: Sequence[Change],
    target: Path,
    properties: Mapping[str, str],
    *,
    progress: Progress | None = None,
) -> tuple[Changed, ...]:
    """The model with these places written anew, as `target`; one result a change.

    Args:
        model: the file, or its bytes.
        changes: places by the names of their nodes.
        target: the file to write.
        properties: added to the model's metadata.
        progress: told how many changes are done.
    """
    loaded = complete(load_path(as_file(model)), isolate=within_worker).ir
    nodes = {node.name or "": node for node in loaded.graph}
    results: list[Changed] = []
    for number, change in enumerate(changes):
        if progress is not None:
            progress("writing the operators anew", number / len(changes))
        places, reasons = 0, dict[str, None]()
        for place, names in enumerate(change.nodes):
            block = Block(change.kind, tuple(nodes[name] for name in names))
            site = Site(loaded, block, mark=f"passlens.{number}.{place}.")
            try:
                BY_ID[change.reformulation].rewrite(site)
                places += 1
            except NotHere as why:
                reasons[str(why)] = None
        results.append(Changed(places, tuple(reasons)))
    drop_unused(loaded.graph)
    loaded.metadata_props.update(properties)
    write(loaded, target)
    return tuple(results)


def drop_unused(graph: ir.Graph) -> None:
    """Remove weights that nothing reads any more."""
    for name, value in list(graph.initializers.items()):
        if not value.uses() and not value.is_graph_output() and not value.is_graph_input():
            del graph.initializers[name]
