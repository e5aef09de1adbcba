"""Personal data planted wherever a message can hold them rest nowhere: no column, no log line, no series."""

from __future__ import annotations

import gzip
import io
import json
import logging
import zlib
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from sqlalchemy import select

from builders.private_texts import CARD, EMAIL, KEY, PRIVATE
from builders.rag_spans import make_generation, make_retriever, make_root
from builders.spans import TRACE_ID, write_export
from fakes.clock import NOON
from mock_llm.outcomes import Outcome
from mock_llm.server import MockLlm
from ragsonde.bootstrap.worker import build_worker
from ragsonde.cli.main import run
from ragsonde.event_log import build_formatter
from ragsonde.intake.trace_consumer import INGEST_FILE
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.settings import Settings
from ragsonde.storage.backfills import create_backfill
from ragsonde.storage.erasure import Erasing, count_erasable, erase
from ragsonde.storage.erasure_choice import ErasureChoice
from ragsonde.storage.history import read_history
from ragsonde.storage.parked_choice import ParkedChoice, select_parked
from ragsonde.storage.replaying import holding_parked
from ragsonde.storage.tables import JudgeReplyRow, ParkedMessageRow, TraceRow
from ragsonde.storage.user_keys import find_user_id_forms
from ragsonde.text_redaction import build_cover
from ragsonde_schemas.backfill import BackfillRequest
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import ParkReason
from services.everywhere import search_everywhere
from services.judging_worker import make_judge

pytestmark = pytest.mark.integration

SECRETS = " and ".join(PRIVATE)
USER = "customer-4711-anna"
NATIVE = {
    "trace_id": "t1",
    "event_id": f"event of {EMAIL}",
    "app": "shop",
    "environment": "production",
    "release": EMAIL,
    "variant": "b",
    "session_id": f"session:{EMAIL}",
    "user_id": USER,
    "messages": [
        {"role": "user", "content": f"I am {SECRETS}"},
        {"role": "assistant", "content": f"Hello {SECRETS}"},
        {"role": "user", "content": f"How long does a refund to {SECRETS} take?"},
        {"role": "assistant", "content": f"A refund to {SECRETS} takes 14 days."},
    ],
    "retrieval_query": f"refund {SECRETS}",
    "contexts": [
        {
            "content": f"A refund is issued within 14 days. Ask {SECRETS}.",
            "id": f"doc {EMAIL}",
            "source_uri": f"https://x.example/?u={EMAIL.replace('@', '%40')}&k={KEY}",
            "metadata": {"author": EMAIL, "card": int(CARD.replace(" ", "")), "user_id": USER, EMAIL: 1},
        },
        f"Shipping takes three days. {SECRETS}",
    ],
    "reference": {"answer": f"14 days, says {SECRETS}", "contexts": [SECRETS], "context_ids": [EMAIL]},
    "model": f"model of {EMAIL}",
    "usage": {"note": SECRETS},
    "tags": ["a", EMAIL, USER],
    "metadata": {
        "nested": json.dumps({"said": SECRETS, "user_id": USER}),
        "password": "letters only",
        "u": USER,
    },
    "colour": SECRETS,
    EMAIL: "an unknown key",
    "evaluation": {"scorers": ["context_relevance", EMAIL]},
}
ATTRIBUTES = {
    "user.id": USER,
    "metadata": json.dumps({"user_id": USER, "note": f"line\n{SECRETS}"}),
    "note": SECRETS,
}


@contextmanager
def running(engine_url, **settings):
    """A worker's path over its own log, as `ragsonde worker` sets it up."""
    chosen = Settings(**settings)
    lines, root = io.StringIO(), logging.getLogger()
    log = logging.StreamHandler(lines)
    log.setFormatter(build_formatter("json", build_cover(chosen)))
    root.addHandler(log)
    level = root.level
    root.setLevel(logging.INFO)
    parts = build_worker(chosen, broker_url="memory://", database_url=engine_url, version="test")
    try:
        yield parts, lines
    finally:
        root.removeHandler(log)
        root.setLevel(level)
        parts.engine.dispose()


def make_envelope(body, **fields):
    return Envelope(
        **{
            "body": body,
            "body_bytes": len(body),
            "message_key": sha256(body).hexdigest(),
            "received_at": datetime.now(UTC),
            **fields,
        }
    )


def list_bodies():
    """Whole traces, spans that come one by one, and junk of every kind."""
    whole = json.dumps(NATIVE).encode()
    retriever = make_retriever(contexts=(f"A refund is issued within 14 days. {SECRETS}",))
    retriever = retriever._replace(attributes={**retriever.attributes, **ATTRIBUTES})
    root = make_root(answer=f"A refund to {SECRETS} takes 14 days.")
    root.attributes["ragsonde.trace.end"] = True
    root = root._replace(name=f"ask {EMAIL}", resource={**root.resource, "enduser.id": USER})
    generation = make_generation(answer=SECRETS)
    export = [write_export(span) for span in (generation, retriever, root)]
    junk = json.dumps({"contexts": 7, "trace_id": EMAIL, "note": SECRETS, "user_id": USER}).encode()
    return [
        whole,
        *export,
        junk,
        json.dumps(NATIVE)[:-40].encode(),
        gzip.compress(junk),
        b"\n".join([json.dumps({"trace_id": 1, "n": SECRETS, "userId": USER}).encode(), SECRETS.encode()]),
        write_export(retriever)[:-9],
        SECRETS.encode("utf-16"),
        b"\x00\x01\xff" + SECRETS.encode(),
        f'{{"trace_id": "x", "user_id": "{USER}", "q": "line\\n{EMAIL} {KEY}", broken'.encode(),
    ]


