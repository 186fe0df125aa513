"""A pipeline as words of the command line: `--preset cpu --option convert-to-float16.…=…`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path

from optimizer.errors import StudioError, quoted
from optimizer.pipeline import Pipeline, preset_names
from optimizer.pipeline_file import read_pipeline
from optimizer.registry import PORTABLE, Pass, preset_named
from profiling.kernels.generated.won_schedules import with_won_schedules
from profiling.records import Records
from studio.recordings.keeper import database_url

_READ: Mapping[str, Callable[[str], object]] = {
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": int,
    "float": float,
    "str": str,
    "tuple[str, ...]": lambda text: tuple(part for part in text.split(",") if part),
}
"""How a value of each type is read."""


def declare_pipeline(parser: argparse.ArgumentParser) -> None:
    """The arguments that choose and configure passes."""
    parser.add_argument("--preset", type=_preset, choices=preset_names(), default=PORTABLE)
    parser.add_argument(
        "--pipeline", type=Path, metavar="FILE", help="of --save-pipeline or the studio, as it is"
    )
    parser.add_argument("--passes", metavar="ID,ID", help="these alone, in this order")
    parser.add_argument("--enable", action="append", default=[], metavar="ID")
    parser.add_argument("--disable", action="append", default=[], metavar="ID")
    parser.add_argument("--option", action="append", default=[], metavar="ID.NAME=VALUE")


def _preset(text: str) -> str:
    """The preset of a name, also of one that it had formerly."""
    return preset_named(text) or text


def pipeline_of(arguments: argparse.Namespace) -> Pipeline:
    """The pipeline that is asked for, with the schedules of kernels that won here.

    Raises:
        StudioError: a pass or an option is unknown.
    """
    if arguments.passes is not None:
        if arguments.enable or arguments.disable or arguments.pipeline is not None:
            raise StudioError("With --passes all are named; leave the other choices out.")
        pipeline = Pipeline.listed(part for part in arguments.passes.split(",") if part)
    elif arguments.pipeline is not None:
        pipeline = read_pipeline(arguments.pipeline)
        pipeline = pipeline.switched(enable=arguments.enable, disable=arguments.disable)
    else:
        pipeline = Pipeline.of(arguments.preset, enable=arguments.enable, disable=arguments.disable)
    pipeline = with_options(pipeline, arguments.option)
    with ExitStack() as opened:
        return with_won_schedules(pipeline, lambda: opened.enter_context(Records(database_url())))


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
