"""Options that contradict each other: said where the button is, mended with one click."""

from __future__ import annotations

import re

import streamlit as st

from profiling.config import options
from profiling.config.contradiction import Changes, Conflict
from profiling.config.option import Group, value_text
from profiling.config.settings import find_option, read_value
from studio.page.parts import words
from studio.variants.contradictions import ContradictoryQuestion, with_mend
from studio.variants.link import RunChoice
from studio.variants.options import why_not
from studio.workspace import current, remember

_NAMES = re.compile(rf"\b({'|'.join(option.name for option in options())})(?:=(\w+))?\b")


def show_problem(problem: ContradictoryQuestion) -> None:
    """What is wrong, and a button for each way out."""
    whose = "" if problem.place is None else f"Variant {problem.place + 1}: "
    with st.container(key="quiet-options", width="content"):
        st.text(f"{whose}{in_words(problem.contradiction)}.")
        with st.container(horizontal=True, gap="small"):
            for number, mend in enumerate(problem.contradiction.mends):
                if not _elsewhere(mend):
                    _offer(problem, mend, key=f"mend-{number}")


def in_words(contradiction: Conflict) -> str:
    """What is wrong, every option by its label."""
    return with_labels(contradiction.why)


def with_labels(text: str) -> str:
    """The same with every option, and every setting, by its label."""

    def labelled(found: re.Match[str]) -> str:
        option = find_option(found[1])
        if not found[2]:
            return f"'{option.label}'"
        return f"'{option.label}: {value_text(option, read_value(option, found[2]))}'"

    return _NAMES.sub(labelled, text)


def mend_text(mend: Changes) -> str:
    """What a mend sets, by labels."""
    set_ = ((find_option(name), value) for name, value in mend.items())
    return ", ".join(f"{option.label}: {value_text(option, value)}" for option, value in set_)


def _offer(problem: ContradictoryQuestion, mend: Changes, *, key: str) -> None:
    st.button(
        words(mend_text(mend)),
        key=key,
        icon=":material/build:",
        on_click=_take,
        args=(problem, mend),
        help="Sets this, and what else it calls for",
    )


def _elsewhere(mend: Changes) -> bool:
    """Whether it needs a device that this machine lacks."""
    groups: tuple[Group, ...] = ("cuda", "tensorrt")
    return any(mend.get("device") == group and why_not(group) for group in groups)


def _take(problem: ContradictoryQuestion, mend: Changes) -> None:
    workspace = current()
    remember(workspace.having(with_mend(workspace.of(RunChoice), problem, mend)))
