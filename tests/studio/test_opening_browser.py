"""What a person opens last is what is open, and where they were is not lost by going elsewhere."""

from __future__ import annotations

from pathlib import Path

import onnx
from playwright.sync_api import Page, expect

from optimizer.findings import Finding
from studio.model.chooser import together
from studio.page.findings import by_kind
from tests.studio import browsing
from tests.studio.browsing import PATIENCE_MS, wait

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
RELU = f"{HEAD} main (float[2] x) => (float[2] y) {{ y = Relu (x) }}"
PAIR = f"{HEAD} main (float[2] x) => (float[2] y) {{ t = Relu (x) y = Exp (t) }}"


def write(path: Path, text: str) -> Path:
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def truncated(path: Path) -> Path:
    whole = write(path, PAIR).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def opened(page: Page, url: str, condition: str = "true") -> None:
    """Until the viewer is the page's own."""
    browsing.opened(page, url, condition)
    expect(page.locator("#first-picture")).to_have_count(0, timeout=PATIENCE_MS)


def test_after_a_failed_upload_the_last_thing_opened_wins(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    broken = truncated(tmp_path / "broken.onnx")
    relu, pair = write(tmp_path / "relu.onnx", RELU), write(tmp_path / "pair.onnx", PAIR)
    failure = page.locator(".st-key-quiet-upload")
    upload = page.locator("input[type=file]").first
    opened(page, f"{app_url}/model?model=tour")
    browsing.wait_for_all(page)

    upload.set_input_files(broken)
    expect(failure).to_contain_text("ends too early", timeout=PATIENCE_MS)
    page.get_by_role("textbox", name="Path on this machine").fill(str(relu))
    page.keyboard.press("Enter")
    wait(page, "window.__passlens.total === 1")
    expect(failure).to_have_count(0)

    upload.set_input_files(broken)
    expect(failure).to_contain_text("ends too early", timeout=PATIENCE_MS)
    upload.set_input_files(pair)
    wait(page, "window.__passlens.total === 2")
    expect(failure).to_have_count(0)

    upload.set_input_files(broken)
    expect(failure).to_contain_text("ends too early", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Tour").click()
    wait(page, "window.__passlens.total === 156")
    expect(failure).to_have_count(0)


def test_a_step_taken_right_before_another_page_is_kept(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?model=tour&step=5", "window.__passlens.step === 5")
    for step in (6, 7, 8):
        page.locator(".pl-root").focus()
        page.keyboard.press("ArrowRight")
        wait(page, f"window.__passlens.step === {step}")
        page.get_by_role("navigation").get_by_role("link", name="History").click()
        page.wait_for_url(f"**/history?model=tour&step={step}", timeout=PATIENCE_MS)
        page.get_by_role("navigation").get_by_role("link", name="Rewrite").click()
        wait(page, f"window.__passlens?.ready && window.__passlens.step === {step}")


def test_the_back_button_returns_to_the_model_before(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/model?model=tour", "window.__passlens.total === 156")
    page.get_by_role("button", name="ResNet-50").click()
    page.wait_for_url("**model=resnet50**", timeout=PATIENCE_MS)
    wait(page, "window.__passlens.total === 175")
    page.go_back()
    wait(page, "window.__passlens.total === 156")
    page.wait_for_url("**/model?model=tour", timeout=PATIENCE_MS)
    page.go_forward()
    wait(page, "window.__passlens.total === 175")
    page.wait_for_url("**/model?model=resnet50", timeout=PATIENCE_MS)


def test_back_from_a_plan_in_rewrite_is_to_the_passes_before(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/layout?model=tour&target=nc1hwc0")
    page.get_by_role("button", name="Open in Rewrite").click(timeout=PATIENCE_MS)
    wait(page, "location.pathname === '/' && /plan=/.test(location.search)")
    page.go_back()
    page.wait_for_url("**/layout?model=tour&target=nc1hwc0", timeout=PATIENCE_MS)
    page.get_by_role("navigation").get_by_role("link", name="Rewrite").click()
    wait(page, "!/plan=/.test(location.search) && window.__passlens.step === 53")


def test_a_model_without_its_weights_is_drawn_and_says_once_what_is_missing(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    model = onnx.parser.parse_model(PAIR.replace("Exp (t)", "Add (t, w0)"))
    for number in range(150):
        weight = model.graph.initializer.add(name=f"w{number}", data_type=1, dims=[2])
        weight.data_location = onnx.TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=f"{number}.bin")
    onnx.save(model, tmp_path / "bare.onnx")
    opened(page, f"{app_url}/model?model=tour")
    browsing.wait_for_all(page)
    page.locator("input[type=file]").first.set_input_files(tmp_path / "bare.onnx")
    wait(page, "window.__passlens.total === 2")
    facts = page.locator(".st-key-facts")
    expect(facts).to_contain_text("150 tensors have no values", timeout=PATIENCE_MS)
    assert facts.inner_text().count("initializer 'w0'") == 3  # two statuses, one finding
    expect(page.get_by_role("textbox", name="Path on this machine")).to_be_in_viewport()
    expect(page.get_by_role("button", name="See the rewrites")).to_be_disabled()
    page.goto(page.url.replace("/model", "/"))
    expect(page.get_by_text("150 tensors have no values").first).to_be_visible(timeout=PATIENCE_MS)
    wait(page, "window.__passlens?.ready && window.__passlens.total === 2")


def test_findings_of_a_kind_are_one_with_a_count_and_the_first_places() -> None:
    many = [Finding("error", f"node 'n{i}'", f"It reads 'x{i}'.", "Fix it.") for i in range(150)]
    one = Finding("note", "model", "It is old.")
    first, second = by_kind([*many, one])
    assert str(first).startswith("150 places: node 'n0', node 'n1', node 'n2', …: It reads 'x0'.")
    assert (str(second), len(first.places)) == ("model: It is old.", 150)


def test_files_that_come_in_two_goes_are_joined_where_they_belong_together() -> None:
    model, data, other = {"a.onnx": b"a"}, {"a.data": b"d"}, {"b.onnx": b"b"}
    assert together(model, {}) == model
    assert together(data, model) == model | data
    assert together(model, data) == model | data
    assert together(other, model) == other
    assert together(other, model | data) == other
    assert together(model, model | data) == model | data
