"""How a model is run: every option typed, documented and checked before anything runs."""

from profiling.config.option import ConfigError, Group, Option, Value
from profiling.config.run_config import RunConfig, options

__all__ = ["ConfigError", "Group", "Option", "RunConfig", "Value", "options"]
