"""What is committed and counts is sent, once, beside the series; a sink disturbs nothing."""

from __future__ import annotations

import json
import sys

import pytest

from fakes.clock import FakeClock
from fakes.evaluations import make_outcomes, make_result, make_trace, plan_free, plan_paid
from fakes.http_taker import serving
from fakes.judge import FakeJudge
from fakes.score_events import make_event
from fakes.sink import FakeSink
from fakes.stages import make_stages
from ragsonde.pipeline.admitting import admit
from ragsonde.sinks.events import fill_link, list_events
from ragsonde.sinks.exporting import ExportingSink
from ragsonde.sinks.options import ScoreSinkOptions
from ragsonde.sinks.table import build_destinations, build_exports
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.evaluation import Admission, EvaluationKey

TRACE = make_trace()
KEY = EvaluationKey(trace=TRACE.key, revision=1, judge="gpt", fingerprint="f" * 16)


class Box:
    """An outbox that keeps what is put into it."""

    def __init__(self, trouble=None) -> None:
        self.name = "box"
        self.events = []
        self._trouble = trouble

    def put(self, events) -> None:
        if self._trouble:
            raise self._trouble
        self.events += events


class BoxExport:
    def __init__(self, box) -> None:
        self.outbox = box

    def send(self, trace, key, result, *, clock) -> None:
        self.outbox.put(list_events(trace, key, result, now=clock.now()))


def make_sink(*boxes):
    inner = FakeSink()
    return ExportingSink(inner, [BoxExport(box) for box in boxes], clock=FakeClock()), inner


def test_each_outcome_of_a_finished_evaluation_is_an_event():
    box = Box()
    sink, inner = make_sink(box)
    result = make_result()
    sink.on_finished(TRACE, KEY, result)
    assert [one.scorer for one in box.events] == [one.scorer for one in result.outcomes]
    assert inner.told == [("on_finished", (TRACE, KEY, result))]


def test_the_results_that_a_trace_is_born_with_are_sent_and_those_of_a_duplicate_are_not():
    box = Box()
    sink, _ = make_sink(box)
    planned = (plan_free(), plan_paid())
    sink.on_admitted(TRACE, Admission(kind="duplicate", key=TRACE.key, revision=1), planned)
    assert box.events == []
    sink.on_admitted(TRACE, Admission(kind="revision", key=TRACE.key, revision=2), planned)
    assert {(one.judge, one.revision) for one in box.events} == {("lexical", 2)}


def test_what_is_superseded_is_not_sent():
    box = Box()
    sink, inner = make_sink(box)
    sink.on_superseded(make_result())
    assert box.events == []
    assert [name for name, _ in inner.told] == ["on_superseded"]


def test_a_sink_that_fails_leaves_the_others_and_the_series_alone():
    box = Box()
    sink, inner = make_sink(Box(RuntimeError("broken")), box)
    sink.on_finished(TRACE, KEY, make_result())
    assert box.events
    assert [name for name, _ in inner.told] == ["on_finished"]


def test_everything_else_is_passed_on_as_it_was_told():
    sink, inner = make_sink(Box())
    told = {
        "on_calls": (KEY, ()),
        "on_shed": (KEY, "budget_spent"),
        "on_withdrawn": (3,),
        "on_postponed": ("gpt", "judge_unavailable"),
        "on_received": ("native",),
        "on_parked": ("invalid_json",),
        "on_parked_again": ("invalid_json",),
        "on_filtered": ("not_rag",),
        "on_closed": ("quiet",),
        "on_late_spans": ("revision",),
        "on_mapped_to_nothing": ("contexts",),
        "on_stage": ("judging", 0.5),
    }
    for name, arguments in told.items():
        getattr(sink, name)(*arguments)
    sink.on_cache_read(KEY, is_hit=True)
    assert dict(inner.told) == told | {"on_cache_read": (KEY, True)}


def test_a_fallbacks_answer_carries_its_own_fingerprint_and_epoch():
    given = make_result().assessment.model_copy(
        update={"answered_fingerprint": "ab" * 8, "judge_epoch": 3, "answered_model": "m-3"}
    )
    (first, *_) = list_events(
        TRACE, KEY, make_result().model_copy(update={"assessment": given}), now=TRACE.occurred_at
    )
    assert (first.fingerprint, first.judge_epoch, first.answered_model) == ("ab" * 8, 3, "m-3")


