"""Types and shapes of every value, from whoever knows: the exporter, we, ONNX, ONNX Runtime.

The order is by trust and by cost. What the exporter wrote stays. Then our own propagation, which
never guesses. Only where somebody else may know more are others asked, in a worker, on a model
without weights: ONNX about operators that nobody described here and about bodies whose inputs say
nothing, ONNX Runtime about operators that ONNX does not define, either (of the others they told
nothing new in any model that we keep, and the runtime takes half a second before it begins).
Nothing known is ever overwritten, a number least of all; a free dimension of an input never becomes
a number. A worker that fails costs knowledge, not the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import onnx_ir as ir

from optimizer.dimension_text import parse
from optimizer.errors import Cancelled, RunError, StudioError, quoted
from optimizer.findings import Finding
from optimizer.isolation import Isolate
from optimizer.limits import MIB, JobLimits
from optimizer.model.graph import Model, is_used, walk_graphs
from optimizer.model.inference_jobs import (
    Inference,
    Inferred,
    infer_with_onnx,
    infer_with_runtime,
    weight_free,
)
from optimizer.model.known_values import keep
from optimizer.model.refinement import Refinement
from optimizer.model.signatures import DEFINED_DOMAINS, first_version
from optimizer.model.symbolic import SymbolicValues
from optimizer.operators.catalogue import operator_of

ONNX_NODES = 50_000
RUNTIME_NODES = 3_000
"""Graphs larger than this are not given to the inference: ONNX Runtime's takes 10 ms a node."""

_LIMITS = JobLimits(seconds=20.0, memory_bytes=4096 * MIB)
_SHOWN_CONTRADICTIONS = 20
_DATA_DEPENDENT = frozenset({"NonZero", "NonMaxSuppression", "Unique", "Compress"})
_NOT_TENSORS = frozenset(
    {
        "Optional",
        "SequenceConstruct",
        "SequenceEmpty",
        "SequenceErase",
        "SequenceInsert",
        "SequenceMap",
        "SplitToSequence",
    }
)


def infer_shapes(model: Model, *, isolate: Isolate) -> tuple[Finding, ...]:
    """Complete the types and shapes in `model.ir`, in place; what is known is kept for a run.

    Returns: contradictions and failed workers.
    """
    graph = model.ir.graph
    symbolic = SymbolicValues(model.ir)
    symbolic.propagate(graph)
    findings = list(_contradictions(symbolic))
    made = list(_made(graph))
    unsure = [value for value in made if not _is_complete(value)]
    native: list[tuple[str, Callable[[bytes], Inference], int, Callable[[ir.Node], bool]]] = [
        ("onnx", infer_with_onnx, ONNX_NODES, partial(_onnx_may_know, model.ir)),
        ("onnxruntime", infer_with_runtime, RUNTIME_NODES, _is_foreign),
    ]
    written: bytes | None = None  # the model as it is, without weights
    for source, job, most_nodes, is_asked in native:
        if len(made) > most_nodes or not any(_is_open(v, symbolic, is_asked) for v in unsure):
            continue
        written = weight_free(model.ir) if written is None else written
        try:
            inference = isolate(job, written, limits=_LIMITS)
        except Cancelled:
            raise
        except RunError as error:
            findings.append(_failed(source, error))
        except StudioError:
            pass  # it gave up on this graph, as ONNX Runtime's does on many; nothing is lost
        else:
            if _merge(model.ir, inference, symbolic):
                written = None
                symbolic = SymbolicValues(model.ir)
                symbolic.propagate(graph)
    keep(model.ir, symbolic)
    return tuple(findings)


def _made(graph: ir.Graph) -> Iterator[ir.Value]:
    """Values that nodes make, unused optional outputs left out."""
    for current in walk_graphs(graph):
        for node in current:
            for value in node.outputs:
                if value.name and is_used(value):
                    yield value


def _is_complete(value: ir.Value) -> bool:
    """Whether element type and all dimensions are known; sequences and optionals count as known."""
    kind, shape = value.type, value.shape
    if isinstance(kind, ir.TensorType):
        return shape is not None and not shape.has_unknown_dim()
    node = value.producer()
    return kind is not None or (node is not None and node.op_type in _NOT_TENSORS)


