"""Sets of variants that are worth racing, one click each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optimizer.registry import PRESETS, Preset
from profiling.config.option import Value
from studio.variants.link import LAST, SOURCE, RunChoice, VariantChoice
from studio.variants.options import why_not
from studio.workspace import Workspace

GENERATED: Preset = "generated"
"""Its kernels are compiled first: no preset of the set that one runs to begin with."""


def sets_of(workspace: Workspace, *, has_rewrites: bool) -> dict[str, RunChoice]:
    """Name -> what the page is set to by it; only what this machine and this trace allow."""
    found: dict[str, RunChoice] = {}
    if has_rewrites:
        others = [
            p
            for p in PRESETS
            if p != GENERATED
            and (p != "cuda" or not why_not("cuda"))
            and (p != workspace.preset or workspace.on or workspace.off or workspace.plan)
        ]
        graphs = [SOURCE, LAST, *others]
        variants = tuple(VariantChoice(graph) for graph in graphs)
        found["Source / last step / presets"] = replace(workspace.of(RunChoice), variants=variants)
        found["Generated kernels off / on"] = _generated(workspace)
    found["The same twice"] = replace(
        workspace.of(RunChoice), variants=(VariantChoice(LAST), VariantChoice(LAST))
    )
    found["Threads 1 / 2"] = _varied(workspace, "intra_threads", 1, 2)
    found["Runtime's optimizations off / all"] = _varied(
        workspace, "graph_optimization", "disabled", "all"
    )
    return found if why_not("cuda") else {**found, **gpu_sets(workspace)}


def gpu_sets(workspace: Workspace) -> dict[str, RunChoice]:
    """Those that need an NVIDIA GPU."""
    on_gpu = {**dict(workspace.of(RunChoice).options), "device": "cuda"}
    return {
        "CUDA graph off / on": _varied(workspace, "cuda_graph", False, True, options=on_gpu),
        "TF32 off / on": _varied(workspace, "tf32", False, True, options=on_gpu),
    }


def _generated(workspace: Workspace) -> RunChoice:
    """The same graph, its regions once as operators and once as compiled kernels."""
    variants = VariantChoice(GENERATED, (("generated_kernels", "off"),)), VariantChoice(GENERATED)
    return replace(workspace.of(RunChoice), variants=variants)


def _varied(
    workspace: Workspace, name: str, *values: Value, options: Mapping[str, Value] | None = None
) -> RunChoice:
    """The last step under each value of one option."""
    variants = tuple(VariantChoice(LAST, ((name, value),)) for value in values)
    common = dict(workspace.of(RunChoice).options) if options is None else dict(options)
    common.pop(name, None)
    return replace(
        workspace.of(RunChoice), variants=variants, options=tuple(sorted(common.items()))
    )
