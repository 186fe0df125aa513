"""The variants of the Run page: which graphs, under which options, for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import cast

import streamlit as st

from optimizer.registry import PRESETS
from profiling.config.question import QUESTIONS, As, config_for, explained
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.page.parts import choose_section, words
from studio.variants.chosen import chosen_of, graph_name, is_preset
from studio.variants.contradictions import ContradictoryQuestion, problem_of, with_mend
from studio.variants.link import (
    LAST,
    LEAST_SECONDS,
    MOST_SECONDS,
    MOST_VARIANTS,
    SOURCE,
    RunChoice,
    VariantChoice,
    plan_of,
)
from studio.variants.options import common_options, vary
from studio.variants.problem import mend_text
from studio.variants.sets import sets_of
from studio.variants.variant import Chosen
from studio.workspace import current, remember

_STEP = "step"
_LAST_SOUND = "run-last-sound"


def choose(model: OpenedModel, run: OpenedRun) -> tuple[Chosen, ContradictoryQuestion | None]:
    """The variants that are chosen; they are in the link.

    Where their options contradict each other: the problem, and the variants as they were before.
    """
    last: int = run.result.steps
    st.subheader("Variants", anchor=False)
    for index, choice in enumerate(current().of(RunChoice).variants):
        _row(index, choice, last=last)
    _more(last)
    _asked()
    _seconds()
    common_options()
    place = (model.key, run.key)
    problem = problem_of(current().of(RunChoice))
    if problem is not None:
        before, chosen = st.session_state.get(_LAST_SOUND, (None, None))
        return (chosen if before == place else _mended(problem, last=last)), problem
    chosen = chosen_of(current(), last=last)
    st.session_state[_LAST_SOUND] = (place, chosen)
    return chosen, None


def _mended(problem: ContradictoryQuestion, *, last: int) -> Chosen:
    """What would be chosen with the likeliest mend; a link may arrive with a contradiction."""
    workspace = current()
    mend = problem.contradiction.mends[0]
    sound = workspace.having(with_mend(workspace.of(RunChoice), problem, mend))
    return chosen_of(sound, last=last)


def _put(*variants: VariantChoice) -> None:
    _keep(replace(current().of(RunChoice), variants=variants))


def _keep(choice: RunChoice) -> None:
    remember(current().having(choice))


def _row(index: int, choice: VariantChoice, *, last: int) -> None:
    """One variant: its graph, what it varies, away with it."""
    workspace = current()
    is_step = choice.graph.isdecimal()
    graphs = [SOURCE, LAST]
    graphs += [p for p in PRESETS if not (is_preset(workspace) and p == workspace.preset)]
    chosen = [one.graph for one in workspace.of(RunChoice).variants]
    named = [graph for graph in chosen if graph in PRESETS or plan_of(graph)]
    graphs += dict.fromkeys(graph for graph in named if graph not in graphs)
    graphs += [_STEP] if last > 0 else []
    key = f"graph-{index}"
    st.session_state[key] = _STEP if is_step else choice.graph
    with st.container(key=f"variant-{index}", gap="xsmall"):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            st.selectbox(
                f"Variant {index + 1}",
                graphs,
                format_func=lambda graph: (
                    "a step …" if graph == _STEP else graph_name(graph, workspace, last=last)
                ),
                key=key,
                on_change=_pick_graph,
                args=(index, last),
                label_visibility="collapsed",
            )
            _tune(index, choice)
            st.button(
                "",
                icon=":material/close:",
                key=f"remove-{index}",
                help="Leave it out",
                type="tertiary",
                on_click=_remove,
                args=(index,),
                disabled=len(workspace.of(RunChoice).variants) <= 2,
            )
        if is_step:
            _step(index, choice, last=last)
        if choice.options:
            st.caption(words(mend_text(dict(choice.options))))


def _step(index: int, choice: VariantChoice, *, last: int) -> None:
    key = f"step-{index}"
    st.session_state[key] = min(int(choice.graph), last)
    st.number_input(
        f"Step of variant {index + 1}, 0 to {last}",
        0,
        last,
        key=key,
        on_change=_pick_step,
        args=(index,),
        label_visibility="collapsed",
    )


def _tune(index: int, choice: VariantChoice) -> None:
    with st.popover("", icon=":material/tune:", type="tertiary", help="Options of this variant"):
        vary(index, choice, partial(_replace, index))
        st.button(
            "Duplicate",
            key=f"duplicate-{index}",
            icon=":material/content_copy:",
            on_click=_duplicate,
            args=(index,),
            disabled=len(current().of(RunChoice).variants) >= MOST_VARIANTS,
        )


def _replace(index: int, variant: VariantChoice) -> None:
    variants = list(current().of(RunChoice).variants)
    variants[index] = variant
    _put(*variants)


def _pick_graph(index: int, last: int) -> None:
    graph = st.session_state[f"graph-{index}"]
    variant = current().of(RunChoice).variants[index]
    _replace(index, replace(variant, graph=str(last // 2) if graph == _STEP else graph))


def _pick_step(index: int) -> None:
    variant = current().of(RunChoice).variants[index]
    _replace(index, replace(variant, graph=str(st.session_state[f"step-{index}"])))


def _remove(index: int) -> None:
    variants = current().of(RunChoice).variants
    _put(*variants[:index], *variants[index + 1 :])


def _duplicate(index: int) -> None:
    variants = current().of(RunChoice).variants
    _put(*variants[: index + 1], variants[index], *variants[index + 1 :])


def _more(last: int) -> None:
    """One more variant, or a whole set of them."""
    full = len(current().of(RunChoice).variants) >= MOST_VARIANTS
    with st.container(horizontal=True, gap="small", key="more-variants"):
        st.button(
            "Add",
            icon=":material/add:",
            on_click=lambda: _put(*current().of(RunChoice).variants, VariantChoice()),
            disabled=full,
            help=f"At most {MOST_VARIANTS}." if full else None,
        )
        with st.popover("Compare…", icon=":material/stacks:", help="Variants worth racing"):
            for name, choice in sets_of(current(), has_rewrites=last > 0).items():
                st.button(name, on_click=_keep, args=(choice,), type="tertiary", key=f"set-{name}")


_ASKED: Mapping[str, str] = {"both": "Both", "deployed": "Deployed", "bare": "Bare"}


def _asked() -> None:
    choose_section(
        _ASKED,
        current().of(RunChoice).asked,
        key="asked",
        take=lambda asked: _keep(replace(current().of(RunChoice), asked=cast("As", asked))),
        label="Race as",
        is_shown=True,
        told=explained([config_for(question, {})] for question in QUESTIONS),
    )


def _seconds() -> None:
    st.session_state["seconds"] = current().of(RunChoice).seconds
    st.slider(
        "Seconds of steady running, at most",
        LEAST_SECONDS,
        MOST_SECONDS,
        key="seconds",
        on_change=lambda: _keep(
            replace(current().of(RunChoice), seconds=int(st.session_state["seconds"]))
        ),
    )
