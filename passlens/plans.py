"""Where the activations of a model lie in memory."""

from __future__ import annotations

from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, make_plan
from optimizer.model.graph import Model


def plan(
    model: Model,
    planner: str = "best",
    *,
    options: LifetimeOptions | None = None,
    seconds: float = 1.0,
) -> Plan:
    """Give every activation of a model's main graph an address.

    >>> from passlens import open_model
    >>> found = plan(open_model("mobilenetv2", bind={"batch": 1}), "greedy-by-size")
    >>> found.peak_bytes >= found.bound_bytes
    True

    Args:
        model: of `open_model`, its free dimensions bound.
        planner: one of docs/planners.md.
        options: what may share memory.
        seconds: for a search.

    Raises:
        PlanError: there is no such planner, or sizes are unknown.
    """
    arena = lifetimes(model.ir.graph, options or LifetimeOptions())
    return make_plan(planner, arena.buffers(), Budget(seconds))
