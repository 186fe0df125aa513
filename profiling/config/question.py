"""The two questions that a race can answer, and the options that each starts from.

*deployed*: what a program gains that leaves ONNX Runtime as it is: all of the runtime's own
rewrites, a thread for each physical core.
*bare*: what the file itself gains: none of the runtime's rewrites, one thread. It explains ours,
for nobody makes them a second time.

Threads do not spin in either, so that waiting variants leave the machine to the one that runs.
Options that are set hold in both. `graph_optimization` is what tells the questions apart: where it
is set, only one of them is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from profiling.config.contradiction import Conflict, Contradictory
from profiling.config.option import Value
from profiling.config.run_config import RunConfig
from profiling.config.settings import from_values

Question = Literal["deployed", "bare"]
As = Literal["both", "deployed", "bare"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
ALL_AS: tuple[As, ...] = get_args(As)

LEVEL = "graph_optimization"
THREADS = "intra_threads"
BARE_LEVEL = "disabled"

STARTS: Mapping[Question, Mapping[str, Value]] = MappingProxyType(
    {
        "deployed": MappingProxyType({LEVEL: "all", THREADS: 0}),
        "bare": MappingProxyType({LEVEL: BARE_LEVEL, THREADS: 1}),
    }
)
"""What each question settles; other options have one default in both."""

SETTLED = frozenset(STARTS["bare"])
"""Options that have no default of their own."""


class ContradictoryQuestion(Contradictory):
    """Options that cannot be meant together when a question is asked.

    Attributes:
        question: which.
        place: of the first variant that has them; None where the options of all do.
    """

    def __init__(self, contradiction: Conflict, question: Question, place: int | None) -> None:
        super().__init__(contradiction)
        self.question: Question = question
        self.place: int | None = place


@dataclass(frozen=True, slots=True)
class Asked:
    """How the variants run for each question.

    Attributes:
        configs: of all variants, once for each question that is asked, deployed first.
        left_out: why a question is not asked although both were wanted; else empty.
    """

    configs: tuple[tuple[RunConfig, ...], ...]
    left_out: str = ""


def ask(wanted: As, variants: Sequence[Mapping[str, Value]]) -> Asked:
    """The configs of all variants for each question.

    Where both are wanted and the options leave one, that one is asked and the reason is kept.

    Args:
        wanted: which questions.
        variants: what is set for each, also where that is the default; at least one.

    Raises:
        ContradictoryQuestion: options contradict each other, or the one question that is wanted.
        ConfigError: a value is impossible.
    """
    levels = [values.get(LEVEL) for values in variants]
    if wanted != "both":
        _check_levels(wanted, levels)
        return Asked((_configs(wanted, variants),))
    if levels.count(None) == len(levels):
        return _both(variants)
    only: Question = "bare" if set(levels) == {BARE_LEVEL} else "deployed"
    return Asked((_configs(only, variants),), f"Raced as {only} only: {LEVEL} is set.")


def config_for(question: Question, values: Mapping[str, Value]) -> RunConfig:
    """How one variant runs.

    Raises:
        ContradictoryQuestion: options contradict each other, or the question.
    """
    return ask(question, [values]).configs[0][0]


def question_of(configs: Iterable[RunConfig]) -> Question | None:
    """What variants with these configs can answer; None where only some are bare."""
    found: set[Question] = {question_of_options(config.changed()) for config in configs}
    return next(iter(found)) if len(found) == 1 else None


def question_of_options(options: Mapping[str, object]) -> Question:
    """What one variant can answer, by its options that are not at their default."""
    return "bare" if options.get(LEVEL, BARE_LEVEL) == BARE_LEVEL else "deployed"


def with_question(config: RunConfig, finding: str) -> str:
    """A finding that is about one question: "Bare · Fuse Relu into Conv bought 61 % of 1.31×"."""
    question = question_of([config])
    return f"{question.capitalize()} · {finding}" if question else finding


def meaning_of(configs: Sequence[RunConfig]) -> str:
    """What variants with these configs run like, in words; empty where only some are bare."""
    question = question_of(configs)
    if question is None:
        return ""
    levels = {config.graph_optimization for config in configs}
    if question == "bare":
        rewrites = "the file itself, none of the runtime's rewrites"
    elif levels == {"all"}:
        rewrites = "all of the runtime's own rewrites"
    else:
        rewrites = f"the runtime's own rewrites ({', '.join(sorted(levels))})"
    return rewrites + _threads(configs)


def explained(asked: Iterable[Sequence[RunConfig]]) -> str:
    """What the questions mean, as a sentence; empty where there is none.

    Args:
        asked: the configs of all variants, for each question.
    """
    meanings = ((question_of(configs), meaning_of(configs)) for configs in asked)
    text = "; ".join(f"{question}: {meaning}" for question, meaning in meanings if question)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _threads(configs: Sequence[RunConfig]) -> str:
    """On how many threads all run; empty where they differ, and where a GPU does the work."""
    counts = {config.intra_threads for config in configs}
    if len(counts) > 1 or any(config.device != "cpu" for config in configs):
        return ""
    (count,) = counts
    return {0: ", on all cores", 1: ", on one thread"}.get(count, f", on {count} threads")


def _check_levels(wanted: Question, levels: Sequence[Value | None]) -> None:
    """Bare is none but bare; of deployed ones some may be bare, to be compared, and not all."""
    rewriting = [level for level in levels if level not in (None, BARE_LEVEL)]
    if wanted == "bare" and rewriting:
        raise _other("bare", "deployed", rewriting[0], levels.index(rewriting[0]))
    if wanted == "deployed" and set(levels) == {BARE_LEVEL}:
        raise _other("deployed", "bare", BARE_LEVEL, 0)


def _other(
    wanted: Question, other: Question, level: Value | None, place: int
) -> ContradictoryQuestion:
    """What is set is not the question that is wanted."""
    why = f"{LEVEL}={level} is {other} and not {wanted}"
    todo = f"leave {LEVEL} out, or race as {other}"
    return ContradictoryQuestion(
        Conflict(why, ({LEVEL: STARTS[wanted][LEVEL]},), todo), wanted, place
    )


def _both(variants: Sequence[Mapping[str, Value]]) -> Asked:
    found: list[tuple[RunConfig, ...]] = []
    refused: dict[Question, ContradictoryQuestion] = {}
    for question in QUESTIONS:
        try:
            found.append(_configs(question, variants))
        except ContradictoryQuestion as error:
            refused[question] = error
    if not found:
        raise refused["deployed"]
    reasons = [f"Not raced as {one}: {error.message}" for one, error in refused.items()]
    return Asked(tuple(found), " ".join(reasons))


def _configs(question: Question, variants: Sequence[Mapping[str, Value]]) -> tuple[RunConfig, ...]:
    found: list[RunConfig] = []
    for place, values in enumerate(variants):
        try:
            found.append(from_values({**STARTS[question], **values}))
        except Contradictory as error:
            raise ContradictoryQuestion(error.contradiction, question, place) from None
    return tuple(found)
