"""The decision about a whole network on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from profiling.kernels.generated.network import keep_network
from profiling.records import Records
from studio import services
from studio.kernels.network import kernel_table
from tests.profiling.kernels.generated.test_networks import DIGEST, GELU, SOFTMAX, network


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Records]:
    """The database that the page will use."""
    monkeypatch.setenv("PASSLENS_DATABASE_URL", f"sqlite:///{tmp_path / 'records.sqlite'}")
    services.records.cache_clear()
    yield services.records()
    services.records().close()
    services.records.cache_clear()


def page() -> AppTest:
    def script() -> None:
        from types import SimpleNamespace
        from typing import Any

        from studio.kernels.network import render_network

        model: Any = SimpleNamespace(summary=SimpleNamespace(digest="d" * 64))
        render_network(model)

    return AppTest.from_function(script, default_timeout=60).run()


def test_a_network_that_nobody_decided_about_says_how_to_have_that_done(records: Records) -> None:
    app = page()
    assert not app.exception
    assert "Nothing is decided about this network" in app.caption[0].value
    assert [one.value for one in app.code] == ["passlens kernels MODEL --whole"]


def test_the_newest_decision_about_the_open_network_is_shown(records: Records) -> None:
    keep_network(network(GELU.name, slow=SOFTMAX.name), DIGEST, records)
    app = page()
    assert not app.exception
    assert not app.code
    assert "better kernel: 1.12×" in app.caption[0].value.replace("\\", "")
    (table,) = app.dataframe
    assert [*table.value["gained by"]] == ["better kernel", "fusion"]


def test_kernels_that_stay_come_first_with_their_regions_and_what_they_gain_alone() -> None:
    table = kernel_table(network(SOFTMAX.name))
    assert table["region"] == [
        "softmax of 2 nodes: Add, Softmax, 2 times",
        "kernel of BiasGelu, 12 times",
    ]
    assert table["times as fast alone"] == [2.0, 1.5]
    assert table["in the network"][0] == "stays"
