"""Configs as people write them at the command line."""

from __future__ import annotations

from collections.abc import Iterable

from profiling.config import RunConfig
from profiling.config.settings import from_values, read_settings


def from_settings(settings: Iterable[str], *, base: RunConfig | None = None) -> RunConfig:
    """A config from `OPTION=VALUE` texts, as `--set` takes them."""
    return from_values(read_settings(settings), base=base)
