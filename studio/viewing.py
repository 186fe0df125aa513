"""Between workspace and viewer: the descriptor sent to the browser, the events that come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlencode

from optimizer.pipeline import preset_names
from optimizer.pipeline_file import pipeline_from
from optimizer.registry import FAMILIES, passes
from studio.artifacts.opened import OpenedModel, OpenedRun, Verified
from studio.artifacts.plans import keep_plan
from studio.graphview.catalogue import catalogue
from studio.overlays import offered
from studio.tasks import Task
from studio.versus import Versus
from studio.workspace import Veto, View, Workspace, to_query

Descriptor = dict[str, Any]


def model_descriptor(workspace: Workspace, model: OpenedModel) -> Descriptor:
    """The viewer with one pane: the source graph."""
    return {
        "seq": workspace.seq,
        "mode": "model",
        "graph": graph_address(model),
        "steps": None,
        "overlays": offered(model, None),
        "busy": None,
        "message": None,
        "select": list(workspace.view.select),
        "open": open_groups(workspace.view),
    }


def workbench(
    workspace: Workspace,
    opening: Task[OpenedModel],
    running: Task[OpenedRun] | None,
    verifying: Task[Verified] | None = None,
    *,
    versus: Task[OpenedRun] | None = None,
    verifying_versus: Task[Verified] | None = None,
) -> Descriptor:
    """The viewer with everything: passes, both panes, scrubber, card."""
    optimizing = [task for task in (running, versus) if task is not None]
    # Before the results: a task may end in between, and what is not busy has its result.
    busy = [_busy(opening, "Opening"), *(_busy(task, "Optimizing") for task in optimizing)]
    model = opening.result
    run = running.result if running is not None else None
    enabled = workspace.own_versus().plain.ids
    error = next((task.error for task in (opening, *optimizing) if task.error is not None), None)
    return {
        "seq": workspace.seq,
        "mode": "rewrite",
        "graph": graph_address(model) if model is not None else None,
        "steps": steps_address(model, run) if model is not None and run is not None else None,
        "what_if": what_if_address(model, run) if model is not None and run is not None else None,
        "overlays": offered(model, run) if model is not None and run is not None else {},
        "busy": next(filter(None, busy), None),
        "message": {"kind": "error", "text": error.message} if error is not None else None,
        "step": workspace.view.step,
        "before": workspace.view.before,
        "select": list(workspace.view.select),
        "open": open_groups(workspace.view),
        "pipeline": {
            "preset": workspace.preset,
            "presets": list(preset_names()),
            "name": workspace.own_versus().name(),
            "enabled": list(enabled),
            "order": list(workspace.running_order()),
            "file": f"/api/pipeline.json?{urlencode(to_query(replace(workspace, view=View())))}",
            "vetoed": [asdict(veto) for veto in sorted(workspace.vetoed, key=lambda v: v.root)],
        },
        "passes": catalogue(enabled),
        "versus": _versus(workspace, model, versus),
        "verified": _both_verified(workspace, verifying, verifying_versus),
    }


def _versus(
    workspace: Workspace, model: OpenedModel | None, task: Task[OpenedRun] | None
) -> Descriptor | None:
    """The pipeline beside it; without steps as long as they are being made."""
    if workspace.versus is None:
        return None
    run = task.result if task is not None else None
    return {
        "id": workspace.versus.to_link(),
        "name": workspace.versus.name(),
        "steps": steps_address(model, run) if model is not None and run is not None else None,
    }


def _both_verified(
    workspace: Workspace, mine: Task[Verified] | None, other: Task[Verified] | None
) -> dict[str, str] | None:
    """That of the pipeline; beside another one that of each, by its name, the worst one first."""
    first, second = _verified(mine), _verified(other)
    if workspace.versus is None or first is None or second is None:
        return first
    named = [(workspace.own_versus().name(), first), (workspace.versus.name(), second)]
    named.sort(key=lambda one: _WORST_FIRST.index(one[1]["verdict"]))
    text = " ".join(f"{name}: {told['text']}" for name, told in named)
    return {"verdict": named[0][1]["verdict"], "text": text}


_WORST_FIRST = ("differs", "exceeds", "not_run", "running", "within", "equal")


def _verified(task: Task[Verified] | None) -> dict[str, str] | None:
    """Whether the outputs are equal, as far as it is known."""
    if task is None:
        return None
    if not task.done:
        return {"verdict": "running", "text": "Comparing the outputs with the source's."}
    if task.error is not None:
        return {"verdict": "not_run", "text": task.error.message}
    return asdict(task.result) if task.result is not None else None


def graph_address(model: OpenedModel) -> dict[str, str]:
    """Where the browser finds the source graph."""
    return {"key": model.key, "url": f"/api/graph/{model.key}.json"}


def steps_address(model: OpenedModel, run: OpenedRun) -> dict[str, str]:
    """Where the browser finds the steps of a run."""
    return {"key": run.key, "url": f"/api/steps/{model.key}/{run.key}.json"}


def what_if_address(model: OpenedModel, run: OpenedRun) -> dict[str, str]:
    """Where the browser asks what passes would do: `/<step>/<part>.json` goes behind it."""
    return {"key": run.key, "url": f"/api/what-if/{model.key}/{run.key}"}


def open_groups(view: View) -> list[str] | None:
    """Groups that are open; None where the viewer chooses."""
    return list(view.open) if view.open is not None else None


def _busy(task: Task[Any], words: str) -> Descriptor | None:
    if task.done:
        return None
    return {"text": f"{words}: {task.text}", "fraction": task.fraction or None, "cancel": True}


def changed_pipeline(workspace: Workspace, event: Mapping[str, Any]) -> Workspace:
    """The workspace after a click in the pass list."""
    match event:
        case {"toggle": [str(pass_id), bool(enabled)]}:
            return workspace.with_pass(pass_id, enabled=enabled)
        case {"family": [str(family), bool(enabled)]} if family in FAMILIES:
            for declared in passes():
                if declared.family == family and not (enabled and declared.missing()):
                    workspace = workspace.with_pass(declared.id, enabled=enabled)
            return workspace
        case {"preset": str(preset)} if preset in preset_names():
            return workspace.with_preset(preset)
        case {"order": [*ids]}:
            return workspace.with_order(tuple(map(str, ids)))
        case {"file": [str(name), str(text)]}:
            return _with_file(workspace, name, text)
        case {"versus": str(text)}:
            own = workspace.own_versus()
            return replace(workspace, versus=own if text == "now" else Versus.from_link(text))
        case {"reset": True}:
            return replace(workspace.with_preset(workspace.preset), vetoed=frozenset())
        case _:
            return workspace


def _with_file(workspace: Workspace, name: str, text: str) -> Workspace:
    """The passes of a pipeline's file, with its options and vetoes.

    Raises:
        StudioError: it is no pipeline, or has a pass that is not here.
    """
    pipeline = pipeline_from(text, name=name)
    planned = workspace.with_plan(keep_plan(replace(pipeline, vetoed=frozenset()), title=name))
    return replace(planned, vetoed=frozenset(Veto(match, "", "") for match in pipeline.vetoed))


def changed_view(workspace: Workspace, event: Mapping[str, Any]) -> Workspace:
    """The workspace after the person has looked around."""
    step = event.get("step")
    groups = event.get("open")
    return workspace.looking_at(
        View(
            step=step if isinstance(step, int) else None,
            before="previous" if event.get("before") == "previous" else "source",
            select=tuple(str(i) for i in event.get("select") or ()),
            open=tuple(str(g) for g in groups) if groups is not None else None,
        ),
    )
