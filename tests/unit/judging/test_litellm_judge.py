"""The LLM judge over real HTTP, against a provider that does what a script says."""

from __future__ import annotations

import gc
import json
import logging
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from fakes.judged_traces import ALL_ASPECTS, make_trace
from mock_llm.outcomes import Outcome
from mock_llm.server import MockLlm
from ragsonde.extraction.judge_calls import JUDGE_CALL_TAG
from ragsonde.judging import litellm_provider
from ragsonde.judging.completion import CallNotMadeError, NotAskedError
from ragsonde.judging.limited_calls import LimitedCalls
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.options import JudgeOptions
from ragsonde_schemas.assessment import Aspect, Level
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError

SECRET = "sk-supersecret-1234567"
ASPECTS = ALL_ASPECTS - {Aspect.SUPPORTS}
SENTENCES = frozenset({Aspect.ESSENTIAL, Aspect.RELEVANT_SENTENCES})
PER_CONTEXT = frozenset({Aspect.RELEVANT, Aspect.LEVEL, Aspect.USED})


@pytest.fixture
def llm():
    with MockLlm() as served:
        yield served


def judge_at(llm, **options):
    given = {"model": "openai/mock", "api_base": llm.url, "api_key": SECRET, "timeout_seconds": 10.0}
    return LitellmJudge(JudgeOptions(name="gpt", kind="litellm", **{**given, **options}))


def causes(assessment):
    return {aspect: fault.cause for aspect, fault in assessment.faults.items()}


def test_the_happy_path_is_exactly_one_call(llm):
    assessment = judge_at(llm).assess(make_trace(), ASPECTS)
    assert llm.counts == {"ok": 1}
    assert assessment.faults == {}
    assert [verdict.level for verdict in assessment.contexts.values()] == [
        Level.HIGH,
        Level.MEDIUM,
        Level.NONE,
    ]
    assert [verdict.relevant for verdict in assessment.contexts.values()] == [True, True, False]
    assert [verdict.used for verdict in assessment.contexts.values()] == [True, False, False]
    assert (assessment.essential, assessment.insufficient) == (("1.1",), False)
    assert assessment.relevant_sentences == ("1.1", "2.1")
    assert (assessment.missing, assessment.reason) == ((), "word overlap")
    (call,) = assessment.calls
    assert (call.purpose, call.outcome, call.model) == ("assess", "ok", "openai/mock")
    assert call.seconds > 0
    assert json.loads(call.reply)["why"] == "word overlap"


def test_a_proxy_is_told_that_it_is_a_judge_who_asks(llm):
    judge_at(llm).assess(make_trace(), ASPECTS)
    assert llm.calls[0].tags == JUDGE_CALL_TAG
    assert "metadata" not in llm.calls[0].request, "providers refuse keys that they do not know"


def test_nothing_of_a_call_is_kept_for_the_next_one(llm, monkeypatch):
    """litellm notes the times of all calls that one dictionary of metadata has seen: it would only grow."""
    seen, ask = [], load_litellm().module.completion

    def complete(**request):
        seen.append(request["metadata"])
        return ask(**request)

    monkeypatch.setattr(load_litellm().module, "completion", complete)
    judge = judge_at(llm)
    for _ in range(3):
        judge.assess(make_trace(), ASPECTS)
    assert [len(metadata.get("llm_api_timing_windows", ())) for metadata in seen] == [1, 1, 1]


def test_every_aspect_can_be_asked_in_one_call(llm):
    trace = make_trace(reference="It takes an alkaline battery.")
    assessment = judge_at(llm, reasons="context").assess(trace, frozenset(Aspect))
    assert assessment.faults == {}
    assert assessment.contexts["1"].supports is True
    assert assessment.contexts["3"].supports is False
    assert assessment.contexts["1"].reason == "2 shared words"
    assert [(item.context, item.relevant) for item in assessment.statements] == [
        ("1", True),
        ("1", False),
        ("2", True),
        ("3", False),
    ]
    assert llm.total == 1


