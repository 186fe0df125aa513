"""What a workspace says of variants as variants: labels of their own, traces, options."""

from __future__ import annotations

from collections import Counter
from itertools import starmap

from optimizer.errors import StudioError
from optimizer.registry import PRESETS
from profiling.config import RunConfig
from profiling.config.option import setting_text
from profiling.config.question import ask
from studio.artifacts.plans import kept_plan
from studio.variants.link import LAST, SOURCE, RunChoice, VariantChoice, plan_of
from studio.variants.variant import LAST as LAST_STEP
from studio.variants.variant import Chosen, TraceVariant
from studio.workspace import Workspace


def chosen_of(workspace: Workspace, *, last: int) -> Chosen:
    """What is chosen, with labels of their own.

    Args:
        workspace: whose choice it is.
        last: step of the open trace.

    Raises:
        Refused: options contradict each other, or the question.
    """
    choice = workspace.of(RunChoice)
    common = dict(choice.options)
    found = ask(choice.asked, [{**common, **dict(one.options)} for one in choice.variants])
    labels = _labels(workspace, last=last)
    return Chosen(
        tuple(
            tuple(
                _variant(one, label, config, workspace, last=last)
                for one, label, config in zip(choice.variants, labels, configs, strict=True)
            )
            for configs in found.configs
        ),
        found.left_out,
    )


def _labels(workspace: Workspace, *, last: int) -> list[str]:
    """What the variants are called; the second of equal ones gets a number."""
    found: list[str] = []
    seen: Counter[str] = Counter()
    for choice in workspace.of(RunChoice).variants:
        label = label_of(choice, workspace, last=last)
        seen[label] += 1
        found.append(f"{label} ({seen[label]})" if seen[label] > 1 else label)
    return found


def label_of(choice: VariantChoice, workspace: Workspace, *, last: int) -> str:
    """What a variant is called: its graph, and what it changes of the common options."""
    changes = ", ".join(starmap(setting_text, choice.options))
    graph = graph_name(choice.graph, workspace, last=last)
    return f"{graph}, {changes}" if changes else graph


def graph_name(graph: str, workspace: Workspace, *, last: int) -> str:
    """What a graph is called: "source", "portable preset", "own pipeline", "step 12", a plan."""
    if graph == SOURCE:
        return "source"
    if graph == LAST:
        return f"{workspace.preset} preset" if is_preset(workspace) else "own pipeline"
    if plan_of(graph):
        return _title(plan_of(graph))
    return f"{graph} preset" if graph in PRESETS else f"step {min(int(graph), last)}"


def _title(plan: str) -> str:
    try:
        return kept_plan(plan).title
    except StudioError:  # whoever races it is told
        return "a plan that is gone"


def is_preset(workspace: Workspace) -> bool:
    """Whether all passes are those of a preset, and nothing of it is vetoed."""
    changed = workspace.on or workspace.off or workspace.vetoed or workspace.plan
    return not changed and workspace.preset != "none"


def _variant(
    choice: VariantChoice, label: str, config: RunConfig, workspace: Workspace, *, last: int
) -> TraceVariant:
    match choice.graph:
        case "source":
            return TraceVariant(label, 0, config)
        case "last":
            return TraceVariant(label, last, config)
        case preset if preset in PRESETS:
            if is_preset(workspace) and workspace.preset == preset:
                return TraceVariant(label, last, config)
            return TraceVariant(label, LAST_STEP, config, preset)
        case plan if plan_of(plan):
            return TraceVariant(label, LAST_STEP, config, plan)
        case step:
            return TraceVariant(label, min(int(step), last), config)
