"""All that is said of a pass, as HTML in which every text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from html import escape

from optimizer.patterns.description import Described, described
from optimizer.registry import Pass
from studio.passes.search import operators_of

_QUOTED = re.compile("`([^`]+)`")
_AFTER_PICTURE = ("When it is safe", "Numerics", "Source")
_MEANINGS = {
    "exact": "outputs stay bit-identical",
    "reassociates": "the same mathematics; rounding may differ",
    "lossy": "gives precision away",
}


def heading_html(declared: type[Pass]) -> str:
    """Title, what it is, and what it does."""
    presets = ", ".join(declared.presets) or "none, on request"
    facts = {
        "Level": declared.family,
        "Numerics": f"{declared.exactness}: {_MEANINGS[declared.exactness]}",
        "Presets": presets,
        "Asked about": ", ".join(operators_of(declared)) or "any operator",
    }
    if missing := declared.missing():
        facts["Missing"] = missing
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return (
        f'<div class="pass-about"><h2>{escape(declared.title())}</h2>'
        f"<code>{escape(declared.id)}</code>"
        f"{_paragraphs(declared.documentation().get('What it does', ''))}<dl>{rows}</dl></div>"
    )


def before_after_html(declared: type[Pass]) -> str:
    """The rule in words: what it looks for, and what takes its place."""
    text = declared.documentation()
    sides = "".join(
        f"<div><h3>{side}</h3><pre>{escape(text.get(side, ''))}</pre></div>"
        for side in ("Before", "After")
    )
    return f'<div class="pass-about pass-sides">{sides}</div>'


def safety_html(declared: type[Pass]) -> str:
    """When it is safe, what it does to the numbers, its source; its options."""
    text = declared.documentation()
    parts = [
        f"<h3>{heading}</h3>{_paragraphs(text[heading])}"
        for heading in _AFTER_PICTURE
        if heading in text
    ]
    return f'<div class="pass-about">{"".join([*parts, _options(declared)])}</div>'


def spellings_html(declared: type[Pass]) -> str:
    """Every spelling of its patterns, and with which reasons a place is declined; or nothing."""
    found = described(declared)
    if not found:
        return ""
    return f'<div class="pass-about">{"".join(map(_pattern, found))}</div>'


def _pattern(pattern: Described) -> str:
    order = ", its arithmetic in any association and order" if pattern.any_order else ""
    texts = "".join(f"<pre>{escape(text)}</pre>" for text in pattern.spellings)
    needs = "".join(f"<li>{escape(text)}</li>" for text in pattern.needs)
    declined = f"<p>Declined, with that reason, where not:</p><ul>{needs}</ul>" if needs else ""
    return (
        f"<h3>{escape(pattern.name)}</h3><p>Looked for from the last line{order}.</p>"
        f'<div class="pass-spellings">{texts}</div>{declined}'
    )


def _options(declared: type[Pass]) -> str:
    rows = "".join(
        f"<dt><code>{escape(option.name)}</code></dt>"
        f"<dd>{escape(str(option.type))}, {escape(_short(option.default))} unless set</dd>"
        for option in fields(declared)
    )
    return f"<h3>Options</h3><dl>{rows}</dl>" if rows else ""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _paragraphs(text: str) -> str:
    marked = (_QUOTED.sub(r"<code>\1</code>", escape(part)) for part in _blocks(text.splitlines()))
    return "".join(f"<p>{part}</p>" for part in marked)


def _blocks(lines: Iterable[str]) -> list[str]:
    """Paragraphs and the points of lists, each on one line."""
    found: list[list[str]] = [[]]
    for line in lines:
        if not line.strip() or line.lstrip().startswith(("* ", "- ")):
            found.append([])
        found[-1].append(line.strip())
    return [text for block in found if (text := " ".join(block).strip())]
