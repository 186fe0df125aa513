"""Every pass against its golden cases, and every pass against what is asked of all passes."""

from __future__ import annotations

import re
from functools import cache

import pytest

from optimizer.registry import HEADINGS, Pass, passes
from tests.optimizer.graphs import opened
from tests.optimizer.passes import golden

CASES = golden.cases()
PASSES = passes()
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")


def _case_name(case: golden.Case) -> str:
    return f"{case.pass_id}/{case.path.stem}"


def _pass_id(declared: type[Pass]) -> str:
    return declared.id


@cache
def _fired(pass_id: str) -> list[bool]:
    """For each case of a pass, whether it fires."""
    return [bool(golden.run(case).trace.steps) for case in CASES if case.pass_id == pass_id]


@pytest.mark.parametrize("case", CASES, ids=_case_name)
def test_a_pass_does_what_its_golden_case_says(
    case: golden.Case, request: pytest.FixtureRequest
) -> None:
    outcome = golden.run(case)
    if request.config.getoption("--update"):
        golden.write(case, outcome)
    else:
        assert outcome.sections == case.sections


@pytest.mark.parametrize("case", CASES, ids=_case_name)
def test_a_golden_case_is_named_as_a_sentence(case: golden.Case) -> None:
    assert KEBAB.fullmatch(case.path.stem)
    assert all(line.startswith("#") for line in case.head.splitlines() if line)


@pytest.mark.parametrize("case", CASES, ids=_case_name)
def test_a_second_run_of_a_pass_finds_nothing_more(case: golden.Case) -> None:
    first = golden.run(case)
    again = golden.run(golden.Case(case.path, case.head, {"before": first.sections["after"]}))
    assert [r.rule for r in again.trace.rewrites] == []


@pytest.mark.parametrize("declared", [p for p in PASSES if not p.missing()], ids=_pass_id)
def test_a_pass_has_a_case_that_fires_and_one_that_does_not(declared: type[Pass]) -> None:
    fired = _fired(declared.id)
    assert True in fired, "no golden case fires"
    assert False in fired, "no golden case shows where the pass must not fire"


@pytest.mark.parametrize("declared", PASSES, ids=_pass_id)
def test_a_pass_explains_itself_under_all_six_headings(declared: type[Pass]) -> None:
    sections = declared.documentation()
    assert [*sections] == [*HEADINGS]
    assert all(text.strip() for text in sections.values())


@pytest.mark.parametrize("declared", PASSES, ids=_pass_id)
def test_a_pass_is_called_by_an_action_and_has_a_title(declared: type[Pass]) -> None:
    assert KEBAB.fullmatch(declared.id)
    assert declared.title()
    assert not declared.title().endswith(".")
    assert len(declared.title()) <= 60


@pytest.mark.parametrize("declared", PASSES, ids=_pass_id)
def test_a_pass_has_rules_named_for_their_patterns(declared: type[Pass]) -> None:
    rules = declared().rules()
    names = [rule.name for rule in rules]
    assert names
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"([A-Z][a-z0-9]*)+", name) for name in names)
    assert all(rule.roots and rule.reach >= 1 for rule in rules)


def test_every_folder_of_golden_cases_belongs_to_a_pass() -> None:
    folders = {path.name for path in golden.FOLDER.iterdir() if path.is_dir()}
    assert folders <= {declared.id for declared in PASSES}


@pytest.mark.parametrize("case", CASES, ids=_case_name)
def test_a_golden_case_is_a_model_the_optimizer_can_open(case: golden.Case) -> None:
    assert len(list(opened(case.before).ir.graph)) > 0
