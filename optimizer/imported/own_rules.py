"""Who may have rules of their own run: whoever names them in a command or calls a function.

A file of rules is a program. A pipeline that came as a file, with a link or as an upload may name
one, and nobody may run it for that.
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


def named_in(options: Iterable[str]) -> bool:
    """Whether words of the command line, PASS.NAME=VALUE, name sets of rules."""
    return any(word.partition("=")[0].endswith(".rule_sets") for word in options)


def unfit(names: Iterable[str]) -> str:
    """Why these sets of rules are not asked here; empty if they are."""
    told = "Rules of a file or module are run only where a command names them"
    own = [name for name in names if name not in SETS]
    if own and not _ALLOWED.get():
        return f"{told} (--option rewrite-by-onnxscript.rule_sets=…): {quoted(own[0])}"
    lost = next((name for name in own if name.endswith(".py") and not Path(name).is_file()), "")
    return f"There is no file of rules: {quoted(lost)}" if lost else ""
