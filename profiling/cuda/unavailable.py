"""What is said where something of NVIDIA's is missing."""

from __future__ import annotations

from optimizer.errors import RunError

INSTALL = "pip install passlens[gpu]"


class Unavailable(RunError):
    """A measurement that this machine cannot make; the message says what is missing."""