def test_blank_contexts_are_not_shown_and_never_relevant(llm):
    llm.run_script("all_relevant")
    assessment = judge_at(llm).assess(make_trace("Torch battery.", " ", "Shop."), ASPECTS)
    assert [verdict.relevant for verdict in assessment.contexts.values()] == [True, False, True]
    assert "context 2" not in llm.calls[0].messages[1]["content"]


REPAIRED = {
    "truncate": (ASPECTS, Cause.INVALID_REPLY),
    "garbage": (ASPECTS, Cause.INVALID_REPLY),
    "array": (ASPECTS, Cause.INVALID_REPLY),
    "two_objects": (ASPECTS, Cause.INVALID_REPLY),
    "empty": (ASPECTS, Cause.EMPTY_REPLY),
    "no_choices": (ASPECTS, Cause.EMPTY_REPLY),
    "reasoning_only": (ASPECTS, Cause.EMPTY_REPLY),
    "refusal": (ASPECTS, Cause.REFUSED),
    "refusal_text": (ASPECTS, Cause.REFUSED),
    "wrong_number": (PER_CONTEXT, Cause.VERDICT_MISMATCH),
    "missing_context": (PER_CONTEXT, Cause.VERDICT_MISMATCH),
    "contradiction": (frozenset({Aspect.RELEVANT}), Cause.VERDICT_MISMATCH),
    "wrong_sentence": (frozenset({Aspect.ESSENTIAL}), Cause.VERDICT_MISMATCH),
    "missing_key": (frozenset({Aspect.ESSENTIAL}), Cause.INVALID_REPLY),
    "bad_word": (frozenset({Aspect.RELEVANT}), Cause.INVALID_VERDICT),
    "bad_level": (frozenset({Aspect.LEVEL}), Cause.INVALID_VERDICT),
}


@pytest.mark.parametrize("outcome", REPAIRED)
def test_a_bad_reply_is_repaired_by_one_call_that_names_the_fault(llm, outcome):
    llm.run_script([outcome, "ok"])
    assessment = judge_at(llm).assess(make_trace(), ASPECTS)
    assert assessment.faults == {}
    assert llm.total == 2
    assert [call.purpose for call in assessment.calls] == ["assess", "repair"]
    assert [call.outcome for call in assessment.calls] == [REPAIRED[outcome][1], "ok"]
    assert llm.calls[1].messages[-1]["content"].startswith("Your reply cannot be used: ")
    assert llm.calls[1].messages[:2] == llm.calls[0].messages


@pytest.mark.parametrize("outcome", REPAIRED)
def test_a_reply_that_stays_bad_is_a_cause_for_its_aspects_and_never_a_number(llm, outcome):
    llm.run_script(outcome)
    assessment = judge_at(llm).assess(make_trace(), ASPECTS)
    aspects, cause = REPAIRED[outcome]
    assert causes(assessment) == dict.fromkeys(aspects, cause)
    assert llm.total == 2
    assert (assessment.relevant_sentences is None) == (Aspect.RELEVANT_SENTENCES in aspects)
    assert (assessment.essential is None) == (Aspect.ESSENTIAL in aspects)
    for verdict in (assessment.contexts or {}).values():
        assert (verdict.relevant is None) == (Aspect.RELEVANT in aspects)
        assert (verdict.level is None) == (Aspect.LEVEL in aspects)
        assert (verdict.used is None) == (Aspect.USED in aspects)


@pytest.mark.parametrize("outcome", ["prose", "thinking", "repeat"])
def test_what_models_put_around_a_good_reply_costs_no_second_call(llm, outcome):
    llm.run_script(outcome)
    assessment = judge_at(llm).assess(make_trace(), ASPECTS)
    assert (assessment.faults, llm.total) == ({}, 1)
    assert assessment.contexts["1"].relevant is True


