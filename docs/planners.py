"""The page of all planners, made of the registry."""

from __future__ import annotations

from optimizer.memory.registry import Planner, planners

_GENERATED = "<!-- Written by `make docs` from the planners' docstrings. -->"
_SPEED = {
    "fast": "ends by itself in milliseconds",
    "search": "goes on until the bound is met or its budget ends",
}


def planners_page() -> str:
    """Every planner with what it does and where it comes from."""
    sections = [_section(known) for known in planners()]
    intro = "From naive to clever. What they plan, and how to read a plan: [memory](memory.md)."
    return "\n\n".join([_GENERATED, "# Planners", intro, *sections]) + "\n"


def _section(known: Planner) -> str:
    return f"## {known.title}\n\n`{known.id}` · {_SPEED[known.speed]}\n\n{known.documentation}"
