"""Selections and confirmations as plain data and back; extracted models are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from optimizer.errors import StudioError
from profiling.config.settings import from_values
from profiling.kernels.apart import Changed
from profiling.kernels.candidates import Candidate
from profiling.kernels.decision import Choice
from profiling.kernels.hot import HotOperator, HotOperators
from profiling.kernels.selection import Selection, WorkloadRace
from profiling.kernels.tuning import TuningResults
from profiling.kernels.whole import Confirmation
from profiling.kernels.workload import TensorSize, Workload
from profiling.racing.race import RACE
from profiling.timeline.profile_json import profiler_from_json

SCHEMA = "passlens.kernels/1"

Json = dict[str, Any]


def selection_to_json(selection: Selection) -> Json:
    """Hot operators and races as plain data."""
    hot = selection.hot
    return {
        "schema": SCHEMA,
        "options": selection.config.changed(),
        "source": hot.source,
        "total_us": hot.total_us,
        "remark": hot.remark,
        "profiler": None if hot.profiler is None else asdict(hot.profiler),
        "operators": [_operator_to_json(operator) for operator in hot.operators],
        "races": [
            {
                "workload": race.operator.workload.key,
                "candidates": [asdict(candidate) for candidate in race.candidates],
                "race": None if race.race is None else RACE.to_json(race.race),
                "error": race.error,
            }
            for race in selection.races
        ],
    }


def selection_from_json(data: Mapping[str, Any]) -> Selection:
    """The selection again, without the extracted models.

    Raises:
        StudioError: the data is not of this schema.
    """
    if data.get("schema") != SCHEMA:
        raise StudioError(f"These are no recorded kernels: their schema is not {SCHEMA}.")
    try:
        operators = tuple(_operator(item) for item in data["operators"])
        by_key = {operator.workload.key: operator for operator in operators}
        return Selection(
            from_values(data["options"]),
            HotOperators(
                data["source"], data["total_us"], operators, data["remark"],
                profiler_from_json(data.get("profiler")),
            ),
            tuple(
                WorkloadRace(
                    by_key[item["workload"]],
                    tuple(Candidate(**candidate) for candidate in item["candidates"]),
                    None if item["race"] is None else RACE.from_json(item["race"]),
                    item["error"],
                )
                for item in data["races"]
            ),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise StudioError(f"These recorded kernels are damaged: {type(error).__name__}.") from error


def confirmation_to_json(confirmation: Confirmation) -> Json:
    """Choice and race as plain data; where the file was is left out."""
    return {
        "choice": asdict(confirmation.choice),
        "race": RACE.to_json(confirmation.race),
        "predicted": dict(confirmation.predicted),
        "changed": {key: asdict(changed) for key, changed in confirmation.changed.items()},
        "adopted": confirmation.adopted,
    }


def confirmation_from_json(data: Mapping[str, Any]) -> Confirmation:
    """The confirmation again, without its file.

    Raises:
        StudioError: the data is damaged.
    """
    try:
        choice: Json = {**data["choice"], "notes": tuple(data["choice"]["notes"])}
        return Confirmation(
            Choice(**choice),
            RACE.from_json(data["race"]),
            data["predicted"],
            {
                key: Changed(changed["places"], tuple(changed["reasons"]))
                for key, changed in data["changed"].items()
            },
            data["adopted"],
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StudioError(f"This recorded choice is damaged: {type(error).__name__}.") from error


def tuning_to_json(tuning: TuningResults | None) -> Json | None:
    """Tuning results as plain data."""
    return None if tuning is None else asdict(tuning)


def tuning_from_json(data: Mapping[str, Any] | None) -> TuningResults | None:
    """Tuning results again."""
    return None if data is None else TuningResults(data["text"], data["choices"], data["remark"])


def _operator_to_json(operator: HotOperator) -> Json:
    return {
        "workload": asdict(operator.workload),
        "nodes": [list(names) for names in operator.nodes],
        "time_us": operator.time_us,
        "share": operator.share,
        "reason": operator.reason,
    }


def _operator(data: Mapping[str, Any]) -> HotOperator:
    about = data["workload"]
    inputs = tuple(TensorSize(size["dtype"], tuple(size["shape"])) for size in about["inputs"])
    fields: Json = {**about, "operators": tuple(about["operators"]), "inputs": inputs}
    return HotOperator(
        Workload(**fields),
        tuple(tuple(names) for names in data["nodes"]),
        data["time_us"],
        data["share"],
        reason=data["reason"],
    )
