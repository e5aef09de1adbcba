"""What `ragsonde why` says of stored records: what one reads, and nothing twice."""

from datetime import timedelta

import pytest

from fakes.clock import NOON
from fakes.evaluations import make_outcomes, make_result, make_trace
from ragsonde.cli.story import tell_history
from ragsonde.judging.options import JudgeKind, JudgeOptions
from ragsonde.judging.table import build_judges
from ragsonde.pipeline.judging import judge_and_score
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.assessment import Assessment, ContextVerdict, Level
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationKey, EvaluationState
from ragsonde_schemas.history import EvaluationHistory, GatheredSpans, RevisionHistory, TraceHistory
from ragsonde_schemas.open_record import ClosingReason
from ragsonde_schemas.trace import Extraction

S = EvaluationState
LATER = NOON + timedelta(seconds=7)
(LEXICAL,) = build_judges((JudgeOptions(name="lexical", kind=JudgeKind.LEXICAL),)).values()


def evaluate(trace, *, judge="lexical", result=None, revision=1, **changes):
    result = result or judge_and_score(trace, scorers=build_scorers(None), judge=LEXICAL)
    values = {
        "key": EvaluationKey(trace=trace.key, revision=revision, judge=judge, fingerprint="f" * 16),
        "state": result.state,
        "cause": result.cause,
        "attempts": 0,
        "starts": 0,
        "unfinished_starts": 0,
        "sample_rate": 1.0,
        "created_at": NOON,
        "finished_at": NOON,
        "next_attempt_at": None,
        "lease_until": None,
        "calls": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "cost_usd": None,
        "replies": (),
        "assessment": result.assessment,
        "outcomes": result.outcomes,
    }
    return EvaluationHistory(**values | changes)


def revise(trace, *evaluations, revision=1, **changes):
    values = {
        "key": trace.key,
        "revision": revision,
        "content_hash": trace.content_hash,
        "admitted_at": NOON,
        "occurred_at": NOON,
        "occurred_at_guessed": False,
        "claimed_occurred_at": None,
        "environment": "production",
        "release": "",
        "variant": "",
        "trace": trace,
        "evaluations": evaluations,
    }
    return RevisionHistory(**values | changes)


def tell(*revisions, spans=None):
    history = TraceHistory(trace_id="t-1", revisions=revisions, parked=(), spans=spans)
    return [line.text for line in tell_history(history)]


def test_no_words_of_a_verdict_are_said_twice():
    trace = make_trace()
    told = tell(revise(trace, evaluate(trace)))
    reasons = [one.reason for one in evaluate(trace).assessment.contexts.values()]
    assert all(reasons)
    for reason in reasons:
        assert sum(line.count(reason) for line in told) == 1
    assert len([line for line in told if "context_precision" in line]) == 1


def test_the_id_the_app_and_the_time_are_said_once():
    trace = make_trace()
    text = "\n".join(tell(revise(trace, evaluate(trace), evaluate(trace, judge="gpt"))))
    assert text.splitlines()[0] == "trace t-1, app shop, production, revision 1"
    assert (text.count("t-1"), text.count("shop"), text.count("2026-06-15")) == (1, 1, 2)
    assert "born" not in text
    assert "sample rate" not in text


def test_what_is_not_as_mostly_is_said():
    trace = make_trace()
    unusual = evaluate(
        trace,
        sample_rate=0.05,
        created_at=LATER,
        finished_at=NOON,
        starts=2,
        attempts=1,
        calls=1,
        tokens_in=30,
        tokens_out=4,
        cost_usd=0.25,
    )
    (line,) = [line for line in tell(revise(trace, unusual)) if "sample rate" in line]
    assert line.split(", ") == [
        "    sample rate 0.05",
        "born 2026-06-15 12:00:07 UTC",
        "started 2 times",
        "1 failures of its own",
        "ended 2026-06-15 12:00:00 UTC",
        "1 call",
        "30+4 tokens",
        "0.250000 USD",
    ]


def test_where_nothing_was_retrieved_that_is_said_once_and_a_judge_has_one_line():
    trace = make_trace(contexts=None)
    told = tell(revise(trace, evaluate(trace), evaluate(trace, judge="gpt")))
    assert [line for line in told if "judge" in line] == [
        "  judge lexical@ffffff: not scored: there is nothing to score (no_context)",
        "  judge gpt@ffffff: not scored: there is nothing to score (no_context)",
    ]
    assert told[-3].startswith("  contexts: ")
    assert not any("skipped" in line for line in told)


def test_one_reason_of_all_scorers_is_said_with_the_judge():
    trace = make_trace()
    told = tell(revise(trace, evaluate(trace, result=make_result(S.FAILED))))
    assert told[-1] == "  judge lexical@ffffff: not scored: it failed (not_assessed): why"


def test_scorers_that_share_a_reason_share_a_line():
    trace = make_trace()
    score, unscored = make_outcomes()
    result = make_result().model_copy(
        update={"outcomes": (score, unscored, unscored.model_copy(update={"scorer": "essential_context"}))}
    )
    told = tell(revise(trace, evaluate(trace, result=result)))
    assert told[-1] == (
        "    statement_relevancy, essential_context error (not_assessed): no statements were assessed"
    )
    assert told[-2] == "    context_precision 8 (good, passed): 1 of 2 contexts is relevant"


def test_a_band_is_told_by_the_words_that_tables_have_for_it():
    trace = make_trace()
    score, _ = make_outcomes()
    outcomes = tuple(
        score.model_copy(update={"scorer": scorer, "band": "mixed"})
        for scorer in ("essential_context", "context_precision", "mine")
    )
    told = tell(
        revise(trace, evaluate(trace, result=make_result().model_copy(update={"outcomes": outcomes})))
    )
    assert [line.partition(":")[0].split(" ", 6)[-1] for line in told[-3:]] == [
        "(mixed, often ideal, passed)",
        "(mixed, passed)",
        "(mixed, passed)",
    ]


