"""Near misses: what they say holds when the run has ended."""

from __future__ import annotations

import re

from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import DeclinedMatch
from studio.gallery import gallery


def test_a_reason_names_the_opset_that_the_model_has_in_the_end() -> None:
    model = load_path(gallery.open_path("whisper-encoder"))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    first = model.ir.graph.opset_imports[""]
    trace = optimize(model, Pipeline.of("default"))
    named = {
        int(found[1])
        for declined in trace.declined
        if (found := re.search(r"the model has opset (\d+)", declined.reason))
    }
    assert named == {model.ir.graph.opset_imports[""]} != {first}


def test_a_reason_is_a_condition_and_what_is_special_about_the_place() -> None:
    reasons = {
        "Conv output has a second consumer: Sub '/a/Sub: 1'": (
            "Conv output has a second consumer",
            "Sub '/a/Sub: 1'",
        ),
        "The bounds of the Clip are not constant.": ("The bounds of the Clip are not constant", ""),
    }
    for reason, parts in reasons.items():
        declined = DeclinedMatch("fuse", "Rule", "n1", (), reason)
        assert (declined.condition, declined.detail) == parts
