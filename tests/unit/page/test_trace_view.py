"""A trace on the page: what was asked, found, judged and scored."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fakes.clock import NOON
from fakes.histories import VERDICTS, evaluate, tell
from fakes.judged_traces import make_trace
from fakes.watching import FakeWatching
from ragsonde.page.trace_view import view_trace
from ragsonde.page.views import Views
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.history import TraceHistory
from ragsonde_schemas.score import Score

HOSTILE = "</p><script>alert(1)</script>"
SCORERS = {scorer.instance: scorer for scorer in build_scorers(None)}


def view(history, **options):
    (record,) = view_trace(history, scorers=SCORERS, **options)
    return record


def show(history, **arguments):
    watching = FakeWatching(histories={history.trace_id: history})
    views = Views(watching=watching, scorers=SCORERS, trace_link="https://traces.example/{trace_id}")
    return views.show_trace(arguments, history.trace_id)


def test_contexts_are_shown_with_verdicts_and_marked_sentences():
    trace = make_trace()
    first, second, _ = view(tell(trace, evaluate(trace))).contexts
    assert first.badges == (("relevant", "good"), ("level high", "quiet"), ("used in the answer", "good"))
    assert first.reason == "names the battery"
    assert [piece.mark for piece in first.pieces if piece.number] == ["essential", "relevant"]
    assert second.badges[0] == ("not relevant", "bad")


def test_scores_are_shown_with_their_bands():
    trace = make_trace()
    (evaluation,) = view(tell(trace, evaluate(trace))).evaluations
    precision = next(line for line in evaluation.outcomes if line.scorer == "context_precision")
    assert (precision.value, precision.reads_as) == ("1.00", "excellent")
    assert "names the battery" not in precision.reason  # it stands beside the context


def test_beside_a_low_score_stands_what_to_try():
    trace = make_trace()
    evaluation = evaluate(trace)
    (shown,) = view(tell(trace, evaluation)).evaluations
    tried = {line.scorer: [one.action for one in line.remedies] for line in shown.outcomes}
    assert tried["context_precision"] == []  # it is 1
    assert "filter by retrieval score before ranking" in tried["context_relevance"]  # it is 0.28, poor
    page = show(tell(trace, evaluation))
    assert "filter by retrieval score before ranking" in page
    assert "current_score" not in page


def test_a_score_below_its_threshold_is_low_whatever_its_band():
    trace = make_trace()
    evaluation = evaluate(trace)
    failed = tuple(
        one.model_copy(update={"passed": False}) if isinstance(one, Score) else one
        for one in evaluation.outcomes
    )
    (shown,) = view(tell(trace, evaluate(trace, outcomes=failed))).evaluations
    assert all(line.remedies for line in shown.outcomes if line.scorer == "context_precision")
    assert sum("below its threshold" in line.reads_as for line in shown.outcomes) == len(shown.outcomes)


def test_scores_that_do_not_count_stand_apart_with_their_version():
    trace = make_trace()
    evaluation = evaluate(trace)
    old = evaluation.outcomes[0].model_copy(update={"version": "9+abcdef"})
    page = show(tell(trace, evaluate(trace, hidden=(old,))))
    assert f"Not shown, and counted nowhere: {old.scorer} {old.value:.2f} of version 9+abcdef." in page
    assert "Not shown" not in show(tell(trace, evaluation))


def test_why_the_contexts_do_not_suffice_is_said():
    trace = make_trace()
    said = VERDICTS.model_copy(update={"insufficient": True, "essential": (), "reason": "none holds enough"})
    page = show(tell(trace, evaluate(trace, assessment=said)))
    assert "The contexts do not suffice to answer: <bdi>none holds enough</bdi>." in page


def test_what_was_not_scored_has_no_value_but_a_cause():
    trace = make_trace(answer=None)
    (evaluation,) = view(tell(trace, evaluate(trace))).evaluations
    skipped = [line for line in evaluation.outcomes if not line.value]
    assert skipped
    assert all(line.reads_as.startswith("not scored") and line.reason for line in skipped)


def test_the_verdicts_of_the_asked_judge_are_shown_first_and_others_on_request():
    trace = make_trace()
    history = tell(trace, evaluate(trace), evaluate(trace, judge="gpt", calls=1))
    assert view(history).shown == "gpt@ffffff"
    assert view(history, judge="lexical@ffffff").shown == "lexical@ffffff"
    assert view(history, judge="nobody").shown == "gpt@ffffff"


def test_a_price_that_is_not_known_is_not_nothing():
    trace = make_trace()
    asked = evaluate(trace, judge="gpt", calls=2, tokens_in=1500, tokens_out=90)
    (evaluation,) = view(tell(trace, asked)).evaluations
    assert "2 calls, 1,500 + 90 tokens, price unknown" in evaluation.facts


@pytest.mark.parametrize(("contexts", "words"), [(None, "not known"), ((), "Retrieval returned nothing")])
def test_no_contexts_and_none_retrieved_are_told_apart(contexts, words):
    trace = make_trace().model_copy(update={"contexts": contexts})
    assert words in show(tell(trace, evaluate(trace, assessment=None)))


def test_dropped_texts_are_told():
    trace = make_trace()
    assert "dropped by retention" in show(tell(trace, evaluate(trace), trace=None))


def test_an_evaluation_that_failed_says_why():
    trace = make_trace()
    failed = evaluate(trace, state=EvaluationState.FAILED, cause=Cause.REFUSED, assessment=None, outcomes=())
    (evaluation,) = view(tell(trace, failed)).evaluations
    assert "the judge's model declined to answer" in evaluation.facts


def test_older_revisions_are_named():
    trace = make_trace()
    old = tell(trace, evaluate(trace)).revisions[0]
    new = old.model_copy(update={"revision": 2, "admitted_at": NOON + timedelta(minutes=1)})
    history = TraceHistory(trace_id=trace.trace_id, revisions=(old, new), parked=())
    record = view(history)
    (older,) = record.older
    assert older.words == f"revision 1, stored {NOON:%Y-%m-%d %H:%M:%S} UTC: counts no more"
    assert "revision 2" in record.times
    precision = next(line for _, line in older.outcomes if line.scorer == "context_precision")
    assert (precision.value, precision.reads_as) == ("1.00", "excellent")
    assert "Older revision 1" in show(history)


def test_an_older_revision_without_scores_is_named():
    trace = make_trace()
    old = tell(trace, evaluate(trace, outcomes=())).revisions[0]
    new = old.model_copy(update={"revision": 2})
    page = show(TraceHistory(trace_id=trace.trace_id, revisions=(old, new), parked=()))
    assert "It had no scores." in page


def test_hostile_text_is_shown_as_text():
    trace = make_trace(HOSTILE, query=HOSTILE, answer=HOSTILE, turns=(("user", HOSTILE),), app=HOSTILE)
    html = show(tell(trace, evaluate(trace), environment=HOSTILE, release=HOSTILE))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 6


def test_it_leads_on_to_the_tracing_tool():
    trace = make_trace(trace_id='a/b"c')
    assert 'href="https://traces.example/a%2Fb%22c"' in show(tell(trace, evaluate(trace)))
