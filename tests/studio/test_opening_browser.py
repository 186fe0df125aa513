"""What a person opens last is what is open, and where they were is not lost by going elsewhere."""

from __future__ import annotations

from pathlib import Path

import onnx
from playwright.sync_api import Page, expect

from studio.pages.chooser import together

PATIENCE_MS = 60_000
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


def opened(page: Page, address: str, condition: str = "true") -> None:
    page.goto(address)
    wait(page, f"window.__passlens && window.__passlens.ready && ({condition})")
    expect(page.locator("#first-picture")).to_have_count(0, timeout=PATIENCE_MS)


def wait(page: Page, condition: str) -> None:
    page.wait_for_function(condition, timeout=PATIENCE_MS)


def test_after_a_failed_upload_the_last_thing_opened_wins(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    broken = truncated(tmp_path / "broken.onnx")
    relu, pair = write(tmp_path / "relu.onnx", RELU), write(tmp_path / "pair.onnx", PAIR)
    failure = page.locator(".st-key-quiet-upload")
    upload = page.locator("input[type=file]").first
    opened(page, f"{app_url}/model?model=tour")

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


def test_files_that_come_in_two_goes_are_joined_where_they_belong_together() -> None:
    model, data, other = {"a.onnx": b"a"}, {"a.data": b"d"}, {"b.onnx": b"b"}
    assert together(model, {}) == model
    assert together(data, model) == model | data
    assert together(model, data) == model | data
    assert together(other, model) == other
    assert together(other, model | data) == other
    assert together(model, model | data) == model | data
