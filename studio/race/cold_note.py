"""A claim that is often repeated, explained with the visitor's own numbers."""

from __future__ import annotations

import streamlit as st

from profiling.racing.race import Race, Timing
from studio.numbers import three_digits
from studio.page.parts import words

_CLEAR = 1.5
"""From this ratio on, a cold start is clearly something else than a warm run."""


def show_cold_note(race: Race) -> None:
    """The note, where a race has a cold start and warm runs to tell of; else nothing."""
    timed = [timing for timing in race.timings if timing.cold_to_warm is not None]
    if timed:
        with st.expander("Why one tool says 0.0025 s and the other 3.5 s"):
            st.markdown(cold_note(timed[0]))


def cold_note(timing: Timing) -> str:
    """The note in Markdown.

    Args:
        timing: with phases and steady runs.
    """
    phases, summary, ratio = timing.phases, timing.summary, timing.cold_to_warm
    if phases is None or summary is None or ratio is None:
        return ""
    ms = three_digits
    shows = (
        "Your own race shows the same."
        if ratio >= _CLEAR
        else "In your own race cold and warm are close: its runs are long beside their start, or "
        "the machine slowed down meanwhile."
    )
    return (
        "“TVM runs ResNet in 0.00249 s, ONNX Runtime with CUDA in 3.488 s” is often repeated. A "
        "compiler does not make a network 1,400 times faster: at batch 1 it is about 8 GFLOP, "
        "milliseconds on a GPU in any runtime. Most likely the two numbers are different phases. "
        "The first looks like the average of warm runs, compiling left out; the second like a "
        "cold start: loading libraries, creating the session, trying every convolution "
        "algorithm, then the first run. Its script was not to be had, so this is an inference "
        "from the numbers.\n\n"
        f"{shows} **{words(timing.label)}** took {ms(phases.import_ms)} ms "
        f"to import the runtime, {ms(phases.create_ms)} ms to create the session and "
        f"{ms(phases.first_ms)} ms for the first run: {ms(phases.cold_ms)} ms cold. Its median "
        f"warm run takes {ms(summary.p50_ms)} ms. Cold against warm is **{ms(ratio)}×**, with the "
        "same model on the same machine. Compare cold with cold, or warm with warm."
    )
