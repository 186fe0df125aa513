"""What the Cost page is set to, and how a link says it.

cost=roofline  device=h200  at_step=12  top=20
cost=fusion  chain=example-conv  dims=channels:64,size:56
count=predicted  bar=rule  measure=45  measure_as=deployed  ablate=race  tuned=12.5
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, get_args

from profiling.config.question import QUESTIONS, Question
from studio.link import Settings, matching, one_of, parameter, whole

Section = Literal["waterfall", "roofline", "fusion", "ablation", "break-even"]
Count = Literal["bytes", "nodes", "flops", "predicted", "latency"]
By = Literal["pass", "rule", "step"]
SECTIONS: tuple[Section, ...] = get_args(Section)
COUNTS: tuple[Count, ...] = get_args(Count)
BYS: tuple[By, ...] = get_args(By)
SECONDS = 30
LEAST_SECONDS, MOST_SECONDS = 5, 120
TOP, MOST_TOP = 12, 40
LAST = -1
"""The last step of the trace, however many it has."""

_MOST_TUNE_S = 1e9
_LAST_STEP = 99_999_999
_MOST_DIMS = 6
_LARGEST_DIM = 1 << 14
_ID = re.compile("[a-z0-9][a-z0-9-]{0,47}")


def _seconds(text: str) -> float | None:
    known = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text) is not None
    return min(_MOST_TUNE_S, float(text)) if known else None


def _dims(text: str) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for part in text.split(",")[:_MOST_DIMS]:
        name, _, size = part.partition(":")
        known = _ID.fullmatch(name) and re.fullmatch("[0-9]{1,8}", size)
        if known and 1 <= int(size) <= _LARGEST_DIM:
            found[name] = int(size)
    return tuple(sorted(found.items()))


def _dims_text(dims: tuple[tuple[str, int], ...]) -> str:
    return ",".join(f"{name}:{size}" for name, size in dims)


@dataclass(frozen=True, slots=True)
class CostChoice(Settings):
    """The settings.

    Attributes:
        section: what is looked at.
        count: what bars are made of.
        by: which steps make one bar.
        seconds: of steady running in a measurement.
        asked: the question that is measured; empty for the section's own.
        race: whether an ablation is raced as well.
        tune_s: seconds that tuning took, for the break-even.
        device: id of what times are predicted for; empty for this CPU.
        step: of the trace, compared with the source; `LAST` for its last.
        top: how many of the slowest nodes are drawn.
        chain: id of the chain whose fusion is explained; empty for the first there is.
        dims: sizes of a built-in example, by name; the rest as they are meant.
    """

    section: Section = parameter("cost", "waterfall", one_of(SECTIONS))
    count: Count = parameter("count", "bytes", one_of(COUNTS))
    by: By = parameter("bar", "pass", one_of(BYS))
    seconds: int = parameter("measure", SECONDS, whole(LEAST_SECONDS, MOST_SECONDS))
    asked: Question | Literal[""] = parameter("measure_as", "", one_of(QUESTIONS))
    race: bool = parameter("ablate", False, {"race": True}.get, lambda _: "race")
    tune_s: float = parameter("tuned", 0.0, _seconds, lambda seconds: f"{seconds:g}")
    device: str = parameter("device", "", matching(_ID))
    step: int = parameter("at_step", LAST, whole(0, _LAST_STEP))
    top: int = parameter("top", TOP, whole(1, MOST_TOP))
    chain: str = parameter("chain", "", matching(_ID))
    dims: tuple[tuple[str, int], ...] = parameter("dims", (), _dims, _dims_text)

    @property
    def question(self) -> Question:
        """What is measured: a break-even is about deployment, the others explain rewrites."""
        return self.asked or ("deployed" if self.section == "break-even" else "bare")

    def for_another_trace(self) -> CostChoice:
        """The same without what belongs to one trace."""
        return replace(self, step=LAST, chain=self.chain if "example" in self.chain else "")


SETTINGS = CostChoice
