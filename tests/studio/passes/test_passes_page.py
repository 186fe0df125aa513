"""The Passes page: without a browser on a small network, and from it to a place in Rewrite."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from tests.studio.apps import PATIENCE_S, texts
from tests.studio.browsing import PATIENCE_MS

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
main (float[2,3] x) => (float[2,3] y, float[2,3] z) {
   a = Identity (x)
   b = Dropout (a)
   y = Relu (b)
   z = Identity (x)
}"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "small.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return path


def counted(app: AppTest) -> AppTest:
    """Look again until every pass has answered."""
    for _ in range(PATIENCE_S * 2):
        if "would fire in the source of" in texts(app):
            break
        app.run()
    assert not app.exception
    return app


@pytest.mark.parametrize(
    ("pass_id", "said"),
    [
        ("eliminate-noop-resize", "In the source it finds nothing"),
        ("generate-kernels", "It was not asked: it works on the whole graph at once."),
        ("simplify-by-onnxsim", "It was not asked: "),
    ],
)
@pytest.mark.long
@pytest.mark.usefixtures("own_store")
def test_a_pass_that_would_do_nothing_is_told_from_one_that_was_not_asked(
    network: Path, pass_id: str, said: str
) -> None:
    def script() -> None:
        from studio.passes.page import render

        render()

    app = AppTest.from_function(script, default_timeout=PATIENCE_S)
    for name, value in (("model", str(network)), ("pass", pass_id)):
        app.query_params[name] = value
    counted(app.run())
    assert any(text.value.startswith(said) for text in app.text)


@pytest.mark.long
@pytest.mark.usefixtures("own_store")
def test_the_page_lists_all_passes_and_says_what_one_does_in_the_open_model(network: Path) -> None:
    def script() -> None:
        from studio.passes.page import render

        render()

    app = AppTest.from_function(script, default_timeout=PATIENCE_S)
    for name, value in (("model", str(network)), ("pass", "eliminate-identity")):
        app.query_params[name] = value
    counted(app.run())
    assert app.radio(key="passes-list").value == "eliminate-identity"
    assert len(app.radio(key="passes-list").options) > 90
    labels = [button.label for button in app.button]
    assert "Fired 1×: step 2" in labels
    assert "Fires 1× in the source" in labels
    assert any(label.endswith(" ×1") for label in labels), "why one was declined"
    app.toggle(key="passes-acting").set_value(True).run()
    acting = app.radio(key="passes-list").options
    assert 2 <= len(acting) < 20
    app.text_input(key="passes-find").set_value("dropout").run()
    assert app.radio(key="passes-list").value == "eliminate-dropout"
    app.text_input(key="passes-find").set_value("no such thing").run()
    assert "No pass is like that" in texts(app)
    assert not app.exception


@pytest.mark.browser
def test_from_the_catalogue_to_the_places_where_a_pass_would_fire(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/passes?model=tour&pass=eliminate-identity")
    would = page.get_by_role("button", name="in the source")
    would.click(timeout=PATIENCE_MS)
    page.wait_for_function(
        "window.__passlens?.step === 0 && window.__passlens.selected !== null", timeout=PATIENCE_MS
    )
    assert "step=0" in page.url
    page.get_by_role("link", name="Passes").click()
    expect(page.locator("label", has=page.get_by_role("radio", checked=True))).to_be_in_viewport(
        timeout=PATIENCE_MS
    )
