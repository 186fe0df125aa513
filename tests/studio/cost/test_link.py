"""What the Cost page is set to is in the link."""

from __future__ import annotations

import pytest

from studio.cost.link import LAST, CostChoice
from studio.link import from_link, to_link
from studio.workspace import Workspace, from_query, to_query

FULL = CostChoice(
    section="fusion",
    count="predicted",
    by="rule",
    seconds=45,
    asked="deployed",
    race=True,
    tune_s=12.5,
    device="h200",
    step=12,
    top=20,
    chain="example-conv",
    dims=(("channels", 64), ("size", 28)),
)


@pytest.mark.parametrize("choice", [CostChoice(), FULL])
def test_a_link_brings_the_choice_back(choice: CostChoice) -> None:
    assert from_query(to_query(Workspace().having(choice))).of(CostChoice) == choice


def test_a_default_choice_adds_nothing_to_the_link() -> None:
    assert not any(to_link(CostChoice()).values())


@pytest.mark.parametrize(
    "query",
    [
        {"cost": "<script>"},
        {"count": "money", "bar": "beer"},
        {"at_step": "-3", "top": "many"},
        {"device": "../../etc", "chain": "Ä"},
        {"dims": "channels,x:y,:3,size:0,size:99999999"},
        {"tuned": "1e9", "measure": "soon", "measure_as": "both"},
    ],
)
def test_nonsense_in_a_link_is_passed_over(query: dict[str, str]) -> None:
    assert from_link(CostChoice, query) == CostChoice()


def test_a_break_even_is_about_deployment_and_a_waterfall_about_the_file_unless_chosen() -> None:
    assert CostChoice(section="break-even").question == "deployed"
    assert CostChoice(section="waterfall").question == "bare"
    assert CostChoice(section="ablation", asked="deployed").question == "deployed"
    assert CostChoice(section="break-even", asked="bare").question == "bare"


def test_numbers_beyond_their_limits_are_held_to_them() -> None:
    found = from_link(CostChoice, {"measure": "999", "top": "5000"})
    assert (found.seconds, found.top) == (120, 40)


def test_another_model_keeps_section_and_device_but_no_step_and_no_chain_of_the_old_one() -> None:
    there = Workspace().having(CostChoice(section="roofline", device="h200", step=3, chain="abc"))
    cost = there.with_model("tour").of(CostChoice)
    assert (cost.section, cost.device, cost.step, cost.chain) == ("roofline", "h200", LAST, "")
    assert Workspace().having(FULL).with_model("tour").of(CostChoice).chain == "example-conv"
