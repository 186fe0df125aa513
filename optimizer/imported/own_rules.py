"""Who may have rules of their own run: whoever types a command or calls a function, no visitor.

A file of rules is a program. A pipeline that came with a link or an upload may name one, and a
server must not run it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from optimizer.errors import quoted

SETS = ("default", "onnx_fusions", "ort_fusions")
_ALLOWED: ContextVar[bool] = ContextVar("own_rules", default=False)


@contextmanager
def own_rules_allowed() -> Generator[None]:
    """Files and modules with rules are run for as long as this lasts."""
    token = _ALLOWED.set(True)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def unfit(names: Iterable[str]) -> str:
    """Why these sets of rules are not asked here; empty if they are."""
    own = [name for name in names if name not in SETS]
    if own and not _ALLOWED.get():
        return f"Rules of a file or module are run by the command line only: {quoted(own[0])}"
    lost = next((name for name in own if name.endswith(".py") and not Path(name).is_file()), "")
    return f"There is no file of rules: {quoted(lost)}" if lost else ""
