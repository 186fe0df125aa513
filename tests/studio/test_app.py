"""The real app in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.corpus.bad_inputs import generate, model_path
from tests.studio.browsing import PATIENCE_MS, opened, state, visitor, wait, wait_for_all

pytestmark = pytest.mark.browser


def focus(page: Page) -> None:
    """Put the keyboard into the workbench, as a click on the empty canvas does."""
    page.locator("canvas").first.click(position={"x": 5, "y": 5})


def test_a_newcomer_sees_a_drawn_network(page: Page, app_url: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    shown = opened(page, app_url)
    assert 0 < shown["visible"] <= 150
    assert shown["errors"] == errors == []


def test_a_link_opens_model_and_step(page: Page, app_url: str) -> None:
    shown = opened(page, f"{app_url}/?model=tour&step=5", condition="window.__passlens.step === 5")
    assert shown["total"] > 50


def test_arrow_keys_step_on_arrival(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?model=tour&step=5", condition="window.__passlens.step === 5")
    page.keyboard.press("ArrowRight")
    wait(page, "window.__passlens.step === 6")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    wait(page, "window.__passlens.step === 4")


def test_the_step_looked_at_survives_a_reload(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?model=tour&step=5", condition="window.__passlens.step === 5")
    focus(page)
    page.keyboard.press("ArrowRight")
    wait(page, "window.__passlens.step === 6")
    page.wait_for_url("**step=6**", timeout=PATIENCE_MS)
    page.reload()
    wait(page, "window.__passlens.step === 6")


def test_two_pipelines_stand_side_by_side_and_the_link_says_so(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?model=tour", condition="window.__passlens.step > 0")
    page.get_by_label("Compare with pipeline").select_option("cpu")
    lists = page.locator(".pl-only")
    expect(lists.last).to_contain_text("Only with cpu", timeout=PATIENCE_MS)
    page.wait_for_url("**versus=cpu**", timeout=PATIENCE_MS)
    page.reload()
    expect(lists.last).to_contain_text("Only with cpu", timeout=PATIENCE_MS)
    lists.last.locator("summary").first.click()
    lists.last.locator("li button").first.click()
    expect(page.locator(".pl-card")).to_contain_text("Only with cpu · its step")
    page.get_by_role("button", name="End the comparison").click()
    expect(page.locator(".pl-head").first).to_contain_text("BEFORE", timeout=PATIENCE_MS)


def test_switching_a_pass_off_removes_its_steps_and_is_in_the_link(
    page: Page, app_url: str
) -> None:
    opened(page, f"{app_url}/?model=tour", condition="window.__passlens.step > 0")
    before = state(page)["step"]
    page.get_by_role("checkbox", name="Remove Identity").uncheck()
    wait(page, f"window.__passlens.step > 0 && window.__passlens.step < {before}")
    page.wait_for_url("**off=eliminate-identity**", timeout=PATIENCE_MS)
    page.get_by_role("checkbox", name="Remove Identity").check()
    wait(page, f"window.__passlens.step === {before}")


def test_two_visitors_do_not_disturb_each_other(browser: Browser, page: Page, app_url: str) -> None:
    other = visitor(browser, viewport={"width": 1280, "height": 800})
    tour, bert = page, other.new_page()
    opened(tour, f"{app_url}/?model=tour&step=3", condition="window.__passlens.step === 3")
    opened(bert, f"{app_url}/?model=bert&step=9", condition="window.__passlens.step === 9")
    focus(bert)
    bert.keyboard.press("ArrowRight")
    wait(bert, "window.__passlens.step === 10")
    assert state(tour)["step"] == 3
    assert state(tour)["total"] != state(bert)["total"]
    other.close()


def test_a_broken_upload_is_one_sentence_and_the_model_stays_open(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n")
    opened(page, f"{app_url}/model?model=tour")
    page.locator("input[type=file]").first.set_input_files(broken)
    expect(page.get_by_text("Git LFS pointer")).to_be_visible(timeout=PATIENCE_MS)
    assert "model=tour" in page.url
    assert state(page)["total"] > 50


def test_an_uploaded_model_opens_and_has_a_link(page: Page, app_url: str, tmp_path: Path) -> None:
    import onnx

    model = tmp_path / "mine.onnx"
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    text = f"{head} main (float[2] x) => (float[2] y) {{ y = Relu (x) }}"
    onnx.save(onnx.parser.parse_model(text), model)
    opened(page, f"{app_url}/model?model=tour")
    page.locator("input[type=file]").first.set_input_files(model)
    wait(page, "window.__passlens.total === 1")
    assert "model=tour" not in page.url


def test_an_unknown_model_gets_one_sentence(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/model?model=0123456789abcdef")
    expect(page.get_by_text("This server has no model")).to_be_visible(timeout=PATIENCE_MS)


def test_hostile_names_stay_text(page: Page, app_url: str, tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    name = "<img src=x onerror=document.title='PWNED'>![](http://127.0.0.1:9/x)"
    graph = helper.make_graph(
        [helper.make_node("Relu", [name], ["y"], name=name)],
        name,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [name, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    model = tmp_path / "hostile.onnx"
    onnx.save(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), model
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, f"{app_url}/model?model=tour")
    page.locator("input[type=file]").first.set_input_files(model)
    wait(page, "window.__passlens.total === 1")
    assert page.title() != "PWNED"
    assert not [url for url in asked if ":9/" in url]


def test_the_export_page_offers_model_trace_and_picture(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/export?model=tour&step=3")
    picture = page.get_by_role("button", name="Picture of step 3")
    expect(picture).to_be_visible(timeout=PATIENCE_MS)  # a page still drawn has other downloads
    button = page.get_by_role("button", name="Model at step 3")
    with page.expect_download(timeout=PATIENCE_MS) as download:
        button.click()
    assert download.value.suggested_filename == "tour-step-3.onnx"


def wait_for_text(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE_MS)


def press_until(page: Page, key: str, condition: str) -> None:
    """Press a key until what has the keyboard fulfils a condition on `focused`.

    A page that is still being drawn may take the keyboard back to its beginning, more than once.
    """
    script = f"(() => {{ const focused = document.activeElement; return Boolean({condition}) }})()"
    for _ in range(600):
        if page.evaluate(script):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} never led to {condition}")


def test_every_page_keeps_the_model_and_the_link(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?model=tour&step=5", condition="window.__passlens.step === 5")
    expect(page).to_have_title("Tour · Passlens")
    for name in ("Run", "History", "Model"):
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(f"**/{name.lower()}?model=tour&step=5", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Export model").click()
    page.wait_for_url("**/export?model=tour&step=5", timeout=PATIENCE_MS)
    wait_for_text(page, "Picture of step 5")
    page.go_back()
    page.wait_for_url("**/model?model=tour&step=5", timeout=PATIENCE_MS)


def test_a_selection_survives_a_reload(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?model=tour&step=5", condition="window.__passlens.step === 5")
    focus(page)
    page.keyboard.press("/")
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.wait_for_url("**select=**", timeout=PATIENCE_MS)
    page.reload()
    wait(page, "window.__passlens.step === 5")
    expect(page.get_by_role("heading", name="Softmax").first).to_be_visible(timeout=PATIENCE_MS)
    assert "select=" in page.url


def test_the_keyboard_alone_opens_a_model_and_steps(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/model?model=mamba")
    wait_for_all(page)
    press_until(page, "Tab", "focused.innerText && focused.innerText.startsWith('Tour')")
    page.keyboard.press("Enter")
    page.wait_for_url("**model=tour**", timeout=PATIENCE_MS)
    expect(page.get_by_role("button", name="See the rewrites")).to_be_visible(timeout=PATIENCE_MS)
    wait(page, "window.__passlens.total === 156")
    press_until(page, "Tab", "focused.innerText === 'See the rewrites'")
    page.keyboard.press("Enter")
    wait(page, "window.__passlens.step > 50")
    wait_for_all(page)
    last = state(page)["step"]
    inner = "focused.shadowRoot && focused.shadowRoot.activeElement"
    press_until(page, "Tab", f"{inner}?.textContent === 'To the steps'")
    page.keyboard.press("Enter")
    wait(page, f"(focused => {inner}?.tagName === 'CANVAS')(document.activeElement)")
    page.keyboard.press("ArrowLeft")
    wait(page, f"window.__passlens.step === {last - 1}")


def test_a_busy_browser_leaves_no_empty_sidebar(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/model?model=tour")
    for _ in range(4):
        page.get_by_role("button", name="See the rewrites").click()
        page.evaluate(
            "(start => { while (performance.now() < start + 800) {} })(performance.now())"
        )
        wait(page, "window.__passlens.step > 50")
        wait_for_all(page)
        expect(page.get_by_role("button", name="To the steps")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.locator(".stSidebar")).to_be_hidden()
        page.get_by_role("navigation").get_by_role("link", name="Model", exact=True).click()
        expect(page.locator(".stSidebar")).to_be_visible(timeout=PATIENCE_MS)
        wait_for_all(page)


BAD_FILES = {
    "empty_file": "The file is empty",
    "html_renamed": "This is a web page",
    "truncated_half": "ends too early",
    "cycle": "depend on each other in a circle",
    "ext_parent": "was not uploaded",
}


def test_a_bad_file_gets_its_sentence_at_the_upload(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    generate(tmp_path, list(BAD_FILES))
    opened(page, f"{app_url}/model?model=tour")
    for case, sentence in BAD_FILES.items():
        page.locator("input[type=file]").first.set_input_files(model_path(tmp_path / case))
        expect(page.locator(".st-key-quiet-upload")).to_contain_text(sentence, timeout=PATIENCE_MS)
        assert "model=tour" in page.url
        assert state(page)["total"] == 156


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("/no/such/model.onnx", "There is no file"), ("/usr", "is a folder")],
)
def test_a_bad_path_gets_its_sentence(page: Page, app_url: str, path: str, sentence: str) -> None:
    opened(page, f"{app_url}/model?model=tour")
    page.get_by_role("textbox", name="Path on this machine").fill(path)
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-quiet-path")).to_contain_text(sentence, timeout=PATIENCE_MS)
    assert state(page)["total"] == 156


def test_a_model_and_its_data_file_open_in_one_upload_and_again(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    generate(tmp_path, ["ext_good"])
    model = model_path(tmp_path / "ext_good")
    files = [path for path in model.parent.iterdir() if path.is_file()]
    assert len(files) > 1
    opened(page, f"{app_url}/model?model=tour")
    page.locator("input[type=file]").first.set_input_files(files)
    page.wait_for_url(re.compile("model=[0-9a-f]{16}"), timeout=PATIENCE_MS)
    link = page.url
    wait(page, "window.__passlens.total < 100")
    page.get_by_role(
        "button", name=re.compile("^Tour .* nodes")
    ).click()  # the bar may still say Tour
    page.wait_for_url("**model=tour**", timeout=PATIENCE_MS)
    wait(page, "window.__passlens.total === 156")
    page.locator("input[type=file]").first.set_input_files(files)
    page.wait_for_url(link, timeout=PATIENCE_MS)
    page.reload()
    wait(page, "window.__passlens.total > 0")
    assert page.url == link
