"""What a contradiction between options is: why it is one, and what mends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from profiling.config.option import ConfigError, Value, setting_text
from profiling.config.tensorrt import TensorRtFields as Fields

Changes = Mapping[str, Value]
"""Options to set together, by name."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """What cannot be meant.

    Attributes:
        why: what is wrong, options by their names; no stop at its end.
        mends: what can be set against it, the likeliest first.
        todo: what to do, where the likeliest cannot be put as settings.
    """

    why: str
    mends: tuple[Changes, ...]
    todo: str = ""

    @property
    def sentence(self) -> str:
        """What is wrong and what to do."""
        return f"{self.why}; {self.todo or f'set {_settings(self.mends[0])}'}."


class Contradictory(ConfigError):
    """Options that cannot be meant together.

    Attributes:
        contradiction: the first of them.
    """

    def __init__(self, contradiction: Conflict) -> None:
        super().__init__(contradiction.sentence)
        self.contradiction = contradiction


@dataclass(frozen=True, slots=True)
class ConflictRule:
    """A combination that is refused.

    Attributes:
        about: the options that take part.
        broken: whether a config breaks it.
        why: what is wrong.
        mends: what can be set against it; a function where that depends on the config.
        todo: as in `Conflict`.
    """

    about: tuple[str, ...]
    broken: Callable[[Fields], bool]
    why: str
    mends: tuple[Changes, ...] | Callable[[Fields], tuple[Changes, ...]]
    todo: str = ""

    def of(self, config: Fields) -> Conflict:
        """What to say of a config that breaks it."""
        mends = self.mends(config) if callable(self.mends) else self.mends
        return Conflict(self.why, mends, self.todo)

    @property
    def sentence(self) -> str:
        """What is wrong and what to do, whatever the config."""
        mends = () if callable(self.mends) else self.mends
        return Conflict(self.why, mends, self.todo).sentence


def _settings(changes: Changes) -> str:
    return " and ".join(setting_text(name, value) for name, value in changes.items())
