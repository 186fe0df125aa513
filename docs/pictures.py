"""The page of all pictures, made of their titles."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "model": "Model",
    "rewrite": "Rewrite",
    "times": "Rewrite, with node times as colours",
    "layouts": "Rewrite, with layouts of values as colours",
    "types": "Rewrite, with element types as colours",
    "errors": "Rewrite, with the error of every node as colours",
    "run": "Run: a race of three variants",
    "sweep": "Run: the same race over batch sizes",
    "timeline": "Run: timelines",
    "memory": "Run: memory",
    "kernels": "Run: kernels",
    "kernels-applied": "Run: kernels, what won tried on the whole model",
    "generated": "Run: generated kernels, which stay in the whole network",
    "generated-code": "Run: generated kernels, one of them with its tree and its schedule",
    "advice": "Run: a race with generated kernels, and what it advises",
    "capture": "Run: CUDA Graph",
    "memory-map": "Memory: a map of addresses, before and after",
    "memory-planners": "Memory: every planner",
    "memory-order": "Memory: four orders of the nodes",
    "film": "Memory: one event of the film",
    "roofline": "Cost: a roofline with every node",
    "predicted": "Cost: predicted time, pass by pass",
    "fusion": "Cost: why a fusion pays",
    "waterfall": "Cost: what every pass bought, on paper",
    "measured-waterfall": "Cost: what every pass bought, measured",
    "ablation": "Cost: what is lost without a pass",
    "raced-ablation": "Cost: what is lost without a pass, measured",
    "break-even": "Cost: when optimizing has paid",
    "layout-device": "Layout: channels last for a GPU",
    "layout-padding": "Layout: what blocks of channels fill up",
    "layout-profile": "Layout: what a device lacks",
    "layout-transposes": "Layout: Transposes beside a plain copy",
    "ranges": "Precision: ranges of an activation",
    "layers": "Precision: where the error starts",
    "keep-list": "Precision: what stays float32 beside float16",
    "budget": "Precision: everything a search tried",
    "schedule": "Schedule: a blur in tiles and vectors",
    "schedule-step": "Schedule: what one split has changed",
    "schedule-refused": "Schedule: a primitive whose loop is gone",
    "history": "History",
    "comparison": "History: two recordings compared",
    "passes": "Passes: the catalogue, one pass with its picture and what it does in the model",
    "export": "Export",
}
"""Of every picture that `docs.screenshots` takes, in the order of the page."""

_GENERATED = "<!-- Written by `make docs` from docs/pictures.py. -->"
_INTRO = """\
Taken by `python -m docs.screenshots` from the running studio; the figures are real measurements
on the machine that each caption names. `python -m docs.visit URL FOLDER` walks a newcomer's way
through it and takes a picture at every stop, to be looked at."""
_FILM = "film"
_FILM_TITLE = "Memory: the allocator as a film"
_SLIDER = "schedule"
_SLIDER_TITLE = "Schedule: nine primitives, one after another"


def pictures_page() -> str:
    """Every picture, light and dark."""
    sections: list[str] = []
    for name, title in TITLES.items():
        if name == _FILM:
            film = _pair(_FILM_TITLE, _FILM, "gif")
            sections.append(f"## {_FILM_TITLE}\n\nMade by `python -m docs.film`.\n\n{film}")
        if name == _SLIDER:
            film = _pair(_SLIDER_TITLE, f"{_SLIDER}-film", "gif")
            made = "Made by `python -m docs.schedule_views`."
            sections.append(f"## {_SLIDER_TITLE}\n\n{made}\n\n{film}")
        sections.append(f"## {title}\n\n{_pair(title, name, 'png')}")
    return "\n\n".join([_GENERATED, "# Pictures", _INTRO, *sections]) + "\n"


def _pair(title: str, name: str, kind: str) -> str:
    cells = [f"![{title}, {one}](images/{name}-{one}.{kind})" for one in ("light", "dark")]
    return f"| light | dark |\n|---|---|\n| {' | '.join(cells)} |"
