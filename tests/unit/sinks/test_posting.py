"""What a receiver, a setting or a file that is wrong makes of a request: the error that is expected."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from fakes.http_taker import Answer, serving
from ragsonde.sinks.delivery import DeliveryError
from ragsonde.sinks.posting import Poster
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.http_place import HttpPlace, find_url_problem

SECRET = "s3cret"


def make_poster(url, **fields):
    token = fields.pop("token", None)
    place = HttpPlace(url=url, timeout_seconds=5, **fields)
    return Poster(place, content_type="application/json", read_token=lambda: token)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["http://[bad/", "http://a:99999999/", "file:///etc/passwd", "/other"])
def test_a_redirect_is_a_refusal_wherever_it_leads(status, location):
    with serving(Answer(status, headers=(("location", location),))) as taker:
        with pytest.raises(DeliveryError, match=f"^answered {status}$") as refused:
            make_poster(taker.url).post(b"{}")
        assert len(taker.posted) == 1
    assert refused.value.is_final


@pytest.mark.parametrize(
    "url",
    [
        "http://a..b/",
        "http://.b/",
        f"http://{'a' * 64}.example/",
        "http://caf\u00e9.example/",
        "http://\U0001f600.example/",
        "http://a.example/\u00e9",
        "http://a.example/a b",
    ],
)
def test_what_no_request_can_be_made_of_is_refused_as_a_setting(url):
    assert find_url_problem(url) is not None
    with pytest.raises(ValidationError):
        HttpPlace(url=url)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example./x?y=%20",
        f"https://{'a' * 63}.example",
        "http://[::1]:8080/",
        "http://xn--caf-dma.example/",
        "http://a_b:1/",
    ],
)
def test_what_can_be_asked_for_is_taken(url):
    assert find_url_problem(url) is None


@pytest.mark.parametrize("value", [f"{SECRET}\U0001f600", f"{SECRET}\x00", f"{SECRET}\u00e9"])
def test_a_header_that_cannot_be_sent_is_told_by_its_line_and_not_by_its_value(tmp_path, value):
    file = tmp_path / "headers"
    file.write_text("A: b\n", encoding="utf-8")
    with serving() as taker:
        poster = make_poster(taker.url, headers_file=file)
        file.write_text(f"Authorization: Bearer {value}\n", encoding="utf-8")
        with pytest.raises(DeliveryError, match="line 1 is no") as refused:
            poster.post(b"{}")
        assert taker.posted == []
    assert SECRET not in str(refused.value)
    assert SECRET not in str(refused.value.__cause__)
    with pytest.raises(ConfigError):
        make_poster("http://a.example", headers_file=file)


@pytest.mark.parametrize(
    "token", [f"{SECRET}\nx", f"{SECRET}\r\nx: y", f"{SECRET}\U0001f600", f"{SECRET}\x7f"]
)
def test_a_token_that_is_no_header_is_refused_and_never_told(token):
    with serving() as taker:
        found = ["t"]
        poster = Poster(
            HttpPlace(url=taker.url), content_type="application/json", read_token=lambda: found[-1]
        )
        found.append(token)
        with pytest.raises(DeliveryError) as refused:
            poster.post(b"{}")
        assert taker.posted == []
    shown = str(refused.value) + str(refused.value.__cause__) + str(refused.value.__context__)
    assert SECRET not in shown


def test_what_the_library_refuses_is_told_without_its_words(monkeypatch):
    def refuse(*_, **__):
        raise UnicodeError(SECRET)

    monkeypatch.setattr("ragsonde.sinks.posting._open", refuse)
    with pytest.raises(DeliveryError, match=r"^cannot be sent: UnicodeError$") as refused:
        make_poster("http://a.example").post(b"{}")
    assert refused.value.__suppress_context__
    assert not refused.value.is_final
