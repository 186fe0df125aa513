"""The ways to the page Schedule in a browser, and back: from nodes of both kinds, and from Run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from optimizer.isolation import within_worker
from optimizer.model.loader import load_path
from optimizer.operators.generated import GENERATED
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.edits import InsertNode
from optimizer.source import complete
from tests.profiling.kernels.models import floats, parsed
from tests.studio.browsing import PATIENCE_MS, POLLING_MS, wait

pytestmark = pytest.mark.browser
NETWORK = """g (float[64,512] x, float[64,512] mask) => (float[64,8] y) <float s = {0.5}> {
    a = Mul(x, s)
    b = Add(a, mask)
    c = Softmax<axis=-1>(b)
    y = MatMul(c, w)
}"""
REGION = re.compile(r"/schedule.*loops=(node\.n1|region\.Mul_Add_Softmax_[0-9a-f]{16})")
LOOPS = "Open its loops in Schedule"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ways") / "ways.onnx"
    path.write_bytes(parsed(NETWORK, {"w": floats(512, 8)}))
    return path


def leads_to_the_region(page: Page, button: str) -> None:
    """A click on the button opens the loops of the network's only region."""
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url(REGION, timeout=PATIENCE_MS)
    page.wait_for_function(
        """(lab => lab && !lab.waiting && lab.step === lab.steps
          && lab.primitives.some((one) => one.startsWith("softmax"))
        )(window.__passlens_schedule)""",
        polling=POLLING_MS,
        timeout=PATIENCE_MS,
    )


def test_a_source_node_leads_to_its_region_and_back(page: Page, app_url: str, model: Path) -> None:
    page.goto(f"{app_url}/?model={model}&select=n1")
    wait(page, "true")
    leads_to_the_region(page, "Schedule")
    page.go_back()
    wait(page, "true")
    expect(page.get_by_role("button", name="Schedule", exact=True)).to_be_visible()


def test_a_node_in_no_region_is_told_why_on_the_page(page: Page, app_url: str, model: Path) -> None:
    page.goto(f"{app_url}/?model={model}&select=n3")
    wait(page, "true")
    page.get_by_role("button", name="Schedule", exact=True).click()
    told = page.get_by_text("MatMul is a matrix product, which ONNX Runtime's own library computes")
    expect(told).to_be_visible(timeout=PATIENCE_MS)


def test_a_generated_node_leads_to_its_loops_and_back(
    page: Page, app_url: str, model: Path
) -> None:
    opened = complete(load_path(model), isolate=within_worker)
    trace = optimize(opened, Pipeline.of("generated"), isolate=within_worker)
    edits = (edit for rewrite in trace.rewrites for edit in rewrite.edits)
    made = next(e.id for e in edits if isinstance(e, InsertNode) and e.domain == GENERATED)
    page.goto(f"{app_url}/?model={model}&preset=generated&select={made}")
    wait(page, "true")
    leads_to_the_region(page, LOOPS)
    page.go_back()
    wait(page, "true")
    expect(page.get_by_role("button", name=LOOPS)).to_be_visible()


def test_a_region_on_run_leads_to_its_loops_and_back(page: Page, app_url: str, model: Path) -> None:
    page.goto(f"{app_url}/run?model={model}&section=generated")
    leads_to_the_region(page, LOOPS)
    page.go_back()
    expect(page.get_by_text("would become kernels")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("button", name=LOOPS)).to_be_visible()
