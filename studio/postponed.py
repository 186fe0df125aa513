"""Modules that are loaded when they are first used, for commands that mostly never do.

The graph library imports sympy, which takes as long as all else together and serves arithmetic with
symbolic dimensions; Passlens has its own. Loading of this kind is safe in one thread only (Python
before 3.12.3), so a server does without.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

POSTPONED = frozenset({"sympy", "onnx_ir._symbolic_shapes"})
"""The second one uses the first as soon as it is loaded."""


class _Postponing(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in POSTPONED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def postpone() -> None:
    """From now on in this process."""
    sys.meta_path.insert(0, _Postponing())
