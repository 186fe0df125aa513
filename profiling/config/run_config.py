"""How a model is run: every option typed, documented and checked before anything runs.

The fields of `RunConfig` are the options. Form, command line (`--set`, `--vary`) and documentation
derive from them through `options`. The runtime itself accepts unknown keys in silence and ignores
contradictory ones; here both are errors with a reason.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from profiling.config.contradiction import Contradictory
from profiling.config.contradictions import contradictions
from profiling.config.option import Group, Option, Value, check_value
from profiling.config.providers import CpuFields, CudaFields
from profiling.config.session import SessionFields
from profiling.config.tensorrt import TensorRtFields

# Each adds its fields to those of the one before.
_GROUPS: Mapping[Group, Any] = {
    "session": SessionFields,
    "cpu": CpuFields,
    "cuda": CudaFields,
    "tensorrt": TensorRtFields,
}


@dataclass(frozen=True, slots=True)
class RunConfig(TensorRtFields):
    """Runtime options of one variant. An instance is always consistent.

    Raises:
        ConfigError: a value is impossible.
        Contradictory: two contradict each other.
    """

    def __post_init__(self) -> None:
        for option in options():
            check_value(option, getattr(self, option.name))
        problems = contradictions(self, options())
        if problems:
            raise Contradictory(problems[0])

    def changed(self) -> dict[str, Value]:
        """Options that are not at their default."""
        return {
            option.name: getattr(self, option.name)
            for option in options()
            if getattr(self, option.name) != option.default
        }


@functools.cache
def options() -> tuple[Option, ...]:
    """All options, group by group."""
    found: dict[str, Option] = {}
    hints = get_type_hints(TensorRtFields)
    for group, fields in _GROUPS.items():
        for item in dataclasses.fields(fields):
            default: Any = item.default
            choices = get_args(hints[item.name])
            option = Option(
                item.name, default=default, group=group, choices=choices, **item.metadata
            )
            found.setdefault(item.name, option)
    return tuple(found.values())
