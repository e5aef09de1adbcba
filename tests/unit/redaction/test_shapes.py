"""Findings, spans, assessments and bodies, redacted in all of their texts."""

from __future__ import annotations

import gzip
import json
import zlib
from datetime import UTC, datetime

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from builders.private_texts import EMAIL, FailingRedaction, make_privacy, make_redaction
from builders.rag_spans import RAG_SPANS, make_root
from builders.spans import make_whole, write_export
from fakes.user_keys import FakeUserKeys
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde.extraction.findings import Findings, FoundContext
from ragsonde.extraction.table import find_fields
from ragsonde.redaction.assessments import redact_assessment
from ragsonde.redaction.bodies import protect_body
from ragsonde.redaction.envelopes import hide_names, name_harmlessly
from ragsonde.redaction.findings import protect_findings
from ragsonde.redaction.privacy import Privacy
from ragsonde.redaction.records import protect_found
from ragsonde.redaction.spans import FAILURE, protect_spans
from ragsonde.redaction.user_ids import collect_users
from ragsonde.redaction.values import redact_value
from ragsonde_schemas.assessment import Aspect, Assessment, ClaimVerdict, ContextVerdict, Fault
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.trace import ContextOrigin

USER = "customer-4711"
RING = FakeUserKeys().read()
HIDDEN = RING.hide(USER)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(EMAIL),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def make_findings(**fields):
    return Findings(
        **{"format": "native", "trace_id": "t", "query": f"ask {EMAIL}", "user_id": USER, **fields}
    )


def make_envelope(body, **fields):
    values = {"body_bytes": len(body), "message_key": "m", "received_at": datetime.now(UTC)}
    return Envelope(body=body, **{**values, **fields})


def protect(body, **fields):
    return protect_body(make_envelope(body, **fields), make_privacy(), limits=DecodingLimits())


@given(value=JSON)
def test_any_json_keeps_its_shape_and_loses_the_address(value):
    kept = redact_value(value, make_redaction(patterns=("email",))).value

    assert EMAIL not in json.dumps(kept)
    assert type(kept) is type(value)
    if EMAIL not in json.dumps(value):
        assert kept == value


@pytest.mark.parametrize(
    "body", [b'{"user_id": "%s", "query": "half \\ud83d of it"}', b'{"user_id": "%s"}\n{"a": "\\udc00"}']
)
def test_half_a_character_that_json_escapes_stays_escaped(body):
    kept = protect(body.replace(b"%s", USER.encode())).body
    assert USER.encode() not in kept
    assert b"\\ud83d" in kept or b"\\udc00" in kept
    for line in kept.splitlines():
        json.loads(line)


def test_json_inside_of_a_text_is_opened_and_secrets_are_known_by_their_names():
    given = {"input": json.dumps({"password": "plain", "said": f"line\n{EMAIL}"}), "api-key": "plain", "n": 1}

    kept = redact_value(given, make_redaction()).value

    assert json.loads(kept["input"]) == {"password": "[key]", "said": "line\n[email]"}
    assert kept["api-key"] == "[key]"


def test_findings_name_their_user_by_a_pseudonym_everywhere_but_in_what_was_said():
    found = make_findings(
        metadata={"userId": USER, "path": f"/users/{USER}/x", "n": 42},
        tags=(USER, "b"),
        contexts=(FoundContext("text", ContextOrigin.PRODUCER, metadata={"owner": USER}),),
    )

    kept = protect_findings(found, make_privacy(redaction=None)).value

    assert kept.user_id == HIDDEN
    assert kept.metadata == {"userId": HIDDEN, "path": f"/users/{HIDDEN}/x", "n": 42}
    assert kept.tags == (HIDDEN, "b")
    assert kept.contexts[0].metadata == {"owner": HIDDEN}
    assert kept.query == f"ask {EMAIL}"
    # what comes back from the parking or the buffer is hidden already
    assert protect_findings(kept, make_privacy(redaction=None)).value == kept


def test_other_names_of_users_are_as_configured():
    found = make_findings(user_id=None, metadata={"kunde": USER})

    assert protect_findings(found, make_privacy(user_id_names=("kunde",))).value.metadata == {"kunde": HIDDEN}
    assert protect_findings(found, make_privacy()).value.metadata == {"kunde": USER}


