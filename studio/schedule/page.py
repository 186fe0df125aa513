"""Schedule: the loops of a kernel, seen and changed one primitive at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from optimizer.isolation import Progress
from optimizer.schedules.document import view_of
from profiling.cache.folder import cache_folder
from profiling.calibration.loops import machine_here
from studio.page.parts import PATIENCE_S, run_again_after, show_error
from studio.schedule import (
    autoscheduler_section,
    candidate_section,
    choices_section,
    code_section,
    polyhedral_section,
)
from studio.schedule.component import KEY, show_lab
from studio.schedule.descriptor import (
    Json,
    draft_json,
    offered_json,
    subject_json,
    times_json,
    view_json,
)
from studio.schedule.draft import Draft, Unreadable
from studio.schedule.editing import edits, shows, undoable
from studio.schedule.link import ScheduleChoice
from studio.schedule.messages import exported, grant_wishes, problem, take, wants_regions
from studio.schedule.opened import OpenedSchedule
from studio.schedule.subject import Found, found_subject
from studio.schedule.timing import timings
from studio.services import tasks
from studio.tasks import Task
from studio.viewer import acknowledged, take_messages
from studio.workspace import current

_VIEW = "schedule-view"


def render() -> None:
    """The page: one component, and below it the sections on what it shows."""
    take_messages(KEY, take)
    found = found_subject(current(), wants_regions=wants_regions())
    subject = found.subject
    choice = current().of(ScheduleChoice)
    shows(subject.id)
    name = subject.order_of(choice)
    draft = choice.draft if isinstance(choice.draft, Draft) else Draft(subject.schedules[name])
    opened = OpenedSchedule(
        subject.key, subject.title, subject.algorithm, subject.schedules, name, draft.applied,
        subject.kernel,
    )  # fmt: skip
    grant_wishes(opened)
    viewing = _viewing(opened)
    if viewing.error is not None and _VIEW not in st.session_state:
        show_error(viewing.error)
        return
    # Looked at before the results: what ends in between is pending still, and is drawn again.
    looked = (viewing, *timings(opened))
    pending = [one for one in looked if one is not None and not one.done]
    if found.looking is not None and found.is_open:
        pending.append(found.looking)
    show_lab(_descriptor(found, opened, draft, viewing))
    # Sections on what is shown: `render_section(opened)` of a file of its own each.
    with st.container(key="section-choices"):
        choices_section.render_section(opened)
    candidate_section.render_section(opened)
    autoscheduler_section.render_section(opened)
    code_section.render_section(opened)
    polyhedral_section.render_section(opened)
    run_again_after(pending)


def _viewing(opened: OpenedSchedule) -> Task[Json]:
    """The document of what is shown: plain Python, and mostly there at once."""
    key = ("schedule-view", opened.key, opened.schedule)
    task = tasks().start(key, partial(_view, opened))
    task.wait(PATIENCE_S)
    return task


def _view(opened: OpenedSchedule, *, progress: Progress, cancelled: Callable[[], bool]) -> Json:
    del progress, cancelled  # a moment
    machine = machine_here(cache_folder())
    return view_json(view_of(opened.title, opened.algorithm, opened.schedule, machine=machine))


def _descriptor(found: Found, opened: OpenedSchedule, draft: Draft, viewing: Task[Json]) -> Json:
    """What the component is given; until a new document is there, the one before."""
    view = viewing.result or st.session_state.get(_VIEW)
    if view is not None:
        st.session_state[_VIEW] = view
    failed = "" if viewing.error is None else viewing.error.message
    choice = current().of(ScheduleChoice)
    unreadable = choice.draft.reason if isinstance(choice.draft, Unreadable) else ""
    looking = found.looking
    undone, redone = undoable()
    return {
        "acknowledged": acknowledged(KEY),
        "seq": edits(),
        "step": choice.step,
        "subject": subject_json(found.subject, opened.name),
        "offered": offered_json(found.regions),
        "view": view,
        "fresh": viewing.done,
        "draft": draft_json(draft),
        "undo": undone,
        "redo": redone,
        "busy": looking.text if looking is not None and not looking.done else "",
        "problem": problem() or failed or found.problem or unreadable,
        "times": times_json(opened),
        "exported": exported(),
    }