def test_a_reply_cut_off_is_asked_for_with_twice_the_room(llm):
    llm.run_script(["length", "ok"])
    assessment = judge_at(llm, max_tokens=500).assess(make_trace(), ASPECTS)
    assert assessment.faults == {}
    assert [call.request["max_tokens"] for call in llm.calls] == [500, 1000]
    llm.run_script("length")
    again = judge_at(llm).assess(make_trace(), ASPECTS)
    assert causes(again) == dict.fromkeys(ASPECTS, Cause.REPLY_TRUNCATED)


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [
        ("400", Cause.JUDGE_REJECTED_REQUEST),
        ("content_policy", Cause.CONTENT_REFUSED),
        ("content_filter", Cause.CONTENT_REFUSED),
    ],
)
def test_a_refused_request_is_a_cause_for_all_aspects_after_one_call(llm, outcome, cause):
    llm.run_script(outcome)
    assessment = judge_at(llm).assess(make_trace(), ASPECTS)
    assert causes(assessment) == dict.fromkeys(ASPECTS, cause)
    assert llm.total == 1
    assert assessment.calls[0].outcome == cause


@pytest.mark.parametrize(
    "outcome", ["429", "500", "502", "503", "529", "disconnect", "hang", "not_http_json"]
)
def test_an_outage_is_raised_after_one_call(llm, outcome):
    llm.run_script(outcome)
    with pytest.raises(JudgeUnavailableError) as caught:
        judge_at(llm, timeout_seconds=0.3).assess(make_trace(), ASPECTS)
    assert llm.total == 1
    assert caught.value.judge == "gpt"
    assert caught.value.retry_after_seconds is None
    (call,) = caught.value.calls
    assert (call.purpose, call.outcome, call.cost_usd) == ("assess", Cause.JUDGE_UNAVAILABLE, None)


def test_an_answer_that_trickles_is_an_outage_and_the_next_call_is_served(llm):
    judge = judge_at(llm, timeout_seconds=0.5)
    judge.assess(make_trace(), ASPECTS)  # what the first call imports is not measured
    llm.run_script(["trickle", "ok"])
    begun = time.monotonic()
    with pytest.raises(JudgeUnavailableError, match=r"no whole answer within 0\.5 s") as caught:
        judge.assess(make_trace(), ASPECTS)
    assert 0.5 < time.monotonic() - begun < 1.5
    (call,) = caught.value.calls
    assert (call.purpose, call.outcome, call.cost_usd) == ("assess", Cause.JUDGE_UNAVAILABLE, None)
    assert judge.assess(make_trace(), ASPECTS).faults == {}


def test_the_deadline_bounds_an_answer_that_trickles(llm):
    judge = judge_at(llm, timeout_seconds=60)
    judge.assess(make_trace(), ASPECTS)
    llm.run_script("trickle")
    begun = time.monotonic()
    with pytest.raises(JudgeUnavailableError):
        judge.assess(make_trace(), ASPECTS, deadline=begun + 0.5)
    assert time.monotonic() - begun < 1.5


def test_while_too_many_answers_trickle_nothing_is_asked(llm):
    judge = judge_at(llm, timeout_seconds=0.2)
    judge._provider._calls = LimitedCalls(most_abandoned=2)
    llm.run_script("trickle")
    for _ in range(2):
        with pytest.raises(JudgeUnavailableError, match="no whole answer"):
            judge.assess(make_trace(), ASPECTS)
    with pytest.raises(CallNotMadeError, match="2 calls never came back") as refused:
        judge.assess(make_trace(), ASPECTS)
    assert (llm.total, refused.value.calls) == (2, ())


def test_a_closed_port_is_an_outage(llm):
    judge = judge_at(llm)
    llm.stop()
    with pytest.raises(JudgeUnavailableError):
        judge.assess(make_trace(), ASPECTS)
    llm.start()
    assert judge.assess(make_trace(), ASPECTS).faults == {}


@pytest.mark.parametrize("name", ["429", "503"])
def test_retry_after_is_handed_on(llm, name):
    llm.run_script(Outcome(name, retry_after="7"))
    with pytest.raises(JudgeUnavailableError) as caught:
        judge_at(llm).assess(make_trace(), ASPECTS)
    assert caught.value.retry_after_seconds == 7.0


