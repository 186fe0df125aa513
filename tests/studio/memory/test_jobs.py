"""The Memory page's jobs on real networks, in this process."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from optimizer.errors import Cancelled, PlanError, StudioError
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.memory.arena_map import from_json, to_json
from studio.memory.kept import folder_of
from studio.memory.map.job import MapRequest, run_maps
from studio.memory.orders.job import ALL_ORDERS, OrdersRequest, ordered_file
from studio.memory.planners.job import ALL_PLANS, PlannersRequest
from studio.memory.request import ArenaRequest
from studio.memory.walk.job import WALK

Subject = tuple[OpenedModel, OpenedRun]
SIZES = (("batch", 1), ("seq", 16))


def here(function: Callable[..., Any], *args: object, **options: Any) -> Any:
    """An `Isolate` that computes in this process."""
    progress = {"progress": _quiet} if "progress" in signature(function).parameters else {}
    del options
    return function(*args, **progress)


def _quiet(text: str, fraction: float) -> None:
    del text, fraction


QUIET: dict[str, Any] = {"progress": _quiet, "cancelled": lambda: False}


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """The tour with its default run."""
    store = Store(here, root=tmp_path_factory.mktemp("store"))
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return model, store.run(model, Pipeline.of("default"))


def test_a_map_has_a_checked_plan_facts_and_names(tour: Subject) -> None:
    last = tour[1].result.steps
    before, after = run_maps(
        here,
        tour,
        [MapRequest(ArenaRequest(step, sizes=SIZES), "best", 1.0) for step in (0, last)],
        **QUIET,
    )
    for drawn in (before, after):
        assert drawn.plan is not None
        assert drawn.floor_bytes <= drawn.bound_bytes <= drawn.plan.peak_bytes
        assert drawn.live_bytes[drawn.peak_step] == drawn.bound_bytes
        assert len(drawn.plan.offsets) == len(drawn.activations)
        assert set(drawn.arena.nodes) <= set(drawn.labels)
    assert len(after.arena.nodes) < len(before.arena.nodes)


def test_a_map_is_made_once_and_found_again(tour: Subject) -> None:
    wanted = [MapRequest(ArenaRequest(3, sizes=SIZES), "naive", 1.0)]
    first = run_maps(here, tour, wanted, **QUIET)

    def nobody(*args: object, **options: object) -> Any:
        raise AssertionError(args, options)

    assert run_maps(nobody, tour, wanted, **QUIET) == first
    assert from_json(to_json(first[0])) == first[0]


def test_without_sizes_there_is_no_plan_but_a_list_of_what_is_free(tour: Subject) -> None:
    (drawn,) = run_maps(here, tour, [MapRequest(ArenaRequest(1), "best", 1.0)], **QUIET)
    assert drawn.plan is None
    assert not drawn.known
    assert drawn.live_bytes == ()
    assert drawn.free == {"batch": 1, "seq": 1}


def test_every_option_has_a_file_of_its_own(tour: Subject) -> None:
    requests = [
        ArenaRequest(1),
        ArenaRequest(2),
        ArenaRequest(1, views=False),
        ArenaRequest(1, in_place=False),
        ArenaRequest(1, alignment=256),
        ArenaRequest(1, order="list"),
        ArenaRequest(1, sizes=SIZES),
    ]
    folders = {folder_of(tour[1], "map", request) for request in requests}
    assert len(folders) == len(requests)


def test_sharing_less_needs_no_less(tour: Subject) -> None:
    sharing, alone = (
        MapRequest(ArenaRequest(0, views=on, in_place=on, sizes=SIZES), "best", 1.0)
        for on in (True, False)
    )
    shared, separate = run_maps(here, tour, [sharing, alone], **QUIET)
    assert shared.regions["activations"] < separate.regions["activations"]
    assert len(shared.activations) < len(separate.activations)
    assert any(len(one.values) > 1 and one.value in shared.names for one in shared.activations)


def test_a_planner_or_an_order_that_does_not_exist_is_said(tour: Subject) -> None:
    nobody = MapRequest(ArenaRequest(0, sizes=SIZES), "nobody", 1.0)
    with pytest.raises(PlanError, match="no planner 'nobody'"):
        run_maps(here, tour, [nobody], **QUIET)
    random = MapRequest(ArenaRequest(0, order="random", sizes=SIZES), "best", 1.0)
    with pytest.raises(StudioError, match="no order 'random'"):
        run_maps(here, tour, [random], **QUIET)


def test_every_planner_has_its_say(tour: Subject) -> None:
    found = ALL_PLANS.run(here, tour, PlannersRequest(ArenaRequest(0, sizes=SIZES), 0.5), **QUIET)
    assert found.failed == {}
    assert found.plans[0].planner == "naive"
    assert found.best.certificate is not None
    assert found.of("naive").peak_bytes >= found.best.peak_bytes  # pyright: ignore[reportOptionalMemberAccess] - seen above


def test_a_walk_sees_the_first_and_the_last_step(tour: Subject) -> None:
    walk = WALK.run(here, tour, ArenaRequest(7, sizes=SIZES), **QUIET)
    assert (walk.steps[0], walk.steps[-1]) == (0, tour[1].result.steps)
    assert walk.nodes[-1] < walk.nodes[0]
    assert all(bound is not None for bound in walk.bound_bytes)
    assert walk == WALK.run(here, tour, ArenaRequest(9, sizes=SIZES), **QUIET)


def test_a_walk_knows_sizes_that_are_found_only_by_inferring_shapes_anew(
    tmp_path: Path,
) -> None:
    store = Store(here, root=tmp_path)
    model = store.open_file(gallery.open_path("gpt2"), name="gpt2")
    subject = model, store.run(model, Pipeline.of("none"))
    sizes = (("batch", 1), ("past_seq", 8), ("seq", 8), ("total_seq", 16))
    walk = WALK.run(here, subject, ArenaRequest(0, sizes=sizes), **QUIET)
    assert all(walk.bound_bytes)


def test_orders_are_found_and_the_best_one_is_written_as_a_model(tour: Subject) -> None:
    orders = ALL_ORDERS.run(here, tour, OrdersRequest(ArenaRequest(0, sizes=SIZES), 0.5), **QUIET)
    assert [order.method for order in orders.found] == ["file", "runtime", "list", "exact"]
    assert all(order.peak_bytes >= orders.floor_bytes for order in orders.worked)
    path = ordered_file(here, tour, 0, orders.best.nodes)
    written = load_path(path).ir.graph
    source = load_path(tour[0].folder / "source.onnx").ir.graph
    assert sorted(n.op_type for n in written) == sorted(n.op_type for n in source)


def test_work_that_was_cancelled_leaves_nothing_behind(tour: Subject) -> None:
    def cancelled(*args: object, **options: object) -> Any:
        raise Cancelled("The person asked to stop.")

    wanted = [MapRequest(ArenaRequest(5, sizes=SIZES), "naive", 1.0)]
    with pytest.raises(Cancelled):
        run_maps(cancelled, tour, wanted, **QUIET)
    assert not folder_of(tour[1], "map", wanted[0]).exists()
    assert run_maps(here, tour, wanted, **QUIET)[0].plan is not None
