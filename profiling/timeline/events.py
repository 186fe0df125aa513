"""What happened during a run, operator by operator: the runtime's own profile, read into events.

Times are the runtime's: microseconds since the profile began, measured around each kernel. Writing
the profile itself costs some microseconds a node, within these times and between them;
`profiling.timeline.profiler_cost` takes that off.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from optimizer.errors import RunError

_KERNEL = "_kernel_time"
_LOADING = ("model_loading_uri", "model_loading_array", "model_loading_from_saved_proto")
_CREATING = "session_initialization"
_RUN = "model_run"
_EXECUTOR = "Executor::Execute"


@dataclass(frozen=True, slots=True)
class Memory:
    """The arena after one operator, in bytes, weights that were repacked included.

    Attributes:
        requested: what operators asked for.
        in_use: the same, rounded up to the arena's chunks.
        held: what the arena has from the system.
        peak: the most that was in use since the session began.
    """

    requested: int
    in_use: int
    held: int
    peak: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One operator of one run.

    Attributes:
        node: the node's name in the session; the runtime makes one up for unnamed nodes.
        op_type: of the node as it ran, which may be a fusion of the runtime's.
        provider: where it ran.
        start_us: since the profile began.
        duration_us: of the kernel.
        thread: that ran it.
        order: the runtime's index of the node.
        output_bytes: size of what it computed.
        activation_bytes: size of the activations it read.
        parameter_bytes: size of the weights it read; repacked ones do not count.
        memory: the arena afterwards, where the runtime tells.
        memory_change: what the operator added to the bytes requested.
        workers: threads that worked on it, each with the processor it was last seen on; the calling
            thread is 0 and comes first. Empty with one thread, for the runtime does not tell then.
    """

    node: str
    op_type: str
    provider: str
    start_us: float
    duration_us: float
    thread: int
    order: int
    output_bytes: int
    activation_bytes: int
    parameter_bytes: int
    memory: Memory | None
    memory_change: int = 0
    workers: tuple[tuple[int, int], ...] = ()

    @property
    def end_us(self) -> float:
        """When the kernel was done."""
        return self.start_us + self.duration_us


@dataclass(frozen=True, slots=True)
class Run:
    """One call of the session.

    Attributes:
        events: in the order in which they began.
        executor_start_us: when the runtime had its inputs and began to work off the nodes.
        executor_us: until it had worked off the last one; 0 where it does not tell.
    """

    start_us: float
    duration_us: float
    events: tuple[Event, ...]
    executor_start_us: float = 0
    executor_us: float = 0

    @property
    def end_us(self) -> float:
        """When the call was done."""
        return self.start_us + self.duration_us


@dataclass(frozen=True, slots=True)
class Timeline:
    """A whole profile.

    Attributes:
        load_us: reading the model.
        create_us: creating the session.
        runs: in order; the first one is slower by nature.
    """

    load_us: int
    create_us: int
    runs: tuple[Run, ...]


def parse_profile(text: str) -> Timeline:
    """Read the JSON that the runtime writes.

    Raises:
        RunError: it is not such a profile.
    """
    try:
        records: list[dict[str, Any]] = json.loads(text)
        spans = [record for record in records if record.get("ph") == "X"]
        session = [span for span in spans if span["cat"] == "Session"]
        runs = sorted((span for span in session if span["name"] == _RUN), key=_start)
        events = sorted((_event(span) for span in spans if _is_kernel(span)), key=_event_start)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError("The runtime's profile is in a form that is not known here.") from error
    starts = [event.start_us for event in events]
    executors = [span for span in session if str(span["name"]).endswith(_EXECUTOR)]
    found: list[Run] = []
    for span in runs:
        start, end = int(span["ts"]), int(span["ts"]) + int(span["dur"])
        low, high = bisect.bisect_left(starts, start), bisect.bisect_right(starts, end)
        inside = [one for one in executors if start <= _start(one) <= end]
        outer = max(inside, key=lambda one: int(one["dur"]), default={"ts": 0, "dur": 0})
        executor = (int(outer["ts"]), int(outer["dur"]))
        found.append(Run(start, end - start, tuple(events[low:high]), *executor))
    return Timeline(_total(session, _LOADING), _total(session, (_CREATING,)), tuple(found))


def _is_kernel(span: Mapping[str, Any]) -> bool:
    return span["cat"] == "Node" and str(span["name"]).endswith(_KERNEL)


def _event(span: Mapping[str, Any]) -> Event:
    about: Mapping[str, Any] = span["args"]
    held = about.get("mem_arena_held")
    return Event(
        node=str(span["name"]).removesuffix(_KERNEL),
        op_type=str(about.get("op_name", "")),
        provider=str(about.get("provider", "")),
        start_us=int(span["ts"]),
        duration_us=int(span["dur"]),
        thread=int(span["tid"]),
        order=int(about.get("node_index", -1)),
        output_bytes=int(about.get("output_size", 0)),
        activation_bytes=int(about.get("activation_size", 0)),
        parameter_bytes=int(about.get("parameter_size", 0)),
        memory=None
        if held is None
        else Memory(
            int(about["mem_bytes_requested_in_use"]),
            int(about["mem_bytes_in_use"]),
            int(held),
            int(about.get("mem_in_use_peak", 0)),
        ),
        memory_change=int(about.get("mem_requested_in_use_delta", 0)),
        workers=_workers(about.get("thread_scheduling_stats")),
    )


def _workers(stats: Any) -> tuple[tuple[int, int], ...]:
    """The pool's threads that ran a part of the operator; the calling thread always takes part."""
    if not isinstance(stats, Mapping):
        return ()
    threads = cast("Mapping[str, Any]", stats)
    others: Mapping[str, Any] = threads.get("sub_threads") or {}
    ran = {int(name): int(one["core"]) for name, one in others.items() if int(one["num_run"])}
    return ((0, int(threads["main_thread"]["core"])), *sorted(ran.items()))


def _total(session: Iterable[Mapping[str, Any]], names: Sequence[str]) -> int:
    return sum(int(span["dur"]) for span in session if span["name"] in names)


def _start(span: Mapping[str, Any]) -> int:
    return int(span["ts"])


def _event_start(event: Event) -> tuple[float, float]:
    return event.start_us, -event.duration_us  # an operator before those of its body


@dataclass(frozen=True, slots=True)
class Lane:
    """A row of a timeline.

    Attributes:
        name: shown.
        events: indices of the run's events that are drawn in it, in order.
    """

    name: str
    events: tuple[int, ...]


def lanes_of(run: Run) -> tuple[Lane, ...]:
    """The lanes of a run.

    With several threads the runtime tells which of them ran parts of an operator; it then stands
    in each of those lanes, for as long as it took altogether. A lane is named for its processor
    where its thread stayed on one.
    """
    told = any(event.workers for event in run.events)
    lanes: dict[int, list[int]] = {}
    cores: dict[int, set[int]] = {}
    for index, event in enumerate(run.events):
        for worker, core in event.workers or ((0 if told else event.thread, -1),):
            lanes.setdefault(worker, []).append(index)
            cores.setdefault(worker, set()).add(core)
    if not told and len(lanes) == 1:
        return tuple(Lane("thread", tuple(indices)) for indices in lanes.values())
    return tuple(
        Lane(_named(number, cores[worker]), tuple(lanes[worker]))
        for number, worker in enumerate(sorted(lanes) if told else lanes, start=1)
    )


def _named(number: int, cores: set[int]) -> str:
    seen = cores - {-1}
    return f"thread {number}, core {min(seen)}" if len(seen) == 1 else f"thread {number}"
