"""What the benchmark knows of a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Network:
    """A network, the tensors it takes, and what its results are called.

    Attributes:
        id: on the command line.
        build: an `nn.Module` in evaluation mode, float32, the same weights every time.
        inputs: tensors by name, in the order of the module's arguments.
        outputs: names, in the order of the module's results.
        half: whether its results in float16 are close enough to be of use.
    """

    id: str
    build: Callable[[], Any]
    inputs: Callable[[], dict[str, Any]]
    outputs: tuple[str, ...]
    half: bool = True
