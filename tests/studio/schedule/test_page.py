"""The page Schedule without a browser: what the component is given after what the visitor did."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from optimizer.errors import RunError
from optimizer.loops.schedule import (
    SCHEDULE,
    ComputeRoot,
    Parallel,
    Primitive,
    Reorder,
    Schedule,
    Split,
    Unroll,
    Vectorize,
)
from optimizer.schedules.examples import EXAMPLES
from profiling.kernels.generated.node_regions import NodeRegions
from studio.schedule import page as schedule_page
from studio.schedule import subject, timing
from studio.schedule.descriptor import primitives_json
from studio.schedule.draft import Draft, packed
from studio.schedule.opened import OpenedSchedule
from studio.schedule.region_job import NetworkLoops, RegionLoops
from studio.tasks import Task
from studio.workspace import current
from tests.studio.apps import PATIENCE_S

pytestmark = [pytest.mark.usefixtures("own_store"), pytest.mark.long]
Json = dict[str, Any]
TILED = EXAMPLES["blur"].schedule("tiled")


def _script() -> None:
    import streamlit as st

    from studio.schedule.messages import take
    from studio.schedule.page import render

    for name, value in st.session_state.pop("told", ()):
        take(name, value)
    render()


class Visitor:
    """A session of its own, and what its component was given last."""

    def __init__(self, drawn: dict[int, Json], **query: str) -> None:
        self._drawn = drawn
        self._app = AppTest.from_function(_script, default_timeout=PATIENCE_S)
        for name, text in query.items():
            self._app.query_params[name] = text

    def does(self, *told: tuple[str, Any], until: Callable[[Json], bool] = lambda _: True) -> Json:
        """What is drawn after these messages, once the document is the one of the edit."""
        self._app.session_state["told"] = told
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self._app.run()
            assert not self._app.exception
            drawn = self._drawn[0]
            if drawn["fresh"] and until(drawn):
                return drawn
            time.sleep(0.05)
        raise AssertionError(self._drawn)

    @property
    def link(self) -> dict[str, list[str]]:
        """The parameters of the address."""
        return dict(self._app.query_params)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[int, Json]:
    """What the component is given, instead of a component."""
    seen: dict[int, Json] = {}
    monkeypatch.setattr(schedule_page, "show_lab", lambda told: seen.__setitem__(0, told))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    return seen


def edit(*primitives: Primitive, off: tuple[int, ...] = (), step: int = 64) -> tuple[str, Json]:
    """The message of an edit."""
    told = primitives_json(Schedule(primitives))
    return "draft", {"primitives": told, "off": list(off), "step": step}


def refusals(drawn: Json) -> list[str]:
    """Why steps are left out, from the first on."""
    return [step["refusal"] for step in drawn["view"]["steps"]]


def test_without_a_choice_it_opens_on_a_blur_that_is_scheduled(drawn: dict[int, Json]) -> None:
    shown = Visitor(drawn).does()
    assert (shown["subject"]["id"], shown["subject"]["order"]) == ("blur", "tiled and vectorized")
    assert len(shown["view"]["steps"]) == 10
    assert "pull against each other" in shown["subject"]["teaches"]
    assert shown["draft"]["texts"][4] == "blur_x.compute_at(blur_y, xo)"
    assert shown["subject"]["funcs"][0]["formula"].startswith("blur_x(y, x) = (image(y, x) + ")


def test_an_edit_is_drawn_undone_and_done_again(drawn: dict[int, Json]) -> None:
    visitor = Visitor(drawn, loops="blur", order="tiled")
    assert len(visitor.does()["view"]["steps"]) == 6
    edited = visitor.does(edit(*TILED.primitives, Split("blur_y", "xi", "xv", "lane", 8), step=6))
    assert len(edited["view"]["steps"]) == 7
    assert (edited["step"], edited["undo"], edited["redo"]) == (6, True, False)
    assert "primitives" in visitor.link
    undone = visitor.does(("undo", None))
    assert (len(undone["view"]["steps"]), undone["undo"], undone["redo"]) == (6, False, True)
    assert "primitives" not in visitor.link
    assert visitor.does(("redo", None))["view"] == edited["view"]


def test_what_is_switched_off_stays_in_the_list_and_out_of_the_nest(drawn: dict[int, Json]) -> None:
    shown = Visitor(drawn, loops="blur").does(edit(*TILED.primitives, off=(3,)))
    assert (len(shown["draft"]["texts"]), len(shown["view"]["steps"])) == (5, 5)
    assert all(node["run"] == "serial" for node in shown["view"]["steps"][-1]["nodes"])


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Split("blur_y", "x", "a", "b", 0), "0"),
        (Unroll("blur_y", "x"), "written out"),
        (Vectorize("blur_y", "nothing"), "nothing"),
        (Split("blur_y", "x", "a", "b", 10**18), ""),
    ],
)
def test_a_primitive_that_cannot_be_applied_is_left_out_with_a_sentence_and_the_rest_goes_on(
    drawn: dict[int, Json], bad: Primitive, why: str
) -> None:
    shown = Visitor(drawn, loops="blur").does(edit(bad, ComputeRoot("blur_x")))
    assert refusals(shown)[0] == ""
    assert why in refusals(shown)[1]
    assert refusals(shown)[1] or bad == Split("blur_y", "x", "a", "b", 10**18)
    first, last = shown["view"]["steps"][0], shown["view"]["steps"][-1]
    assert len(last["nodes"]) > len(first["nodes"])


def test_a_loop_that_is_gone_since_another_primitive_is_off_is_named_where_it_is_used(
    drawn: dict[int, Json],
) -> None:
    tiles = TILED.primitives[:4]
    assert isinstance(tiles[2], Reorder)
    shown = Visitor(drawn, loops="blur").does(edit(*tiles, off=(1,)))
    assert "xo" in refusals(shown)[2]
    assert isinstance(tiles[3], Parallel)
    assert refusals(shown)[3] == ""


def test_a_file_replaces_the_schedule_and_what_is_none_is_refused(drawn: dict[int, Json]) -> None:
    visitor = Visitor(drawn, loops="blur")
    text = SCHEDULE.dumps(TILED).decode()
    assert len(visitor.does(("file", {"text": text}))["view"]["steps"]) == 6
    for bad, why in (
        ("{", "schedule"),
        ('{"schema": "passlens.race/1"}', "passlens.schedule/1"),
        ('{"schema": "passlens.schedule/1", "primitives": [{"primitive": "steal"}]}', "damaged"),
        (" " * (1 << 21), "too long"),
        (SCHEDULE.dumps(Schedule((ComputeRoot("blur_x"),) * 65)).decode(), "65 primitives"),
    ):
        shown = visitor.does(("file", {"text": bad}))
        assert why in shown["problem"]
        assert len(shown["view"]["steps"]) == 6
    assert visitor.does(("undo", None))["problem"] == ""


_SENSELESS: list[tuple[str, Any]] = [
    ("draft", {"primitives": "x", "off": [], "step": 1}),
    ("draft", {"primitives": [{}], "off": [], "step": 1}),
    ("draft", {"primitives": [], "off": ["x"], "step": 1}),
    ("draft", None),
    ("subject", {"subject": 1, "order": 2}),
    ("time", {"step": -1}),
    ("anything", {}),
]


@pytest.mark.parametrize("told", _SENSELESS)
def test_a_message_that_makes_no_sense_changes_nothing(drawn: dict[int, Json], told: Any) -> None:
    visitor = Visitor(drawn, loops="blur", order="tiled")
    before = visitor.does()
    assert visitor.does(told)["view"] == before["view"]


def test_a_link_restores_subject_schedule_and_step(drawn: dict[int, Json]) -> None:
    primitives = packed(Draft(Schedule(TILED.primitives[:3])))
    shown = Visitor(drawn, loops="blur", primitives=primitives, at="2").does()
    assert (len(shown["view"]["steps"]), shown["step"]) == (4, 2)


@pytest.mark.parametrize(
    "query", [{"primitives": "nonsense"}, {"loops": "nothing-like-this"}, {"loops": "../etc"}]
)
def test_a_link_that_makes_no_sense_still_shows_something(
    drawn: dict[int, Json], query: dict[str, str]
) -> None:
    shown = Visitor(drawn, **query).does()
    assert shown["subject"]["id"] == "blur"
    assert bool(shown["problem"]) == ("/" not in "".join(query.values()))


def test_two_visitors_never_meet(drawn: dict[int, Json]) -> None:
    one, other = Visitor(drawn, loops="blur"), Visitor(drawn, loops="blur")
    one.does(edit(ComputeRoot("blur_x")))
    assert len(other.does()["view"]["steps"]) == 10
    assert other.does(("undo", None))["undo"] is False
    assert len(one.does()["view"]["steps"]) == 2


def test_what_cannot_be_run_says_so_at_the_step_that_was_to_be_timed(
    drawn: dict[int, Json],
) -> None:
    visitor = Visitor(drawn, loops="blur")
    visitor.does(edit(Unroll("blur_y", "x"), ComputeRoot("blur_x")))
    shown = visitor.does(("time", {"step": 1}), until=_ended)
    (failed,) = shown["times"]
    assert (failed["step"], failed["state"]) == (1, "failed")
    assert "written out" in failed["why"]


def _ended(drawn: Json) -> bool:
    return bool(drawn["times"]) and all(one["state"] != "running" for one in drawn["times"])


def test_a_worker_that_dies_while_timing_is_one_sentence_and_may_be_tried_again(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = iter([RunError("The worker died (signal 11)."), [(0.5, 0.25), (1.0, 1.0)]])

    def work(*_: object, **__: object) -> object:
        outcome = next(ways)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(timing, "pool", lambda: work)
    visitor = Visitor(drawn, loops="tail")
    (died,) = visitor.does(("time", {"step": 1}), until=_ended)["times"]
    assert died["why"] == "This schedule cannot be timed: The worker died (signal 11)."
    done = visitor.does(
        ("time", {"step": 1}), until=lambda told: told["times"][0]["state"] == "done"
    )
    (times,) = done["times"]
    assert (times["median_ms"], times["least_ms"], times["first_ms"]) == (375, 250, 1000)
    first = visitor.does(edit(*EXAMPLES["tail"].schedules[-1].schedule.primitives, off=(1,)))
    assert [one["step"] for one in first["times"]] == [1]  # the steps before it are the same


def test_a_program_in_halides_languages_is_made_for_whoever_asks(drawn: dict[int, Json]) -> None:
    visitor = Visitor(drawn, loops="blur", order="tiled")
    visitor.does(("export", {"language": "python", "number": 7}))
    exported = visitor.does()["exported"]
    assert (exported["number"], exported["name"]) == (7, "schedule.py")
    assert "blur_x.compute_at(" in exported["text"]
    wrong = visitor.does(
        edit(Vectorize("blur_y", "gone")), ("export", {"language": "cpp", "number": 8})
    )
    assert wrong["exported"]["number"] == 7
    assert "gone" in visitor.does()["problem"]


def test_a_helpers_schedule_is_one_edit_that_can_be_undone(drawn: dict[int, Json]) -> None:
    def script() -> None:
        import streamlit as st

        from optimizer.schedules.examples import EXAMPLES
        from studio.schedule.editing import replace_schedule
        from studio.schedule.page import render

        if st.session_state.pop("helps", True):
            replace_schedule(EXAMPLES["blur"].schedule("sliding window"))
        render()

    app = AppTest.from_function(script, default_timeout=PATIENCE_S)
    app.session_state["helps"] = True
    app.run()
    shown = drawn[0]
    assert (shown["draft"]["texts"][0], shown["undo"]) == ("blur_x.store_root()", True)


def _region(name: str) -> RegionLoops:
    blur = EXAMPLES["blur"]
    return RegionLoops(name, "Mul + Add on float32[4]", blur.algorithm, TILED)


def test_a_region_of_the_open_model_is_a_subject_with_its_default_schedule(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "regions_with_loops", _finding(_region("mul_add")))
    shown = Visitor(drawn, loops="region.mul_add", model="tour").does(until=_is_region)
    assert shown["subject"]["title"] == "Mul + Add on float32[4]"
    assert [one["name"] for one in shown["subject"]["orders"]] == [
        "no schedule",
        "default schedule",
    ]
    assert len(shown["view"]["steps"]) == 6
    groups = [group["title"] for group in shown["offered"]]
    assert groups == ["Examples", "Regions of the open model"]


def _finding(*found: RegionLoops, nodes: NodeRegions | None = None) -> Callable[..., NetworkLoops]:
    """What looks for regions, and finds these."""

    def look(*_: object, **__: object) -> NetworkLoops:
        return NetworkLoops(found, {}, nodes or NodeRegions())

    return look


def _is_region(drawn: Json) -> bool:
    return drawn["subject"]["id"].startswith("region.")


def test_regions_found_while_an_example_is_drawn_are_drawn_next(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = Event()
    find, draw = _finding(_region("mul_add")), schedule_page._viewing  # pyright: ignore[reportPrivateUsage]

    def look(*_: object, **__: object) -> NetworkLoops:
        may_end.wait()
        return find()

    def draw_late(opened: OpenedSchedule) -> Task[Json]:
        may_end.set()
        looking = subject.found_subject(current(), wants_regions=True).looking
        assert looking is not None
        looking.wait(PATIENCE_S)
        return draw(opened)

    awaited: list[bool] = []

    def run_again_after(pending: Sequence[Task[Any]]) -> None:
        awaited.append(bool(pending))

    monkeypatch.setattr(subject, "regions_with_loops", look)
    monkeypatch.setattr(schedule_page, "_viewing", draw_late)
    monkeypatch.setattr(schedule_page, "run_again_after", run_again_after)
    visitor = Visitor(drawn, loops="region.mul_add", model="swin")
    assert visitor.does()["subject"]["id"] == "blur"
    assert awaited[-1]
    assert _is_region(visitor.does())
    assert not awaited[-1]


def test_a_region_that_is_not_there_is_told_and_an_example_is_shown(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "regions_with_loops", _finding())
    visitor = Visitor(drawn, loops="region.gone", model="bert")
    shown = visitor.does(until=lambda told: told["busy"] == "")
    assert shown["subject"]["id"] == "blur"
    assert "no such region" in shown["problem"]


def test_a_node_leads_to_its_region_which_the_link_names_from_the_first_edit_on(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = NodeRegions({"n4": "mul_add"})
    monkeypatch.setattr(subject, "regions_with_loops", _finding(_region("mul_add"), nodes=nodes))
    visitor = Visitor(drawn, loops="node.n3.n4", model="vit")
    shown = visitor.does(until=_is_region)
    assert (shown["subject"]["id"], shown["problem"]) == ("region.mul_add", "")
    visitor.does(edit(*TILED.primitives[:2], step=2), until=lambda told: told["step"] == 2)
    assert "region.mul_add" in visitor.link["loops"]


def test_a_node_in_no_region_says_why_beside_an_example(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = NodeRegions(
        {}, {"n4": "MatMul 'qk' is in no region that becomes a kernel: it is large."}
    )
    monkeypatch.setattr(subject, "regions_with_loops", _finding(_region("a"), nodes=nodes))
    shown = Visitor(drawn, loops="node.n4", model="t5").does(
        until=lambda told: told["problem"] != ""
    )
    assert shown["subject"]["id"] == "blur"
    assert shown["problem"].startswith("MatMul 'qk' is in no region that becomes a kernel: it is")


def test_regions_are_looked_for_when_somebody_asks(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "regions_with_loops", _finding(_region("a"), _region("b")))
    visitor = Visitor(drawn, loops="blur", model="gpt2")
    assert len(visitor.does()["offered"]) == 1
    told = visitor.does(("regions", None), until=lambda told: len(told["offered"]) == 2)
    assert [one["id"] for one in told["offered"][1]["subjects"]] == ["region.a", "region.b"]


def test_a_mistake_of_ours_leaves_what_was_drawn_and_can_be_undone(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = Visitor(drawn, loops="tiling")
    before = visitor.does()

    def fail(*_: object, **__: object) -> object:
        raise RunError("Passlens made a mistake here.")

    monkeypatch.setattr(schedule_page, "view_of", fail)
    shown = visitor.does(edit(Parallel("scaled", "i")))
    assert (shown["view"], shown["problem"]) == (before["view"], "Passlens made a mistake here.")
    assert visitor.does(("undo", None))["problem"] == ""


@pytest.mark.long
def test_the_regions_of_a_sample_network_have_loops(drawn: dict[int, Json]) -> None:
    visitor = Visitor(drawn, loops="blur", model="tour")
    told = visitor.does(("regions", None), until=lambda told: len(told["offered"]) == 2)
    first = told["offered"][1]["subjects"][0]["id"]
    shown = visitor.does(("subject", {"subject": first, "order": ""}), until=_is_region)
    assert (shown["subject"]["order"], shown["problem"]) == ("default schedule", "")
    assert len(shown["view"]["steps"][-1]["nodes"]) > 2


def test_a_search_for_regions_that_failed_is_told_and_may_be_tried_again(
    drawn: dict[int, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise RunError("No sizes come to mind.")

    monkeypatch.setattr(subject, "regions_with_loops", fail)
    visitor = Visitor(drawn, loops="blur", model="mobilenetv2")
    told = visitor.does(("regions", None), until=lambda told: told["problem"] != "")
    assert told["problem"] == "No sizes come to mind."
    monkeypatch.setattr(subject, "regions_with_loops", _finding(_region("a")))
    assert visitor.does(("regions", None), until=lambda told: len(told["offered"]) == 2)
