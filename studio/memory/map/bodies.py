"""Bodies of If, Loop and Scan: arenas of their own, with the worst case."""

from __future__ import annotations

import streamlit as st

from optimizer.numbers import bytes_text, counted
from studio.graphview.text import cut
from studio.memory.arena_map import ArenaMap
from studio.memory.setting import Maps, Setting
from studio.memory.sidebar import change
from studio.page.parts import words

_KEY = "memory-graph"


def choose_graph(setting: Setting, maps: Maps) -> Maps:
    """The maps of the graph that is looked at: the main one, or a body that has activations."""
    bodies = {
        body.arena.graph: body
        for body in maps.after.all_bodies()
        if body.known and body.activations
    }
    if not maps.after.arena.bodies:
        return maps
    names = {"": "Main graph", **{graph: _name(body) for graph, body in bodies.items()}}
    chosen = setting.choice.graph if setting.choice.graph in bodies else ""
    st.session_state[_KEY] = chosen
    with st.container(key="memory-graphs", horizontal=True, vertical_alignment="center"):
        if bodies:
            st.selectbox(
                "Graph",
                list(names),
                format_func=names.__getitem__,
                key=_KEY,
                on_change=lambda: change(graph=st.session_state[_KEY], moment=None),
                label_visibility="collapsed",
                width=320,
            )
        st.caption(_worst_case(maps.after))
    return maps.of(chosen)


def _worst_case(drawn: ArenaMap) -> str:
    unknown = sum(len(body.arena.unknown) for body in drawn.all_bodies())
    bodies = counted(len(drawn.all_bodies()), "body", "bodies")
    if unknown:
        tensors = counted(unknown, "tensor has", "tensors have")
        return (
            f"{bodies} with an arena of their own; {tensors} in them no known size,"
            " so that the worst case is not known."
        )
    return (
        f"{bodies} with an arena of their own. Worst case, the largest body of each node on top:"
        f" {bytes_text(drawn.arena.worst_case_bytes())}."
    )


def body_name(body: ArenaMap) -> str:
    """The node whose body it is: "If /gate"."""
    return f"{body.arena.operator} {cut(body.arena.owner_name)}".strip()


def _name(body: ArenaMap) -> str:
    peak = bytes_text(body.best.peak_bytes) if body.best is not None else ""
    return f"Body of {words(body_name(body))} · {peak}"