def test_the_same_result_has_the_same_id_and_each_scorer_its_own():
    one, again = (list_events(TRACE, KEY, make_result(), now=TRACE.occurred_at) for _ in range(2))
    other = list_events(TRACE, KEY.model_copy(update={"revision": 2}), make_result(), now=TRACE.occurred_at)
    assert [event.result_id for event in one] == [event.result_id for event in again]
    assert len({event.result_id for event in (*one, *other)}) == 2 * len(make_outcomes())


def test_the_id_of_the_answer_comes_with_the_trace():
    trace = make_trace(metadata={"gen_ai.response.id": "r-7"})
    assert {one.response_id for one in list_events(trace, KEY, make_result(), now=trace.occurred_at)} == {
        "r-7"
    }


def test_a_link_is_filled_and_escaped():
    event = make_event(trace_id="a/b?c d", app="")
    assert fill_link("https://x/{app}/{trace_id}", event) == "https://x/default/a%2Fb%3Fc%20d"


def test_a_judged_trace_reaches_a_real_server():
    counted = []
    with serving() as taker:
        (export,) = build_exports(
            [ScoreSinkOptions(kind="webhook", url=taker.url, link="https://x/{trace_id}")],
            added={},
            on_sent=lambda name, number: counted.append((name, number)),
            on_dropped=lambda name, number: counted.append((name, -number)),
        )
        sink = ExportingSink(FakeSink(), [export], clock=FakeClock())
        stages = make_stages(FakeJudge(), sink=sink)
        admit(make_trace(), stages)
        export.outbox.close()
    results = [one for posted in taker.posted for one in json.loads(posted.body)["results"]]
    assert {one["scorer"] for one in results} == {one.instance for one in stages.scorers}
    assert {one["link"] for one in results} == {"https://x/t-1"}
    assert counted == [("webhook", len(stages.scorers))]


class Listed:
    """What a package may add."""

    def __init__(self, options) -> None:
        self.room = int(options["room"])

    def deliver(self, batch) -> int:
        return max(0, len(batch) - self.room)


def test_a_package_adds_a_kind_with_options_of_its_own():
    (built,) = build_destinations(
        [ScoreSinkOptions(kind="listed", options={"room": 2})], added={"listed": Listed}
    )
    assert built.deliver([make_event(), make_event(), make_event()]) == 1


@pytest.mark.parametrize(
    ("sinks", "words"),
    [
        ([{"kind": "lsted"}], r"score_sinks\[0\]\.kind: found lsted, expected one of webhook, otlp, listed"),
        ([{"kind": "listed"}], r"score_sinks\[0\]\.options: kind listed: KeyError: 'room'"),
        ([{"kind": "listed", "options": {"room": 1}}] * 2, "2 are named listed"),
        (
            [{"kind": "webhook", "url_file": "/missing"}],
            r"score_sinks\[0\]\.url_file: /missing cannot be read",
        ),
    ],
)
def test_a_sink_that_cannot_be_built_is_named(sinks, words):
    with pytest.raises(ConfigError, match=words):
        build_destinations([ScoreSinkOptions(**one) for one in sinks], added={"listed": Listed})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "webhook"}, "needs either `url` or `url_file`"),
        ({"kind": "webhook", "url": "ftp://x/y"}, "found no http or https URL"),
        ({"kind": "webhook", "url": "https://user:pw@x/y"}, "does not belong into settings"),
        ({"kind": "otlp", "url": "http://x", "options": {"a": 1}}, "are for sinks of packages"),
        ({"kind": "webhook", "url": "http://x", "link": "https://x/{id}"}, "link: found another field"),
    ],
)
def test_wrong_options_say_what_is_expected_and_repeat_no_secret(fields, words):
    with pytest.raises(ValueError, match=words) as error:
        ScoreSinkOptions(**fields)
    assert "pw@" not in error.value.errors(include_input=False)[0]["msg"]


def test_an_extra_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ragsonde.sinks.otlp", None)
    with pytest.raises(
        ConfigError, match=r"score_sinks\[0\]\.kind: otlp needs .* pip install 'ragsonde\[otlp\]'"
    ):
        build_destinations([ScoreSinkOptions(kind="otlp", url="http://127.0.0.1/")], added={})
