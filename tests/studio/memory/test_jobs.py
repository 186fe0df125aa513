"""The Memory page's jobs on real networks, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import onnx
import pytest

from benchmarks.hourglass import hourglass
from optimizer.errors import Cancelled, PlanError, StudioError
from optimizer.isolation import within_worker
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.buffer import lower_bound
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.registry import planners
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from optimizer.source import complete
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.cli import main
from studio.gallery import gallery
from studio.memory.arena_map import MAP_FORM, ArenaMap
from studio.memory.map.job import ALL, MAP, MapRequest
from studio.memory.measured.job import ORDERED
from studio.memory.orders.job import ALL_ORDERS
from studio.memory.recompute.job import CURVE, RECOMPUTED
from studio.memory.subject import ArenaRequest
from studio.memory.walk.job import WALK
from tests.optimizer.graphs import proto_of

Subject = tuple[OpenedModel, OpenedRun]
SIZES = (("batch", 1), ("seq", 16))


def here(function: Callable[..., Any], *args: object, **options: Any) -> Any:
    """An `Isolate` that computes in this process."""
    progress = {"progress": _quiet} if "progress" in signature(function).parameters else {}
    del options
    return function(*args, **progress)


def _quiet(text: str, fraction: float) -> None:
    del text, fraction


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(here, root=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def tour(store: Store) -> Subject:
    """The tour with its default run."""
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return model, store.run(model, Pipeline.of("default"))


def mapped(store: Store, subject: Subject, arena: ArenaRequest, planner: str = "best") -> ArenaMap:
    return store.get(MAP, subject, MapRequest(arena, planner, 1.0))


def test_a_map_has_a_checked_plan_facts_and_names(store: Store, tour: Subject) -> None:
    last = tour[1].result.steps
    before, after = (mapped(store, tour, ArenaRequest(step, sizes=SIZES)) for step in (0, last))
    for drawn in (before, after):
        assert drawn.best is not None
        assert drawn.floor_bytes <= drawn.bound_bytes <= drawn.best.peak_bytes
        assert drawn.live_bytes[drawn.peak_step] == drawn.bound_bytes
        assert len(drawn.best.offsets) == len(drawn.activations)
        assert set(drawn.arena.nodes) <= set(drawn.labels)
    assert len(after.arena.nodes) < len(before.arena.nodes)


def test_a_map_is_made_once_and_found_again(store: Store, tour: Subject) -> None:
    wanted = ArenaRequest(3, sizes=SIZES)
    first = mapped(store, tour, wanted, "naive")

    def nobody(*args: object, **options: object) -> Any:
        raise AssertionError(args, options)

    assert mapped(Store(nobody, root=store.root), tour, wanted, "naive") == first
    assert MAP_FORM.loads(MAP_FORM.dumps(first)) == first


def test_without_sizes_there_is_no_plan_but_a_list_of_what_is_free(
    store: Store, tour: Subject
) -> None:
    drawn = mapped(store, tour, ArenaRequest(1))
    assert drawn.best is None
    assert not drawn.known
    assert drawn.live_bytes == ()
    assert drawn.free == {"batch": 1, "seq": 128}


def test_every_option_has_a_folder_of_its_own() -> None:
    requests = [
        ArenaRequest(1),
        ArenaRequest(2),
        ArenaRequest(1, LifetimeOptions(views=False)),
        ArenaRequest(1, LifetimeOptions(in_place=False)),
        ArenaRequest(1, LifetimeOptions(alignment=256)),
        ArenaRequest(1, order="list"),
        ArenaRequest(1, sizes=SIZES),
    ]
    folders = {MAP.name(MapRequest(request, "best", 1.0)) for request in requests}
    assert len(folders) == len(requests)


def test_sharing_less_needs_no_less(store: Store, tour: Subject) -> None:
    shared, separate = (
        mapped(store, tour, ArenaRequest(0, LifetimeOptions(on, on), sizes=SIZES))
        for on in (True, False)
    )
    apart = [drawn.arena.region_bytes()["activations"] for drawn in (shared, separate)]
    assert apart[0] < apart[1]
    assert len(shared.activations) < len(separate.activations)
    assert any(len(one.values) > 1 and one.value in shared.names for one in shared.activations)


def test_a_planner_or_an_order_that_does_not_exist_is_said(store: Store, tour: Subject) -> None:
    with pytest.raises(PlanError, match="no planner 'nobody'"):
        mapped(store, tour, ArenaRequest(0, sizes=SIZES), "nobody")
    with pytest.raises(StudioError, match="no order 'random'"):
        mapped(store, tour, ArenaRequest(0, order="random", sizes=SIZES))


def test_every_planner_has_its_say(store: Store, tour: Subject) -> None:
    found = mapped(store, tour, ArenaRequest(0, sizes=SIZES), ALL)
    naive, best = found.of("naive"), found.best
    assert naive is not None
    assert best is not None
    assert found.failed == {}
    assert [plan.planner for plan in found.own_plans] == [one.id for one in planners()]
    assert best.certificate is not None
    assert naive.peak_bytes >= best.peak_bytes


def test_a_walk_sees_the_first_and_the_last_step(store: Store, tour: Subject) -> None:
    walk = store.get(WALK, tour, ArenaRequest(7, sizes=SIZES))
    assert (walk.steps[0], walk.steps[-1]) == (0, tour[1].result.steps)
    assert walk.nodes[-1] < walk.nodes[0]
    assert all(bound is not None for bound in walk.bound_bytes)
    assert walk == store.get(WALK, tour, ArenaRequest(9, sizes=SIZES))


def test_a_walk_knows_sizes_that_are_found_only_by_inferring_shapes_anew(
    tmp_path: Path,
) -> None:
    store = Store(here, root=tmp_path)
    model = store.open_file(gallery.open_path("gpt2"), name="gpt2")
    subject = model, store.run(model, Pipeline.of("none"))
    sizes = (("batch", 1), ("past_seq", 8), ("seq", 8), ("total_seq", 16))
    walk = store.get(WALK, subject, ArenaRequest(0, sizes=sizes))
    assert all(walk.bound_bytes)


def test_orders_are_found_and_the_best_one_is_written_as_a_model(
    store: Store, tour: Subject
) -> None:
    orders = store.get(ALL_ORDERS, tour, (ArenaRequest(0, sizes=SIZES), 0.5))
    assert [order.method for order in orders.found] == ["file", "runtime", "list", "exact"]
    assert all(order.peak_bytes >= orders.floor_bytes for order in orders.worked)
    path = store.get(ORDERED, tour, (0, orders.best.nodes))
    written = load_path(path).ir.graph
    source = load_path(tour[0].folder / "source.onnx").ir.graph
    assert sorted(n.op_type for n in written) == sorted(n.op_type for n in source)


def test_work_that_was_cancelled_leaves_nothing_behind(store: Store, tour: Subject) -> None:
    def cancelled(*args: object, **options: object) -> Any:
        raise Cancelled("The person asked to stop.")

    wanted = ArenaRequest(5, sizes=SIZES)
    with pytest.raises(Cancelled):
        mapped(Store(cancelled, root=store.root), tour, wanted, "naive")
    assert not (tour[1].folder / MAP.name(MapRequest(wanted, "naive", 1.0))).exists()
    assert mapped(store, tour, wanted, "naive").best is not None


def test_the_page_and_the_command_line_plan_the_same(
    store: Store, tour: Subject, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = mapped(store, tour, ArenaRequest(0, sizes=SIZES), ALL)
    binds = [word for name, size in SIZES for word in ("--bind", f"{name}={size}")]
    assert main(["plan", "tour", "--json", *binds]) == 0
    told = json.loads(capsys.readouterr().out)
    peaks = {plan["planner"]: plan["peak_bytes"] for plan in told["plans"]}
    assert peaks == {plan.planner: plan.peak_bytes for plan in drawn.own_plans}
    assert (told["bound_bytes"], told["floor_bytes"]) == (drawn.bound_bytes, drawn.floor_bytes)


@pytest.mark.parametrize("order", ["file", "list"])
def test_a_point_of_the_curve_is_written_as_a_model_with_that_peak(
    store: Store, tmp_path: Path, order: str
) -> None:
    path = tmp_path / "hourglass.onnx"
    onnx.save(proto_of(hourglass()), path)
    model = store.open_file(path, name="hourglass")
    subject = model, store.run(model, Pipeline.of("none"))
    curve = store.get(CURVE, subject, ArenaRequest(0, order=order))
    last = curve.points[-1]
    assert 2 * last.peak_bytes < curve.points[0].peak_bytes
    written = store.get(RECOMPUTED, subject, (0, curve.order, last.copies))
    graph = complete(load_path(written), isolate=within_worker).ir.graph
    assert lower_bound(lifetimes(graph).buffers()) == last.peak_bytes
