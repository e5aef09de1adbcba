import re
from http import HTTPStatus

import pytest

from ragsonde.receiver.gate import Gate
from ragsonde.receiver.requests import RequestHead
from ragsonde_schemas.errors import ConfigError

PAGES = ("/metrics", "/health/live", "/health/ready")
EXPORT = {"content-type": "application/x-protobuf"}


def make_gate(*, token=None):
    return Gate(pages=PAGES, max_body_bytes=1000, read_token=lambda: token)


def post(path="/v1/traces", *, body_bytes=10, headers=EXPORT, **more):
    return RequestHead(method="POST", path=path, body_bytes=body_bytes, headers=headers, **more)


def get(path, *, method="GET", **headers):
    return RequestHead(method=method, path=path, headers=headers)


def find_status(head, *, token=None, is_busy=False):
    refusal = make_gate(token=token).find_refusal(head, is_busy=is_busy)
    return None if refusal is None else refusal.status


@pytest.mark.parametrize(
    "head",
    [
        post(),
        post(headers={"content-type": "application/json; charset=utf-8"}),
        post(headers={**EXPORT, "content-encoding": "GZIP"}),
        post(body_bytes=1000),
        post(body_bytes=0),
        post(body_bytes=None, is_chunked=True),
        post("/traces", headers={}),
        post("/traces", headers={"content-type": "text/plain", "content-encoding": "zstd"}),
        *(get(page) for page in PAGES),
        get("/metrics", method="HEAD"),
    ],
)
def test_let_in(head):
    assert find_status(head) is None


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (get("/"), 404),
        (post("/v1/metrics"), 404),
        (post("/v1/traces/"), 404),
        (get("/v1/traces"), 405),
        (get("/traces", method="PUT"), 405),
        (post("/metrics"), 405),
        (post(body_bytes=None), 411),
        (post(body_bytes=1001), 413),
        (post(headers={}), 415),
        (post(headers={"content-type": "text/plain"}), 415),
        (post(headers={**EXPORT, "content-encoding": "br"}), 415),
        (post("/traces", headers={"content-encoding": "br"}), 415),
    ],
)
def test_refused_at_the_head(head, status):
    assert find_status(head) == status


@pytest.mark.parametrize(
    ("head", "token", "is_busy"),
    [
        (get("/"), None, False),
        (get("/v1/traces"), None, False),
        (post(body_bytes=None), None, False),
        (post(body_bytes=1001), None, False),
        (post(headers={}), None, False),
        (post(headers={**EXPORT, "content-encoding": "br"}), None, False),
        (post(headers={**EXPORT, "origin": "http://page"}), None, False),
        (post(), "s3cret", False),
        (post(headers={**EXPORT, "authorization": "Basic x"}), "s3cret", False),
        (post(), None, True),
    ],
)
def test_every_refusal_says_what_was_found_and_what_was_expected(head, token, is_busy):
    problem = make_gate(token=token).find_refusal(head, is_busy=is_busy).body.decode(errors="replace")
    assert re.search("found .*expected .", problem)


def test_a_path_that_does_not_exist_is_answered_with_those_that_do():
    refusal = make_gate().find_refusal(get("/v1/logs"))
    for path in ("/v1/traces", "/traces", *PAGES):
        assert path in refusal.body.decode()


def test_a_wrong_method_is_answered_with_the_right_one():
    refusal = make_gate().find_refusal(get("/traces"))
    assert ("Allow", "POST") in refusal.headers


def test_when_too_much_waits_posts_are_asked_to_come_again_and_pages_still_answer():
    refusal = make_gate().find_refusal(post(), is_busy=True)
    assert refusal.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert ("Retry-After", "5") in refusal.headers
    assert find_status(get("/health/live"), is_busy=True) is None


@pytest.mark.parametrize("shown", ["Bearer s3cret", "bearer  s3cret", "BEARER s3cret "])
def test_who_shows_the_token_is_let_in(shown):
    assert find_status(post(headers={**EXPORT, "authorization": shown}), token="s3cret") is None


@pytest.mark.parametrize(
    "shown",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer s3cre",
        "Bearer s3cret2",
        "Basic s3cret",
        "s3cret",
        "Bearer \xff",
    ],
)
def test_who_does_not_is_asked_for_it(shown):
    headers = EXPORT if shown is None else {**EXPORT, "authorization": shown}
    refusal = make_gate(token="s3cret").find_refusal(post(headers=headers))
    assert refusal.status == HTTPStatus.UNAUTHORIZED
    assert dict(refusal.headers)["WWW-Authenticate"].startswith("Bearer")
    assert b"s3cret" not in refusal.body


def test_a_stranger_is_told_nothing_of_sizes_and_types():
    assert find_status(post(body_bytes=10_000, headers={}), token="s3cret") == HTTPStatus.UNAUTHORIZED


def test_counts_need_the_token_and_probes_do_not():
    assert find_status(get("/metrics"), token="s3cret") == HTTPStatus.UNAUTHORIZED
    assert find_status(get("/health/live"), token="s3cret") is None
    assert find_status(get("/health/ready"), token="s3cret") is None


def test_the_token_is_read_anew_for_every_request():
    tokens = iter(["old", "new"])
    gate = Gate(pages=PAGES, max_body_bytes=1000, read_token=lambda: next(tokens))
    head = post(headers={**EXPORT, "authorization": "Bearer old"})
    assert gate.find_refusal(head) is None
    assert gate.find_refusal(head).status == HTTPStatus.UNAUTHORIZED


def test_while_the_token_cannot_be_read_nobody_is_let_in_and_the_log_says_why(caplog):
    def fail():
        raise ConfigError("receiver.token_file: /secret/place cannot be read")

    gate = Gate(pages=PAGES, max_body_bytes=1000, read_token=fail)
    refusal = gate.find_refusal(post(headers={**EXPORT, "authorization": "Bearer x"}))
    assert refusal.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert b"/secret/place" not in refusal.body
    assert "/secret/place" in caplog.text


def test_a_web_page_cannot_post_to_a_receiver_without_a_token():
    head = post("/traces", headers={"origin": "https://example.org", "content-type": "text/plain"})
    assert find_status(head) == HTTPStatus.FORBIDDEN


def test_with_the_token_a_page_may():
    head = post("/traces", headers={"origin": "https://example.org", "authorization": "Bearer s3cret"})
    assert find_status(head, token="s3cret") is None


def test_an_answer_to_head_has_no_body():
    assert make_gate().find_refusal(get("/nothing", method="HEAD")).body == b""


@pytest.mark.parametrize(
    ("head", "token", "status"),
    [
        (get("/metrics", host="evil.example"), None, 421),
        (get("/metrics", host="evil.example", authorization="Bearer t"), "t", None),
        (get("/metrics", host="localhost:4318"), None, None),
        (get("/health/live", host="evil.example"), None, None),
        (post(headers={**EXPORT, "host": "receiver.example"}), None, None),
    ],
)
def test_without_a_token_pages_are_read_under_our_names_only(head, token, status):
    assert find_status(head, token=token) == status
