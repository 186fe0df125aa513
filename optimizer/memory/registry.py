"""The planners, each a function that enters itself into the registry."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from optimizer.errors import PlanError, quoted
from optimizer.function_registry import FunctionRegistry, RegisteredFunction
from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.plan import Plan, certificate_of, check_plan, peak_bytes

MOST_BYTES = 1 << 62
"""All buffers side by side have to fit into this; and no step is farther from 0."""

Speed = Literal["fast", "search"]
"""`fast` planners end by themselves in milliseconds; a `search` goes on until its budget ends."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a search may take.

    Attributes:
        seconds: wall clock from now on.
        goal_bytes: a peak that is good enough; None for the smallest that can be found.
        cancelled: asked from time to time.
        seed: of the random choices of a search; with the same one they are the same.
    """

    seconds: float = 1.0
    goal_bytes: int | None = None
    cancelled: Callable[[], bool] = lambda: False
    seed: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float:
        """What is left; 0 when it is used up or the work is no longer wanted."""
        if self.cancelled():
            return 0.0
        return max(0.0, self.started + self.seconds - time.monotonic())

    @property
    def spent(self) -> bool:
        """Whether it is time to stop."""
        return self.seconds_left == 0.0

    def goal(self, buffers: Sequence[Buffer]) -> int:
        """The peak at which to stop."""
        return max(lower_bound(buffers), self.goal_bytes or 0)


@dataclass(frozen=True, slots=True)
class Placement:
    """What a planner answers.

    Attributes:
        offsets: one for each buffer.
        exhausted: every smaller plan was ruled out.
        note: what it has to say.
    """

    offsets: Sequence[int]
    exhausted: bool = False
    note: str = ""


PlannerFunction = Callable[[Sequence[Buffer], Budget], Placement]


@dataclass(frozen=True, slots=True)
class Planner(RegisteredFunction[PlannerFunction]):
    """One way to give offsets.

    Attributes:
        speed: whether it needs a budget.
    """

    speed: Speed = "fast"


PLANNERS: FunctionRegistry[Planner] = FunctionRegistry(
    "optimizer.memory.planners", "planner", PlanError
)
planners, find_planner = PLANNERS.entries, PLANNERS.find


def planner(
    planner_id: str, title: str, *, order: int, speed: Speed = "fast"
) -> Callable[[PlannerFunction], PlannerFunction]:
    """Enter a planner."""

    def register(function: PlannerFunction) -> PlannerFunction:
        PLANNERS.enter(Planner(planner_id, title, function, order, speed))
        return function

    return register


def make_plan(planner_id: str, buffers: Sequence[Buffer], budget: Budget | None = None) -> Plan:
    """Run a planner and check what it says.

    Raises:
        PlanError: there is no such planner, the buffers cannot be planned, or its plan is wrong.
    """
    found = find_planner(planner_id)
    _refuse_odd(buffers)
    started = time.perf_counter()
    placement = found.function(buffers, budget or Budget())
    seconds = time.perf_counter() - started
    check_plan(buffers, placement.offsets)
    peak = peak_bytes(buffers, placement.offsets)
    return Plan(
        planner=found.id,
        offsets=tuple(placement.offsets),
        peak_bytes=peak,
        bound_bytes=lower_bound(buffers),
        certificate=certificate_of(buffers, peak, exhausted=placement.exhausted),
        seconds=seconds,
        note=placement.note,
    )


def _refuse_odd(buffers: Sequence[Buffer]) -> None:
    """Raise where numbers are negative or too large for the planners' arithmetic."""
    for buffer in buffers:
        if buffer.size_bytes < 0 or buffer.steps < 0:
            raise PlanError(
                f"Buffer {quoted(buffer.name)} has {buffer.size_bytes} bytes on steps"
                f" [{buffer.start}, {buffer.end}); neither may be negative."
            )
        if max(abs(buffer.start), abs(buffer.end)) > MOST_BYTES:
            raise PlanError(f"Buffer {quoted(buffer.name)} lives at steps beyond 2**62.")
    if sum(buffer.size_bytes for buffer in buffers) > MOST_BYTES:
        raise PlanError("The buffers need more than 4 EiB side by side; that cannot be planned.")
