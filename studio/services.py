"""What all browser sessions of one server share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from optimizer.model.findings import Status
from profiling.config.availability import availability
from profiling.config.option import Group
from profiling.workers import WorkerPool, default_pool
from studio.store import Store
from studio.tasks import Tasks


@lru_cache(maxsize=1)
def store() -> Store:
    """The store of opened models and runs."""
    return Store(default_pool())


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
