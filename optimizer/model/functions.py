"""The model's own functions: who calls whom, and how much comes out when all are inlined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from onnx import FunctionProto, NodeProto

from optimizer.errors import Cycle, LimitError, quoted
from optimizer.limits import Limits
from optimizer.model.report import Findings

FunctionKey = tuple[str, str, str]
"""Domain, name, overload."""


@dataclass(slots=True)
class CallSite:
    """What one graph or function body contributes to the expanded size.

    Attributes:
        own: nodes that are not calls.
        calls: how often each function is called.
        depth: nesting of bodies at the deepest call of each function.
    """

    own: int = 0
    calls: Counter[FunctionKey] = field(default_factory=Counter[FunctionKey])
    depth: dict[FunctionKey, int] = field(default_factory=dict[FunctionKey, int])
    own_depth: int = 0


@dataclass(frozen=True, slots=True)
class InlinedSize:
    """The size of a body once all calls in it are inlined."""

    nodes: int
    depth: int


def call_key(node: NodeProto) -> FunctionKey:
    """The function that `node` calls, if the model has it."""
    return node.domain, node.op_type, node.overload


def function_key(function: FunctionProto) -> FunctionKey:
    """How calls name this function."""
    return function.domain, function.name, function.overload


def check_expansion(
    main: CallSite, sites: Mapping[FunctionKey, CallSite], limits: Limits, report: Findings
) -> None:
    """Report functions that call each other in a circle, or grow beyond the limits."""
    sorter = TopologicalSorter({key: site.calls for key, site in sites.items()})
    try:
        size = _expanded_size(main, sites, sorter.static_order(), most=limits.expanded_nodes)
    except CycleError as error:
        circle: list[FunctionKey] = error.args[1][::-1]  # callers before whom they call
        names = " → ".join(quoted(key[1]) for key in [*circle[:-1][:5], circle[0]])
        report.error(Cycle, "model", f"The functions call each other in a circle: {names}.")
        return
    if size.nodes > limits.expanded_nodes:
        message = (
            f"Inlining its functions gives more than {limits.expanded_nodes:,} nodes "
            f"(limit {limits.expanded_nodes:,})."
        )
        report.error(LimitError, "model", message, remedy="Split the model.")
    if size.depth > limits.depth:
        message = f"Inlining its functions nests {size.depth} bodies (limit {limits.depth})."
        report.error(LimitError, "model", message, remedy="Flatten the If and Loop bodies.")


def _expanded_size(
    main: CallSite,
    sites: Mapping[FunctionKey, CallSite],
    order: Iterable[FunctionKey],
    *,
    most: int,
) -> InlinedSize:
    """Nodes and nesting after inlining, `nodes` saturating just above `most`.

    `order` has callees before callers, so that every function is counted once.
    """
    sizes: dict[FunctionKey, InlinedSize] = {}
    for key in order:
        sizes[key] = _sum(sites[key], sizes, most)
    return _sum(main, sizes, most)


def _sum(site: CallSite, sizes: Mapping[FunctionKey, InlinedSize], most: int) -> InlinedSize:
    nodes = site.own + sum(count * sizes[key].nodes for key, count in site.calls.items())
    depth = max((site.depth[key] + sizes[key].depth for key in site.calls), default=0)
    return InlinedSize(min(nodes, most + 1), max(depth, site.own_depth))
