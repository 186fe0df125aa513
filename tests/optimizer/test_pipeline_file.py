"""A pipeline as a file: what is written is read, and what is wrong is said in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from optimizer.pipeline_file import pipeline_from, pipeline_text, read_pipeline, write_pipeline


def some() -> Pipeline:
    pipeline = Pipeline.of("default", enable=["convert-to-float16"], disable=["fold-shapes"])
    places = {"eliminate-identity": frozenset({"n1", "n2"})}
    return replace(pipeline, vetoed=frozenset({"0123456789ab"}), places=places)


def test_a_pipeline_is_the_same_after_a_round_through_its_file(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.json"
    write_pipeline(some(), path)
    assert read_pipeline(path).to_json() == some().to_json()


@pytest.mark.parametrize(("before", "today"), [("default", "portable"), ("runtime", "cpu")])
def test_a_pipeline_of_before_has_the_preset_of_today(before: str, today: str) -> None:
    assert pipeline_from(changed(preset=before), name="old.json").preset == today
    assert Pipeline.of(before) == Pipeline.of(today)


def changed(**changes: Any) -> str:
    return json.dumps({**json.loads(pipeline_text(some())), **changes})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "'mine.json' is no pipeline: it is not JSON"),
        ("[]", "'mine.json' is no pipeline: its schema is not passlens.pipeline/1."),
        (changed(schema="passlens.trace/1"), "its schema is not passlens.pipeline/1."),
        (changed(preset="fast"), "there is no preset 'fast'."),
        (changed(passes=3), "'mine.json' is a damaged pipeline"),
        (changed(vetoed=None), "'mine.json' is a damaged pipeline"),
        (changed(passes="x"), "'mine.json' is a damaged pipeline: its passes, options"),
        (changed(passes=[{"options": {}}]), "'mine.json' is a damaged pipeline: it has no 'id'."),
        (
            changed(vetoed=["0123456789ab", "all"]),
            "'all' is no veto; a veto is the id of a rewrite",
        ),
        (changed(vetoed=[5]), "'5' is no veto"),
        (
            changed(passes=[{"id": "fuse-conv-batchnorm", "options": {}}]),
            "There is no pass 'fuse-conv-batchnorm'; did you mean fuse-conv-batch-norm?",
        ),
        (
            changed(passes=[{"id": "zzz", "options": {}}]),
            "There is no pass 'zzz'; passlens passes lists them.",
        ),
        (
            changed(passes=[{"id": "fold-constants", "options": {"growth": 1}}]),
            "Pass 'fold-constants' has no option 'growth'.",
        ),
        (
            changed(passes=[{"id": "fold-constants", "options": {"growth_mib": "much"}}]),
            "option 'growth_mib' of pass 'fold-constants' takes int, not 'much'.",
        ),
        (
            changed(passes=[{"id": "fold-constants", "options": {"growth_mib": True}}]),
            "option 'growth_mib' of pass 'fold-constants' takes int",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(StudioError) as caught:
        pipeline_from(text, name="mine.json")
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 250


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match=r"'.*nowhere\.json' cannot be read"):
        read_pipeline(tmp_path / "nowhere.json")


def test_passes_are_switched_on_last_and_off() -> None:
    switched = some().switched(enable=["fold-shapes"], disable=["fold-constants"])
    assert switched.ids[-1] == "fold-shapes"
    assert "fold-constants" not in switched.ids
    assert switched.vetoed == some().vetoed
