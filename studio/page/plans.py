"""From a finding to the steps that make it: the Rewrite page with a pipeline of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from optimizer.pipeline import Pipeline
from studio.artifacts.plans import keep_plan
from studio.page.parts import go_to
from studio.workspace import current, remember


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
    remember(replace(workspace, view=view))
    go_to("rewrite")
