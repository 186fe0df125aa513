"""What can be tried for a workload: options and reformulations that lead to another kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from optimizer.findings import Status
from optimizer.verify import Tolerance
from profiling.config import ConfigError, Group, RunConfig, Value, options
from profiling.config.session import Device
from profiling.config.settings import from_values
from profiling.kernels.reformulations import BY_ID, EQUAL, REFORMULATIONS
from profiling.kernels.workload import Workload

BASELINE = "as it is"
_CONVOLUTION = frozenset({"Conv", "ConvTranspose"})
_PRODUCT = frozenset({"MatMul", "Gemm"})
_ATTENTION = frozenset({"Attention"})
_CUDA_REFORMULATIONS = {
    "conv-matmul", "matmul-gemm", "transposed-gemm", "gemm-matmul", "fused-attention", "float16",
    "bfloat16",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to run a workload.

    Attributes:
        label: unique in its race.
        target: where it runs.
        changes: options that differ from the variant's own.
        reformulation: id of how the block is written, empty for as it is.
        unavailable: why it is not measured here; empty if it is.
    """

    label: str
    target: Device = "cpu"
    changes: Mapping[str, Value] = field(default_factory=dict[str, Value])
    reformulation: str = ""
    unavailable: str = ""

    @property
    def tolerance(self) -> Tolerance:
        """What its result is held to."""
        return BY_ID[self.reformulation].tolerance if self.reformulation else EQUAL

    @property
    def lossy(self) -> bool:
        """Whether it computes with fewer bits than the file says."""
        return bool(self.reformulation) and BY_ID[self.reformulation].lossy

    def config(self, base: RunConfig) -> RunConfig:
        """The variant's options with the changes.

        Raises:
            ConfigError: they contradict each other.
        """
        return from_values(dict(self.changes), base=base)


def candidates(
    workload: Workload, base: RunConfig, groups: Mapping[Group, Status]
) -> tuple[Candidate, ...]:
    """All candidates of a workload, the baseline first; those that cannot run here say why."""
    offered = [Candidate(BASELINE, base.device)]
    offered += _on_cpu(workload, base) if base.device == "cpu" else []
    offered += _on_cuda(workload, base, groups["cuda"])
    known = {option.name for option in options()}
    return tuple(
        candidate
        for candidate in offered
        if known.issuperset(candidate.changes)
        and (candidate.unavailable or _is_consistent(candidate, base))
    )


def _on_cpu(workload: Workload, base: RunConfig) -> Iterator[Candidate]:
    for label, changes in _cpu_options(workload, base):
        if any(getattr(base, name, None) != value for name, value in changes.items()):
            yield Candidate(label, "cpu", changes)
    for reformulation in REFORMULATIONS:
        if workload.kind in reformulation.kinds:
            yield Candidate(reformulation.label, "cpu", {}, reformulation.id)


def _cpu_options(workload: Workload, base: RunConfig) -> Iterator[tuple[str, dict[str, Value]]]:
    """The runtime picks a kernel by layout, by what is fused, by packed weights, by threads."""
    convolution = workload.kind in _CONVOLUTION
    if convolution or len(workload.operators) > 1:
        yield "fused by the runtime", {"graph_optimization": "extended"}
    if convolution:
        yield "NCHWc layout", {"graph_optimization": "all"}
    if workload.kind not in _ATTENTION:
        packing = not base.prepacking
        yield f"weights {'' if packing else 'not '}prepacked", {"prepacking": packing}
    threads = 0 if base.intra_threads == 1 else 1
    text = "all cores" if threads == 0 else "one thread"
    alone: dict[str, Value] = {"intra_threads": threads}
    if threads == 1:
        alone["spinning"] = False
    yield text, alone
    if threads == 0:
        yield "all cores, shrinking blocks", {**alone, "dynamic_blocks": 4}
        yield "all cores, spinning", {**alone, "spinning": True}
    if convolution:
        yield f"NCHWc layout, {text}", {**alone, "graph_optimization": "all"}


def _on_cuda(workload: Workload, base: RunConfig, status: Status) -> Iterator[Candidate]:
    reason = ""
    if not status.ok:
        reason = status.reason.rpartition("not available: ")[2] or "no GPU"
    elif base.device != "cuda":
        reason = "this race runs on the CPU; set device=cuda"
    for label, changes, reformulation in _cuda_ways(workload):
        device: dict[str, Value] = {} if base.device == "cuda" else {"device": "cuda"}
        different = {n: v for n, v in changes.items() if getattr(base, n, None) != v}
        if reformulation or different or device:
            yield Candidate(
                label if base.device == "cuda" else f"GPU: {label}",
                "cuda", {**device, **different}, reformulation, reason,
            )  # fmt: skip


def _cuda_ways(workload: Workload) -> Iterator[tuple[str, dict[str, Value], str]]:
    if workload.kind in _CONVOLUTION:
        yield from _cuda_convolutions()
    elif workload.kind in _PRODUCT:
        yield from _cuda_products()
    elif workload.kind in _ATTENTION:
        yield from _cuda_attention()
    for way in REFORMULATIONS:
        plain = not way.half and way.id in _CUDA_REFORMULATIONS
        if plain and workload.kind in way.kinds and way.id != "fused-attention":
            yield way.label, {}, way.id


def _cuda_convolutions() -> Iterator[tuple[str, dict[str, Value], str]]:
    """Algorithm search × layout × type, then what is worth a try once that is settled."""
    searches = ("exhaustive", "heuristic", "default")
    types = (("TF32", True, ""), ("float32", False, ""), ("float16", True, "float16"))
    for search, nhwc, (name, tf32, way) in itertools.product(searches, (False, True), types):
        label = f"{search} search, {'NHWC' if nhwc else 'NCHW'}, {name}"
        changes: dict[str, Value] = {"convolution_search": search, "prefer_nhwc": nhwc}
        yield label, {**changes, "tf32": tf32}, way
    yield "bfloat16", {}, "bfloat16"
    yield "little workspace", {"convolution_workspace": False}, ""
    yield "bias fused into the convolution", {"fuse_convolution_bias": True}, ""


def _cuda_products() -> Iterator[tuple[str, dict[str, Value], str]]:
    yield "TF32", {"tf32": True}, ""
    yield "float32 without TF32", {"tf32": False}, ""
    tuned: dict[str, Value] = {"tunable_kernels": True, "tune_kernels": True}
    yield "tuned at run time", tuned, ""
    yield "Gemm tuned at run time", {"gemm_auto_tune": True}, ""
    for way in ("float16", "bfloat16"):
        yield way, {}, way
        yield f"{way}, tuned at run time", tuned, way


def _cuda_attention() -> Iterator[tuple[str, dict[str, Value], str]]:
    yield "scale inside the product", {}, "scaled-product"
    kernels = ("default", "flash", "efficient", "fused", "cudnn", "math")
    for kernel, name in itertools.product(kernels, ("float32", "float16")):
        way = "fused-attention" if name == "float32" else "fused-attention-half"
        yield f"fused, {kernel} kernel, {name}", {"attention_kernel": kernel}, way
    for way in ("float16", "bfloat16"):
        yield way, {}, way


def _is_consistent(candidate: Candidate, base: RunConfig) -> bool:
    try:
        candidate.config(base)
    except ConfigError:
        return False
    return True
