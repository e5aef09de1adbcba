"""The demo's past: the same every time, scored by the real formulas, with a fault that is truly one."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from ragsonde.demo.corpus import read_documents, read_questions, read_topics
from ragsonde.demo.history import find_beginning, find_fault, list_history, list_lost
from ragsonde.demo.retriever import Index
from ragsonde.demo.verdicts import find_fingerprint
from ragsonde.extraction.sentences import number_sentences
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.trace_copies import OWN
from ragsonde_schemas.evaluation import EvaluationState

NOW = datetime(2026, 10, 14, 21, 30, tzinfo=UTC)
SCORERS = build_scorers(None)


@pytest.fixture(scope="module")
def history():
    return list(list_history(now=NOW, scorers=SCORERS))


@pytest.fixture(scope="module")
def well():
    return list(list_history(now=NOW, scorers=SCORERS, has_fault=False))


def raws(one):
    return {outcome.scorer: outcome.raw for outcome in one.planned.result.outcomes}


def pages(one):
    return [context.id for context in one.trace.contexts]


def test_it_is_two_weeks_of_about_3000_traces_that_end_now(history):
    times = [one.trace.occurred_at for one in history]

    assert 2_900 <= len(history) <= 3_100
    assert times == sorted(times)
    assert find_beginning(NOW) == datetime(2026, 10, 1, tzinfo=UTC) <= times[0]
    assert NOW - timedelta(hours=2) < times[-1] < NOW
    assert len({one.trace.trace_id for one in history}) == len(history)
    assert {(one.trace.app, one.trace.environment) for one in history} == {("demo", "production")}
    assert {one.planned.judge for one in history} == {"recorded"}
    assert {one.planned.state for one in history} == {EvaluationState.SCORED}


def test_traces_of_one_case_differ_in_no_more_than_what_a_copy_may(history):
    firsts = {}
    for one in history:
        first = firsts.setdefault(one.case, one)
        assert one.planned is first.planned
        assert {name for name, value in one.trace if value != getattr(first.trace, name)} <= OWN

    assert len(firsts) * 5 < len(history)


def test_days_are_busy_and_nights_are_not(history):
    hours = Counter(one.trace.occurred_at.hour for one in history)

    assert sum(hours[hour] for hour in (0, 1, 2, 3)) * 5 < sum(hours[hour] for hour in (9, 10, 11, 12))


def test_another_day_it_is_the_same_but_for_dates_and_ids(history):
    later = list(list_history(now=NOW + timedelta(days=40), scorers=SCORERS))

    moved = timedelta(days=40)
    assert [one.trace.occurred_at + moved for one in history] == [one.trace.occurred_at for one in later]
    assert [one.trace.query for one in history] == [one.trace.query for one in later]
    assert [raws(one) for one in history] == [raws(one) for one in later]
    assert not {one.trace.trace_id for one in history} & {one.trace.trace_id for one in later}


def test_earlier_on_the_same_day_it_is_shorter_and_no_other(history):
    early = list(list_history(now=NOW.replace(hour=0, minute=5), scorers=SCORERS))

    assert 2_800 <= len(early) < len(history)
    assert [raws(one) for one in early] == [raws(one) for one in history[: len(early)]]


def test_the_fault_changes_nothing_before_it_and_only_the_index_after_it(history, well):
    fault = find_fault(NOW)
    before = sum(one.trace.occurred_at < fault for one in history)

    assert fault == datetime(2026, 10, 12, 9, 50, tzinfo=UTC)
    assert history[:before] == well[:before]
    assert [one.trace.query for one in history] == [one.trace.query for one in well]
    lost = list_lost()
    assert not any(page in lost for one in history[before:] for page in pages(one))
    assert any(page in lost for one in well[before:] for page in pages(one))


def test_a_third_of_the_pages_is_lost():
    documents = {document.id for document in read_documents()}

    assert list_lost() < documents
    assert 0.3 < len(list_lost()) / len(documents) < 0.36


def test_the_planted_traces_are_those_whose_answer_is_gone_and_all_that_score_0(history, well):
    lost = list_lost()
    answers = {
        text: set(question.answers)
        for topic in read_topics()
        for question in topic.questions
        for text in question.texts
    }
    planted = [one for one in history if one.is_planted]

    assert all(answers[one.trace.query] <= lost for one in planted)
    assert all(one.trace.occurred_at >= find_fault(NOW) for one in planted)
    assert 0.28 < len(planted) / sum(one.trace.occurred_at >= find_fault(NOW) for one in history) < 0.42
    for one in history:
        assert one.is_planted == (0.0 in raws(one).values()) == (set(raws(one).values()) == {0.0})
    assert not any(one.is_planted or 0.0 in raws(one).values() for one in well)


def test_scores_are_those_that_a_person_reckons_from_the_verdicts(history):
    one = next(one for one in history if one.trace.query == "Is the Fern Club free?" and len(pages(one)) == 5)
    verdicts = one.planned.result.assessment.contexts

    assert pages(one) == ["mail-club", "returns-window", "fern-club", "account-delete", "student-discount"]
    assert [verdicts[str(number)].relevant for number in range(1, 6)] == [True, False, True, False, False]
    assert [len(context.sentences) for context in one.trace.contexts] == [4, 5, 5, 6, 4]
    assert one.planned.result.assessment.essential == ("1.3",)
    assert raws(one) == {
        # relevant at ranks 1 and 3: 1 + 1/3 of 1 + 1/2 + 1/3 + 1/4 + 1/5
        "context_position": pytest.approx((1 + 1 / 3) / (137 / 60)),
        # precision at 1 is 1, at 3 it is 2/3
        "context_precision": pytest.approx((1 + 2 / 3) / 2),
        # two of weight 1 among five, both used, nothing missing
        "context_relevance": pytest.approx(2 / 5),
        # one page suffices
        "essential_context": pytest.approx(1 / 5),
        "statement_relevancy": pytest.approx((4 + 5) / 24),
    }


def test_a_planted_trace_says_what_is_missing(history):
    one = next(one for one in history if one.is_planted)
    found = one.planned.result.assessment

    assert one.trace.answer.startswith("I could not find that")
    assert (found.insufficient, found.essential, found.relevant_sentences) == (True, (), ())
    assert len(found.missing) == 1
    assert not any(verdict.relevant for verdict in found.contexts.values())


def test_every_answer_is_a_sentence_of_its_page_and_every_page_belongs_to_one_topic():
    sentences = {
        document.id: number_sentences(document.content, context_number="1") for document in read_documents()
    }
    named = [page for topic in read_topics() for page in topic.documents]

    assert len(named) == len(set(named))
    for topic in read_topics():
        for question in topic.questions:
            assert question.answers
            for page, numbers in question.answers.items():
                assert page in topic.documents
                assert numbers
                assert all(1 <= number <= len(sentences[page]) for number in numbers), (page, numbers)


def test_a_page_that_is_gone_is_not_found_and_others_come_in_its_place():
    documents = read_documents()
    text = "How long is a gift card valid?"
    whole = [hit.document.id for hit in Index(documents).search(text)]
    without = [hit.document.id for hit in Index(one for one in documents if one.id != whole[0]).search(text)]

    assert whole[0] == "faq-giftcard"
    assert len(without) == len(whole) == 5
    assert whole[0] not in without
    assert without[0] == whole[1] == "gift-cards"


def test_other_questions_are_another_judge(monkeypatch):
    before = find_fingerprint()
    monkeypatch.setattr("ragsonde.demo.verdicts.read_questions", lambda: read_questions() + " ")

    assert find_fingerprint() != before
