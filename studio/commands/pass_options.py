"""Options of passes as words of the command line: `convert-to-float16.format=bfloat16`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace

from optimizer.errors import StudioError, quoted
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass

_READ: Mapping[str, Callable[[str], object]] = {
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": int,
    "float": float,
    "str": str,
    "tuple[str, ...]": lambda text: tuple(part for part in text.split(",") if part),
}
"""How a value of each type is read."""


def with_options(pipeline: Pipeline, words: Sequence[str]) -> Pipeline:
    """The pipeline with options of its passes set.

    Raises:
        StudioError: a word is no option of a pass that runs, or its value cannot be read.
    """
    changed = {one.id: one for one in pipeline.passes}
    for word in words:
        place, equals, text = word.partition("=")
        identity, dot, name = place.rpartition(".")
        if not equals or not dot:
            raise StudioError(f"{quoted(word)} is no option; write PASS.NAME=VALUE.")
        if identity not in changed:
            raise StudioError(f"Pass {quoted(identity)} does not run; switch it on with --enable.")
        changed[identity] = _changed(changed[identity], name, text)
    return replace(pipeline, passes=tuple(changed[one.id] for one in pipeline.passes))


def _changed(one: Pass, name: str, text: str) -> Pass:
    kinds = {option.name: str(option.type) for option in fields(one)}
    if name not in kinds:
        known = ", ".join(kinds) or "none"
        raise StudioError(f"Pass '{one.id}' has no option {quoted(name)}; it has: {known}.")
    if kinds[name] not in _READ:
        raise StudioError(f"Option '{name}' of pass '{one.id}' is a table; it has no word.")
    try:
        return replace(one, **{name: _READ[kinds[name]](text)})
    except (KeyError, ValueError) as error:
        wanted = f"Option '{name}' of pass '{one.id}' takes {kinds[name]}"
        raise StudioError(f"{wanted}, not {quoted(text)}.") from error
