"""The three experiments, as the records know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optimizer.errors import StudioError
from studio.cost.ablation.job import AblationReport, ablation_from_payload
from studio.cost.break_even.job import BreakEvenReport, break_even_from_payload
from studio.cost.waterfall.job import WaterfallReport, waterfall_from_payload

WorthReport = WaterfallReport | AblationReport | BreakEvenReport


def worth_from_payload(payload: Mapping[str, Any]) -> WorthReport:
    """The report again.

    Raises:
        StudioError: the payload is of no known section, or damaged.
    """
    readers = {
        "waterfall": waterfall_from_payload,
        "ablation": ablation_from_payload,
        "break-even": break_even_from_payload,
    }
    section = str(payload.get("section", ""))
    if section not in readers:
        raise StudioError("This recording is no waterfall, ablation or break-even.")
    try:
        return readers[section](payload)
    except (KeyError, TypeError, ValueError) as error:
        kind = type(error).__name__
        raise StudioError(f"This recorded {section} is damaged: {kind}.") from error
