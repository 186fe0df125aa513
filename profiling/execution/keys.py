"""The options of a `RunConfig` in the runtime's own words.

Only what is not at the runtime's own default is written, so that a runtime which does not know a
new option still runs without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from profiling.config import Group, Option, RunConfig, Value, options
from profiling.config.option import items

ATTRIBUTE = "SessionOptions."


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
                found[key.removeprefix(ATTRIBUTE)] = option.coded(value)
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
        if option.always or getattr(config, option.name) != option.default:
            yield option


def _written(option: Option, value: Value) -> str:
    """One value as the runtime reads it."""
    if isinstance(value, bool):
        off_on = ("False", "True") if option.group == "tensorrt" else ("0", "1")
        return off_on[value != option.negated]
    if option.signed:
        wanted = items(str(value))
        return option.joined.join(f"{'+' if one in wanted else '-'}{one}" for one in option.known)
    if option.item:
        return option.joined.join(items(str(value)))
    if option.unit == "MiB":
        return str(int(value) << 20)
    return str(option.coded(value))
