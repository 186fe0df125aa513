"""What the Run page is set to, and how a link says it.

    section=timeline  race=source,last,runtime~intra_threads=2  seconds=20  set=device=cuda
    sweep=batch:1,2,4  as=deployed

Each entrant is a graph and, after tildes, what it changes of the options that all share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import starmap

from optimizer.registry import PRESETS
from profiling.config.option import ConfigError, Value, check_value, setting_text
from profiling.config.question import ALL_AS, As
from profiling.config.settings import find_option

SECTIONS = ("race", "timeline", "memory", "kernels", "capture")
SECONDS = 10
LEAST_SECONDS = 2
MOST_SECONDS = 120
MOST_ENTRANTS = 6
SIZES = (1, 2, 4, 8)
MOST_SIZES = 12
LARGEST_SIZE = 65_536
SOURCE, LAST = "source", "last"

Options = tuple[tuple[str, Value], ...]
"""Options by name, only those that were changed."""

_GRAPH = re.compile("|".join((SOURCE, LAST, *PRESETS, "[0-9]{1,8}")))


@dataclass(frozen=True, slots=True)
class EntrantChoice:
    """One variant as it was chosen.

    Attributes:
        graph: "source", "last", a preset's name for that one's last step, or a step's number.
        options: what it changes of the options that all share.
    """

    graph: str = LAST
    options: Options = ()


@dataclass(frozen=True, slots=True)
class SweepChoice:
    """A dimension of the inputs, and the sizes to try."""

    dimension: str
    sizes: tuple[int, ...] = SIZES


DEFAULT = (EntrantChoice(SOURCE), EntrantChoice(LAST))


@dataclass(frozen=True, slots=True)
class RunChoice:
    """What the Run page is set to.

    Attributes:
        section: what is looked at.
        entrants: the baseline first.
        seconds: of steady running, for all of them.
        options: run-time options of all that are set, whatever the question.
        sweep: what the race is repeated over; None for one size.
        asked: which questions are raced.
    """

    section: str = SECTIONS[0]
    entrants: tuple[EntrantChoice, ...] = DEFAULT
    seconds: int = SECONDS
    options: Options = ()
    sweep: SweepChoice | None = None
    asked: As = "both"

    def without_steps(self) -> RunChoice:
        """The same for a trace that has other steps."""
        kept = tuple(entrant for entrant in self.entrants if not entrant.graph.isdecimal())
        return replace(self, entrants=kept if len(kept) > 1 else DEFAULT, sweep=None)


def to_link(choice: RunChoice) -> dict[str, str]:
    """The parameters of a link; defaults are empty."""
    entrants = ",".join(map(_entrant_text, choice.entrants))
    return {
        "section": choice.section if choice.section != SECTIONS[0] else "",
        "race": entrants if choice.entrants != DEFAULT else "",
        "seconds": str(choice.seconds) if choice.seconds != SECONDS else "",
        "set": ",".join(starmap(setting_text, choice.options)),
        "sweep": _sweep_text(choice.sweep) if choice.sweep is not None else "",
        "as": choice.asked if choice.asked != "both" else "",
    }


def from_link(query: Mapping[str, str]) -> RunChoice:
    """What a link says; what makes no sense in it is passed over."""
    section, seconds = query.get("section", ""), query.get("seconds", "")
    entrants = [e for e in map(_entrant, query.get("race", "").split(",")) if e is not None]
    bounded = re.fullmatch("[0-9]{1,3}", seconds) is not None
    return RunChoice(
        section=section if section in SECTIONS else SECTIONS[0],
        entrants=tuple(entrants[:MOST_ENTRANTS]) if len(entrants) > 1 else DEFAULT,
        seconds=min(MOST_SECONDS, max(LEAST_SECONDS, int(seconds))) if bounded else SECONDS,
        options=_options(query.get("set", "").split(",")),
        sweep=_sweep(query.get("sweep", "")),
        asked=_asked(query.get("as", "")),
    )


def _asked(text: str) -> As:
    known: dict[str, As] = {one: one for one in ALL_AS}
    return known.get(text, "both")


def sizes_of(text: str) -> tuple[int, ...]:
    """Rising sizes from a text like "1, 2, 4"; what is none, or too large, is passed over."""
    found = {int(part) for part in re.findall(r"\b[0-9]{1,6}\b", text)}
    return tuple(sorted(size for size in found if 1 <= size <= LARGEST_SIZE))[:MOST_SIZES]


def _sweep_text(sweep: SweepChoice) -> str:
    return f"{sweep.dimension}:{','.join(map(str, sweep.sizes))}"


def _sweep(text: str) -> SweepChoice | None:
    dimension, _, sizes = text.rpartition(":")
    return SweepChoice(dimension[:80], sizes_of(sizes) or SIZES) if dimension else None


def _entrant_text(entrant: EntrantChoice) -> str:
    return "~".join([entrant.graph, *starmap(setting_text, entrant.options)])


def _entrant(text: str) -> EntrantChoice | None:
    graph, *settings = text.split("~")
    return EntrantChoice(graph, _options(settings)) if _GRAPH.fullmatch(graph) else None


def _options(settings: Iterable[str]) -> Options:
    """Those that exist and can have that value; whether they go together is seen at the form."""
    found: dict[str, Value] = {}
    for setting in settings:
        name, _, text = setting.partition("=")
        try:
            found[name] = _value(name, text)
        except (ConfigError, ValueError):
            continue
    return tuple(sorted(found.items()))


def _value(name: str, text: str) -> Value:
    option = find_option(name)
    if option.type is int:
        return check_value(option, int(text))
    boolean = {"true": True, "false": False} if option.type is bool else {}
    return check_value(option, boolean.get(text, text))
