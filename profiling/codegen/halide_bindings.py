"""Halide's own bindings: they have no types, and bring native code along. Only in a worker."""

from __future__ import annotations

from importlib import import_module
from typing import Any

hl: Any = import_module("halide")
Expr = Any
"""A Halide expression."""