def test_contexts_of_one_verdict_share_a_line():
    trace = make_trace()
    alike = {number: ContextVerdict(relevant=True, level=Level.HIGH, used=False) for number in ("1", "2")}
    result = make_result(assessment=Assessment(contexts=alike))
    told = tell(revise(trace, evaluate(trace, result=result)))
    assert [line for line in told if "level" in line] == ["    contexts 1, 2: level high, relevant, not used"]


def test_why_the_contexts_do_not_suffice_is_said_where_the_judge_says_it():
    trace = make_trace()
    said = Assessment(essential=(), insufficient=True, reason="no sentence holds enough")
    told = tell(revise(trace, evaluate(trace, result=make_result(assessment=said))))
    assert "    the contexts do not suffice to answer: no sentence holds enough" in told
    told = tell(
        revise(
            trace, evaluate(trace, result=make_result(assessment=said.model_copy(update={"reason": None})))
        )
    )
    assert "    the contexts do not suffice to answer" in told


def test_scores_of_versions_that_do_not_count_come_last_and_say_so():
    trace = make_trace()
    score, unscored = make_outcomes()
    hidden = (score.model_copy(update={"version": "1+abcdef", "value": 0.2}), unscored)
    told = tell(revise(trace, evaluate(trace, hidden=hidden)))
    assert told[-2:] == [
        "    not shown: context_precision 0.2 of version 1+abcdef",
        f"    not shown: statement_relevancy error of version {unscored.version}",
    ]


def test_a_fault_that_an_outcome_tells_is_not_told_again():
    trace = make_trace()
    score, unscored = make_outcomes()
    result = make_result()
    (fault,) = result.assessment.faults.values()
    assert any(fault.message in line for line in tell(revise(trace, evaluate(trace, result=result))))
    told_by_outcome = unscored.model_copy(update={"reason": f"no score: {fault.message}"})
    result = result.model_copy(update={"outcomes": (score, told_by_outcome)})
    told = tell(revise(trace, evaluate(trace, result=result)))
    assert sum(fault.message in line for line in told) == 1


def test_of_older_revisions_it_is_told_what_was_different_and_their_scores():
    first, second = make_trace(answer="Soon."), make_trace()
    old = evaluate(first, result=make_result(raw=0.5)).model_copy(update={"state": S.SUPERSEDED})
    told = tell(revise(first, old), revise(second, evaluate(second), revision=2, admitted_at=LATER))
    assert told[0] == "trace t-1, app shop, production, revision 2"
    assert told[-3:] == [
        "  older: revision 1, stored 2026-06-15 12:00:00 UTC",
        "    answer: Soon.",
        "    judge lexical@ffffff: context_precision 5, statement_relevancy error",
    ]
    assert sum(second.query in line for line in told) == 1


def test_an_older_revision_that_was_never_judged_says_so():
    first, second = make_trace(answer="Soon."), make_trace()
    waiting = evaluate(first).model_copy(update={"state": S.SUPERSEDED, "outcomes": (), "assessment": None})
    told = tell(revise(first, waiting), revise(second, evaluate(second), revision=2))
    assert told[-1] == "    judge lexical@ffffff: nothing scored"


def test_each_record_has_its_own_head():
    first, second, elsewhere = make_trace(), make_trace(record_key="b"), make_trace(record_key="c", app="x")
    told = tell(
        revise(first, evaluate(first)),
        revise(second, evaluate(second)),
        revise(elsewhere, evaluate(elsewhere)),
    )
    assert [line for line in told if "revision" in line] == [
        "trace t-1, app shop, production, revision 1",
        "record b, revision 1",
        "record c, app x, production, revision 1",
    ]


def test_a_record_that_became_a_part_of_another_says_so():
    trace = make_trace()
    withdrawn = evaluate(trace).model_copy(update={"state": S.SUPERSEDED})
    text = "\n".join(tell(revise(trace, withdrawn)))
    assert "counts no more: the record turned out to be a part of another one" in text


@pytest.mark.parametrize(
    ("next_close_at", "told"),
    [
        (None, "  3 spans came (otlp_json), taken as complete: a span said that it was the end"),
        (LATER, "  waiting: 3 spans came (otlp_json), the root is among them; evaluated after "),
    ],
)
def test_spans_are_told_below_the_head(next_close_at, told):
    trace = make_trace()
    spans = GatheredSpans(
        format="otlp_json",
        span_count=3,
        has_root=True,
        first_received_at=NOON,
        last_received_at=NOON,
        next_close_at=next_close_at,
        reason=ClosingReason.END_MARKER,
        is_stored=True,
    )
    head, below, *_ = tell(revise(trace, evaluate(trace)), spans=spans)
    assert head == "trace t-1, app shop, production, revision 1"
    assert below.startswith(told)


def test_dropped_texts_warnings_and_failures_are_told():
    failed = make_trace(
        extraction=Extraction(format="native", warnings=("late spans: 2",), failure="mapping `a`: no text")
    )
    told = tell(revise(failed, evaluate(failed)))
    assert "  warning: late spans: 2" in told
    assert "  failed: mapping `a`: no text" in told
    gone = evaluate(failed, result=make_result(S.FAILED), cause=Cause.CONTENT_EXPIRED)
    assert "  its texts have been dropped by retention" in tell(
        revise(failed, gone).model_copy(update={"trace": None})
    )
