"""Who plans, in which order, what may share memory, how large free dimensions are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import streamlit as st

from optimizer.memory.order import ORDERS
from optimizer.memory.registry import planners
from studio.memory.link import ALIGNMENTS, LARGEST_SIZE, MOST_SECONDS, MemoryChoice
from studio.page.parts import words
from studio.workspace import current, remember

_BESIDE = {"source": "Source", "previous": "Step before", "nothing": "Nothing"}


def change(**changes: Any) -> None:
    """Set something of the page; the link follows."""
    workspace = current()
    remember(workspace.having(replace(workspace.of(MemoryChoice), **changes)))


def sidebar(choice: MemoryChoice) -> None:
    """The widgets that all sections share."""
    st.subheader("Plan", anchor=False)
    if choice.section == "map":
        _planner(choice)
    if choice.section in ("map", "planners", "order"):
        _seconds(choice)
    if choice.section != "order":
        _select("order", "Order of the nodes", ORDERS, choice.order)
    st.subheader("May share memory", anchor=False)
    _toggle("Views", choice.views, lambda on: _share(views=on), "Reshape and its kind.")
    _toggle(
        "In place",
        choice.in_place,
        lambda on: _share(in_place=on),
        "An elementwise operator writes over an input that nobody needs after it.",
    )
    _segments(
        "alignment",
        "Aligned to",
        {str(size): f"{size} B" for size in ALIGNMENTS},
        str(choice.alignment),
        lambda text: change(alignment=int(text), moment=None, event=None),
    )
    if choice.section == "map":
        beside = current().view.before if choice.beside else "nothing"
        _segments("beside", "Beside it", _BESIDE, beside, _compare_with)


def sizes_inputs(
    proposed: Mapping[str, int], *, key: str, width: int | Literal["stretch"] = "stretch"
) -> dict[str, int]:
    """A number for every free dimension.

    Args:
        proposed: what each input starts with.
        key: tells two groups of inputs apart.
        width: of each input, in pixels.
    """
    return {
        name: int(
            st.number_input(
                words(name),
                1,
                LARGEST_SIZE,
                value=size,
                step=1,
                key=f"size-{key}-{name}",
                width=width,
            )
        )
        for name, size in proposed.items()
    }


def bind(sizes: Mapping[str, int]) -> None:
    """Plan with these sizes from now on."""
    change(sizes=tuple(sorted(sizes.items())), moment=None, event=None)


def _planner(choice: MemoryChoice) -> None:
    names = {planner.id: planner.title for planner in planners()}
    _select("planner", "Planner", names, choice.planner)


def _seconds(choice: MemoryChoice) -> None:
    speeds = {planner.id: planner.speed for planner in planners()}
    if choice.section == "map" and speeds.get(choice.planner) != "search":
        return
    key = "memory-seconds"
    st.session_state[key] = choice.seconds
    st.slider(
        "Seconds a search may take",
        1,
        MOST_SECONDS,
        key=key,
        on_change=lambda: change(seconds=st.session_state[key]),
        help="It stops at once where the plan meets the bound.",
    )


def _select(name: str, label: str, titles: Mapping[str, str], value: str) -> None:
    key = f"memory-{name}"
    st.session_state[key] = value if value in titles else next(iter(titles))
    st.selectbox(
        label,
        list(titles),
        format_func=titles.__getitem__,
        key=key,
        on_change=lambda: change(**{name: st.session_state[key]}, moment=None, event=None),
    )


def _toggle(label: str, value: bool, put: Callable[[bool], None], tip: str) -> None:
    key = f"memory-{label}"
    st.session_state[key] = value
    st.toggle(label, key=key, on_change=lambda: put(st.session_state[key]), help=tip)


def _segments(
    name: str, label: str, titles: Mapping[str, str], value: str, put: Callable[[str], None]
) -> None:
    key = f"memory-{name}"
    st.session_state[key] = value
    st.segmented_control(
        label,
        list(titles),
        format_func=titles.__getitem__,
        key=key,
        on_change=lambda: put(st.session_state[key]),
        required=True,
    )


def _share(*, views: bool | None = None, in_place: bool | None = None) -> None:
    workspace = current()
    choice = workspace.of(MemoryChoice)
    shared = choice.sharing(
        views=choice.views if views is None else views,
        in_place=choice.in_place if in_place is None else in_place,
    )
    remember(workspace.having(shared))


def _compare_with(beside: str) -> None:
    change(beside=beside != "nothing")
    workspace = current()
    if beside in ("source", "previous"):
        view = replace(workspace.view, before=beside)
        remember(replace(workspace, view=view, seq=workspace.seq + 1))
