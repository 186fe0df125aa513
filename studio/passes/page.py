"""Passes: the catalogue, searched; a pass with its picture, and what it does in the open model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

import streamlit as st

from optimizer.numbers import counted
from optimizer.registry import FAMILIES, PRESETS, Pass, find
from optimizer.rewrite.what_if import Preview
from studio.artifacts.preview import can_be_asked
from studio.page.figure import is_dark
from studio.page.parts import go_to, run_again_after, show_message, words
from studio.passes.about import before_after_html, heading_html, safety_html, spellings_html
from studio.passes.in_model import InModel, in_model
from studio.passes.link import PassesChoice
from studio.passes.pictures import picture_of, told_of
from studio.passes.search import Wanted, found
from studio.workspace import MAX_LISTED, current, remember

EXACTNESS = ("exact", "reassociates", "lossy")
MOST_REASONS = 6
_LIST = "passes-list"
_SCROLL = """<script>
{
  let frames = 120; // until list and styles are there
  const look = () => { // PASS
    const list = document.querySelector(".st-key-pass-list");
    const chosen = list?.querySelector("input:checked")?.closest("label")?.parentElement;
    if (chosen && list.scrollHeight > list.clientHeight) {
      chosen.scrollIntoView({ block: "nearest" });
    } else if (--frames) requestAnimationFrame(look);
  };
  look();
}
</script>"""
"""The one that a link chose may lie far down."""


def render() -> None:
    """The page."""
    model = in_model(current())
    with st.sidebar:
        wanted = _filters(model)
    listed = found(wanted)
    left, right = st.columns([0.36, 0.64], gap="medium")
    with left:
        shown = _list(listed, model)
    with right, st.container(key="pass"):
        if shown is not None:
            _pass(shown, model)
    run_again_after(model.pending)


def _filters(model: InModel) -> Wanted:
    """What is looked for."""
    key = "passes-find"
    st.session_state[key] = current().of(PassesChoice).find
    st.text_input(
        "Find",
        key=key,
        placeholder="name, operator, word",
        on_change=lambda: _take(find=st.session_state[key]),
    )
    families = st.pills("Level", FAMILIES, selection_mode="multi", key="passes-level")
    exactness = st.pills("Numerics", EXACTNESS, selection_mode="multi", key="passes-numerics")
    preset = st.selectbox("Preset", ("any", *PRESETS), key="passes-preset")
    acting = st.toggle(
        "Acting in this model",
        key="passes-acting",
        disabled=model.would is None and not model.did,
        help="Fired in the run of the pipeline, or would fire in the source.",
    )
    _say_model(model)
    return Wanted(
        current().of(PassesChoice).find,
        frozenset(families),
        frozenset(exactness),
        "" if preset == "any" else preset,
        _acting(model) if acting else None,
    )


def _say_model(model: InModel) -> None:
    if model.trouble:
        show_message(f"{model.title}: {model.trouble}", key="passes-model")
    elif model.pending:
        st.caption(f"Asking every pass about {words(model.title)}.")
    else:
        firing = sum(one.matches > 0 for one in (model.would or {}).values())
        text = f"{counted(firing, 'pass', 'passes')} would fire in the source of"
        st.caption(f"{text} {words(model.title)}.")


def _acting(model: InModel) -> set[str]:
    would = {one.pass_id for one in (model.would or {}).values() if one.matches}
    return would | {pass_id for pass_id, counts in model.did.items() if counts.fired}


def _list(listed: Sequence[type[Pass]], model: InModel) -> type[Pass] | None:
    """The passes that are meant; the one that is shown."""
    st.caption(f"{counted(len(listed), 'pass', 'passes')}")
    if not listed:
        show_message("No pass is like that. Take a filter away.", key="passes-none")
        return None
    titles = {one.id: one.title() for one in listed}
    chosen = current().of(PassesChoice).shown
    st.session_state[_LIST] = chosen if chosen in titles else listed[0].id
    with st.container(key="pass-list"):
        st.radio(
            "Passes",
            list(titles),
            format_func=lambda one: words(titles[one]),
            captions=[words(_caption(one, model)) for one in listed],
            key=_LIST,
            on_change=lambda: _take(shown=st.session_state[_LIST]),
            label_visibility="collapsed",
        )
    scroll = _SCROLL.replace("PASS", st.session_state[_LIST])
    st.html(scroll, unsafe_allow_javascript=True)
    return find(st.session_state[_LIST])


def _caption(one: type[Pass], model: InModel) -> str:
    """Level and numerics, and what it does in the open model."""
    counts, preview = model.did.get(one.id), (model.would or {}).get(one.id)
    parts = [one.family, one.exactness]
    if counts is not None and counts.fired:
        parts.append(f"fired {counts.fired}×")
    elif preview is not None and preview.matches:
        parts.append(f"would fire {_times(preview)}")
    if preview is not None and preview.declined:
        parts.append(f"declined {preview.declined}")
    return " · ".join(parts)


def _times(preview: Preview) -> str:
    return f"{'' if preview.whole else '≥ '}{preview.matches}×"


def _take(**changes: str) -> None:
    workspace = current()
    remember(workspace.having(replace(workspace.of(PassesChoice), **changes)))


def _pass(declared: type[Pass], model: InModel) -> None:
    """Everything about one pass."""
    st.html(heading_html(declared))
    _in_model(declared, model)
    if picture := picture_of(declared.id, dark=is_dark()):
        with st.container(key="pass-picture"):
            st.image(picture, width="content", alt=told_of(declared.id))
            st.caption("One of its test cases.")
    st.html(before_after_html(declared))
    st.html(safety_html(declared))
    if spelled := spellings_html(declared):
        with st.expander("How it is spelled, and what else has to hold"):
            st.html(spelled)


def _in_model(declared: type[Pass], model: InModel) -> None:
    """What it did and would do here, each with the way to its place in Rewrite."""
    counts, preview = model.did.get(declared.id), (model.would or {}).get(declared.id)
    if model.would is None and counts is None:
        return
    with st.container(key="pass-here", border=True):
        st.markdown(f"**In {words(model.title)}**")
        if counts is None and preview is None:
            st.text(_silent(declared))
        with st.container(horizontal=True):
            if counts is not None and counts.fired:
                text = f"Fired {counts.fired}×: step {counts.first}"
                if st.button(text, icon=":material/arrow_forward:", key="pass-fired"):
                    _show(counts.first, ())
            if preview is not None and preview.matches:
                text = f"Fires {_times(preview)} in the source"
                if st.button(text, icon=":material/filter_center_focus:", key="pass-would"):
                    _show(0, preview.places)
        if preview is not None and preview.near:
            _declined(preview)


def _silent(declared: type[Pass]) -> str:
    """Why nothing is known that a pass would do."""
    if missing := declared.missing():
        return f"It was not asked: {missing}."
    if not can_be_asked(declared):
        return "It was not asked: it works on the whole graph at once. Switch it on to see."
    return "In the source it finds nothing, and nothing that comes near; others may make a place."


def _declined(preview: Preview) -> None:
    """Reasons of near misses, each with its places."""
    st.caption(f"Declined {preview.declined}× in the source:")
    reasons = Counter(near.condition for near in preview.near)
    places = _places(preview)
    for number, (reason, times) in enumerate(reasons.most_common(MOST_REASONS)):
        if st.button(words(f"{reason} ×{times}"), type="tertiary", key=f"pass-declined-{number}"):
            _show(0, places[reason])
    if len(reasons) > MOST_REASONS:
        st.caption(f"and {counted(len(reasons) - MOST_REASONS, 'more reason')}")


def _places(preview: Preview) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for near in preview.near:
        found.setdefault(near.condition, []).append(near.root)
    return found


def _show(step: int, nodes: Sequence[str]) -> NoReturn:
    """To Rewrite, at a step, with these nodes selected."""
    workspace = current()
    select = tuple(dict.fromkeys(nodes))[:MAX_LISTED]
    before = "previous" if step else "source"
    view = replace(workspace.view, step=step, before=before, select=select, open=None)
    remember(replace(workspace, view=view, seq=workspace.seq + 1))
    go_to("rewrite")
