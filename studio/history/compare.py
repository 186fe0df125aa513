"""Several recordings side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from optimizer.errors import quoted
from optimizer.numbers import three_digits, times_text
from profiling.records import Recording, hardware, origin
from profiling.records.recording import started
from studio.history.figure import median_dots, variants_of
from studio.page.parts import show_message, words

MOST_COMPARED = 12
_MOST_NAMED = 3


def show_comparison(recordings: Sequence[Recording]) -> None:
    """Medians by variant; what stands in the way of comparing them comes first."""
    for number, caution in enumerate(cautions(recordings)):
        show_message(caution, key=f"caution-{number}")
    if not any(variants_of(recordings).values()):
        show_message("Nothing was timed in these recordings.", key="nothing-timed")
        return
    names = [f"#{one.id}" for one in recordings]
    st.plotly_chart(
        median_dots(recordings, names, title=finding(recordings)),
        width="stretch",
        key="history-comparison",
    )
    st.caption(
        "Medians of the steady state. The recordings did not take turns, so no interval can be "
        "given: for a verdict, race the variants against each other."
    )
    st.caption("  \n".join(words(f"#{one.id} {one.model}: {origin(one)}") for one in recordings))
    with st.expander("Comparison as a table"):
        st.dataframe(comparison_table(recordings), hide_index=True, width="stretch")


def cautions(recordings: Sequence[Recording]) -> list[str]:
    """Why these recordings do not compare like with like."""
    found: list[str] = []
    machines = _distinct(hardware(one.machine) for one in recordings)
    runtimes = _distinct(one.machine.runtime for one in recordings)
    models = _distinct(one.model_hash for one in recordings)
    kinds = _distinct(one.kind for one in recordings)
    changed = _other_graphs(recordings) if len(models) == 1 else []
    if len(machines) > 1:
        found.append(f"Different machines: {'; '.join(machines)}. This compares them as well.")
    if len(runtimes) > 1:
        found.append(f"Different runtimes: {', '.join(runtimes)}.")
    if len(models) > 1:
        named = ", ".join(_distinct(one.model for one in recordings))
        found.append(f"Different models: {named}. Equal names of variants mean little.")
    if changed:
        listed = ", ".join(map(quoted, changed[:_MOST_NAMED]))
        found.append(f"Not the same graph in all of them: {listed}.")
    if len(kinds) > 1:
        slower = " The runtime's profiler makes runs slower." if "profile" in kinds else ""
        found.append(f"Different experiments: {', '.join(kinds)}.{slower}")
    return found


def _other_graphs(recordings: Sequence[Recording]) -> list[str]:
    """Variants of one name whose model files differ."""
    files: dict[str, set[str]] = {}
    for measured in (one for recording in recordings for one in recording.measurements):
        if measured.workload:
            files.setdefault(measured.label, set()).add(measured.workload)
    return [label for label, hashes in files.items() if len(hashes) > 1]


def finding(recordings: Sequence[Recording]) -> str:
    """One line: by how much a variant that is in several of them differs, and if that is fair."""
    unlike = ", not like with like" if cautions(recordings) else ""
    for label, rows in variants_of(recordings).items():
        timed = [(recordings[place].id, ms) for place, ms in rows]
        if len({identity for identity, _ in timed}) > 1:
            fastest, slowest = min(timed, key=_ms), max(timed, key=_ms)
            return (
                f"{label}: {three_digits(slowest[1])} ms in #{slowest[0]}, "
                f"{three_digits(fastest[1])} ms in #{fastest[0]}, "
                f"{times_text(slowest[1] / fastest[1])} apart{unlike}"
            )
    return "No variant is in more than one of these recordings"


def comparison_table(recordings: Sequence[Recording]) -> dict[str, list[object]]:
    """A row a variant, a column a recording: median in ms."""
    rows = variants_of(recordings)
    table: dict[str, list[object]] = {"variant": list(rows)}
    for place, one in enumerate(recordings):
        name = f"#{one.id}, {one.model}, {started(one.started_at):%Y-%m-%d %H:%M}, ms"
        table[name] = [
            next((ms for index, ms in timed if index == place), None) for timed in rows.values()
        ]
    return table


def _ms(timed: tuple[int, float]) -> float:
    return timed[1]


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
