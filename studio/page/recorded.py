"""A recording where nothing was measured yet: greyed, and labelled for what it is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import streamlit as st

from optimizer.errors import StudioError
from profiling.records import Filter, Kind, Recording, origin
from studio.artifacts.opened import OpenedModel
from studio.page.parts import go_to, show_error, show_message, words
from studio.recordings.shipped import Earlier, earlier, model_title
from studio.services import records
from studio.workspace import current, remember

Draw = Callable[[Mapping[str, Any]], None]
Report = TypeVar("Report")
_LOG = logging.getLogger(__name__)
_MOST_LOOKED_AT = 8


def show_earlier(
    kind: Kind,
    model: OpenedModel,
    read: Callable[[Mapping[str, Any]], Report],
    show: Callable[[Report], None],
    *,
    section: str = "",
) -> None:
    """The last recording of this kind, or one that comes with Passlens; nothing without any.

    Args:
        kind: of the recording.
        model: that is open; a recording of another one is said to be that.
        read: its payload.
        show: draws what was read.
        section: of the payload, where recordings of the kind have several.
    """

    def fits(recording: Recording) -> bool:
        return not section or recording.payload.get("section") == section

    digest: str = model.summary["digest"]
    found = earlier(_own(kind, digest), kind, digest, fits=fits)
    if found is None:
        return
    with st.container(key=f"earlier-{kind}"):
        _label(found, digest)
        with st.container(key=f"earlier-figures-{kind}"):
            draw_recorded(found.recording, lambda payload: show(read(payload)))


def draw_recorded(recording: Recording, draw: Draw, *, instead: str = "") -> bool:
    """Whether its payload could be drawn; it may come from anybody.

    Args:
        recording: any.
        draw: its payload; whatever it raises is caught.
        instead: what is shown where that fails.
    """
    try:
        draw(recording.payload)
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


def _label(found: Earlier, digest: str) -> None:
    """What is seen here: whose, of what, from where, when."""
    recording = found.recording
    kind = str(recording.payload.get("section") or recording.kind)
    what = f"{kind.capitalize()} of {model_title(recording)}"
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
