"""The model's own functions: who calls whom, and how much comes out when all are inlined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from onnx import FunctionProto, NodeProto

from optimizer.errors import Cycle, LimitError, quoted
from optimizer.limits import Limits
from optimizer.model.report import Report

_EXPORT_AGAIN = "Export the model again."

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
class Expanded:
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
    main: CallSite, sites: Mapping[FunctionKey, CallSite], limits: Limits, report: Report
) -> None:
    """Report functions that call each other in a circle, or grow beyond the limits."""
    circle = calling_cycle(sites)
    if circle:
        names = " → ".join(quoted(key[1]) for key in [*circle[:5], circle[0]])
        message = f"The functions call each other in a circle: {names}."
        report.error(Cycle, "model", message, remedy=_EXPORT_AGAIN)
        return
    size = expanded_size(main, sites, most=limits.expanded_nodes)
    if size.nodes > limits.expanded_nodes:
        message = (
            f"Inlining its functions gives more than {limits.expanded_nodes:,} nodes "
            f"(limit {limits.expanded_nodes:,})."
        )
        report.error(LimitError, "model", message, remedy="Split the model.")
    if size.depth > limits.depth:
        message = f"Inlining its functions nests {size.depth} bodies (limit {limits.depth})."
        report.error(LimitError, "model", message, remedy="Flatten the If and Loop bodies.")


def calling_cycle(sites: Mapping[FunctionKey, CallSite]) -> list[FunctionKey]:
    """Functions that call each other in a circle; empty if there are none."""
    done: set[FunctionKey] = set()
    for start in sites:
        path: list[FunctionKey] = []
        on_path: set[FunctionKey] = set()
        stack = [(start, False)]
        while stack:
            key, leaving = stack.pop()
            if leaving:
                on_path.discard(path.pop())
                done.add(key)
            elif key in on_path:
                return path[path.index(key) :]
            elif key not in done:
                path.append(key)
                on_path.add(key)
                stack.append((key, True))
                stack.extend((callee, False) for callee in sites[key].calls if callee in sites)
    return []


def expanded_size(main: CallSite, sites: Mapping[FunctionKey, CallSite], *, most: int) -> Expanded:
    """Nodes and nesting after inlining, `nodes` saturating just above `most`.

    Linear in the call graph, which must have no cycle: every function is counted once.
    """
    sizes: dict[FunctionKey, Expanded] = {}
    for start in main.calls:
        stack = [start]
        while stack:
            waiting = [key for key in sites[stack[-1]].calls if key not in sizes]
            if waiting:
                stack.extend(waiting)
                continue
            key = stack.pop()
            sizes.setdefault(key, _sum(sites[key], sizes, most))
    return _sum(main, sizes, most)


def _sum(site: CallSite, sizes: Mapping[FunctionKey, Expanded], most: int) -> Expanded:
    nodes = site.own + sum(count * sizes[key].nodes for key, count in site.calls.items())
    depth = max((site.depth[key] + sizes[key].depth for key in site.calls), default=0)
    return Expanded(min(nodes, most + 1), max(depth, site.own_depth))
