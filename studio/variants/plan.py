"""From a finding to what comes of it: a plan's steps in Rewrite, or a race against the source."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import streamlit as st

from optimizer.pipeline import Pipeline
from studio.artifacts.plans import keep_plan
from studio.page.parts import go_to
from studio.variants.link import SOURCE, RunChoice, VariantChoice, graph_of
from studio.workspace import current, remember, remember_elsewhere


def offer_plan(pipeline: Pipeline, *, title: str, key: str) -> None:
    """Two buttons, in a row that the page has opened.

    Args:
        pipeline: of the plan.
        title: for people; may quote the model.
        key: of the widgets.
    """
    if st.button("Open in Rewrite", icon=":material/account_tree:", key=f"open-{key}"):
        open_plan(pipeline)
    if st.button("Race against the source", icon=":material/flag:", key=f"race-{key}"):
        _race(pipeline, title)


def open_plan(pipeline: Pipeline, *, node: str = "", step: int | None = None) -> NoReturn:
    """To Rewrite, with exactly these passes on, with their options and places.

    Args:
        pipeline: of the plan.
        node: id of a node to select.
        step: of its trace; the last unless given.
    """
    workspace = current().with_plan(keep_plan(pipeline))
    view = replace(workspace.view, step=step, before="previous" if step else "source")
    if node:
        view = replace(view, select=(node,), open=None)
    remember_elsewhere(replace(workspace, view=view))
    go_to("rewrite")


def _race(pipeline: Pipeline, title: str) -> NoReturn:
    """To Run, with the source and the plan as variants; the passes of Rewrite stay as they are."""
    workspace = current()
    plan = VariantChoice(graph_of(keep_plan(pipeline, title=title)))
    choice = workspace.of(RunChoice)
    raced = replace(choice, section="race", variants=(VariantChoice(SOURCE), plan))
    remember(workspace.having(raced))
    go_to("run")
