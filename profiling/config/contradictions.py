"""Options that cannot be meant together; one rule each, for the error and the documentation.

The runtime says nothing in any of these cases: it ignores an option or falls back. Source: the
documentation of ONNX Runtime 1.31 on threading, CUDA and TensorRT, and what the installed runtime
does when it is tried.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from profiling.config.contradiction import Changes, Conflict, ConflictRule
from profiling.config.option import SEPARATOR, Group, Option, items
from profiling.config.tensorrt import TensorRtFields as Fields

DEVICES: Mapping[Group, tuple[str, ...]] = {
    "cuda": ("cuda", "tensorrt"),
    "tensorrt": ("tensorrt",),
}
_NEEDS: Mapping[Group, str] = {"cuda": "on a GPU only", "tensorrt": "with TensorRT only"}
_CUDNN = ("convolution_search", "convolution_workspace", "pad_1d_convolutions",
          "fuse_convolution_bias")  # fmt: skip
_REWRITES = ("optimizers_off", "folding_limit_mib", "cast_chain_elimination", "qdq_fusion",
             "qdq_folding", "qdq_pair_removal", "nbits_fusion",
             "nbits_accuracy")  # fmt: skip
_FUSIONS = ("gelu_approximation", "optimizer_loops", "qdq_cleanup")
_SPINNING = ("spin_duration_us", "spin_backoff", "spin_between_runs")
_SHAPES = ("trt_min_shapes", "trt_best_shapes", "trt_max_shapes")
_DEFAULTS: Mapping[str, Any] = {one.name: one.default for one in dataclasses.fields(Fields)}
_NO_SHAPES: Changes = dict.fromkeys(_SHAPES, "")


def contradictions(config: Fields, options: Sequence[Option]) -> list[Conflict]:
    """What cannot be meant, each with what to do about it."""
    changed = [option for option in options if getattr(config, option.name) != option.default]
    found = [rule.of(config) for rule in RULES if rule.broken(config)]
    for option in changed:
        elsewhere = device_needed(option)
        if elsewhere is not None and config.device not in DEVICES[option.group]:
            found.append(elsewhere)
    return found


def device_needed(option: Option) -> Conflict | None:
    """What to say where an option is set for another device; None if it counts on all."""
    if option.group not in _NEEDS:
        return None
    mends: tuple[Changes, ...] = ({option.name: option.default}, {"device": option.group})
    why = f"{option.name} counts {_NEEDS[option.group]}"
    return Conflict(why, mends, f"set device={option.group}")


def _idle(
    when: Callable[[Fields], bool], names: Sequence[str], counts: str, needs: Changes
) -> Iterator[ConflictRule]:
    """Rules against options that do nothing as long as another is off."""
    for name in names:

        def broken(config: Fields, name: str = name) -> bool:
            return when(config) and getattr(config, name) != _DEFAULTS[name]

        yield ConflictRule((name,), broken, f"{name} {counts}", (needs, {name: _DEFAULTS[name]}))


def _without(switch: str, names: Sequence[str], counts: str) -> Iterator[ConflictRule]:
    """Rules against options that do nothing without what a switch turns on."""
    return _idle(lambda config: not getattr(config, switch), names, counts, {switch: True})


RULES: tuple[ConflictRule, ...] = (
    ConflictRule(
        ("execution_mode", "inter_threads"),
        lambda c: c.execution_mode == "parallel" and c.inter_threads == 1,
        "execution_mode=parallel needs more than one of inter_threads",
        ({"inter_threads": 0}, {"execution_mode": "sequential"}),
    ),
    ConflictRule(
        ("execution_mode", "inter_threads"),
        lambda c: c.execution_mode == "sequential" and c.inter_threads != 1,
        "inter_threads counts in parallel mode only",
        ({"execution_mode": "parallel"}, {"inter_threads": 1}),
    ),
    ConflictRule(
        ("execution_mode", "memory_pattern"),
        lambda c: c.execution_mode == "parallel" and c.memory_pattern,
        "In parallel mode the runtime cannot plan memory",
        ({"memory_pattern": False}, {"execution_mode": "sequential"}),
    ),
    ConflictRule(
        ("spinning", "intra_threads", "inter_threads"),
        lambda c: c.spinning and c.intra_threads == 1 and c.inter_threads == 1,
        "With one thread there is nobody to spin",
        ({"intra_threads": 0}, {"spinning": False}),
        "set intra_threads=0 or spinning=false",
    ),
    ConflictRule(
        ("thread_affinities", "intra_threads"),
        lambda c: c.thread_affinities != "" and _unpinned(c),
        "thread_affinities has an item for each thread but the first",
        lambda c: ({"intra_threads": _pinned(c)}, {"thread_affinities": ""}),
        "set intra_threads to one more than its items",
    ),
    ConflictRule(
        ("thread_affinities",),
        lambda c: any(_backwards(item) for item in items(c.thread_affinities)),
        "A range of processors in thread_affinities goes up, as in 2-3",
        lambda c: ({"thread_affinities": _upwards(c.thread_affinities)},),
        "turn it round",
    ),
    ConflictRule(
        ("cuda_graph", "trt_cuda_graph", "device"),
        lambda c: c.cuda_graph and c.device == "tensorrt",
        "cuda_graph captures the CUDA provider's kernels",
        ({"cuda_graph": False, "trt_cuda_graph": True}, {"device": "cuda"}),
        "set trt_cuda_graph=true for TensorRT's",
    ),
    ConflictRule(
        ("cuda_graph", "trt_cuda_graph", "execution_mode"),
        lambda c: (c.cuda_graph or c.trt_cuda_graph) and c.execution_mode == "parallel",
        "A CUDA graph is captured from one stream",
        ({"execution_mode": "sequential"}, {"cuda_graph": False, "trt_cuda_graph": False}),
    ),
    ConflictRule(
        ("cuda_graph", "tune_kernels"),
        lambda c: c.cuda_graph and c.tune_kernels,
        "Kernels cannot be tuned while they are captured",
        ({"tune_kernels": False}, {"cuda_graph": False}),
    ),
    ConflictRule(
        ("cuda_graph", "copy_in_default_stream"),
        lambda c: c.cuda_graph and not c.copy_in_default_stream,
        "A CUDA graph does not hold copies of another stream",
        ({"copy_in_default_stream": True}, {"cuda_graph": False}),
    ),
    ConflictRule(
        ("attention_kernel", "cudnn"),
        lambda c: c.attention_kernel == "cudnn" and not c.cudnn,
        "attention_kernel=cudnn needs cuDNN",
        ({"cudnn": True}, {"attention_kernel": "default"}),
    ),
    ConflictRule(
        ("deterministic", "tune_kernels", "gemm_auto_tune"),
        lambda c: c.deterministic and (c.tune_kernels or c.gemm_auto_tune),
        "Kernels that are chosen by their time differ from run to run",
        ({"deterministic": False}, {"tune_kernels": False, "gemm_auto_tune": False}),
    ),
    ConflictRule(
        _SHAPES,
        lambda c: len({_inputs(getattr(c, name)) for name in _SHAPES}) > 1,
        "TensorRT needs smallest, best and largest shape of the same inputs",
        (_NO_SHAPES,),
        "set trt_min_shapes, trt_best_shapes and trt_max_shapes alike",
    ),
    ConflictRule(
        _SHAPES,
        lambda c: (
            _crossed(c.trt_min_shapes, c.trt_best_shapes)
            or _crossed(c.trt_best_shapes, c.trt_max_shapes)
        ),
        "Shapes for TensorRT grow from trt_min_shapes over trt_best_shapes to trt_max_shapes, "
        "in every dimension",
        (_NO_SHAPES,),
        "put them in order",
    ),
    *_idle(
        lambda c: c.graph_optimization == "disabled",
        _REWRITES,
        "counts with the runtime's rewrites only",
        {"graph_optimization": "basic"},
    ),
    *_idle(
        lambda c: c.graph_optimization in ("disabled", "basic"),
        _FUSIONS,
        "counts with the runtime's fusions only",
        {"graph_optimization": "extended"},
    ),
    *_without("spinning", _SPINNING, "counts while threads spin only"),
    *_without("cudnn", _CUDNN, "counts with cuDNN only"),
    *_without("tune_kernels", ("tuning_ms",), "counts while kernels are tuned only"),
    *_without("nbits_gemm", ("nbits_rows",), "counts with those products only"),
    *_idle(
        lambda c: not (c.trt_fp16 or c.trt_bf16),
        ("trt_layer_norm_fp32",),
        "counts for engines in 16 bits only",
        {"trt_fp16": True},
    ),
    *_without("trt_timing_cache", ("trt_force_timing_cache",), "counts with a timing cache only"),
    *_without("cpu_arena", ("cpu_arena_growth",), "counts with an arena only"),
    *_idle(
        lambda c: not c.cpu_arena and c.device == "cpu",
        ("initializers_in_arena",),
        "counts with an arena only",
        {"cpu_arena": True},
    ),
    *_without("prepacking", ("parallel_prepacking",), "counts with prepacking only"),
    *_idle(
        lambda c: c.intra_threads == 1,
        ("dynamic_blocks", "parallel_prepacking"),
        "needs more than one thread",
        {"intra_threads": 0},
    ),
)


def _pinned(config: Fields) -> int:
    """The threads that `thread_affinities` speaks of, and the first."""
    return len(items(config.thread_affinities)) + 1


def _unpinned(config: Fields) -> bool:
    return config.intra_threads != _pinned(config)


def _backwards(item: str) -> bool:
    low, _, high = item.partition("-")
    return int(low) > int(high or low)


def _upwards(text: str) -> str:
    """A list of processors with every range written from its low end to its high one."""
    ranges = (sorted(map(int, item.split("-"))) for item in items(text))
    return SEPARATOR.join("-".join(map(str, ends)) for ends in ranges)


def _shapes(text: str) -> dict[str, tuple[int, ...]]:
    pairs = (item.rpartition(":") for item in items(text))
    return {name: tuple(map(int, sizes.split("x"))) for name, _, sizes in pairs}


def _inputs(text: str) -> frozenset[tuple[str, int]]:
    """Names and ranks."""
    return frozenset((name, len(shape)) for name, shape in _shapes(text).items())


def _crossed(low: str, high: str) -> bool:
    """Whether a dimension of `low` is larger than the same one of `high`."""
    above = _shapes(high)
    return any(
        size > most
        for name, shape in _shapes(low).items()
        for size, most in zip(shape, above.get(name, (math.inf,) * len(shape)), strict=False)
    )
