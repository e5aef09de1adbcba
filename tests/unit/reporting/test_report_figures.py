"""Numbers of a report: moves with their intervals, times, costs of several days."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta

import pytest

from fakes.reports import SINCE, UNTIL, make_line
from fakes.watching import make_fall as make_told
from fakes.watching import make_summary
from ragsonde.reporting.fall_lines import build_fall
from ragsonde.reporting.figures import draw_bars, judge_tone, say_mean, say_move, say_open
from ragsonde.reporting.gathering import find_before
from ragsonde.reporting.judge_lines import add_costs, list_days
from ragsonde.reporting.moves import measure_move
from ragsonde.reporting.report import Move, Span
from ragsonde.reporting.scorer_lines import list_judges
from ragsonde.scoring.student import find_t
from ragsonde.storage.costs import DayCost
from ragsonde_schemas.watched import JudgeCounts


def test_a_move_has_the_interval_of_welch():
    move = measure_move(
        make_summary(n=100, mean=0.6, deviation=0.2), make_summary(n=400, mean=0.7, deviation=0.1)
    )
    variance = 0.2**2 / 100 + 0.1**2 / 400
    degrees = variance**2 / ((0.2**2 / 100) ** 2 / 99 + (0.1**2 / 400) ** 2 / 399)
    reach = find_t(int(degrees)) * math.sqrt(variance)
    assert (move.before_n, move.before_mean) == (400, 0.7)
    assert move.difference == pytest.approx(-0.1)
    assert (move.lower, move.upper) == pytest.approx((-0.1 - reach, -0.1 + reach))


@pytest.mark.parametrize("few", [{"n": 19}, {"deviation": None}, {"deviation": 0.0}])
def test_a_move_of_too_few_or_without_spread_has_no_interval(few):
    plenty = make_summary(n=100, mean=0.7, deviation=0.1)
    for now, before in (
        (plenty, make_summary(**{"n": 100, "mean": 0.6, "deviation": 0.1, **few})),
        (make_summary(**{"n": 100, "mean": 0.6, "deviation": 0.1, **few}), plenty),
    ):
        move = measure_move(now, before)
        assert abs(move.difference) == pytest.approx(0.1)
        assert (move.lower, move.upper) == (None, None)


def test_without_a_score_before_there_is_no_move():
    now = make_summary(n=100, mean=0.6, deviation=0.2)
    assert measure_move(now, None) is None
    assert measure_move(now, make_summary(n=0, mean=None, deviation=None)) is None
    assert measure_move(make_summary(n=0, mean=None, deviation=None), now) is None


@pytest.mark.parametrize(
    ("lower", "upper", "higher", "words", "tone"),
    [
        (-0.2, -0.1, True, "worse", "bad"),
        (0.1, 0.2, True, "better", "good"),
        (-0.2, 0.1, True, "no sure change", ""),
        (-0.2, -0.1, False, "lower", ""),
        (0.1, 0.2, False, "higher", ""),
        (None, None, True, "not known how surely", ""),
    ],
)
def test_a_move_is_called_by_its_interval(lower, upper, higher, words, tone):
    difference = 0.15 if lower == 0.1 else -0.15
    move = Move(before_n=9, before_mean=0.5, difference=difference, lower=lower, upper=upper)
    line = make_line(move=move, is_higher_better=higher)
    assert words in say_move(line)
    assert judge_tone(line) == tone


def test_scores_are_told_on_their_scale():
    line = make_line(scale=10.0)
    assert say_mean(line) == "7.00 (6.80 to 7.20)"
    assert say_move(line) == "-1.00 (-1.20 to -0.80), worse; was 8.00 over 900"
    assert "too few" in say_mean(make_line(lower=None, upper=None))
    assert say_mean(make_line(mean=None)) == "nothing scored"
    assert say_move(make_line(move=None)).startswith("nothing to compare with")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a minute"),
        (59, "less than a minute"),
        (60, "1 min"),
        (3_700, "1 h 1 min"),
        (90_061, "1 d 1 h"),
        (86_400, "1 d"),
    ],
)
def test_how_long(seconds, words):
    assert say_open(seconds) == words


def test_bars():
    assert draw_bars((0,) * 10) == ""
    assert draw_bars((1, 0, 1000)) == "▁·█"


def test_a_fall_that_is_open_lasts_until_the_end_of_the_span():
    fall = make_told(closed_at=None)
    until = fall.opened_at + timedelta(hours=5)
    line = build_fall(fall, until=until, scale=1.0, page_url="https://page.example/")
    assert (line.open_seconds, line.closed_at) == (5 * 3600.0, None)
    assert line.link == f"https://page.example/falls/{fall.number}"
    closed = make_told(closed_at=fall.opened_at + timedelta(hours=2), false_at=fall.opened_at, reason="why")
    line = build_fall(closed, until=until, scale=1.0, page_url=None)
    assert (line.open_seconds, line.is_false, line.reason, line.link) == (2 * 3600.0, True, "why", "")


def test_the_span_before_is_as_long_and_ends_where_it_begins():
    assert find_before(Span(since=SINCE, until=UNTIL)) == Span(since=SINCE - (UNTIL - SINCE), until=SINCE)


def test_an_end_at_midnight_touches_no_day_more():
    first = datetime(2026, 6, 1, tzinfo=UTC)
    assert list_days(Span(since=first, until=first + timedelta(days=2))) == [
        date(2026, 6, 1),
        date(2026, 6, 2),
    ]
    assert list_days(Span(since=first, until=first + timedelta(hours=1))) == [date(2026, 6, 1)]


def make_day(judge, usd, unpriced):
    numbers = dict.fromkeys(
        (
            "traces",
            "looked_at",
            "judged",
            "cached",
            "shed",
            "sampled_out",
            "calls",
            "tokens_in",
            "tokens_out",
        ),
        2,
    )
    return DayCost(day=SINCE.date(), judge=judge, **numbers, cost_usd=usd, unpriced=unpriced)


def test_days_are_added_by_judge():
    found = add_costs(
        [make_day("b", 0.0, 1), make_day("a", 0.5, 0), make_day("b", 0.0, 2), make_day("a", 0.25, 1)]
    )
    assert [(one.judge, one.cost_usd, one.unpriced, one.traces, one.calls) for one in found] == [
        ("a", 0.75, 1, 4, 4),
        ("b", None, 3, 4, 4),
    ]


def test_every_evaluation_is_in_exactly_one_of_the_three_words():
    states = dict(
        zip(
            (
                "scored",
                "not_evaluable",
                "failed",
                "sampled_out",
                "shed",
                "filtered",
                "superseded",
                "waiting",
                "running",
            ),
            range(1, 10),
            strict=True,
        )
    )
    (line,) = list_judges([JudgeCounts(judge="gpt", states=states, causes={"refused": 4})])
    assert (line.scored, line.waiting, line.sampled_out, line.shed) == (1, 8 + 9, 4, 5)
    assert sum(one.n for one in line.not_scored) + line.scored + line.waiting == sum(states.values())
    assert {one.words: one.n for one in line.not_scored}["cause not known"] == 1
