"""Versions under which operator sets are imported that the model did not use before."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.model.generated_functions import VERSION as GENERATED_VERSION
from optimizer.model.outlined_functions import VERSION as OUTLINED_VERSION
from optimizer.model.own_functions import VERSION as LAYOUTS_VERSION
from optimizer.operators.generated import GENERATED
from optimizer.operators.layouts import LAYOUTS
from optimizer.operators.outlined import OUTLINED

OPSET_VERSIONS: Mapping[str, int] = {
    "com.microsoft": 1,
    GENERATED: GENERATED_VERSION,
    LAYOUTS: LAYOUTS_VERSION,
    OUTLINED: OUTLINED_VERSION,
}
