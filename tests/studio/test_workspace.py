from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer.pipeline import Pipeline
from studio.variants.link import RunChoice
from studio.versus import Versus
from studio.viewing import changed_pipeline, changed_view
from studio.workspace import Veto, View, Workspace, from_query, to_query

FULL = Workspace(
    model="gpt2",
    preset="cpu",
    on=frozenset(),
    off=frozenset({"eliminate-identity"}),
    vetoed=frozenset({Veto("0123456789ab", "ConvBatchNorm", "n5~1")}),
    versus=Versus("portable", frozenset({"fuse-gelu-runtime"}), frozenset({"fold-constants"})),
    view=View(step=7, before="previous", select=("n1", "n2~1"), open=("/a", "/a/b")),
    record=12,
)


@pytest.mark.parametrize("workspace", [Workspace(), FULL, FULL.with_model("bert")])
def test_a_link_brings_back_what_it_was_made_of(workspace: Workspace) -> None:
    again = from_query(to_query(workspace))
    assert replace(again, seq=workspace.seq) == workspace


def test_defaults_make_a_short_link() -> None:
    assert to_query(Workspace()) == {"model": "resnet50"}


@pytest.mark.parametrize(
    "query",
    [
        {"step": "-1"},
        {"step": "1e9"},
        {"step": "9" * 40},
        {"preset": "<script>"},
        {"on": "no-such-pass,"},
        {"before": "later"},
        {"versus": "everything,-fold-constants"},
    ],
)
def test_nonsense_in_a_link_is_passed_over(query: dict[str, str]) -> None:
    workspace = from_query(query)
    assert workspace.view.step is None
    assert workspace.versus is None
    assert (workspace.preset, workspace.on, workspace.view.before) == (
        "portable",
        frozenset(),
        "source",
    )


def test_a_link_of_before_names_the_presets_of_today() -> None:
    query = {"preset": "runtime", "versus": "default,-fold-constants", "race": "default,runtime"}
    workspace = from_query(query)
    assert workspace.preset == "cpu"
    assert workspace.versus == Versus("portable", frozenset(), frozenset({"fold-constants"}))
    assert [one.graph for one in workspace.of(RunChoice).variants] == ["portable", "cpu"]
    assert from_query({"preset": "default"}) == from_query({})


def test_switching_a_pass_off_and_on_again_leaves_the_preset() -> None:
    off = Workspace().with_pass("eliminate-identity", enabled=False)
    assert "eliminate-identity" not in off.pipeline().ids
    on = off.with_pass("eliminate-identity", enabled=True)
    assert (on.on, on.off) == (frozenset(), frozenset())
    assert on.pipeline() == Workspace().pipeline()


def test_back_to_the_preset_is_back_to_the_one_that_was_chosen() -> None:
    chosen = changed_pipeline(Workspace(), {"preset": "cpu"})
    changed = chosen.with_pass("eliminate-identity", enabled=False)
    assert changed_pipeline(changed, {"reset": True}).pipeline() == Pipeline.of("cpu")


def test_a_family_switches_all_its_passes() -> None:
    workspace = changed_pipeline(Workspace(), {"family": ["node", False]})
    assert workspace.pipeline().ids
    assert not any(p.family == "node" for p in workspace.pipeline().passes)


def test_an_event_that_makes_no_sense_changes_nothing() -> None:
    assert changed_pipeline(Workspace(), {"toggle": ["eliminate-identity"]}) == Workspace()
    assert changed_pipeline(Workspace(), {"preset": "everything"}) == Workspace()


def test_looking_around_does_not_raise_the_sequence_number() -> None:
    moved = changed_view(Workspace(), {"step": 3, "before": "previous", "select": ["n1"]})
    assert moved.seq == Workspace().seq
    assert moved.view == View(step=3, before="previous", select=("n1",))


def test_another_model_starts_without_vetoes_and_raises_the_sequence_number() -> None:
    other = FULL.with_model("bert")
    assert (other.vetoed, other.view, other.seq) == (frozenset(), View(), FULL.seq + 1)


def test_a_veto_is_taken_back_by_its_match() -> None:
    veto = Veto("0123456789ab", "Identity", "n3")
    vetoed = Workspace().with_veto(veto, step=4)
    vetoed = vetoed.with_veto(replace(veto, rule="other words"), step=4)
    assert [v.match for v in vetoed.vetoed] == ["0123456789ab"]
    assert vetoed.pipeline().vetoed == {"0123456789ab"}
    assert vetoed.without_veto("0123456789ab", step=4).vetoed == frozenset()


def test_a_veto_leaves_the_step_and_what_the_viewer_shows_alone() -> None:
    veto = Veto("0123456789ab", "Identity", "n3")
    for workspace in (
        FULL.with_veto(veto, step=9),
        FULL.with_veto(veto, step=3).without_veto(veto.match, step=9),
    ):
        assert (workspace.view, workspace.seq) == (replace(FULL.view, step=9), FULL.seq)
        assert to_query(workspace)["step"] == "9"


def test_a_pipeline_is_compared_with_a_preset_or_with_itself_as_it_is_now() -> None:
    with_runtime = changed_pipeline(Workspace(), {"versus": "cpu"})
    assert with_runtime.versus == Versus("cpu")
    assert changed_pipeline(with_runtime, {"versus": ""}).versus is None
    switched = Workspace().with_pass("fold-constants", enabled=False)
    pinned = changed_pipeline(switched, {"versus": "now"}).with_preset("cpu")
    assert pinned.versus is not None
    assert pinned.versus.pipeline() == switched.pipeline()
    assert pinned.versus.name() == "portable, −1 pass"
    assert pinned.with_model("bert").versus is None
