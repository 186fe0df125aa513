"""Z3, which ships no types: whatever comes from it is a term."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

z3: Any = import_module("z3")

Term: TypeAlias = Any
"""An expression of Z3, of any sort."""


class Unsupported(Exception):
    """Why there is no term for something, in words for the page of proofs."""
