from __future__ import annotations

import gzip
import json

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from builders.spans import make_span, write_export
from ragsonde.decoding.body_names import read_names
from ragsonde_schemas.user_key import make_user_key


def test_users_sessions_apps_and_strings_of_a_native_message():
    names = read_names(
        json.dumps(
            {"trace_id": "t-1", "app": "shop", "user_id": "u", "session_id": "s", "query": "q"}
        ).encode()
    )
    assert (names.users, names.sessions, names.apps) == ({"u"}, {"s"}, {"shop"})
    assert "t-1" in names.strings


@pytest.mark.parametrize(
    "body",
    [
        b'{"user": 17, "x": ',
        b'{"metadata": {"endUserId" : 17}}',
        b'{"key":"user.id","value":{"stringValue":"17"}}',
        b'{"key": "enduser.id", "value": {"intValue": "17"}}',
        b'{"attributes": {"langfuse.trace.metadata": "{\\"user_id\\": \\"17\\"}"}}',
    ],
)
def test_users_are_found_in_any_form_of_json_also_a_torn_one(body):
    assert read_names(body).users == {"17"}


def test_otlp_protobuf_names_its_users_and_its_traces():
    body = write_export(make_span(1, attributes={"user.id": "u-9", "input.value": "user.id"}))
    names = read_names(body)
    assert names.users == {"u-9"}
    assert make_span(1).trace_id in names.strings


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_what_is_compressed_is_unpacked(pack):
    assert read_names(pack(b'{"user_id": "u"}')).users == {"u"}


def test_an_id_under_another_key_or_in_a_text_names_nobody():
    names = read_names(b'{"count": "1", "query": "ask user 1", "role": "user", "level": "1"}')
    assert names.users == names.sessions == frozenset()


def test_a_pseudonym_of_a_user_is_one_under_whatever_key():
    pseudonym = make_user_key(b"a secret of thirty-two characters").hide("ada")
    assert read_names(json.dumps({"customer": pseudonym, "n": "00000000:1"}).encode()).users == {pseudonym}


def test_a_name_reads_as_it_was_written():
    assert 'Zoë "Z"' in read_names(json.dumps({"user_id": 'Zoë "Z"'}).encode()).users
    assert read_names(json.dumps({"user_id": "Zoë"}, ensure_ascii=False).encode()).users == {"Zoë"}


@given(st.binary(max_size=400))
def test_any_bytes_are_read(body):
    read_names(body)


@given(st.text(min_size=1, max_size=60))
def test_any_user_is_found_in_json(user):
    try:
        body = json.dumps({"user_id": user}).encode()
    except UnicodeEncodeError:
        return
    assert user in read_names(body).users


@pytest.mark.parametrize(
    "value",
    [
        {"user": {"id": "Zoë"}, "session": {"id": "ß"}},
        {"a": json.dumps({"b": json.dumps({"user_id": "Zoë", "session_id": "ß"})})},
        [{"user_id": "Zoë"}, {"conversation.id": "ß"}],
    ],
)
@pytest.mark.parametrize("end", [None, -1])
def test_ids_of_any_letters_are_found_as_deep_as_they_stand(value, end):
    body = json.dumps(value).encode()[:end]
    names = read_names(body)
    if end is None:
        assert (names.users, names.sessions) == ({"Zoë"}, {"ß"})
    else:
        assert names.users >= {"Zoë"} or "user" in value
