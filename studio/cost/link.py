"""What the Cost page is set to, and how a link says it.

cost=roofline  device=h200  at_step=12  top=20
cost=fusion  chain=example-conv  dims=channels:64,size:56
count=predicted  bar=rule  measure=45  measure_as=deployed  ablate=race  tuned=12.5
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from profiling.config.question import QUESTIONS, Question

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
_MOST_DIMS = 6
_LARGEST_DIM = 1 << 14
_ID = re.compile("[a-z0-9][a-z0-9-]{0,47}")


@dataclass(frozen=True, slots=True)
class CostChoice:
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

    section: Section = "waterfall"
    count: Count = "bytes"
    by: By = "pass"
    seconds: int = SECONDS
    asked: Question | Literal[""] = ""
    race: bool = False
    tune_s: float = 0.0
    device: str = ""
    step: int = LAST
    top: int = TOP
    chain: str = ""
    dims: tuple[tuple[str, int], ...] = ()

    @property
    def question(self) -> Question:
        """What is measured: a break-even is about deployment, the others explain rewrites."""
        return self.asked or ("deployed" if self.section == "break-even" else "bare")

    def for_another_trace(self) -> CostChoice:
        """The same without what belongs to one trace."""
        return replace(self, step=LAST, chain=self.chain if "example" in self.chain else "")


def to_link(choice: CostChoice) -> dict[str, str]:
    """The parameters of a link; defaults are empty."""
    default = CostChoice()
    texts = {
        "cost": (choice.section, default.section),
        "count": (choice.count, default.count),
        "bar": (choice.by, default.by),
        "measure": (str(choice.seconds), str(default.seconds)),
        "measure_as": (choice.asked, default.asked),
        "ablate": ("race" if choice.race else "", ""),
        "tuned": (f"{choice.tune_s:g}", f"{default.tune_s:g}"),
        "device": (choice.device, default.device),
        "at_step": (str(choice.step), str(default.step)),
        "top": (str(choice.top), str(default.top)),
        "chain": (choice.chain, default.chain),
        "dims": (",".join(f"{name}:{size}" for name, size in choice.dims), ""),
    }
    return {name: text if text != usual else "" for name, (text, usual) in texts.items()}


def from_link(query: Mapping[str, str]) -> CostChoice:
    """What a link says; what makes no sense in it is passed over."""
    section, count, by = (query.get(name, "") for name in ("cost", "count", "bar"))
    seconds, top = _number(query.get("measure", "")), _number(query.get("top", ""))
    step = _number(query.get("at_step", ""))
    return CostChoice(
        section=section if section in SECTIONS else SECTIONS[0],
        count=count if count in COUNTS else COUNTS[0],
        by=by if by in BYS else BYS[0],
        seconds=SECONDS if seconds is None else min(MOST_SECONDS, max(LEAST_SECONDS, seconds)),
        asked=_question(query.get("measure_as", "")),
        race=query.get("ablate", "") == "race",
        tune_s=_seconds(query.get("tuned", "")),
        device=_identity(query.get("device", "")),
        step=LAST if step is None else step,
        top=TOP if top is None else min(MOST_TOP, max(1, top)),
        chain=_identity(query.get("chain", "")),
        dims=_dims(query.get("dims", "")),
    )


def _question(text: str) -> Question | Literal[""]:
    known: dict[str, Question] = {one: one for one in QUESTIONS}
    return known.get(text, "")


def _identity(text: str) -> str:
    return text if _ID.fullmatch(text) else ""


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch("[0-9]{1,8}", text) else None


def _seconds(text: str) -> float:
    known = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text) is not None
    return min(_MOST_TUNE_S, float(text)) if known else 0.0


def _dims(text: str) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for part in text.split(",")[:_MOST_DIMS]:
        name, _, size = part.partition(":")
        number = _number(size)
        if _ID.fullmatch(name) and number is not None and 1 <= number <= _LARGEST_DIM:
            found[name] = number
    return tuple(sorted(found.items()))
