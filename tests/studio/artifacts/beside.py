"""Runs beside which passes are asked, for worker processes."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from optimizer.isolation import silent
from optimizer.registry import Pass
from optimizer.rewrite.graph_at import TraceFiles
from optimizer.rewrite.what_if import Answers, AskedGraph, Preview
from profiling.workers.forks import Beside
from studio.artifacts.jobs import rewrite_model
from studio.artifacts.opened import SOURCE, TRACE
from studio.artifacts.preview import StepPreview, make_preview

LIE = 123_456_789
"""How often a pass would fire, says the fork of `interrupted`."""


def rewritten(folder: Path, target: Path, pipeline: dict[str, Any]) -> None:
    """Make a run that waits at its end until all passes have answered."""
    _make(folder, target, pipeline, lambda: os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT))


def interrupted(folder: Path, target: Path, pipeline: dict[str, Any], most: int) -> StepPreview:
    """What passes say of the source of a run beside which `most` of them have lied."""
    pipe = os.pipe()
    heard = itertools.count()
    here = os.getpid()

    def lie(_: AskedGraph, one: Pass, before: object) -> tuple[Preview, Answers | None]:
        assert os.getpid() != here
        assert before is None
        if next(heard) == most:
            os.write(pipe[1], b"!")
            signal.pause()
        return Preview(one.id, LIE, 0), None

    with patch.object(AskedGraph, "preview", lie):
        _make(folder, target, pipeline, lambda: os.read(pipe[0], 1))
    return make_preview(TraceFiles(folder / SOURCE, target / TRACE), 0, progress=silent)


def _make(folder: Path, target: Path, pipeline: dict[str, Any], wait: Callable[[], object]) -> None:
    end = Beside[Any].end

    def end_after_wait(self: Beside[Any]) -> list[Any]:
        wait()
        return end(self)

    with patch.object(Beside, "end", end_after_wait):
        rewrite_model(folder, target, pipeline, progress=silent)