def test_what_is_planted_in_every_place_rests_nowhere(database_url, own_engine):
    quoting = Outcome("text", text=json.dumps({"c": [], "why": f"the user is {SECRETS}", "miss": [SECRETS]}))
    with MockLlm([quoting] * 40) as llm:
        judges = ({"name": "lexical", "kind": "lexical"}, make_judge(llm.url, reasons="context"))
        with running(database_url, judges=judges, redaction={"patterns": "all"}) as (parts, lines):
            stages = parts.stages
            for body in list_bodies():
                ingest(make_envelope(body, headers={"traceparent": EMAIL}), stages)
            exposed = stages.sink.series.render().body.decode()
        asked = json.dumps([one for call in llm.calls for one in call.messages])

    assert any(one["role"] == "assistant" for call in llm.calls for one in call.messages)
    with own_engine.connect() as connection:
        stored = connection.execute(select(TraceRow.trace_id)).scalars().all()
        replies = connection.execute(select(JudgeReplyRow.reply)).scalars().all()
        parked = connection.execute(select(ParkedMessageRow)).all()
    assert sorted(stored) == [TRACE_ID, "t1"]
    assert any("the user is [email] and [card] and [key]" in reply for reply in replies)
    assert len(parked) == 8
    for needle in (*PRIVATE, CARD.replace(" ", ""), "letters only", EMAIL.replace("@", "%40"), USER):
        assert search_everywhere(own_engine, needle) == [], needle
        assert needle not in lines.getvalue(), needle
        assert needle not in exposed, needle
    for needle in PRIVATE:
        assert needle not in asked
    assert 'ragsonde_redactions_total{kind="email"}' in exposed
    warnings = [
        warning
        for revision in read_history(own_engine, "t1").revisions
        for warning in revision.trace.extraction.warnings
    ]
    assert any(warning.startswith("redacted: ") and "email" in warning for warning in warnings)


def test_without_redaction_texts_stay_and_users_are_pseudonyms_all_the_same(database_url, own_engine):
    with running(database_url) as (parts, lines):
        for body in list_bodies():
            ingest(make_envelope(body), parts.stages)

    now = datetime.now(UTC)
    with own_engine.connect() as connection:
        users = set(connection.execute(select(TraceRow.user_id)).scalars())
    assert users == {find_user_id_forms(own_engine, USER, now=now)[0]}
    assert search_everywhere(own_engine, USER) == []
    assert USER not in lines.getvalue()
    assert search_everywhere(own_engine, EMAIL) != []


def test_a_parked_message_becomes_the_same_trace_when_it_is_taken_again(database_url, own_engine):
    body = json.dumps({**NATIVE, "contexts": None, "trace_id": "t2"}).encode()
    with running(database_url, redaction={"patterns": "all"}) as (parts, _):
        ingest(make_envelope(body), parts.stages)
        kept = []
        store = parts.stages.parking
        inner = store._inner
        store._inner = type("Store", (), {"park": lambda _, envelope, **__: kept.append(envelope) or True})()
        store.park(make_envelope(gzip.compress(body)), reason="invalid_json", message="x", where="body")
        store._inner = inner
        again = make_envelope(kept[0].body, content_encoding=kept[0].content_encoding)
        ingest(again, parts.stages)

    assert kept[0].body_bytes == len(kept[0].body)
    (revision,) = read_history(own_engine, "t2").revisions
    assert revision.trace.user_id == find_user_id_forms(own_engine, USER, now=datetime.now(UTC))[0]


@pytest.mark.parametrize("pseudonyms", [False, True])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_replayed_body_gives_the_content_and_the_user_that_the_message_gave(
    database_url, own_engine, pseudonyms, pack
):
    def write(trace_id):
        return json.dumps({**NATIVE, "trace_id": trace_id, "event_id": trace_id}).encode()

    with running(database_url, redaction={"patterns": "all", "pseudonyms": pseudonyms}) as (parts, _):
        ingest(make_envelope(write("first")), parts.stages)
        sent = make_envelope(pack(write("again")))
        bodies = []
        for _ in range(2):  # as when the replayed message is parked once more
            parts.stages.parking.park(sent, reason=ParkReason.INVALID_JSON, message="x", where="body")
            (parked,) = select_parked(own_engine, ParkedChoice(), limit=1)
            with holding_parked(own_engine, parked.id, takes_all=True) as held:
                sent = held.envelope.model_copy(update={"message_key": f"{len(bodies)}"})
            bodies.append(sent.body)
        ingest(sent, parts.stages)

    assert bodies[0] == bodies[1]
    first, again = (read_history(own_engine, name).revisions[0].trace for name in ("first", "again"))
    assert again.content_hash == first.content_hash
    assert again.user_id == find_user_id_forms(own_engine, USER, now=datetime.now(UTC))[0]
    assert again.metadata == first.metadata


