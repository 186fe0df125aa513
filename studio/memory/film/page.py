"""Film: the lazy allocator event by event, beside naive and the best plan, on one axis."""

from __future__ import annotations

from functools import partial

import streamlit as st

from studio.memory.film.descriptor import film_descriptor
from studio.memory.film.job import film_of, film_path, request_key
from studio.memory.film.table import film_table
from studio.memory.setting import Setting
from studio.memory.sidebar import change
from studio.page.parts import PATIENCE_S, follow, show_error
from studio.services import pool, tasks
from studio.tasks import Task
from studio.viewer import passlens_viewer
from studio.workspace import current

KEY = "film-viewer"


def render_section(setting: Setting) -> None:
    """The film of the graph that the setting names."""
    task = film_task(setting)
    if not task.wait(PATIENCE_S):
        follow(task, "Filming the allocator")
    elif task.error is not None:
        show_error(task.error, key="film")
        st.button("Try again", on_click=partial(tasks().drop, film_key(setting)), key="film-again")
    elif task.result is not None:
        _show(setting, task.result)


def film_key(setting: Setting) -> tuple[str, ...]:
    """Of the task that makes the film."""
    return ("film", setting.model.key, setting.run.key, request_key(setting.request))


def film_task(setting: Setting) -> Task[str]:
    """Making the film; the same task for everybody who wants it."""
    work = partial(film_of, pool(), setting.model, setting.run, setting.request)
    return tasks().start(film_key(setting), work)


def _show(setting: Setting, key: str) -> None:
    model, run, request = setting.model, setting.run, setting.request

    @st.fragment
    def look() -> None:
        passlens_viewer(
            film_descriptor(current(), model, run, request, key),
            key=KEY,
            on_event=partial(_take_event, key),
        )

    look()
    st.caption(
        "Activations only; buffers come and go in the order of the run, and one that ends where"
        " another starts gives its bytes to it. Lazy knows nothing of the future; best knows all"
        " lifetimes. The bound is the most that is alive at once."
    )
    path = film_path(run, request, key)
    if path.is_file():
        with st.expander("Every event as a table"):
            st.dataframe(film_table(path), hide_index=True, width="stretch")


def _take_event(film: str) -> None:
    """The person has come to rest at an event; one of another film is out of date."""
    match st.session_state[KEY].get("event"):
        case {"film": str(key), "event": int(event)} if key == film and event >= 0:
            change(event=event)
        case _:
            pass
