"""What the visitor did in the component: edits, and wishes that need to know what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from optimizer.errors import StudioError
from optimizer.limits import MIB
from optimizer.loops.schedule import SCHEDULE
from optimizer.schedules.excess import runnable_nest
from optimizer.schedules.halide_program import halide_program
from optimizer.schedules.halide_words import Language
from studio.schedule.draft import DRAFT, Draft
from studio.schedule.editing import redo, take_draft, take_subject, undo
from studio.schedule.opened import OpenedSchedule
from studio.schedule.subject import look_again
from studio.schedule.timing import start_timing
from studio.workspace import current

LONGEST_FILE = MIB
_PROBLEM, _REGIONS = "schedule-problem", "schedule-regions"
_WISHES, _EXPORTED = "schedule-wishes", "schedule-exported"
_FILES: dict[Language, str] = {"python": "schedule.py", "cpp": "schedule.cpp"}


def take(name: str, value: Any) -> None:
    """Let one thing that the visitor did change the session; what is wrong with it is told."""
    st.session_state[_PROBLEM] = ""
    try:
        _take(name, value)
    except StudioError as error:
        st.session_state[_PROBLEM] = error.message


def _take(name: str, value: Any) -> None:
    match name, value:
        case "draft", {"primitives": _, "off": _, "step": int(step)}:
            take_draft(_read(value), step)
        case "subject", {"subject": str(subject), "order": str(order)}:
            take_subject(subject, order)
        case "file", {"text": str(text)}:
            if len(text) > LONGEST_FILE:
                raise StudioError("This file is too long for a schedule (limit 1 MiB).")
            take_draft(Draft(SCHEDULE.loads(text.encode())))
        case "undo", _:
            undo()
        case "redo", _:
            redo()
        case "regions", _:
            look_again(current())
            st.session_state[_REGIONS] = True
        case (("time" | "export"), dict()):
            st.session_state[_WISHES] = (*st.session_state.get(_WISHES, ()), (name, value))
        case _:
            pass


def _read(told: Mapping[str, Any]) -> Draft:
    """The list as the browser has it.

    Raises:
        StudioError: it is damaged.
    """
    schedule = {"schema": SCHEDULE.schema, "primitives": told["primitives"]}
    return DRAFT.from_json({"schema": DRAFT.schema, "schedule": schedule, "off": told["off"]})


def wants_regions() -> bool:
    """Whether the visitor has asked for those of the open model."""
    return st.session_state.get(_REGIONS, False)


def grant_wishes(opened: OpenedSchedule) -> None:
    """Begin what was asked for of the schedule that is shown."""
    for name, value in st.session_state.pop(_WISHES, ()):
        match name, value:
            case "time", {"step": int(step)} if step >= 0:
                start_timing(opened, step)
            case "export", {"language": ("python" | "cpp") as language, "number": int(number)}:
                _export(opened, language, number)
            case _:
                pass


def _export(opened: OpenedSchedule, language: Language, number: int) -> None:
    """A program for whoever asked: the browser makes a file of it, once for each number."""
    try:
        runnable_nest(opened.algorithm, opened.schedule)
        text = halide_program(opened.algorithm, opened.schedule, language)
    except StudioError as error:
        st.session_state[_PROBLEM] = error.message
        return
    st.session_state[_EXPORTED] = {"number": number, "name": _FILES[language], "text": text}


def exported() -> dict[str, Any] | None:
    """The program that was asked for last."""
    return st.session_state.get(_EXPORTED)


def problem() -> str:
    """What was wrong with the last thing that the visitor did; empty if nothing."""
    return st.session_state.get(_PROBLEM, "")
