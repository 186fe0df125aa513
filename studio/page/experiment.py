"""How a page offers an experiment: start it, follow it, show what it found or what was recorded."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import streamlit as st

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.isolation import Progress
from profiling.records import Filter, Kind, Recording, origin
from studio.artifacts.opened import OpenedModel, Subject
from studio.experiment import Equipment, Experiment, OfRaces, TimedReport
from studio.page.figure import choose_picture_kind
from studio.page.launch import Draw, launch
from studio.page.parts import go_to, show_error, show_message, words
from studio.recordings.shipped import Earlier, earlier, model_title
from studio.services import keeper, pool, records, store
from studio.workspace import current, remember

Request = TypeVar("Request")
Found = TypeVar("Found", bound=OfRaces | TimedReport)
_LOG = logging.getLogger(__name__)
_MOST_LOOKED_AT = 8
_MOST_READ = 4


def offer(
    experiment: Experiment[Request, Found],
    subject: Subject,
    request: Request,
    *,
    name: str,
    explain: Draw,
    show: Callable[[Found], None],
    show_recorded: Callable[[Found], None] | None = None,
    show_partial: Callable[[Any], None] | None = None,
    show_left: Callable[[Any], None] | None = None,
    blocked: Draw | None = None,
) -> None:
    """An experiment on the open run: not begun, under way, failed, or done.

    Args:
        experiment: what is measured.
        subject: of which model and run.
        request: how.
        name: of the button, and of the progress.
        explain: draws what will be here, until there is something to show.
        show: draws what was found.
        show_recorded: draws a recording of such an experiment until it is begun; none unless given.
        show_partial: draws what is known so far.
        show_left: the same when it was cancelled or failed; as `show_partial` unless given.
        blocked: draws, beside the button, why it cannot be begun now.
    """

    def work(
        *,
        progress: Progress,
        cancelled: Callable[[], bool],
        partial: Callable[[Any], None] = lambda _: None,
    ) -> Found:
        bench = Equipment(store(), pool(), subject, progress, cancelled, partial)
        return experiment.conducted(bench, request, keeper().keep)

    def show_kept(found: Found) -> None:
        if keeper().problem:
            show_message(keeper().problem, key="not-kept")
        show(found)

    def show_newest() -> None:
        if show_recorded is not None:
            show_earlier(experiment, subject[0], show_recorded)

    launch(
        experiment.key(subject, request),
        work,
        explain=explain,
        show=show_kept,
        name=name,
        show_partial=show_partial,
        show_left=show_left,
        beside=lambda found: _beside(found.record_id),
        earlier=show_newest,
        blocked=blocked,
    )


def _beside(record_id: int | None) -> None:
    """What more can be done with a result: choose how figures are saved, open its recording."""
    choose_picture_kind()
    if record_id is not None and st.button(
        f"Kept in History as {record_id}", type="tertiary", icon=":material/history:", key="kept"
    ):
        remember(current().showing(record=record_id))
        go_to("history")


def show_earlier(
    experiment: Experiment[Any, Found], model: OpenedModel, show: Callable[[Found], None]
) -> None:
    """The last recording of such an experiment, or one that comes with Passlens, greyed.

    Args:
        experiment: what was measured.
        model: that is open; a recording of another one is said to be that.
        show: draws what was found.
    """
    kind, digest = experiment.kind, model.summary.digest
    found = earlier(
        _own(kind, digest), kind, digest, fits=lambda one: experiment.form.reads(one.payload)
    )
    if found is None:
        return
    with st.container(key=f"earlier-{kind}"):
        _label(found, experiment.name, digest)
        with st.container(key=f"earlier-figures-{kind}"):
            draw_recorded(found.recording, lambda one: show(_read(experiment.form, _Same(one))))


class _Same:
    """A recording that equals itself alone: quick to look up, whatever its payload."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.recording is self.recording

    def __hash__(self) -> int:
        return id(self.recording)


@lru_cache(maxsize=_MOST_READ)
def _read(form: Format[Found], same: _Same) -> Found:
    """What a recording says; each run of a page draws it, and reading some takes half a second."""
    return form.from_json(same.recording.payload)


def draw_recorded(
    recording: Recording, draw: Callable[[Recording], None], *, instead: str = ""
) -> bool:
    """Whether it could be drawn; its payload may come from anybody.

    Args:
        recording: any.
        draw: it; whatever that raises is caught.
        instead: what is shown where that fails.
    """
    try:
        draw(recording)
    except StudioError as error:
        show_error(error, key="not-drawn")
    except Exception:
        _LOG.warning("recording %d cannot be drawn", recording.id, exc_info=True)
        made = f" (made by {recording.passlens})" if recording.passlens else ""
        follows = f"; {instead}" if instead else ""
        show_message(
            f"This version of Passlens cannot draw the recording{made}{follows}.", key="not-drawn"
        )
    else:
        return True
    return False


def _own(kind: Kind, digest: str) -> list[Recording]:
    """The person's newest recordings of a model; none where the database is away."""
    try:
        listed = records().find(Filter(kinds=(kind,), model_hash=digest), limit=_MOST_LOOKED_AT)
        return [_loaded(one.id, one.started_at) for one in listed]
    except StudioError:
        return []


@lru_cache(maxsize=8)
def _loaded(identity: int, _started_at: str) -> Recording:
    return records().load(identity)


def _label(found: Earlier, name: str, digest: str) -> None:
    """What is seen here: whose, of what, from where, when."""
    recording = found.recording
    what = f"{name.capitalize()} of {model_title(recording)}"
    if recording.model_hash != digest:
        what += ", not of the model that is open"
    whose = "A recording that comes with Passlens" if found.bundle else "Your last recording"
    with st.container(horizontal=True, vertical_alignment="center", key="earlier-label"):
        st.markdown(f"**{whose}** · {words(what)}  \n{words(origin(recording))}")
        if st.button("Open in History", type="tertiary", key="earlier-open"):
            place = f"{found.bundle}:{recording.id}" if found.bundle else ""
            own = None if found.bundle else recording.id
            remember(current().showing(record=own, recorded=place))
            go_to("history")
