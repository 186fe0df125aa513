"""An overlay is one module in its folder: all that a person meets follows from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from docs.overlays import overlays_module

Opened = Callable[..., Page]
BUTTON = "Lengths of names as colours (n)"

# What a file in `overlays/` exports, in the list; then a viewer of its own.
ADDED = """async () => {
  const { OVERLAYS } = await import("/viewer/test/overlays/registry.js");
  const { default: passlens } = await import("/viewer/test/main.js");
  const length = (id) => id.length;
  OVERLAYS.push({
    id: "lengths", title: "Length of a name", heading: "Name", plural: "Lengths of names",
    key: "n", available: "always", icon: "M2 8h12",
    load: ({ most }) => ({
      choices: [], choice: "", ofSource: true,
      values: () => ({ rec }) =>
        rec ? { amount: length(rec.id), share: length(rec.id) / most } : null,
      colour: (theme, { share }) => theme.intensity(share),
      label: ({ amount }) => `${amount} letters`,
      text: ({ amount }) => `named in ${amount} letters`,
      rows: (id) => [["id", `${length(id)} letters`]],
      legend: () => ({
        scale: ["0", "10", `${most} letters`], note: "counted", hint: "", choosing: "" }),
    }),
  });
  const host = document.getElementById("host");
  const next = Object.assign(document.createElement("div"), { id: "next" });
  host.replaceWith(next);
  window.shadow = next.attachShadow({ mode: "open" });
  const data = await (await fetch("/descriptor/cnn8")).json();
  data.overlays = { lengths: { key: "l", url: "data:application/json,{%22most%22:40}" } };
  passlens({ data, parentElement: shadow, setStateValue() {} });
}"""


def test_a_listed_overlay_has_button_key_legend_tooltip_and_a_part_of_the_card(
    opened: Opened,
) -> None:
    page = opened("fixture=cnn8")
    page.evaluate(ADDED)
    button = page.get_by_role("button", name=BUTTON)
    expect(button).to_have_attribute("aria-pressed", "false")
    page.locator(".pl-root").focus()
    page.keyboard.press("n")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("group", name="Length of a name")).to_contain_text("40 letters")
    expect(page.get_by_role("status").first).to_have_text("Lengths of names are shown.")
    node = page.evaluate("__passlensWhere('n1')")
    page.mouse.move(node["x"] + node["width"] / 2, node["y"] + 8)
    expect(page.get_by_role("tooltip")).to_contain_text("named in 2 letters")
    page.mouse.click(node["x"] + node["width"] / 2, node["y"] + 8)
    expect(page.locator(".pl-details")).to_contain_text("2 letters")
    page.keyboard.press("?")
    expect(page.locator(".pl-sheet")).to_contain_text("lengths of names as colours, always")


def test_a_file_in_the_folder_is_all_it_takes_to_be_listed(tmp_path: Path) -> None:
    kind = "/** @type {OverlayKind} */\nexport const LENGTHS = {};\n"
    (tmp_path / "lengths.js").write_text(f"// @ts-check\n{kind}")
    (tmp_path / "loader.js").write_text("export class OverlayLoader {}\n")
    text = overlays_module(tmp_path)
    assert 'import { LENGTHS } from "./lengths.js";' in text
    assert text.endswith("export const OVERLAYS = [LENGTHS];\n")