def test_retry_after_may_be_a_date(llm):
    moment = datetime.now(UTC) + timedelta(seconds=40)
    llm.run_script(Outcome("429", retry_after=format_datetime(moment, usegmt=True)))
    with pytest.raises(JudgeUnavailableError) as caught:
        judge_at(llm).assess(make_trace(), ASPECTS)
    assert 20 < caught.value.retry_after_seconds <= 40


@pytest.mark.parametrize("outcome", ["401", "402", "403", "404", "quota"])
def test_what_somebody_must_mend_pauses_the_judge(llm, outcome):
    llm.run_script(outcome)
    with pytest.raises(JudgePausedError) as caught:
        judge_at(llm).assess(make_trace(), ASPECTS)
    assert llm.total == 1
    assert caught.value.judge == "gpt"


def test_a_model_of_no_known_provider_pauses_the_judge(llm):
    with pytest.raises(JudgePausedError, match="write it in front") as paused:
        judge_at(llm, model="mock").assess(make_trace(), ASPECTS)
    assert (llm.total, paused.value.calls) == (0, ())


def test_an_outage_in_the_repair_is_raised(llm):
    llm.run_script(["garbage", "503"])
    with pytest.raises(JudgeUnavailableError):
        judge_at(llm).assess(make_trace(), ASPECTS)
    assert llm.total == 2


def test_after_the_deadline_nothing_is_asked(llm):
    assessment = judge_at(llm).assess(make_trace(), ASPECTS, deadline=time.monotonic() - 1)
    assert causes(assessment) == dict.fromkeys(ASPECTS, Cause.DEADLINE_EXCEEDED)
    assert llm.total == 0


def test_the_deadline_bounds_a_call(llm):
    llm.run_script("hang")
    begun = time.monotonic()
    with pytest.raises(JudgeUnavailableError):
        judge_at(llm, timeout_seconds=60).assess(make_trace(), ASPECTS, deadline=begun + 0.3)
    assert time.monotonic() - begun < 5


def test_tokens_cost_and_the_model_that_answered_are_kept(llm):
    llm.run_script(Outcome("ok", tokens_in=1_000_000, tokens_out=1_000_000, model="gpt-4o-mini-2024-07-18"))
    assessment = judge_at(llm, model="openai/gpt-4o-mini").assess(make_trace(), ASPECTS)
    (call,) = assessment.calls
    assert (call.tokens_in, call.tokens_out) == (1_000_000, 1_000_000)
    assert call.cost_usd == pytest.approx(0.15 + 0.60)
    assert call.answered_model == assessment.answered_model == "gpt-4o-mini-2024-07-18"


def test_an_unknown_price_is_none_and_configured_prices_are_used(llm):
    llm.run_script(Outcome("ok", tokens_in=2_000_000, tokens_out=500_000))
    assert judge_at(llm).assess(make_trace(), ASPECTS).calls[0].cost_usd is None
    prices = {"input_usd_per_million": 3.0, "output_usd_per_million": 10.0}
    priced = judge_at(llm, prices=prices).assess(make_trace(), ASPECTS)
    assert priced.calls[0].cost_usd == pytest.approx(2 * 3.0 + 0.5 * 10.0)


def test_a_model_that_is_listed_without_a_price_costs_what_is_not_known(llm, monkeypatch):
    listed = {"litellm_provider": "openai", "mode": "chat"}
    monkeypatch.setitem(load_litellm().module.model_cost, "openai/priceless-2", listed)
    (call,) = judge_at(llm, model="openai/priceless-2").assess(make_trace(), ASPECTS).calls
    assert call.tokens_in > 0
    assert call.cost_usd is None


