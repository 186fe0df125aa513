"""What a race found: every variant's phases and latencies, and who was faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from optimizer.codec import Format, renamed
from optimizer.errors import quoted
from optimizer.numbers import counted
from optimizer.verify import Comparison, Feed
from profiling.config import RunConfig
from profiling.config.advice import Advice, advice
from profiling.config.question import Question, question_of
from profiling.machine import Machine
from profiling.racing.samples import Contrast, LatencySummary, contrast, summarize, warm_after


@dataclass(frozen=True, slots=True)
class Variant:
    """A model and how to run it.

    Attributes:
        label: shown, and unique in a race.
        model: the file's bytes, or its path where weights lie beside it.
    """

    label: str
    model: bytes | Path
    config: RunConfig = field(default_factory=RunConfig)

    @property
    def located(self) -> bytes | Path:
        """The model as a worker finds it, whichever folder it works in."""
        return self.model.absolute() if isinstance(self.model, Path) else self.model


@dataclass(frozen=True, slots=True)
class Phases:
    """Where a variant's wall time went, the steady state apart; times in milliseconds.

    Attributes:
        import_ms: loading the runtime in a fresh process.
        create_ms: reading the model and creating the session.
        first_ms: the first run; 0 if it did not come to it.
        warm_up_ms: the runs after it, in order.
        start_ms: until a fresh process took work.
        around_ms: between and around the timed runs: messages, filling inputs, taking outputs.
        waiting_ms: while other variants ran.
        wall_ms: from asking for the process to its last answer, by one clock.
    """

    import_ms: float
    create_ms: float
    first_ms: float
    warm_up_ms: tuple[float, ...]
    start_ms: float = 0.0
    around_ms: float = 0.0
    waiting_ms: float = 0.0
    wall_ms: float = 0.0

    @property
    def warm_after(self) -> int:
        """Runs after the first until the latency had settled."""
        return warm_after(self.warm_up_ms)

    @property
    def cold_ms(self) -> float:
        """What a program waits for its first result: import, creating the session, first run."""
        return self.import_ms + self.create_ms + self.first_ms


@dataclass(frozen=True, slots=True)
class Timing:
    """One variant's share of a race.

    Attributes:
        error: why there are no times, or no more of them; empty if all went well.
        blocks_ms: latencies in the steady state, one block a round.
        peak_bytes: most memory the variant's process had in RAM.
        providers: what the session really used, the preferred first.
        nodes_on: nodes by provider, where the runtime tells.
        outputs: compared with the first variant's file as it stands.
        written_slow: operators with slow kernels that the runtime's own rewrites put in, and how
            many.
        left_out: why kernels of its file are not in their library, a sentence for each; their
            operators ran.
    """

    label: str
    config: RunConfig
    error: str = ""
    phases: Phases | None = None
    blocks_ms: tuple[tuple[float, ...], ...] = ()
    peak_bytes: int = 0
    providers: tuple[str, ...] = ()
    nodes_on: Mapping[str, int] | None = None
    outputs: tuple[Comparison, ...] = ()
    written_slow: Mapping[str, int] = field(default_factory=dict[str, int])
    left_out: tuple[str, ...] = ()

    @property
    def advice(self) -> Advice | None:
        """Options that would make it faster; None where none are known."""
        return advice(self.config, self.written_slow)

    @property
    def latencies_ms(self) -> tuple[float, ...]:
        """All runs of the steady state, in order."""
        return tuple(chain.from_iterable(self.blocks_ms))

    @property
    def parts_ms(self) -> dict[str, float]:
        """The variant's wall time, part by part in order; empty if it did not start."""
        phases = self.phases
        if phases is None:
            return {}
        return {
            "start": phases.start_ms,
            "import": phases.import_ms,
            "create": phases.create_ms,
            "first run": phases.first_ms,
            "warm-up": sum(phases.warm_up_ms),
            "steady": sum(self.latencies_ms),
            "around": phases.around_ms,
            "waiting": phases.waiting_ms,
        }

    @property
    def cold_to_warm(self) -> float | None:
        """How many steady runs the first result takes; None without both."""
        summary, phases = self.summary, self.phases
        if summary is None or phases is None or not phases.first_ms:
            return None
        return phases.cold_ms / summary.p50_ms

    @property
    def summary(self) -> LatencySummary | None:
        """Percentiles of the steady state; None without runs."""
        return summarize(self.latencies_ms)

    @property
    def believable(self) -> bool:
        """Whether the variant computed the right thing, so that its times mean something."""
        return not self.error and all(output.ok for output in self.outputs)


