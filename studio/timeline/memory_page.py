"""Memory: what a run requests, uses and holds over time."""

from __future__ import annotations

import streamlit as st

from optimizer.numbers import mebibytes, unit_of
from profiling.timeline.profile import Profile
from studio.page.figure import Table, show_figure, show_twin
from studio.page.parts import show_message, words
from studio.timeline.memory_figure import memory_panels, most_drawn
from studio.timeline.page import (
    choose_phase,
    how,
    offer_profile,
    show_failures,
    show_timeline,
)
from studio.timeline.result import ProfileReport
from studio.variants.variant import RunSetup

_DEVICE = (
    "Device memory is what everybody has taken on the GPU; its driver is asked every few "
    "milliseconds during the run."
)
_EXPLAINED = {
    "first": "In the first run every output is reserved by itself. What was requested before the "
    "first operator are weights that the runtime has repacked; weights as the file has them lie "
    "outside the arena.",
    "steady": "From the second run on the runtime takes one planned block for all activations "
    "before the first operator; outputs of sizes it could not foresee come on top.",
}


def render_section(setup: RunSetup) -> None:
    """The section."""
    offer_profile(setup, show_memory)


def show_profile(report: ProfileReport) -> None:
    """A recorded profile as in both sections: timeline, then memory."""
    show_failures(report)
    show_timeline(report)
    st.subheader("Memory", anchor=False)
    show_memory(report)


def show_memory(report: ProfileReport) -> None:
    """Everything that ran, the finding first."""
    if not report.profiles:
        return
    phase = choose_phase("memory", "first")
    _say_what_is_missing(report)
    found = {label: profile.curves(phase) for label, profile in report.profiles.items()}
    curves = {label: each for label, each in found.items() if each}
    if not any(curve.times_us for each in curves.values() for curve in each):
        show_message("The profiler saw no memory.", key="no-memory")
        return
    weights = {label: weights_bytes(profile) for label, profile in report.profiles.items()}
    drawn = memory_panels(curves, title=_finding(report), weights=weights)
    show_figure(drawn, "memory")
    sampled = any(curve.source == "device" for each in curves.values() for curve in each)
    device = f"{_DEVICE} " if sampled else ""
    st.caption(words(f"{_EXPLAINED[phase]} {device}{how(report)}"))
    show_twin("Memory as a table", _table(report))


def _say_what_is_missing(report: ProfileReport) -> None:
    """Why there is no device memory, once for all variants with the same reason."""
    missing: dict[str, list[str]] = {}
    for label, profile in report.profiles.items():
        if profile.device_missing:
            missing.setdefault(profile.device_missing, []).append(label)
    for number, (reason, labels) in enumerate(missing.items()):
        text = f"No device memory of {', '.join(labels)}: {reason}"
        show_message(text, key=f"no-device-memory-{number}")


def weights_bytes(profile: Profile) -> int:
    """Requested before the first operator of the first run: weights that were repacked."""
    return profile.memory[0].base_bytes if profile.memory else 0


def block_bytes(profile: Profile) -> int | None:
    """The block planned for the activations of later runs; None with one run, 0 without a plan."""
    last = profile.memory[-1]
    if len(profile.memory) < 2 or last.source != "runtime":
        return None
    return max(0, last.base_bytes - weights_bytes(profile))


def _finding(report: ProfileReport) -> str:
    """Peak of the activations, first against last variant."""
    profiles = list(report.profiles.values())
    ends = [profiles[0], *profiles[1:][-1:]]
    unit = unit_of(most_drawn({str(n): p.memory[:1] for n, p in enumerate(ends)}))
    peaks = " → ".join(unit.number(p.memory[0].peak_bytes) for p in ends)
    blocks = [block_bytes(profile) for profile in ends]
    text = f"Activations peak at {peaks} {unit.name} in the first run"
    if all(blocks):
        later = " → ".join(unit.number(block or 0) for block in blocks)
        return f"{text}; later runs plan a block of {later} {unit.name}"
    return text


def _table(report: ProfileReport) -> Table:
    named = [(label, p) for label, p in report.profiles.items() if p.memory]
    first = [profile.memory[0] for _, profile in named]
    table: Table = {
        "variant": [label for label, _ in named],
        "repacked weights, MiB": [mebibytes(weights_bytes(p)) for _, p in named],
        "peak of activations, first run, MiB": [mebibytes(curve.peak_bytes) for curve in first],
        "planned block, later runs, MiB": [mebibytes(block_bytes(p)) for _, p in named],
        "most in use, MiB": [mebibytes(p.memory[-1].high_bytes) or None for _, p in named],
        "held by the arena, MiB": [mebibytes(max(c.held_bytes, default=0)) or None for c in first],
        "from": [curve.source for curve in first],
    }
    if any(profile.device for _, profile in named):
        table["most taken on the GPU, MiB"] = [
            mebibytes(_most_taken(profile)) for _, profile in named
        ]
    return table


def _most_taken(profile: Profile) -> int | None:
    return max((curve.peak_bytes for curve in profile.device), default=None)