def test_usage_that_was_not_told_has_no_price(llm):
    llm.run_script(Outcome("ok", tokens_in=0, tokens_out=0))
    for prices in (None, {"input_usd_per_million": 3.0, "output_usd_per_million": 10.0}):
        judge = judge_at(llm, model="openai/gpt-4o-mini", prices=prices)
        (call,) = judge.assess(make_trace(), ASPECTS).calls
        assert (call.tokens_in, call.tokens_out, call.cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"model": "openai/gpt-4o-mini"}, "json_schema"),
        ({"model": "openai/mock"}, "json_object"),
        ({"model": "openai/mock", "reply_format": "schema"}, "json_schema"),
        ({"model": "openai/gpt-4o-mini", "reply_format": "text"}, None),
    ],
)
def test_the_form_is_enforced_as_far_as_the_model_is_known_to_allow(llm, options, kind):
    judge_at(llm, **options).assess(make_trace(), SENTENCES)
    (call,) = llm.calls
    asked = call.request.get("response_format")
    assert (asked and asked["type"]) == kind
    if kind == "json_schema":
        described = asked["json_schema"]
        assert described["strict"] is True
        assert set(described["schema"]["properties"]) == {"rel", "need", "ins", "why"}


def test_a_model_that_refuses_a_temperature_is_not_sent_one(llm):
    judge_at(llm, model="openai/gpt-5-mini").assess(make_trace(), SENTENCES)
    judge_at(llm, temperature=None).assess(make_trace(), SENTENCES)
    judge_at(llm, temperature=0.3).assess(make_trace(), SENTENCES)
    assert [call.request.get("temperature") for call in llm.calls] == [None, None, 0.3]


def test_the_key_may_stand_in_a_variable_or_a_file_that_changes(llm, monkeypatch, tmp_path):
    monkeypatch.setenv("OTHER_KEY", "sk-from-variable")
    judge_at(llm, api_key=None, api_key_env="OTHER_KEY").assess(make_trace(), SENTENCES)
    file = tmp_path / "key"
    from_file = judge_at(llm, api_key=None, api_key_file=file)
    with pytest.raises(JudgePausedError, match=r"cannot read the API key from .*: FileNotFoundError"):
        from_file.assess(make_trace(), SENTENCES)
    for key in ("sk-one\n", "sk-two\n"):
        file.write_text(key)
        from_file.assess(make_trace(), SENTENCES)
    sent = [call.authorization for call in llm.calls]
    assert sent == ["Bearer sk-from-variable", "Bearer sk-one", "Bearer sk-two"]
    monkeypatch.delenv("OTHER_KEY")
    with pytest.raises(JudgePausedError, match="environment variable OTHER_KEY is not set") as paused:
        judge_at(llm, api_key=None, api_key_env="OTHER_KEY").assess(make_trace(), SENTENCES)
    assert paused.value.calls == ()


def test_a_key_that_is_missing_is_told_before_litellm_is_loaded(monkeypatch):
    monkeypatch.setattr(litellm_provider, "load_litellm", lambda: pytest.fail("it takes seconds"))
    monkeypatch.delenv("OTHER_KEY", raising=False)
    options = JudgeOptions(name="gpt", kind="litellm", model="openai/gpt-4o-mini", api_key_env="OTHER_KEY")
    provider = litellm_provider.LitellmProvider(options)
    with pytest.raises(NotAskedError, match="OTHER_KEY is not set"):
        provider.complete([], schema={}, max_tokens=1, timeout_seconds=1)


