"""What is committed becomes series, once, and whatever fails there stays there."""

import logging
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics

from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import WORKER_SERIES
from ragsonde.exposition.sink import PrometheusSink
from ragsonde_schemas.assessment import Assessment, ContextVerdict
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import (
    Admission,
    EvaluationKey,
    EvaluationResult,
    EvaluationState,
    PlannedEvaluation,
)
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.score import Score, Unscored
from ragsonde_schemas.trace import (
    Context,
    Extraction,
    FieldEvidence,
    InjectionKind,
    SuspectedInjection,
    Trace,
)

OCCURRED_AT = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
LEXICAL = "lexical@0123ab"
GPT = "gpt@3fa2c1"
PLACE = {"app": "shop", "environment": "production", "release": "1.2"}


class StandingClock:
    """A clock that stands still, 90 s after the trace occurred."""

    def now(self) -> datetime:
        return OCCURRED_AT + timedelta(seconds=90)

    def monotonic(self) -> float:
        return 0.0


class BrokenClock(StandingClock):
    def now(self) -> datetime:
        raise OSError("no clock")


class Board:
    """The series of a worker, and the sink that feeds them."""

    def __init__(self, clock: StandingClock | None = None) -> None:
        self.series = Series(WORKER_SERIES, known=KnownLabels(judges=(LEXICAL, GPT)))
        self.sink = PrometheusSink(
            self.series,
            clock=clock or StandingClock(),
            fingerprints={"lexical": "0123abcdef012345", "gpt": "3fa2c1d4e5f60718"},
        )

    def read(self, name: str) -> dict[tuple[tuple[str, str], ...], float]:
        """Every sample of a series that is not 0, by its labels."""
        families = read_openmetrics(self.series.render("application/openmetrics-text").body.decode())
        return {
            tuple(sorted(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples
            if sample.name == f"ragsonde_{name}" and sample.value
        }

    def total(self, name: str) -> float:
        return sum(self.read(name).values())


@pytest.fixture
def board():
    return Board()


def make_trace(**changes: object) -> Trace:
    values: dict[str, object] = {
        **PLACE,
        "trace_id": "t1",
        "occurred_at": OCCURRED_AT,
        "query": "How long is the warranty?",
        "contexts": (Context(rank=0, content="Two years."),),
        "content_hash": "c1",
        "extraction": Extraction(
            format="native",
            fields={
                "query": FieldEvidence(rule="native:query"),
                "contexts": FieldEvidence(rule="native:contexts"),
            },
        ),
    }
    return Trace.model_validate(values | changes)


def admit(kind: str = "new", *, superseded: int = 0) -> Admission:
    return Admission(kind=kind, key=make_trace().key, revision=1, superseded=superseded)


def make_key() -> EvaluationKey:
    return EvaluationKey(trace=make_trace().key, revision=1, judge="gpt", fingerprint="3fa2c1d4e5f60718")


def make_score(
    raw: float = 0.5, *, scorer: str = "context_position", version: str = "1", passed: bool | None = None
) -> Score:
    return Score(
        scorer=scorer, version=version, raw=raw, value=raw, band="mixed", passed=passed, reason="because"
    )


def finish(*outcomes: Score | Unscored, assessment: Assessment | None = None) -> EvaluationResult:
    is_scored = any(isinstance(outcome, Score) for outcome in outcomes)
    state = EvaluationState.SCORED if is_scored else EvaluationState.FAILED
    return EvaluationResult(
        state=state, cause=None if is_scored else Cause.REFUSED, outcomes=outcomes, assessment=assessment
    )


def plan(result: EvaluationResult | None, state: EvaluationState) -> PlannedEvaluation:
    return PlannedEvaluation(
        judge="lexical", fingerprint="0123abcdef012345", state=state, sample_rate=1.0, result=result
    )


def labelled(**labels: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


def born_lines(board: Board, name: str) -> bytes:
    lines = board.series.render().body.splitlines()
    return b"\n".join(line for line in lines if line.startswith(b"ragsonde_" + name.encode()))


def test_a_score_is_observed_under_its_scorer_judge_and_place(board):
    board.sink.on_finished(
        make_trace(),
        make_key(),
        finish(make_score(0.8, version="1+1f2e3d:answer", scorer="context_precision")),
    )
    labels = labelled(scorer="context_precision:answer@1f2e3d", judge=GPT, **PLACE)
    assert board.read("score_count") == {labels: 1}
    assert board.read("score_sum") == {labels: 0.8}
    assert board.read("score_squares_total") == {labels: pytest.approx(0.64)}


@pytest.mark.parametrize(
    ("stream", "label"),
    [
        ({"judge_epoch": 2}, "gpt@3fa2c1.2"),
        ({"answered_fingerprint": "bbbbbb0000000000"}, "gpt@bbbbbb"),
        ({"answered_fingerprint": "bbbbbb0000000000", "judge_epoch": 3}, "gpt@bbbbbb.3"),
    ],
)
def test_another_model_that_answered_is_another_judge_in_series(board, stream, label):
    result = finish(make_score(0.8), assessment=Assessment(**stream))
    board.sink.on_finished(make_trace(), make_key(), result)
    assert set(board.read("score_count")) == {labelled(scorer="context_position", judge=label, **PLACE)}
    own = labelled(judge=GPT, state="scored", cause="")
    assert board.read("evaluations_total") == {own: 1}, "an evaluation stays its judge's"


def test_a_circuit_is_shown_as_long_as_it_is_open():
    series = Series(WORKER_SERIES, known=KnownLabels(models=((GPT, "openai/mock"),)))
    sink = PrometheusSink(series, clock=StandingClock(), fingerprints={"gpt": "3fa2c1d4e5f60718"})

    def show() -> list[str]:
        lines = series.render().body.decode().splitlines()
        return [line for line in lines if line.startswith("ragsonde_judge_circuit_open{")]

    labels = f'ragsonde_judge_circuit_open{{judge="{GPT}",model="openai/mock"}}'
    assert show() == [f"{labels} 0.0"]
    sink.on_circuit("gpt", "openai/mock", is_open=True)
    assert show() == [f"{labels} 1.0"]
    sink.on_circuit("gpt", "openai/mock", is_open=False)
    assert show() == [f"{labels} 0.0"]


def test_a_sum_of_floats_falls_on_the_edge_it_means(board):
    raw = 0.1 + 0.2
    assert raw > 0.3
    board.sink.on_finished(make_trace(), make_key(), finish(make_score(raw)))
    buckets = {dict(labels)["le"]: count for labels, count in board.read("score_bucket").items()}
    assert "0.2999" not in buckets
    assert buckets["0.3"] == 1


def test_only_scores_with_a_threshold_count_as_below_it(board):
    board.sink.on_finished(
        make_trace(),
        make_key(),
        finish(
            make_score(scorer="free"),
            make_score(scorer="passing", passed=True),
            make_score(scorer="failing", passed=False),
        ),
    )
    assert board.read("scores_below_threshold_total") == {labelled(scorer="failing", judge=GPT, **PLACE): 1}
    assert b'scorer="passing"} 0.0' in born_lines(board, "scores_below_threshold_total")


def test_an_outcome_without_a_number_is_never_a_score(board):
    unscored = Unscored(
        status="error", scorer="context_position", version="1", cause=Cause.REFUSED, reason="refused"
    )
    board.sink.on_finished(make_trace(), make_key(), finish(unscored))
    assert board.read("score_count") == {}
    assert board.read("unscored_total") == {
        labelled(scorer="context_position", judge=GPT, status="error", cause="refused"): 1
    }
    assert board.read("evaluations_total") == {labelled(judge=GPT, state="failed", cause="refused"): 1}


def test_an_admitted_trace_counts_its_evaluations_as_they_are_born(board):
    board.sink.on_admitted(
        make_trace(),
        admit(),
        [
            plan(finish(make_score()), EvaluationState.SCORED),
            PlannedEvaluation(
                judge="gpt", fingerprint="3fa2c1d4e5f60718", state=EvaluationState.WAITING, sample_rate=0.05
            ),
        ],
    )
    assert board.read("evaluations_total") == {
        labelled(judge=LEXICAL, state="scored", cause=""): 1,
        labelled(judge=GPT, state="waiting", cause=""): 1,
    }
    assert board.read("score_count") == {labelled(scorer="context_position", judge=LEXICAL, **PLACE): 1}
    assert board.read("extraction_total") == {
        labelled(field="query", rule="native:query", app="shop", environment="production"): 1,
        labelled(field="contexts", rule="native:contexts", app="shop", environment="production"): 1,
    }


@pytest.mark.parametrize("kind", ["duplicate", "over_limit"])
def test_a_trace_that_was_not_stored_is_a_duplicate_and_nothing_else(board, kind):
    trace = make_trace(contexts=(), occurred_at_guessed=True)
    board.sink.on_admitted(trace, admit(kind), [plan(finish(make_score()), EvaluationState.SCORED)])
    assert board.read("duplicates_total") == {labelled(kind=kind): 1}
    for name in (
        "score_count",
        "evaluations_total",
        "traces_total",
        "empty_retrieval_total",
        "extraction_total",
        "occurred_at_guessed_total",
        "last_committed_timestamp_seconds",
    ):
        assert board.read(name) == {}, name


def test_a_trace_that_was_erased_is_filtered_and_neither_a_duplicate_nor_anything_else(board):
    board.sink.on_admitted(
        make_trace(), admit("forgotten"), [plan(finish(make_score()), EvaluationState.SCORED)]
    )
    assert board.read("traces_filtered_total") == {labelled(cause="forgotten"): 1}
    for name in ("duplicates_total", "score_count", "evaluations_total", "extraction_total"):
        assert board.read(name) == {}, name


def test_a_revision_counts_the_scores_it_replaces(board):
    board.sink.on_admitted(make_trace(), admit("revision", superseded=5), [])
    assert board.total("scores_superseded_total") == 5
    assert board.read("duplicates_total") == {}


@pytest.mark.parametrize(
    ("changes", "empty", "unknown"),
    [
        ({}, 0, 0),
        ({"contexts": ()}, 1, 0),
        ({"contexts": None}, 0, 1),
        (
            {
                "contexts": (Context(rank=0, content=""),),
                "extraction": Extraction(format="native", gap=Cause.CONTEXT_TEXT_MISSING),
            },
            *(0, 1),
        ),
    ],
)
def test_a_stored_trace_is_one_of_its_place_with_contexts_or_none_or_unknown_ones(
    board, changes, empty, unknown
):
    board.sink.on_admitted(make_trace(**changes), admit(), [])
    board.sink.on_admitted(make_trace(), admit("revision"), [])
    assert board.read("traces_total") == {labelled(**PLACE): 2}
    assert board.total("empty_retrieval_total") == empty
    assert board.total("no_context_total") == unknown


def test_an_app_without_empty_retrievals_has_their_series_at_0(board):
    board.sink.on_admitted(make_trace(), admit(), [])
    exposed = board.series.render().body.decode()
    place = 'app="shop",environment="production",release="1.2"'
    assert f"ragsonde_empty_retrieval_total{{{place}}} 0.0" in exposed
    assert f"ragsonde_no_context_total{{{place}}} 0.0" in exposed


@pytest.mark.parametrize(("contexts", "count"), [((), 1), ((Context(rank=0, content=" "),), 1), (None, 0)])
def test_retrieval_that_returned_nothing_has_its_own_counter(board, contexts, count):
    board.sink.on_admitted(make_trace(contexts=contexts), admit(), [])
    assert board.total("empty_retrieval_total") == count


def test_a_guessed_time_is_counted(board):
    board.sink.on_admitted(make_trace(occurred_at_guessed=True), admit(), [])
    assert board.total("occurred_at_guessed_total") == 1


def test_the_way_from_occurrence_to_commit_is_measured(board):
    board.sink.on_finished(make_trace(), make_key(), finish(make_score()))
    assert board.total("end_to_end_seconds_sum") == 90
    assert (
        board.total("last_committed_timestamp_seconds") == (OCCURRED_AT + timedelta(seconds=90)).timestamp()
    )


def test_a_trace_from_a_clock_that_is_ahead_took_no_time(board):
    trace = make_trace(occurred_at=OCCURRED_AT + timedelta(hours=1))
    board.sink.on_finished(trace, make_key(), finish(make_score()))
    assert board.total("end_to_end_seconds_sum") == 0
    assert board.total("end_to_end_seconds_count") == 1


def test_insufficient_contexts_are_counted_where_they_were_assessed(board):
    for insufficient in (True, False, None):
        assessment = Assessment(insufficient=insufficient)
        board.sink.on_finished(make_trace(), make_key(), finish(make_score(), assessment=assessment))
    assert board.read("insufficient_total") == {labelled(judge=GPT, **PLACE): 1}
    assert board.read("assessed_total") == {labelled(judge=GPT, **PLACE): 2}


def test_tokens_of_contexts_are_counted_by_their_relevance_and_both_are_there_from_the_first_on(board):
    trace = make_trace(contexts=(Context(rank=0, content="12345678"), Context(rank=1, content="1234")))
    assessment = Assessment(contexts={"1": ContextVerdict(relevant=True), "2": ContextVerdict(relevant=True)})
    board.sink.on_finished(trace, make_key(), finish(make_score(), assessment=assessment))
    assert board.read("context_tokens_total") == {labelled(judge=GPT, relevant="yes", **PLACE): 3}
    page = board.series.render().body.decode()
    born = [line for line in page.splitlines() if line.startswith("ragsonde_context_tokens_total{")]
    assert sorted(float(line.split()[-1]) for line in born) == [0, 3]


def test_nothing_of_a_trace_but_its_place_is_shown_outside_of_exemplars(board):
    secrets = {
        name: f"secret-{name}" for name in ("trace_id", "user_id", "session_id", "query", "answer", "model")
    }
    trace = make_trace(**secrets, contexts=(Context(rank=0, content="secret-content"),))
    assessment = Assessment(contexts={"1": ContextVerdict(relevant=True, reason="secret-reason")})
    board.sink.on_admitted(trace, Admission(kind="new", key=trace.key, revision=1), ())
    board.sink.on_finished(trace, make_key(), finish(make_score(), assessment=assessment))
    assert "secret" not in board.series.render().body.decode()
    shown = board.series.render("application/openmetrics-text").body.decode()
    assert shown.count("secret") == shown.count('# {trace_id="secret-trace_id"}') > 0


def test_calls_are_counted_with_their_cost_only_where_it_is_known(board):
    calls = (
        JudgeCall(
            purpose="assess",
            model="m",
            outcome="invalid_reply",
            tokens_in=100,
            tokens_out=7,
            cost_usd=0.25,
            seconds=2,
            reply="",
        ),
        JudgeCall(
            purpose="repair",
            model="m",
            outcome="ok",
            tokens_in=None,
            tokens_out=None,
            cost_usd=None,
            seconds=1,
            reply="",
        ),
        JudgeCall(
            purpose="length",
            model="n",
            outcome="a new word",
            tokens_in=1,
            tokens_out=1,
            cost_usd=0,
            seconds=1,
            reply="",
        ),
    )
    board.sink.on_calls(make_key(), calls)
    assert board.read("judge_calls_total") == {
        labelled(judge=GPT, model="m", outcome="invalid_reply"): 1,
        labelled(judge=GPT, model="m", outcome="ok"): 1,
        labelled(judge=GPT, model="n", outcome="invalid_reply"): 1,
    }
    assert board.read("judge_cost_usd_total") == {labelled(judge=GPT): 0.25}
    assert board.read("judge_cost_unknown_total") == {labelled(judge=GPT): 1}
    assert board.read("judge_repairs_total") == {labelled(judge=GPT): 1}
    assert board.read("judge_tokens_total") == {
        labelled(judge=GPT, direction="in"): 101,
        labelled(judge=GPT, direction="out"): 8,
    }
    assert board.read("judge_seconds_sum") == {labelled(judge=GPT): 4}


def test_a_call_that_an_outage_ended_is_counted_and_has_no_price_to_be_known(board):
    outage = JudgeCall(purpose="repair", model="m", outcome="judge_unavailable", seconds=60, reply="503")
    board.sink.on_calls(make_key(), (outage,))
    assert board.read("judge_calls_total") == {labelled(judge=GPT, model="m", outcome="judge_unavailable"): 1}
    assert board.read("judge_seconds_count") == {labelled(judge=GPT): 1}
    assert board.read("judge_cost_unknown_total") == {}


@pytest.mark.parametrize("tell", ["on_finished", "on_admitted"])
def test_a_result_does_not_count_its_calls_again(board, tell):
    call = JudgeCall(purpose="assess", model="m", outcome="ok", seconds=1, reply="")
    result = finish(make_score(), assessment=Assessment(calls=(call,)))
    if tell == "on_finished":
        board.sink.on_finished(make_trace(), make_key(), result)
    else:
        board.sink.on_admitted(make_trace(), admit(), [plan(result, EvaluationState.SCORED)])
    assert board.read("judge_calls_total") == {}


def test_what_ends_superseded_counts_its_rows_as_such_and_no_score(board):
    unscored = Unscored(status="error", scorer="b", version="1", cause=Cause.REFUSED, reason="refused")
    board.sink.on_superseded(finish(make_score(), unscored))
    assert board.total("scores_superseded_total") == 2
    assert board.read("score_count") == board.read("evaluations_total") == {}


def test_a_message_that_is_parked_already_is_a_duplicate(board):
    board.sink.on_parked_again(ParkReason.OVERSIZE)
    assert board.read("duplicates_total") == {labelled(kind="parked"): 1}
    assert board.read("parked_total") == {}
    assert b'kind="parked"' in born_lines(Board(), "duplicates_total")


def test_a_postponement_is_counted_under_the_judges_whole_label(board):
    board.sink.on_postponed("gpt", Cause.JUDGE_UNAVAILABLE)
    assert board.read("evaluations_total") == {
        labelled(judge=GPT, state="waiting", cause="judge_unavailable"): 1
    }


def test_messages_stages_and_parking_are_counted(board):
    board.sink.on_received("native")
    board.sink.on_parked(ParkReason.OVERSIZE)
    board.sink.on_stage("storage", 0.25)
    board.sink.on_stage("storage", -1.0)
    assert board.read("messages_received_total") == {labelled(format="native"): 1}
    assert board.read("parked_total") == {labelled(reason="oversize"): 1}
    assert board.read("stage_seconds_sum") == {labelled(stage="storage"): 0.25}


@pytest.mark.parametrize("trace_id", ["t" * 128, "a\u2028b", "\udc80"])
def test_an_id_that_cannot_be_an_exemplar_does_not_cost_the_score(board, trace_id):
    board.sink.on_finished(make_trace(trace_id=trace_id), make_key(), finish(make_score()))
    assert board.total("score_count") == 1
    assert board.read("sink_failures_total") == {}


@pytest.mark.parametrize(
    "tell",
    [
        lambda sink: sink.on_admitted(make_trace(), admit(), []),
        lambda sink: sink.on_admitted(make_trace(), None, []),
        lambda sink: sink.on_finished(make_trace(), make_key(), finish(make_score())),
        lambda sink: sink.on_finished(make_trace(), None, finish()),
        lambda sink: sink.on_calls(make_key(), (None,)),
        lambda sink: sink.on_superseded(finish(make_score())),
        lambda sink: sink.on_postponed(None, Cause.JUDGE_UNAVAILABLE),
        lambda sink: sink.on_received(None),
        lambda sink: sink.on_parked(None),
        lambda sink: sink.on_stage("storage", None),
    ],
)
def test_a_failure_is_counted_and_logged_and_never_raised(tell, caplog):
    board = Board(BrokenClock())
    with caplog.at_level(logging.ERROR):
        tell(board.sink)
    assert board.total("sink_failures_total") == 1
    assert [record.message for record in caplog.records] == ["score_sink_failed"]
    assert "warranty" not in caplog.text


@pytest.mark.parametrize(("kind", "count"), [("new", 1), ("revision", 1), ("duplicate", 0)])
def test_a_stored_trace_with_suspected_texts_counts_once_in_its_place(board, kind, count):
    suspected = tuple(
        SuspectedInjection(where="context 1", kind=kind)
        for kind in (InjectionKind.ROLE, InjectionKind.VERDICT)
    )
    trace = make_trace(extraction=Extraction(format="native", suspected_injection=suspected))
    board.sink.on_admitted(trace, admit(kind), ())
    board.sink.on_admitted(make_trace(), admit(kind), ())
    assert board.read("suspected_injection_total") == ({labelled(**PLACE): count} if count else {})


def test_what_a_backfill_ended_is_counted_apart_and_in_no_series_of_scores(board):
    board.sink.on_backfilled(make_trace(), make_key(), finish(make_score(0.2, passed=False)))
    result = finish(make_score(0.4))
    born = plan(result, result.state).model_copy(update={"backfill_id": 7})
    board.sink.on_admitted(make_trace(), admit(), (born,))
    assert board.read("backfilled_total") == {
        labelled(judge=GPT, state="scored"): 1,
        labelled(judge=LEXICAL, state="scored"): 1,
    }
    for name in ("score_count", "evaluations_total", "unscored_total", "end_to_end_seconds_count"):
        assert board.read(name) == {}
