"""Settings that a link carries: every field says once how the link calls it and what it may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, cast

Value = TypeVar("Value")
Kind = TypeVar("Kind", bound="Settings")
Read = Callable[[str], Value | None]
"""A parameter's text -> its value; None where it makes no sense, and the default stands."""

_KEY = "parameter"


@dataclass(frozen=True, slots=True)
class Parameter(Generic[Value]):
    """How a field stands in a link; a default is left out of it."""

    name: str
    read: Read[Value]
    write: Callable[[Value], str]


def parameter(
    name: str, default: Value, read: Read[Value], write: Callable[[Value], str] = str
) -> Value:
    """A field of `Settings`.

    Args:
        name: of the link's parameter.
        default: left out of the link.
        read: the value of a text.
        write: the text of a value that is not the default.
    """
    metadata = {_KEY: Parameter(name, read, write)}
    return field(default=default, metadata=metadata)


class Settings:
    """What one feature is set to; its dataclass declares every field with `parameter`."""

    __slots__ = ()

    @property
    def plans(self) -> frozenset[str]:
        """Keys of kept pipelines that it needs."""
        return frozenset()

    def for_another_trace(self) -> Self:
        """Without what belongs to the steps of one trace."""
        return self

    def for_another_model(self) -> Self:
        """Without what belongs to one model."""
        return self.for_another_trace()

    def for_another_step(self) -> Self:
        """Without what belongs to the graph of one step."""
        return self


@cache
def all_settings() -> tuple[type[Settings], ...]:
    """The settings of every feature: `SETTINGS` of each folder's `link.py`."""
    folders = sorted(path.parent.name for path in Path(__file__).parent.glob("*/link.py"))
    return tuple(import_module(f"studio.{folder}.link").SETTINGS for folder in folders)


def to_link(settings: Settings) -> dict[str, str]:
    """The parameters of a link; defaults are left out."""
    usual = type(settings)()
    return {
        declared.name: declared.write(value)
        for name, declared in _parameters(type(settings)).items()
        if (value := getattr(settings, name)) != getattr(usual, name)
    }


def from_link(kind: type[Kind], query: Mapping[str, str]) -> Kind:
    """What a link says; what makes no sense in it is passed over."""
    found = {
        name: declared.read(query.get(declared.name, ""))
        for name, declared in _parameters(kind).items()
    }
    return kind(**{name: value for name, value in found.items() if value is not None})


def _parameters(kind: type[Settings]) -> dict[str, Parameter[Any]]:
    return {one.name: one.metadata[_KEY] for one in fields(cast("Any", kind))}


def one_of(values: Iterable[Value]) -> Read[Value]:
    """One of a few, by its text."""
    known = {str(value): value for value in values}
    return lambda text: known.get(text)


def whole(least: int, most: int) -> Read[int]:
    """A whole number, held to its limits."""
    return lambda text: (
        min(most, max(least, int(text))) if re.fullmatch("[0-9]{1,8}", text) else None
    )


def matching(pattern: re.Pattern[str]) -> Read[str]:
    """A text that matches as a whole."""
    return lambda text: text if pattern.fullmatch(text) else None
