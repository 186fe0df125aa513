"""From page to page: what the browser asks for meanwhile does not hold a visitor back."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def script() -> None:
    """Two pages; the first leaves for the second, and Streamlit's first switch is overtaken."""
    import streamlit as st

    from studio.page import parts

    def first() -> None:
        if st.button("Leave"):
            parts.go_to("second")
        st.text("first")

    def second() -> None:
        st.text("second")

    switch, went_back = st.switch_page, parts.went_back

    def overtaken(page: object) -> None:
        st.session_state["switches"] = st.session_state.get("switches", 0) + 1
        if st.session_state["switches"] == 1:
            st.rerun()  # as the browser has it while the switch is under way
        switch(page)  # pyright: ignore[reportArgumentType]

    places = {name: st.Page(page) for name, page in (("first", first), ("second", second))}
    parts.set_places(places)
    page = st.navigation(list(places.values()))
    parts.st.switch_page = overtaken  # pyright: ignore[reportAttributeAccessIssue]
    if "back" in st.session_state:
        parts.went_back = lambda: "switches" in st.session_state
    try:
        parts.arrive(page)
        page.run()
    finally:
        parts.st.switch_page, parts.went_back = switch, went_back


def test_a_switch_that_was_overtaken_is_made_again() -> None:
    app = AppTest.from_function(script).run()
    assert [text.value for text in app.text] == ["first"]
    app.button[0].click().run()
    assert not app.exception
    assert app.session_state["switches"] == 2
    assert [text.value for text in app.text] == ["second"]
    app.run()
    assert app.session_state["switches"] == 2, "whoever has arrived is sent no further"


def test_who_went_back_meanwhile_is_not_sent_on() -> None:
    app = AppTest.from_function(script)
    app.session_state["back"] = True
    app.run()
    app.button[0].click().run()
    assert not app.exception
    assert app.session_state["switches"] == 1
    assert [text.value for text in app.text] == ["first"]
