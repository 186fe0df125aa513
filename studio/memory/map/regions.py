"""The three regions of a run's memory."""

from __future__ import annotations

from html import escape

import streamlit as st

from optimizer.memory.facts import region_bytes
from studio.memory.arena_map import ArenaMap
from studio.numbers import bytes_text

_COLORS = {"weights": "#8590a0", "inputs and outputs": "#bd964c", "activations": "#5b68ee"}


def show_regions(drawn: ArenaMap) -> None:
    """Small bars: weights and inputs stay, of activations only the planned arena is needed."""
    unknown = {one.region for one in drawn.arena.unknown}
    planned = drawn.plan.peak_bytes if drawn.plan is not None else 0
    apart = region_bytes(drawn.arena)
    sizes = {**apart, "activations": planned}
    most = max(1, *sizes.values())
    rows = "".join(
        f'<span>{escape(region)}</span><i style="--part:{sizes[region] / most:.4f};'
        f'--of:{_COLORS[region]}">'
        f"{'unknown' if region in unknown else bytes_text(sizes[region])}</i>"
        for region in sizes
    )
    every = apart["activations"]
    st.html(
        '<div class="facts memory-regions"><h3>Three regions</h3>'
        f'<div class="bars">{rows}</div><small>Weights stay for ever; inputs and outputs are the'
        f" caller's; activations take {bytes_text(planned)} planned, {bytes_text(every)} if every"
        " tensor had its own block.</small></div>"
    )
