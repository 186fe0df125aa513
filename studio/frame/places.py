"""The pages, in the order of the bar: each the folder in `studio/` whose `page.py` draws it."""

from __future__ import annotations

PLACES = (
    "model", "rewrite", "run", "memory", "cost", "layout", "precision", "schedule", "history",
    "passes", "export",
)  # fmt: skip
BEHIND_SHARE = "export"
"""The page that has no link in the bar."""
HOME = "rewrite"
"""The page without a name in the address."""


def title(place: str) -> str:
    """What the bar calls a page."""
    return place.capitalize()
