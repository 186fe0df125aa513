"""How passes speak of nodes and values: `optimizer.rules.wording`, by the name that passes use."""

from optimizer.rules.wording import described, escaping, shared, variable

__all__ = ["described", "escaping", "shared", "variable"]