def test_findings_say_what_was_replaced_and_how_often():
    kept = protect_findings(make_findings(answer=f"{EMAIL}, {EMAIL}"), make_privacy())

    assert kept.counts == {"email": 3}
    assert kept.value.warnings == ("redacted: 3 email",)
    assert kept.value.query == "ask [email]"


def test_where_the_function_fails_no_text_is_left():
    kept = protect_findings(
        make_findings(metadata={"a": "b"}, app="shop"), make_privacy(redaction=FailingRedaction())
    ).value

    assert (kept.query, kept.metadata, kept.app, kept.user_id) == (None, {}, "shop", HIDDEN)
    assert kept.failure == "redaction: hook my_app:mask raised ValueError"


def test_spans_without_their_texts_become_a_trace_that_says_why():
    kept = protect_spans(RAG_SPANS, make_privacy(redaction=FailingRedaction())).value

    assert all("refund" not in json.dumps(list(span), default=str) for span in kept)
    assert kept[1].attributes["openinference.span.kind"] == "RETRIEVER"
    record = make_whole(*kept)
    (found,) = protect_found(find_fields(record), record, make_privacy())
    assert found.failure == kept[0].attributes[FAILURE]
    assert found.contexts is None


def test_spans_stay_what_they_are_where_nothing_is_to_be_replaced():
    assert protect_spans(RAG_SPANS, make_privacy()).value == RAG_SPANS


def test_a_judge_s_words_are_redacted_and_its_verdicts_kept():
    said = f"says {EMAIL}"
    call = JudgeCall(purpose="assess", model="m", outcome="ok", seconds=1.0, reply=said)
    given = Assessment(
        contexts={"1": ContextVerdict(relevant=True, reason=said)},
        missing=(said,),
        claims=(ClaimVerdict(text=said, supported="yes", contexts=("1",)),),
        reason=said,
        faults={Aspect.LEVEL: Fault(cause=Cause.INVALID_VERDICT, message=said)},
        notes={"terms": [said]},
        calls=(call,),
    )

    kept = redact_assessment(given, make_redaction())

    assert EMAIL not in kept.model_dump_json()
    assert kept.contexts["1"] == ContextVerdict(relevant=True, reason="says [email]")
    assert kept.claims[0].contexts == ("1",)
    assert redact_assessment(given, FailingRedaction()).missing == ("[withheld]",)


@pytest.mark.parametrize("encoding", [None, "gzip"])
def test_a_parked_json_body_can_be_taken_again(encoding):
    message = {"trace_id": "t", "query": f"ask {EMAIL}", "user_id": USER, "contexts": [f"a\n{EMAIL}"]}
    body = json.dumps(message).encode()

    kept = protect(gzip.compress(body) if encoding else body, content_encoding=encoding)

    (record,) = decode(make_envelope(kept.body, content_encoding=kept.content_encoding)).records
    assert record.message.query == "ask [email]"
    assert record.message.contexts == ["a\n[email]"]
    assert record.message.user_id == HIDDEN


def test_a_parked_protobuf_body_can_be_taken_again_with_its_users_as_pseudonyms():
    root = make_root(answer=f"A refund to {EMAIL}")
    metadata = json.dumps({"user": {"id": "ben"}, "note": "x" * 200})
    attributes = {**root.attributes, "user.id": USER, "enduser.id": 17, "metadata": metadata}
    other = root._replace(attributes={"user.id": "customer-4712", "card": 4111111111111111})
    body = write_export(root._replace(attributes=attributes), other)

    kept = protect(body)

    first, second = decode(make_envelope(kept.body)).spans
    assert first.attributes["user.id"] == HIDDEN
    assert first.attributes["enduser.id"] == RING.hide("17")
    assert json.loads(first.attributes["metadata"])["user"]["id"] == RING.hide("ben")
    assert first.attributes["output.value"] == "A refund to [email]"
    assert second.attributes == {"user.id": RING.hide("customer-4712"), "card": "[card]"}
    assert (first.trace_id, first.start_ns) == (root.trace_id, root.start_ns)


def test_an_export_without_anything_to_hide_is_parked_as_it_came():
    body = write_export(*RAG_SPANS)

    assert (
        protect_body(make_envelope(body), Privacy(user_keys=FakeUserKeys()), limits=DecodingLimits()).body
        == body
    )