def test_traces_of_files_take_the_path_that_redacts(database_url, own_engine):
    with running(database_url, redaction={"patterns": "all"}) as (parts, lines):
        now = datetime.now(UTC)
        today = {"since": now.date(), "until": now.date()}
        files = BackfillRequest(judge=None, fingerprint=None, rate_per_second=10, **today)
        number = create_backfill(own_engine, files, foreseen=0, created_by=None, now=now)
        take = parts.app.tasks[INGEST_FILE]
        for body in list_bodies():
            take(make_envelope(body, message_id=str(number)))

    with own_engine.connect() as connection:
        assert sorted(connection.execute(select(TraceRow.trace_id)).scalars()) == [TRACE_ID, "t1"]
        assert len(connection.execute(select(ParkedMessageRow)).all()) == 8
    for needle in (*PRIVATE, CARD.replace(" ", ""), "letters only", EMAIL.replace("@", "%40"), USER):
        assert search_everywhere(own_engine, needle) == [], needle
        assert needle not in lines.getvalue(), needle


def test_parked_messages_of_a_user_are_found_in_every_format(database_url, own_engine):
    native = json.dumps({"trace_id": "t2", "user": {"id": USER}, "session_id": "s"}).encode()
    export = write_export(make_root()._replace(attributes={"user.id": USER, "input.value": "hello"}))
    bodies = [
        (native, None),
        (json.dumps({"a": json.dumps({"b": json.dumps({"user_id": USER})})}).encode(), None),
        (zlib.compress(native), "deflate"),
        (gzip.compress(gzip.compress(native)), None),
        (export, None),
        (zlib.compress(export), "deflate"),
        (export[:-9], None),
    ]
    for redaction in ({}, {"patterns": "all"}):
        with running(database_url, redaction=redaction) as (parts, _):
            for body, encoding in bodies:
                envelope = make_envelope(body, content_encoding=encoding)
                parts.stages.parking.park(envelope, reason=ParkReason.INVALID_JSON, message="x", where="body")
        forms = find_user_id_forms(own_engine, USER, now=datetime.now(UTC))
        of_user = ErasureChoice(user=USER, stored_users=forms)
        assert count_erasable(own_engine, of_user)["parked_message"] == len(bodies)
        erase(own_engine, of_user, Erasing(now=NOON - timedelta(days=9), keep_tombstones_days=1))


@pytest.mark.usefixtures("own_engine")
def test_a_trace_whose_id_was_redacted_is_found_by_the_id_that_its_producer_gave_it(
    database_url, capsys, monkeypatch
):
    given = f"order of {EMAIL}"
    monkeypatch.setenv("RAGSONDE_REDACTION__PATTERNS", "email")
    with running(database_url, redaction={"patterns": ["email"]}) as (parts, _):
        ingest(
            make_envelope(
                json.dumps(
                    {"trace_id": given, "session_id": given, "query": "q", "answer": "a", "contexts": ["c"]}
                ).encode()
            ),
            parts.stages,
        )

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            run([*arguments, "--database-url", database_url])
        return ended.value.code, capsys.readouterr().out

    code, said = call("why", given, "--output", "json")
    assert code == 0
    assert any(
        "redacted: " in one for one in json.loads(said)["revisions"][0]["trace"]["extraction"]["warnings"]
    )
    assert json.loads(call("forget", "--session", given, "--dry-run", "--output", "json")[1])["traces"] == 1
    assert json.loads(call("forget", "--trace", given, "--yes", "--output", "json")[1])["traces"] == 1
    assert call("why", given)[0] == 1


@pytest.mark.parametrize("kind", ["native", "spans"])
def test_where_the_hook_fails_no_text_is_kept_and_the_scores_say_why(
    database_url, own_engine, tmp_path, monkeypatch, kind
):
    (tmp_path / "masking.py").write_text("def mask(text):\n    raise ValueError(text)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    bodies = list_bodies()
    taken = bodies[:1] if kind == "native" else bodies[1:4]
    hook = {"function": "masking:mask", "timeout_seconds": 20}
    with running(database_url, redaction={"hook": hook}) as (parts, lines):
        # what no pattern of this deployment looks for
        for body in taken:
            ingest(make_envelope(body), parts.stages)

    (revision,) = read_history(own_engine, "t1" if kind == "native" else TRACE_ID).revisions
    assert revision.trace.extraction.failure == "redaction: hook masking:mask raised ValueError"
    assert {one.cause for one in revision.evaluations[0].outcomes} == {"extraction_failed"}
    for needle in ("refund", "Shipping", CARD):
        assert search_everywhere(own_engine, needle) == []
        assert needle not in lines.getvalue()