def _is_open(
    value: ir.Value, symbolic: SymbolicValues, is_asked: Callable[[ir.Node], bool]
) -> bool:
    """Whether asking somebody is worth it who is asked about nodes such as its producer.

    Nobody can know sizes that depend on the data, nor name those that the inputs leave unnamed.
    """
    if _is_complete(value):
        return False
    node = value.producer()
    if node is None or node.op_type in _DATA_DEPENDENT or not is_asked(node):
        return False
    return value.type is None or not symbolic.follows_inputs(value)


def _onnx_may_know(model: ir.Model, node: ir.Node) -> bool:
    """Whether ONNX's inference may tell of a node's outputs what the rules here do not."""
    for value in node.inputs:
        if value is None or not value.is_graph_input():
            continue
        if value.is_initializer():  # a default, which ONNX takes for the value
            return True
        if value.graph is not model.graph and not _is_complete(value):  # of a loop's body
            return True
    if node.op_identifier() in model.functions:
        return True
    operator = operator_of(node)
    described = operator is not None and (operator.types is not None or operator.name == "If")
    return not described and first_version(node.domain, node.op_type) is not None


def _is_foreign(node: ir.Node) -> bool:
    return node.domain not in DEFINED_DOMAINS


def _merge(model: ir.Model, inference: Inference, symbolic: SymbolicValues) -> bool:
    """Fill in what is unknown; whether any value gained by it."""
    filled = False
    for graph, table in zip(walk_graphs(model.graph), inference, strict=False):
        for node in graph:
            for value in node.outputs:
                inferred = table.get(value.name or "")
                refinement = inferred and _gain(value, inferred, symbolic)
                if refinement:
                    refinement.apply()
                    filled = True
    return filled


def _gain(value: ir.Value, inferred: Inferred, symbolic: SymbolicValues) -> Refinement | None:
    """What an inference adds to a value; nothing where it disagrees with what is known."""
    element, dims = inferred
    if value.type is not None and (
        not isinstance(value.type, ir.TensorType) or value.type.dtype.value != element
    ):
        return None
    dtype = ir.DataType(element) if value.type is None and element else None
    if value.type is None and dtype is None:
        return None
    shape = None if dims is None else _completed(value.shape, dims, symbolic)
    return None if dtype is None and shape is None else Refinement(value, dtype, shape)


def _completed(
    declared: ir.Shape | None, dims: tuple[int | str | None, ...], symbolic: SymbolicValues
) -> tuple[int | str | None, ...] | None:
    known = [_usable(dim, symbolic) for dim in dims]
    if declared is None:
        return tuple(known)
    current = [dim if isinstance(dim, int) else dim.value for dim in declared]
    if len(current) != len(known) or _disagree(current, known):
        return None
    merged = [new if old is None else old for old, new in zip(current, known, strict=True)]
    return tuple(merged) if merged != current else None


def _disagree(left: list[int | str | None], right: list[int | str | None]) -> bool:
    return any(
        isinstance(a, int) and isinstance(b, int) and a != b
        for a, b in zip(left, right, strict=True)
    )


def _usable(dim: int | str | None, symbolic: SymbolicValues) -> int | str | None:
    """A size in terms of the model's inputs; invented names and impossible sizes are dropped."""
    if isinstance(dim, int):
        return dim if dim >= 0 else None
    expression = parse(dim) if dim else None
    return str(expression) if expression and symbolic.is_interface(expression) else None


def _contradictions(symbolic: SymbolicValues) -> Iterator[Finding]:
    for value, text in list(symbolic.contradictions.items())[:_SHOWN_CONTRADICTIONS]:
        yield Finding(
            "warning",
            f"value {quoted(value.name or '')}",
            f"{text}.",
            "Its shape is treated as unknown.",
        )


def _failed(source: str, error: StudioError) -> Finding:
    return Finding(
        "note",
        "shapes",
        f"Shape inference by {source} failed: {error.message}",
        "Shapes that only it would have known stay unknown.",
    )
