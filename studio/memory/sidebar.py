"""Which rewrite step, who plans, in which order, what may share memory, how large sizes are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from optimizer.memory.order import ORDERS
from optimizer.memory.registry import planners
from optimizer.numbers import counted
from studio.cost.trace_costs import trace_costs
from studio.memory.arena_map import ArenaMap
from studio.memory.link import ALIGNMENTS, LARGEST_SIZE, MOST_SECONDS, MemoryChoice
from studio.memory.setting import Setting
from studio.page.parts import words
from studio.services import store
from studio.workspace import current, remember

_STEP = "memory-step"
_BESIDE = {"source": "Source", "previous": "Step before", "nothing": "Nothing"}


def change(**changes: Any) -> None:
    """Set something of the page; the link follows."""
    workspace = current()
    remember(workspace.having(replace(workspace.of(MemoryChoice), **changes)))


def sidebar(choice: MemoryChoice) -> None:
    """The widgets that all sections share."""
    st.subheader("Plan", anchor=False)
    known = planners()
    if choice.section == "map":
        titles = {planner.id: planner.title for planner in known}
        _choice(st.selectbox, "planner", "Planner", titles, choice.planner)
    searches = choice.planner in {planner.id for planner in known if planner.speed == "search"}
    if choice.section in ("planners", "order") or (choice.section == "map" and searches):
        _kept(
            st.slider, "seconds", choice.seconds, lambda seconds: change(seconds=seconds),
            label="Seconds a search may take", min_value=1, max_value=MOST_SECONDS,
            help="It stops at once where the plan meets the bound.",
        )  # fmt: skip
    if choice.section != "order":
        _choice(st.selectbox, "order", "Order of the nodes", ORDERS, choice.order)
    st.subheader("May share memory", anchor=False)
    _kept(
        st.toggle, "Views", choice.views, lambda on: _share(views=on),
        label="Views", help="Reshape and its kind.",
    )  # fmt: skip
    _kept(
        st.toggle, "In place", choice.in_place, lambda on: _share(in_place=on), label="In place",
        help="An elementwise operator writes over an input that nobody needs after it.",
    )  # fmt: skip
    sizes = {size: f"{size} B" for size in ALIGNMENTS}
    _choice(st.segmented_control, "alignment", "Aligned to", sizes, choice.alignment, required=True)
    if choice.section == "map":
        beside = current().view.before if choice.compared else "nothing"
        _kept(
            st.segmented_control, "beside", beside, _compare_with, label="Beside it",
            options=list(_BESIDE), format_func=_BESIDE.__getitem__, required=True,
        )  # fmt: skip


def change_sizes(setting: Setting, drawn: ArenaMap) -> None:
    """The sizes in use of free dimensions; a new number plans anew."""
    given = dict(setting.request.sizes)
    used = {name: given[name] for name in drawn.free if name in given}
    if not used:
        return
    st.subheader("Sizes", anchor=False)
    sizes = {
        name: int(st.number_input(words(name), 1, LARGEST_SIZE, size, 1, key=f"size-use-{name}"))
        for name, size in used.items()
    }
    if sizes != used:
        change(sizes=tuple(sorted({**given, **sizes}.items())), moment=None, event=None)
        st.rerun()


def step_slider(setting: Setting) -> None:
    """Scrubs through the trace; nothing where it has no steps."""
    if not setting.last:
        return
    st.session_state[_STEP] = setting.request.step
    with st.container(key="memory-steps"):
        st.slider(
            step_text(setting),
            0,
            setting.last,
            key=_STEP,
            on_change=_go,
            help="Arrow keys step through the rewrites; 0 is the source.",
        )


def step_text(setting: Setting) -> str:
    """The step in words: "Step 38 of 152 · Fuse BatchNorm into Conv"."""
    step, last = setting.request.step, setting.last
    if step == 0:
        return f"Source · {counted(last, 'step follows', 'steps follow')}"
    costs = trace_costs(store(), setting.model, setting.run)
    title = costs.names[costs.steps[step - 1].pass_id].title
    return f"Step {step} of {last} · {title}"


def go_to_step(step: int) -> None:
    """Look at another step; the viewer follows."""
    workspace = current()
    view = replace(workspace.view, step=step)
    memory = replace(workspace.of(MemoryChoice), moment=None, graph="", event=None)
    moved = replace(workspace, view=view, seq=workspace.seq + 1)
    remember(moved.having(memory))


def _go() -> None:
    go_to_step(st.session_state[_STEP])


def _choice(
    draw: Callable[..., Any],
    name: str,
    label: str,
    titles: Mapping[Any, str],
    value: Any,
    **more: Any,
) -> None:
    """One of several; what belonged to the former plan is forgotten."""
    _kept(
        draw, name, value if value in titles else next(iter(titles)),
        lambda chosen: change(**{name: chosen}, moment=None, event=None),
        label=label, options=list(titles), format_func=titles.__getitem__, **more,
    )  # fmt: skip


def _kept(
    draw: Callable[..., Any], name: str, value: Any, put: Callable[[Any], None], **about: Any
) -> None:
    """A widget that shows what the link says, and tells `put` of another value."""
    key = f"memory-{name}"
    st.session_state[key] = value
    draw(key=key, on_change=lambda: put(st.session_state[key]), **about)


def _share(**changed: bool) -> None:
    workspace = current()
    remember(workspace.having(workspace.of(MemoryChoice).sharing(**changed)))


def _compare_with(beside: str) -> None:
    change(compared=beside != "nothing")
    workspace = current()
    if beside in ("source", "previous"):
        view = replace(workspace.view, before=beside)
        remember(replace(workspace, view=view, seq=workspace.seq + 1))
