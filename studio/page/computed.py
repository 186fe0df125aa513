"""What is computed at once and takes a moment: the result, or progress in its place."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TypeVar

from studio.artifacts.artifact import Artifact
from studio.artifacts.opened import Subject
from studio.page.parts import settled
from studio.services import store, tasks
from studio.tasks import Work

Result = TypeVar("Result")
Request = TypeVar("Request")


def computed_artifact(
    artifact: Artifact[Request, Result], subject: Subject, request: Request, words: str
) -> Result | None:
    """What an artifact of a run is for a request; None while there is something else to show."""
    work = partial(store().get, artifact, subject, request)
    return computed(artifact.key(subject, request), work, words)


def computed(key: Hashable, work: Work[Result], words: str) -> Result | None:
    """The result of that key; None while there is progress or an error to show.

    Args:
        key: equal keys are the same work.
        work: started on first sight.
        words: what is being done, before its progress.
    """
    return settled(tasks().start(key, work), words, partial(tasks().drop_failed, key))
