"""Options as text: `--set`, `--vary`, and the values of a form."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from optimizer.codec import written_as
from optimizer.errors import quoted
from profiling.config import RunConfig, options
from profiling.config.contradiction import Changes, Conflict, Contradictory
from profiling.config.option import (
    SEPARATOR,
    ConfigError,
    Option,
    Value,
    check_value,
    impossible,
)

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_MAX_VARIANTS = 64


def read_settings(settings: Iterable[str]) -> dict[str, Value]:
    """Option -> value from `OPTION=VALUE` texts; one by one, not whether they go together.

    Raises:
        ConfigError: if a text is malformed, an option unknown or a value impossible.
    """
    return read_values(dict(_split(text) for text in settings))


def read_values(values: Mapping[str, object]) -> dict[str, Value]:
    """Option -> value in the option's type, numbers and booleans also from text."""
    return {name: read_value(find_option(name), value) for name, value in values.items()}


def from_values(values: Mapping[str, object], *, base: RunConfig | None = None) -> RunConfig:
    """A config from option names and values, numbers and booleans also as text."""
    changes: Any = read_values(values)  # checked value by value
    return dataclasses.replace(base or RunConfig(), **changes)


def variations(
    base: Mapping[str, Value], varied: Iterable[str]
) -> tuple[tuple[str, dict[str, Value]], ...]:
    """Every combination of `OPTION=V1,V2` texts, as `--vary` takes them, each with a label.

    Args:
        base: what is set for all.
        varied: the texts.

    Returns:
        Labels, and what is set for each.

    Raises:
        ConfigError: a value is impossible, or there are more than 64 combinations.
    """
    axes: list[tuple[str, list[str]]] = []
    for text in varied:
        name, listing = _split(text)
        find_option(name)
        axes.append((name, [value.strip() for value in listing.split(",")]))
    combinations = list(itertools.product(*(values for _, values in axes)))
    if len(combinations) > _MAX_VARIANTS:
        raise ConfigError(
            f"These options make {len(combinations)} combinations "
            f"(limit {_MAX_VARIANTS}); vary fewer."
        )
    found: list[tuple[str, dict[str, Value]]] = []
    for combination in combinations:
        values = {name: value for (name, _), value in zip(axes, combination, strict=True)}
        label = ", ".join(f"{name}={value}" for name, value in values.items())
        found.append((label or "default", {**base, **read_values(values)}))
    return tuple(found)


def mended(values: Mapping[str, Value], first: Changes) -> dict[str, Value]:
    """The options with `first` set, and with what else that calls for; consistent.

    What was set against one contradiction is not taken back against the next, so it ends.

    Args:
        values: options by name.
        first: one of the mends of their contradiction.

    Raises:
        ConfigError: a value is impossible.
    """
    found, settled = {**values, **first}, set(first)
    while (problem := contradiction_of(found)) is not None:
        change = next(mend for mend in problem.mends if settled.isdisjoint(mend))
        found |= change
        settled |= set(change)
    return found


def contradiction_of(values: Mapping[str, Value]) -> Conflict | None:
    """The first contradiction among options by name; None where there is none."""
    try:
        from_values(values)
    except Contradictory as error:
        return error.contradiction
    return None


def find_option(name: str) -> Option:
    """The option of that name.

    Raises:
        ConfigError: there is none; the message names the nearest one.
    """
    known = {option.name: option for option in options()}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "passlens bench --help lists all."
    raise ConfigError(f"There is no option {quoted(name)}; {hint}")


def read_value(option: Option, value: object) -> Value:
    """`value`, or what the text says in the option's type.

    Raises:
        ConfigError: the option cannot have it.
    """
    if isinstance(value, str) and option.item:
        value = SEPARATOR.join(value.replace(SEPARATOR, " ").split())  # a link's + is a space
    if not isinstance(value, str) or option.type is str:
        return check_value(option, value)
    text = value.strip().lower()
    if option.type is bool and text in _TRUE | _FALSE:
        return text in _TRUE
    if option.type is int:
        try:
            return check_value(option, int(text))
        except ValueError:
            pass
    raise impossible(option, value)


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{quoted(text)} is no setting; write OPTION=VALUE.")
    return name.strip(), value.strip()


written_as(RunConfig, RunConfig.changed, from_values)
