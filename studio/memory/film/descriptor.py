"""What the viewer is sent to show a film."""

from __future__ import annotations

from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.memory.film.job import film_url
from studio.memory.link import MemoryChoice
from studio.memory.request import ArenaRequest
from studio.viewing import Descriptor, graph_address, open_groups, steps_address
from studio.workspace import Workspace


def film_descriptor(
    workspace: Workspace, model: OpenedModel, run: OpenedRun, request: ArenaRequest, key: str
) -> Descriptor:
    """The viewer with one pane, the graph of a step, beside the film of its allocator."""
    return {
        "seq": workspace.seq,
        "mode": "film",
        "graph": graph_address(model),
        "steps": steps_address(model, run) if request.step else None,
        "film": {"key": key, "url": film_url(model, run, request, key)},
        "step": request.step,
        "event": workspace.of(MemoryChoice).event,
        "select": [],
        "open": open_groups(workspace.view),
    }
