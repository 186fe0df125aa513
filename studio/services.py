"""What all browser sessions of one server share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from optimizer.findings import Status
from profiling.config.option import Group
from profiling.execution.availability import availability
from profiling.records import Records
from profiling.workers import WorkerPool, default_pool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.recordings.keeper import Keeper, database_url, is_shared
from studio.tasks import Tasks
from studio.turns import Turns


@lru_cache(maxsize=1)
def store() -> Store:
    """The store of opened models and runs."""
    return Store(default_pool(), let_go=let_go)


def let_go() -> None:
    """Forget what lies in the store and was found before; who has it open holds it himself."""
    tasks().drop_results((OpenedModel, OpenedRun, Path))


@lru_cache(maxsize=1)
def pool() -> WorkerPool:
    """The worker processes."""
    return default_pool()


@lru_cache(maxsize=1)
def machine_groups() -> Mapping[Group, Status]:
    """Which run-time options count on this machine; found out once."""
    return availability(default_pool())


@lru_cache(maxsize=1)
def tasks() -> Tasks:
    """Work going on in the background."""
    return Tasks()


@lru_cache(maxsize=1)
def turns() -> Turns:
    """Who may have passes asked now."""
    return Turns()


@lru_cache(maxsize=1)
def records() -> Records:
    """What was measured.

    Raises:
        StudioError: `PASSLENS_DATABASE_URL` names no database.
    """
    return Records(database_url())


@lru_cache(maxsize=1)
def keeper() -> Keeper:
    """Where experiments leave what they found: `keeper().keep` never fails."""
    return Keeper(records, shared=is_shared())
