"""Run-time options as widgets, derived from `options()`: for all variants, or for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from optimizer.errors import quoted
from profiling.config import options
from profiling.config.option import ConfigError, Group, Option, Value, check_value
from profiling.config.question import QUESTIONS, SETTLED, STARTS
from profiling.config.settings import find_option
from studio.page.parts import words
from studio.services import machine_groups
from studio.variants.link import Options, RunChoice, VariantChoice
from studio.workspace import current, remember

GROUPS: Mapping[Group, str] = {
    "session": "Session",
    "cpu": "CPU",
    "cuda": "NVIDIA GPU",
    "tensorrt": "TensorRT",
}
_OFF_HERE = "This machine cannot run it."


def common_options() -> None:
    """The options that all variants share: a group an expander, or those that are looked for."""
    st.subheader("Options of all", anchor=False)
    changed = dict(current().of(RunChoice).options)
    text, only_changed = _look_for(changed)
    if not text and not only_changed:
        for group, title in GROUPS.items():
            _group(group, title, changed)
        return
    found = [
        option
        for option in options()
        if option.is_about(text) and (option.name in changed or not only_changed)
    ]
    if not found:
        what = "changed option" if only_changed else "option"
        st.caption(f"No {what} {words(f'is about {quoted(text)}') if text else 'yet'}.")
    for group, title in GROUPS.items():
        inside = [option for option in found if option.group == group]
        if inside:
            st.caption(f"**{title}**")
            _fields(group, inside, changed)


def _look_for(changed: Mapping[str, Value]) -> tuple[str, bool]:
    """What is looked for, and whether only among what was changed."""
    text = st.text_input(
        "Find an option",
        placeholder="Find an option",
        key="options-sought",
        label_visibility="collapsed",
        icon=":material/search:",
    )
    with st.container(horizontal=True, vertical_alignment="center", key="options-changed"):
        only_changed = st.toggle(f"Changed only ({len(changed)})", key="options-only-changed")
        if changed:
            st.button("Reset", key="options-reset", type="tertiary", on_click=_reset)
    return text.strip(), only_changed


def _reset() -> None:
    remember(current().having(replace(current().of(RunChoice), options=())))


def _group(group: Group, title: str, changed: Mapping[str, Value]) -> None:
    """One expander; its fields are made when it is opened, for they are dozens."""
    inside = [option for option in options() if option.group == group]
    count = sum(option.name in changed for option in inside)
    label = f"{title} · {count} changed" if count else title
    key = f"group-{group}"
    st.session_state[key] = st.session_state.get(key, False)  # stays so under another label
    with st.expander(label, key=key, on_change="rerun") as expander:
        if expander.open:
            _fields(group, inside, changed)


def _fields(group: Group, inside: Sequence[Option], changed: Mapping[str, Value]) -> None:
    """Options of a group; where that does not count here, only those that are changed."""
    reason = why_not(group)
    if reason:
        st.caption(words(f"Off here: {reason}"))
    for option in inside:
        if not reason or option.name in changed:
            unset = None if option.name in SETTLED else option.default
            value = changed.get(option.name, unset)
            field(option, value, key=f"option-{option.name}", put=_put_common)


def why_not(group: Group) -> str:
    """Why a group of options does not count on this machine; empty if it does."""
    status = machine_groups().get(group)
    if status is None:
        return _OFF_HERE
    return "" if status.ok else status.reason


def vary(index: int, choice: VariantChoice, put: Callable[[VariantChoice], None]) -> None:
    """What one variant changes of the common options: each with its value, and one more."""
    common = dict(current().of(RunChoice).options)
    changed = dict(choice.options)

    def leave(name: str) -> None:
        kept = {other: value for other, value in changed.items() if other != name}
        put(replace(choice, options=_sorted(kept)))

    def change(name: str, value: Value | None) -> None:
        if value is None:
            leave(name)
        else:
            put(replace(choice, options=_sorted({**changed, name: value})))

    for name, value in choice.options:
        with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
            field(find_option(name), value, key=f"vary-{index}-{name}", put=change)
            st.button(
                "",
                icon=":material/close:",
                key=f"leave-{index}-{name}",
                type="tertiary",
                help="As for all",
                on_click=leave,
                args=(name,),
            )
    _one_more(index, [o for o in options() if o.name not in changed], common, change)


def _one_more(
    index: int,
    free: list[Option],
    common: Mapping[str, Value],
    change: Callable[[str, Value | None], None],
) -> None:
    key = f"vary-{index}"
    by_name = {option.name: option for option in free if not why_not(option.group)}

    def add() -> None:
        option = by_name.get(st.session_state[key])
        if option is not None:
            change(option.name, other_value(option, common.get(option.name, option.default)))

    st.session_state[key] = None
    st.selectbox(
        "Vary an option",
        list(by_name),
        index=None,
        format_func=lambda name: by_name[name].label,
        key=key,
        on_change=add,
        placeholder="Choose one",
    )


def other_value(option: Option, value: Value) -> Value:
    """The value that one would try next: something other than `value`."""
    if option.type is bool:
        return not value
    if option.choices:
        usable = choices(option)
        return usable[(usable.index(str(value)) + 1) % len(usable)] if value in usable else value
    if option.type is int:
        return min(option.high, int(value) + 1) if int(value) < option.high else option.low
    return value


def field(
    option: Option, value: Value | None, *, key: str, put: Callable[[str, Value | None], None]
) -> None:
    """A widget for an option; `put` is told its name and new value.

    An option that the question settles has no value until it is set.
    """
    label = option.title

    def changed() -> None:
        new = st.session_state[key]
        put(option.name, new.strip() if isinstance(new, str) else new)

    common: dict[str, Any] = {"help": _help(option), "key": key, "on_change": changed}
    st.session_state[key] = value
    settled = option.name in SETTLED
    if settled:
        common |= {"placeholder": _as_asked(option)}
    if option.type is bool:
        st.checkbox(label, **common)
    elif option.choices:
        offered = choices(option)
        offered += [] if value is None or value in offered else [str(value)]
        st.selectbox(label, offered, None if settled else 0, **common)
    elif option.type is int:
        st.number_input(label, option.low, option.high, None if settled else "min", **common)
    else:
        st.text_input(label, **common)


def _as_asked(option: Option) -> str:
    """What an option is as long as it is not set: "all deployed, disabled bare"."""
    return ", ".join(f"{STARTS[question][option.name]} {question}" for question in QUESTIONS)


def _help(option: Option) -> str:
    """What it does, and what the command line and the runtime call it."""
    names = ", ".join(f"`{key}`" for key in option.keys)
    return (
        f"{words(option.doc[0].upper() + option.doc[1:])}.\n\n"
        f"`{option.name}` on the command line; the runtime's {names}"
    )


def choices(option: Option) -> list[str]:
    """All of them, but no device that this machine lacks."""
    lacking = {group for group in ("cuda", "tensorrt") if why_not(group)}
    device = option.name == "device"
    return [choice for choice in option.choices if not (device and choice in lacking)]


def _put_common(name: str, value: Value | None) -> None:
    """The common options with one changed; a text that cannot be is not taken."""
    option = find_option(name)
    choice = current().of(RunChoice)
    kept = {other: old for other, old in choice.options if other != name}
    try:
        if value is not None and (value != option.default or name in SETTLED):
            kept[name] = check_value(option, value)
    except ConfigError as error:
        st.toast(words(error.message))
        return
    remember(current().having(replace(choice, options=_sorted(kept))))


def _sorted(values: Mapping[str, Value]) -> Options:
    return tuple(sorted(values.items()))
