"""What an option is: its type, its bounds, and the error for anything else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from optimizer.errors import StudioError, quoted

Value = bool | int | str
Group = Literal["session", "cpu", "cuda", "tensorrt"]
Default = TypeVar("Default", bool, int, str)
Choice = TypeVar("Choice", bound=str)
SEPARATOR = "+"
"""Between the items of a list; commas already separate settings and values to vary."""

_MAX_TEXT = 1024  # the runtime's own limit for the value of a config entry


class ConfigError(StudioError):
    """An option is unknown, has an impossible value, or contradicts another."""


@dataclass(frozen=True, slots=True)
class Option:
    """One field of `RunConfig` as a form or a help text needs it.

    Attributes:
        name: of the field, and on the command line.
        label: for people.
        default: the value if nothing is said.
        unit: of its numbers; empty where they only count, or are none.
        zero: what 0 means, where that is no number.
        doc: one line.
        group: `cuda` options count only on an NVIDIA GPU, `tensorrt` ones only with TensorRT.
        keys: what the runtime calls it; `SessionOptions.x` is an attribute.
        choices: all allowed values of a `str`, else empty.
        low: smallest `int`.
        high: largest `int`.
        item: pattern of one item, if the text is a list; the empty text is the empty list.
        known: all items there are, if that is known.
        codes: what the runtime calls its choices, in their order; empty where it calls them so.
        negated: whether the runtime's key says the opposite: 1 for off.
        always: write it also at its default, for the runtime has another one.
        joined: between items where the runtime reads them.
        signed: the runtime wants every known item, those that are not listed with a minus.
    """

    name: str
    label: str
    default: Value
    doc: str
    group: Group
    keys: tuple[str, ...]
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    item: str = ""
    known: tuple[str, ...] = ()
    unit: str = ""
    zero: str = ""
    codes: tuple[str, ...] = ()
    negated: bool = False
    always: bool = False
    joined: str = ","
    signed: bool = False

    @property
    def title(self) -> str:
        """The label with its unit, as a form has it."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    def is_about(self, text: str) -> bool:
        """Whether every word of a search is somewhere in what is known about it."""
        known = (self.label, self.unit, self.name, self.doc, *self.keys, *self.choices)
        everything = " ".join(known).casefold()
        return all(word in everything for word in text.casefold().split())

    @property
    def type(self) -> type[bool] | type[int] | type[str]:
        """Type of all its values."""
        if isinstance(self.default, bool):
            return bool
        return int if isinstance(self.default, int) else str

    def coded(self, value: Value) -> Value:
        """What the runtime calls a choice; any other value as it is."""
        return self.codes[self.choices.index(str(value))] if self.codes else value

    @property
    def allowed(self) -> str:
        """All its values, in words."""
        if self.choices:
            return " or ".join(self.choices)
        if self.type is bool:
            return "true or false"
        if self.type is int:
            return f"a whole number from {self.low} to {self.high}"
        return f"a list, separated by {SEPARATOR}"


def switch(
    label: str,
    doc: str,
    *keys: str,
    default: bool = False,
    negated: bool = False,
    always: bool = False,
) -> bool:
    """Declare an option that is on or off; for the arguments see `Option`."""
    return _declared(default, label, doc, keys, negated=negated, always=always)


def choice(default: Choice, label: str, doc: str, *keys: str, codes: Sequence[str] = ()) -> Choice:
    """Declare an option with the values of its field's `Literal`."""
    return _declared(default, label, doc, keys, codes=tuple(codes))


def number(
    default: int,
    label: str,
    doc: str,
    *keys: str,
    low: int = 0,
    high: int,
    unit: str = "",
    zero: str = "",
) -> int:
    """Declare an option with a whole number."""
    text = f"{doc}; 0 is {zero}" if zero else doc
    return _declared(default, label, text, keys, low=low, high=high, unit=unit, zero=zero)


def listing(
    label: str,
    doc: str,
    *keys: str,
    item: str,
    known: Sequence[str] = (),
    joined: str = ",",
    signed: bool = False,
) -> str:
    """Declare an option that is a list, empty by default."""
    more = {"item": item, "known": tuple(known), "joined": joined, "signed": signed}
    return _declared("", label, doc, keys, **more)


def _declared(
    default: Default, label: str, doc: str, keys: tuple[str, ...], **more: Any
) -> Default:
    """A field's default for whoever reads the class, the field with all about it for `options`."""
    declared: Any = field(
        default=default, metadata={"label": label, "doc": doc, "keys": keys, **more}
    )
    return declared


def value_text(option: Option, value: Value) -> str:
    """A value for people: "on", "1024 MiB", "none"."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value == 0 and option.zero:
        return option.zero
    return f"{value} {option.unit}".rstrip() if value != "" else "none"


def setting_text(name: str, value: Value) -> str:
    """`name=value`, as on the command line and in links."""
    return f"{name}={str(value).lower() if isinstance(value, bool) else value}"


def items(text: str) -> list[str]:
    """The items of a list."""
    return text.split(SEPARATOR) if text else []


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
    if isinstance(value, str) and not option.choices:
        _check_list(option, value)
    return value


def impossible(option: Option, value: object) -> ConfigError:
    """The error that says what the option can be."""
    return ConfigError(f"{option.name} cannot be {quoted(str(value))}; it is {option.allowed}.")


def _check_list(option: Option, text: str) -> None:
    if len(text) > _MAX_TEXT:
        raise ConfigError(
            f"{option.name} has {len(text)} characters (limit {_MAX_TEXT}); list fewer."
        )
    found = items(text)
    for item in found:
        if not re.fullmatch(option.item, item):
            raise ConfigError(
                f"{quoted(item)} cannot be in {option.name}; separate items by {SEPARATOR}, "
                f"each like {example(option)}."
            )
        if option.known and item not in option.known:
            near = difflib.get_close_matches(item, option.known, n=1) or option.known[:1]
            raise ConfigError(f"{option.name} knows no {quoted(item)}; did you mean {near[0]}?")
    if len(set(found)) < len(found):
        raise ConfigError(f"{option.name} names an item twice; name each once.")


def example(option: Option) -> str:
    """An item that the list can have."""
    if option.known:
        return option.known[0]
    candidates = ("Softmax", "8", "2-3", "image:1x3x224x224")
    return next(item for item in candidates if re.fullmatch(option.item, item))
