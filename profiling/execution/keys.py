"""The options of a `RunConfig` in the runtime's own words.

Only what is not at the runtime's own default is written, so that a runtime which does not know a
new option still runs without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from profiling.config import Group, Option, RunConfig, Value, options
from profiling.config.option import items
from profiling.config.tensorrt import TACTICS

ATTRIBUTE = "SessionOptions."
_RUNTIME_DIFFERS = frozenset({"spinning"})  # our default is not the runtime's
_INVERTED = frozenset(
    {
        "cpu_fallback", "function_inlining", "initializers_in_arena", "prepacking", "qdq_folding",
        "qdq_fusion", "qdq_pair_removal", "spin_between_runs",
    }
)  # fmt: skip
_GROWTH = {"power_of_two": "kNextPowerOfTwo", "same_as_requested": "kSameAsRequested"}
_CODES: Mapping[str, Mapping[str, str]] = {
    "attention_kernel": {
        "default": "0", "flash": "1", "efficient": "2", "fused": "4", "cudnn": "8", "math": "16",
    },
    "arena_growth": _GROWTH,
    "convolution_search": {
        "exhaustive": "EXHAUSTIVE", "heuristic": "HEURISTIC", "default": "DEFAULT",
    },
    "cpu_arena_growth": {"power_of_two": "0", "same_as_requested": "1"},
    "execution_mode": {"sequential": "ORT_SEQUENTIAL", "parallel": "ORT_PARALLEL"},
    "execution_order": {"default": "DEFAULT", "priority": "PRIORITY_BASED"},
    "graph_optimization": {
        "disabled": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC",
        "extended": "ORT_ENABLE_EXTENDED", "layout": "ORT_ENABLE_LAYOUT", "all": "ORT_ENABLE_ALL",
    },
    "optimizer_loops": {"never": "0", "after_last_level": "1", "after_fusions": "2"},
}  # fmt: skip
_JOINED = {
    "optimizers_off": ";", "thread_affinities": ";", "nbits_rows": ",", "trt_exclude": ",",
    "trt_min_shapes": ",", "trt_best_shapes": ",", "trt_max_shapes": ",",
}  # fmt: skip


def config_entries(config: RunConfig) -> dict[str, str]:
    """Options that the runtime takes as text; it accepts unknown keys in silence."""
    entries = {
        key: _written(option, getattr(config, option.name))
        for option in _said(config)
        for key in option.keys
        if "." in key and not key.startswith(ATTRIBUTE)
    }
    if config.device != "cpu":
        entries["session.record_ep_graph_assignment_info"] = "1"
    return entries


def session_attributes(config: RunConfig) -> dict[str, Value]:
    """All attributes of `SessionOptions` that we know; names of enum members as text."""
    found: dict[str, Value] = {}
    for option in options():
        value: Value = getattr(config, option.name)
        for key in option.keys:
            if key.startswith(ATTRIBUTE):
                coded = _CODES.get(option.name, {})
                found[key.removeprefix(ATTRIBUTE)] = coded.get(str(value), value)
    return found


def cuda_options(config: RunConfig) -> dict[str, str]:
    """Options of the CUDA provider."""
    return {"device_id": str(config.device_id)} | _provider_options(config, "cuda")


def tensorrt_options(config: RunConfig, folder: Path) -> dict[str, str]:
    """Options of the TensorRT provider; its caches lie in `folder`."""
    written = {"device_id": str(config.device_id)} | _provider_options(config, "tensorrt")
    return {key: str(folder) if key.endswith("_path") else value for key, value in written.items()}


def _provider_options(config: RunConfig, group: Group) -> dict[str, str]:
    return {
        key: _written(option, getattr(config, option.name))
        for option in _said(config)
        for key in option.keys
        if option.group == group and "." not in key
    }


def _said(config: RunConfig) -> Iterator[Option]:
    """Options that have to be written."""
    for option in options():
        if option.name in _RUNTIME_DIFFERS or getattr(config, option.name) != option.default:
            yield option


def _written(option: Option, value: Value) -> str:
    """One value as the runtime reads it."""
    if option.name in _CODES:
        return _CODES[option.name][str(value)]
    if option.name == "trt_tactics":
        return _tactics(str(value))
    if option.name in _JOINED:
        return _JOINED[option.name].join(items(str(value)))
    if isinstance(value, bool):
        return _switch(option)[value != (option.name in _INVERTED)]
    if option.name.endswith("_mib"):
        return str(int(value) << 20)
    return str(value)


def _switch(option: Option) -> tuple[str, str]:
    """The words for off and on."""
    return ("False", "True") if option.group == "tensorrt" else ("0", "1")


def _tactics(chosen: str) -> str:
    """Every source, switched on or off."""
    wanted = items(chosen)
    return ",".join(("+" if name in wanted else "-") + name for name in TACTICS)