def test_what_no_decoder_reads_of_an_export_is_starred_and_stars_are_no_user():
    body = write_export(make_root()._replace(attributes={"user.id": USER}))

    kept = protect(body[:-30]).body

    assert USER.encode() not in kept
    assert protect_findings(make_findings(user_id="*" * len(USER)), make_privacy()).value.user_id is None
    assert collect_users({"user_id": "****", "user": {"id": "***"}}) == set()


def pack_deflate(body):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (json.dumps({"user_id": USER, "session_id": "s" * 900, "trace_id": "t"}).encode(), {}),
        (json.dumps({"user": {"id": USER}, "session": {"id": "s" * 900}, "trace_id": "t"}).encode(), {}),
        (b'{"user_id": "' + USER.encode() + b'", "session_id": "' + b"s" * 900 + b'", "trace_id": "t", ', {}),
    ],
)
@pytest.mark.parametrize(
    ("pack", "encoding"),
    [
        (bytes, None),
        (gzip.compress, None),
        (zlib.compress, "deflate"),
        (pack_deflate, "deflate"),
        (zstandard.compress, None),
        (lambda body: gzip.compress(zstandard.compress(body)), None),
    ],
)
def test_whom_a_message_names_is_noted_in_every_packing(body, fields, pack, encoding):
    names = hide_names(
        make_envelope(pack(body), content_encoding=encoding, **fields),
        make_privacy(),
        limits=DecodingLimits(),
    )

    assert (names.users, names.sessions) == ({HIDDEN}, {"s" * 900})
    assert "t" in names.traces


def test_whom_an_export_names_is_noted():
    session = "s" * 900
    attributes = {
        "user.id": "ünï",
        "session.id": session,
        "metadata": json.dumps({"x": json.dumps({"user_id": "ben"})}),
    }
    body = write_export(make_root()._replace(attributes=attributes))

    names = hide_names(make_envelope(body), make_privacy(), limits=DecodingLimits())

    assert (names.users, names.sessions) == ({RING.hide("ünï"), RING.hide("ben")}, {session})


def test_only_a_whole_placeholder_under_the_name_of_a_secret_stays():
    value = {"password": "[key hunter2", "token": "[key]", "api_key": "[key:3fa2c1]", "secret": "[keyed]"}

    kept = redact_value(value, make_redaction()).value

    assert kept == {"password": "[key]", "token": "[key]", "api_key": "[key:3fa2c1]", "secret": "[key]"}


def test_a_card_as_a_json_number_is_one_however_it_is_written():
    kept = redact_value(
        {"a": 4111111111111111, "b": 4111111111111111.0, "c": 0.5, "d": 1e300}, make_redaction()
    )

    assert kept.value == {"a": "[card]", "b": "[card]", "c": 0.5, "d": 1e300}


@pytest.mark.parametrize("body", [b"\x00\x01" + EMAIL.encode(), b"\x1f\x8bbroken", EMAIL.encode("utf-16")])
def test_what_cannot_be_read_is_not_kept_unless_that_is_wanted(body):
    kept = protect(body)
    wanted = protect_body(make_envelope(body), make_privacy(keeps_unreadable=True), limits=DecodingLimits())

    assert kept.body == b""
    assert "sha256" in kept.remark
    assert wanted.body == body


@given(
    body=st.binary(max_size=200), planted=st.sampled_from([EMAIL.encode(), b""]), end=st.binary(max_size=50)
)
def test_no_bytes_keep_the_address_or_raise(body, planted, end):
    assert EMAIL.encode() not in protect(body + planted + end).body


def test_the_first_part_of_an_oversize_body_may_end_inside_a_character():
    body = f'{{"q": "{EMAIL} ü'.encode()[:-1]

    kept = protect(body, body_bytes=10_000_000)

    assert kept.body == b'{"q": "[email] '


def test_a_message_whose_id_names_a_person_is_named_by_its_content():
    named = name_harmlessly(make_envelope(b"x", message_key=EMAIL, message_id=EMAIL), make_privacy())

    assert EMAIL not in (named.message_key, named.message_id)
    assert name_harmlessly(make_envelope(b"x"), make_privacy()).message_key == "m"
