"""`passlens bench`: race models against each other on this machine's CPU."""

from __future__ import annotations

from typing import Any


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
