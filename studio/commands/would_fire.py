"""How often each pass would fire on a model as it is: `passlens passes MODEL`."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from optimizer.rewrite.what_if import Preview, what_if
from optimizer.source import open_source
from profiling.workers import default_pool
from studio.artifacts.preview import asked_passes
from studio.commands.models import bindings, model_path

PASS_SECONDS = 5.0


def previews(model: str, bind: list[str]) -> Mapping[str, Preview]:
    """What the passes would do to a model, by id; those that plan a whole graph are not asked.

    Raises:
        StudioError: the model cannot be opened or optimized.
    """
    opened = open_source(model_path(model), isolate=default_pool(), bind=bindings(bind))
    if not (optimizable := opened.statuses.optimizable).ok:
        raise StudioError(f"The model cannot be optimized: {optimizable.reason}")
    nothing = Pipeline.of("none")
    found = what_if(opened.ir, asked_passes(nothing), nothing, seconds=PASS_SECONDS)
    return {one.pass_id: one for one in found}