def test_a_server_of_ones_own_needs_no_key(llm, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert judge_at(llm, api_key=None).assess(make_trace(), SENTENCES).faults == {}


def test_litellm_is_loaded_without_a_word_where_everything_is_logged():
    script = (
        "import logging; logging.basicConfig(level=logging.DEBUG, filename='/dev/null')\n"
        "from ragsonde.judging.litellm_loading import load_litellm; load_litellm()"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (loaded.stdout, loaded.stderr) == ("", "")


@pytest.mark.parametrize("outcome", ["ok", "401", "echo", "429", "500", "garbage", "hang", "403"])
def test_neither_the_key_nor_the_trace_gets_into_errors_logs_or_output(llm, outcome, caplog, capfd):
    llm.run_script(outcome)
    judge = judge_at(llm, timeout_seconds=0.3)
    trace = make_trace("The patient Kowalczyk-Smythe has a battery.")
    told = repr(judge) + repr(judge._options)
    with caplog.at_level(logging.DEBUG):
        try:
            told += judge.assess(trace, ASPECTS).model_dump_json()
        except (JudgeUnavailableError, JudgePausedError) as error:
            told += repr(error) + repr(error.__cause__) + repr(error.__context__)
    assert capfd.readouterr() == ("", "")
    told += "".join(str(record.__dict__) for record in caplog.records)
    assert "supersecret" not in told
    assert "Kowalczyk" not in told


def test_many_threads_share_a_judge_and_none_sees_anothers_trace(llm):
    llm.latency_seconds = 0.05
    judge = judge_at(llm)
    judge.assess(
        make_trace(), ASPECTS
    )  # threads that start together each make a client; litellm drops all but one
    traces = [
        make_trace(
            *["Torch battery."] * (1 + index % 5),
            query=f"Which battery? marker=m{index}",
            trace_id=f"t-{index}",
        )
        for index in range(96)
    ]
    with ThreadPoolExecutor(32) as pool:
        assessed = list(pool.map(lambda trace: judge.assess(trace, ASPECTS), traces))
    assert [len(assessment.contexts) for assessment in assessed] == [len(trace.contexts) for trace in traces]
    assert all(assessment.faults == {} for assessment in assessed)
    assert llm.by_marker == {f"m{index}": 1 for index in range(96)}
    assert llm.most_at_once > 8


def test_two_judges_do_not_change_each_other(llm):
    with MockLlm() as other:
        one = judge_at(llm, temperature=0.1)
        two = judge_at(other, api_key="sk-other", reasons="none")
        for judge in (one, two, one):
            judge.assess(make_trace(), SENTENCES)
        assert [call.request["temperature"] for call in llm.calls] == [0.1, 0.1]
        assert [call.authorization for call in other.calls] == ["Bearer sk-other"]


@pytest.mark.parametrize("outcome", ["ok", "garbage", "429", "500", "hang", "disconnect"])
def test_nothing_warns_of_what_was_left_open(llm, outcome):
    llm.run_script(outcome)
    with suppress(JudgeUnavailableError):
        judge_at(llm, timeout_seconds=0.3).assess(make_trace(), SENTENCES)
    llm.stop()
    gc.collect()


def test_seeded_faults_lose_no_verdict_and_falsify_none(llm):
    llm.run_script({"truncate": 0.1, "garbage": 0.1, "refusal": 0.1, "length": 0.1, "429": 0.1, "500": 0.1})
    judge = judge_at(llm)
    for index in range(40):
        trace = make_trace(query=f"Which battery does the torch need? number {index}")
        while True:
            try:
                assessment = judge.assess(trace, ASPECTS)
            except JudgeUnavailableError:
                continue
            break
        if not assessment.faults:
            assert [verdict.relevant for verdict in assessment.contexts.values()] == [True, True, False]
        else:
            assert assessment.contexts is None
    assert set(llm.counts) == {"ok", "truncate", "garbage", "refusal", "length", "429", "500"}


def test_litellm_is_imported_by_the_first_call_only():
    code = """
import sys
from ragsonde.judging.options import JudgeOptions
from ragsonde.judging.table import build_judge
judge = build_judge(JudgeOptions(name="gpt", kind="litellm", model="openai/mock"))
loaded = {"litellm", "openai", "httpx", "tiktoken"} & set(sys.modules)
print(judge.name, sorted(loaded))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "gpt []\n"


def test_the_import_downloads_nothing_and_reads_no_dotenv(tmp_path):
    (tmp_path / ".env").write_text("RAGSONDE_PLANTED=1\n")
    code = """
import os, socket
def refuse(*args, **kwargs):
    raise SystemExit("tried to reach the network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from ragsonde.judging.litellm_loading import load_litellm
module = load_litellm().module
print(os.environ.get("RAGSONDE_PLANTED"), module.callbacks, module.success_callback)
"""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("LITELLM_")}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=clean
    )
    assert result.stdout == "None [] []\n"
    assert result.stderr == ""
