"""Kernels: which implementation is best for the operators that take the time."""

from __future__ import annotations

from studio.pages.run.setting import Setting


def render_section(setting: Setting) -> None:
    """The section."""
    del setting