@dataclass(frozen=True, slots=True)
class Race:
    """Variants measured side by side; the first one is the baseline while it lives.

    Attributes:
        feeds: how the inputs were filled.
        transfers: whether copies from and to the host are in the times.
        machine: before the race.
        load_after: the machine's load when it was over.
        started_at: UTC, ISO 8601.
        seconds: duration of the whole race.
    """

    timings: tuple[Timing, ...]
    feeds: tuple[Feed, ...]
    transfers: bool
    machine: Machine
    load_after: float
    started_at: str
    seconds: float

    @property
    def baseline(self) -> Timing:
        """What the others are held against: the first variant that lives and computes right.

        If none does, the first that has times at all, or else the first.
        """
        alive = (timing for timing in self.timings if timing.believable)
        timed = (timing for timing in self.timings if timing.blocks_ms)
        return next(alive, next(timed, self.timings[0]))

    @property
    def question(self) -> Question | None:
        """Whether its variants ran deployed or bare; None where some did this and some that."""
        return question_of(self.configs)

    @property
    def configs(self) -> list[RunConfig]:
        """How the variants ran."""
        return [timing.config for timing in self.timings]

    def contrast(self, label: str, *, baseline: str | None = None) -> Contrast | None:
        """How much faster `label` is than the baseline; None where either has no times."""
        left = self.baseline if baseline is None else self._timing(baseline)
        right = self._timing(label)
        if not left.blocks_ms or not right.blocks_ms:
            return None
        return contrast(left.blocks_ms, right.blocks_ms)

    def settled(self, precision: float) -> bool:
        """Whether more rounds would change no verdict and no interval much."""
        found = [
            self.contrast(timing.label)
            for timing in self.timings
            if timing is not self.baseline and not timing.error
        ]
        return all(
            one is None or (one.half_width <= precision and not one.undecided) for one in found
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the numbers should know; empty if conditions were good."""
        return tuple(filter(None, (self.instead, self.without, self.busy, self.advised)))

    @property
    def without(self) -> str:
        """Which variant ran without some of its kernels, and why; empty if none did."""
        for timing in self.timings:
            if timing.left_out:
                return ran_without(timing.label, timing.left_out)
        return ""

    @property
    def advised(self) -> str:
        """Which options would make a variant faster, of the first that there are any for."""
        for timing in self.timings:
            if timing.advice is not None:
                return f"{quoted(timing.label)}: {timing.advice}"
        return ""

    @property
    def instead(self) -> str:
        """Why the first variant is not the baseline; empty if it is."""
        first, baseline = self.timings[0], self.baseline
        if baseline is first:
            return ""
        why = "was not measured to the end" if first.error else "computed something else"
        return (
            f"{quoted(first.label)} {why}, so the others are held against {quoted(baseline.label)}."
        )

    @property
    def busy(self) -> str:
        """That other work disturbed this one; empty if the machine was quiet."""
        if self.machine.load <= self.machine.cores / 2:
            return ""
        return (
            f"The machine was busy (load {self.machine.load:.1f} on {self.machine.cores} "
            "cores): latencies are higher and intervals wider than on a quiet one."
        )

    def verdict(self, label: str) -> str:
        """One sentence on `label` against the baseline."""
        timing, baseline = self._timing(label), self.baseline
        if timing.error:
            return f"not measured{' to the end' if timing.blocks_ms else ''}: {timing.error}"
        if not timing.believable:
            wrong = next(output for output in timing.outputs if not output.ok)
            return f"wrong result, so its time does not count: {wrong.name}: {wrong.reason}"
        if not timing.blocks_ms:
            return "no times yet"
        if timing is baseline:
            return "the baseline" if timing is self.timings[0] else "the baseline instead"
        found = self.contrast(label)
        if found is None:
            return "the baseline has no times"
        instead = baseline is not self.timings[0]
        return f"{found}{f' (against {quoted(baseline.label)})' if instead else ''}"

    def _timing(self, label: str) -> Timing:
        return next(timing for timing in self.timings if timing.label == label)


def remarks_of(races: Sequence[Race]) -> tuple[str, ...]:
    """The remarks of several races one after the other; a busy machine is told of once."""
    told = [told for race in races for told in (race.instead, race.without)]
    busy = [race.busy for race in races if race.busy]
    advised = [race.advised for race in races if race.advised]
    return tuple(dict.fromkeys(filter(None, [*told, *busy[:1], *advised[:1]])))


renamed(Timing, config="options")
RACE = Format(
    Race,
    "passlens.race/1",
    "recorded race",
    names={"timings": "variants"},
    derived={"as": lambda race: race.question},
)


def ran_without(label: str, left_out: Sequence[str]) -> str:
    """That a variant ran without some of its kernels, and why.

    Args:
        label: the variant's.
        left_out: a sentence for each; at least one.
    """
    count = counted(len(left_out), "kernel")
    return f"{quoted(label)} ran without {count}, whose operators ran: {left_out[0]}"
