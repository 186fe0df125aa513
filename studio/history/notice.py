"""A recording that could not be kept is said on the page; nothing else fails for it."""

from __future__ import annotations

from studio.page.parts import show_message
from studio.services import keeper


def show_keeping_problem() -> None:
    """Why the last result is not in the History, if it is not."""
    problem = keeper().problem
    if problem:
        show_message(f"The last result was not kept. {problem}", key="not-kept")
