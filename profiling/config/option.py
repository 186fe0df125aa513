"""What an option is: its type, its bounds, and the error for anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from optimizer.errors import StudioError, quoted

Value = bool | int | str
Group = Literal["session", "cpu", "cuda"]


class ConfigError(StudioError):
    """An option is unknown, has an impossible value, or contradicts another."""


@dataclass(frozen=True, slots=True)
class Option:
    """One field of `RunConfig` as a form or a help text needs it.

    Attributes:
        name: of the field, and on the command line.
        default: the value if nothing is said.
        doc: one line.
        group: `cuda` options count only on an NVIDIA GPU.
        choices: all allowed values of a `str`, else empty.
        low: smallest `int`.
        high: largest `int`.
    """

    name: str
    default: Value
    doc: str
    group: Group
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0

    @property
    def type(self) -> type[bool] | type[int] | type[str]:
        """Type of all its values."""
        if isinstance(self.default, bool):
            return bool
        return int if isinstance(self.default, int) else str


def about(
    doc: str, *, group: Group = "session", choices: Sequence[str] = (), low: int = 0, high: int = 0
) -> dict[str, Any]:
    """An option's metadata: everything about it that its field does not say."""
    return {"doc": doc, "group": group, "choices": tuple(choices), "low": low, "high": high}


def check_value(option: Option, value: object) -> Value:
    """The value, if the option can have it.

    Raises:
        ConfigError: it cannot.
    """
    if not isinstance(value, bool | int | str) or type(value) is not option.type:
        raise impossible(option, value)
    if option.choices and value not in option.choices:
        raise impossible(option, value)
    if type(value) is int and not option.low <= value <= option.high:
        raise impossible(option, value)
    return value


def impossible(option: Option, value: object) -> ConfigError:
    """The error that says what the option can be."""
    if option.choices:
        allowed = " or ".join(option.choices)
    elif option.type is bool:
        allowed = "true or false"
    else:
        allowed = f"a whole number from {option.low} to {option.high}"
    return ConfigError(f"{option.name} cannot be {quoted(str(value))}; it is {allowed}.")
