"""What all browser sessions of one server share."""

from __future__ import annotations

from functools import lru_cache

from profiling.workers import default_pool
from studio.store import Store
from studio.tasks import Tasks


@lru_cache(maxsize=1)
def store() -> Store:
    """The store of opened models and runs."""
    return Store(default_pool())


@lru_cache(maxsize=1)
def tasks() -> Tasks:
    """Work going on in the background."""
    return Tasks()
