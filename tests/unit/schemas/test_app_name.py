from hypothesis import given
from hypothesis import strategies as st

from ragsonde_schemas.app_name import read_app, show_app


@given(st.text())
def test_what_is_shown_names_the_same_app_when_it_is_read_again(name):
    stored = read_app(name)

    assert read_app(show_app(stored)) == stored


def test_traces_without_an_app_are_shown_as_default_and_asked_for_so():
    assert show_app("") == "default"
    assert (read_app("default"), read_app(" default "), read_app("")) == ("", "", "")
    assert (show_app("shop"), read_app(" shop ")) == ("shop", "shop")
