"""What the runtime's arena really did, beside what was counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from optimizer.numbers import bytes_text, digits, times_text
from profiling.arena.measurement import ArenaMeasurement
from studio.memory.arena_map import ArenaMap
from studio.memory.lanes_figure import PanelLine
from studio.memory.measured.job import OWN_ORDER, ArenaRun, measured_key, run_measured
from studio.memory.setting import Setting
from studio.page.figure import show_twin
from studio.page.launch import launch
from studio.page.parts import go_to, show_message, words
from studio.services import pool, store, tasks
from studio.variants.link import RunChoice
from studio.workspace import current, remember

MEASURED, HELD = "#7a4fc0", "#a05a94"
_MOST_HELD = 2.0


def result(setting: Setting) -> ArenaMeasurement | None:
    """What was measured of this step, if it was."""
    task = tasks().get(measured_key(setting.subject, _request(setting)))
    return task.result[OWN_ORDER] if task is not None and task.result is not None else None


def lines(found: ArenaMeasurement | None, planned_bytes: int) -> list[PanelLine]:
    """The planned block, what is held, and the first run's live bytes, node by node as they ran.

    Args:
        found: what was measured, if it was.
        planned_bytes: peak of the plan; what is held is left out where it would dwarf all else.
    """
    if found is None:
        return []
    drawn = [PanelLine("runtime's block", found.block_bytes, MEASURED)] if found.block_bytes else []
    if found.held_bytes <= _MOST_HELD * max(planned_bytes, found.block_bytes):
        drawn.append(PanelLine("held by the runtime", found.held_bytes, HELD))
    if found.live_bytes:
        drawn.append(PanelLine("measured, first run", found.live_bytes, MEASURED))
    return drawn


def measure(
    setting: Setting,
    request: ArenaRun,
    *,
    explain: Callable[[], None],
    show: Callable[[dict[str, ArenaMeasurement]], None],
) -> bool:
    """A button that measures, then what it found; whether the model can be run at all."""
    status = setting.model.summary.statuses.runnable
    if not status.ok:
        show_message(f"This model cannot be run: {status.reason}", key="not-runnable")
        return False
    work = partial(run_measured, store(), pool(), setting.subject, request)
    key = measured_key(setting.subject, request)
    launch(key, work, explain=explain, show=show, name="Measure")
    return True


def offer(setting: Setting, drawn: ArenaMap) -> None:
    """A button that measures, what it found, and the way to more."""
    st.subheader("Measured", anchor=False)
    show = partial(_show, drawn)
    if measure(setting, _request(setting), explain=_explain, show=show) and st.button(
        "The Run page draws the arena of any variant over time",
        type="tertiary",
        icon=":material/arrow_forward:",
    ):
        workspace = current()
        remember(workspace.having(replace(workspace.of(RunChoice), section="memory")))
        go_to("run")


def _request(setting: Setting) -> ArenaRun:
    return ArenaRun(setting.request.step, sizes=setting.request.sizes)


def _explain() -> None:
    st.caption(
        "Three runs with the runtime's profiler on: what its arena requests node by node, the block"
        " it plans for later runs, and what it holds; drawn on the axis above."
    )


def _show(drawn: ArenaMap, runs: dict[str, ArenaMeasurement]) -> None:
    found, plan = runs[OWN_ORDER], drawn.best
    assert plan is not None
    parts = [f"first run, live {bytes_text(found.live_peak_bytes)}"]
    if found.block_bytes:
        times = found.block_bytes / plan.peak_bytes if plan.peak_bytes else 0
        parts.append(
            f"later runs, one block of {bytes_text(found.block_bytes)} ({times_text(times)})"
        )
    parts.append(f"held from the system {bytes_text(found.held_bytes)}")
    st.markdown(words(f"Planned {bytes_text(plan.peak_bytes)}; {'; '.join(parts)}."))
    st.caption(
        words(
            "ONNX Runtime on the CPU, one thread, none of its own rewrites, its reuse of buffers"
            f" on, in the order that it chooses; {bytes_text(found.base_bytes)} of repacked weights"
            " were subtracted. The"
            " arena grows in powers of two, so it holds more than it uses."
        )
    )
    show_twin(
        "The measured run as a table",
        {
            "node": list(found.order),
            "live, KiB": [digits(size / 1024) for size in found.live_bytes],
        },
    )
