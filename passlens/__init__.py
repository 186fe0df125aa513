"""Passlens for programs: open a model, optimize it, look at every rewrite, verify, race, plan.

>>> import passlens
>>> model = passlens.open_model("tour")  # a path, or the id of a sample network
>>> trace = passlens.optimize(model)
>>> first = trace.rewrites[0]
>>> print(first.step, first.pass_id, first.reason)
1 eliminate-dropout Without training_mode Dropout copies its input.
>>> passlens.verify(model, trace).verdict
'equal'

What goes wrong because of a model or an argument is a `passlens.StudioError`. Nothing is imported
before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optimizer.errors import StudioError
    from optimizer.model.graph import Model
    from optimizer.pipeline import Pipeline
    from passlens.models import open_model
    from passlens.plans import plan
    from passlens.races import Race, race, verify
    from passlens.traces import Trace, export, open_trace, optimize, replay

__all__ = [
    "Model",
    "Pipeline",
    "Race",
    "StudioError",
    "Trace",
    "export",
    "open_model",
    "open_trace",
    "optimize",
    "plan",
    "race",
    "replay",
    "verify",
]

_HOMES = {
    "optimizer.errors": ("StudioError",),
    "optimizer.model.graph": ("Model",),
    "optimizer.pipeline": ("Pipeline",),
    "passlens.models": ("open_model",),
    "passlens.plans": ("plan",),
    "passlens.races": ("Race", "race", "verify"),
    "passlens.traces": ("Trace", "export", "open_trace", "optimize", "replay"),
}


def __getattr__(name: str) -> object:
    """What is asked for, imported now."""
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(home), name)
            return found
    if name == "__version__":
        return import_module("importlib.metadata").version("passlens")
    raise AttributeError(f"module 'passlens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
