"""Cards of scorers: figures on their scale, their readings, and where their numbers lead."""

from urllib.parse import parse_qs, urlsplit

import pytest

from fakes.watching import NOON, SHOP, make_summary
from ragsonde.page.scorer_cards import TOO_FEW, list_cards
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.errors import Cause

SCORERS = {scorer.instance: scorer for scorer in build_scorers({"context_position": {"scale": 10}})}


def make_card(scorers=SCORERS, **changes):
    (card,) = list_cards([make_summary(**changes)], scorers, place=SHOP, until=NOON.date())
    return card


def read_query(link):
    return {name: value for name, (value,) in parse_qs(urlsplit(link).query).items()}


def test_a_mean_is_shown_on_the_scale_with_its_interval_and_band():
    card = make_card()
    # t of 35 degrees 2.0301 (any table): 6 -+ 2.0301 * 3 / 6
    assert (card.name, card.value, card.interval) == (
        "position",
        "6.00",
        "true mean likely 4.98-7.02 (95\u00a0%)",
    )
    assert (card.band, card.tone) == ("mixed", "fair")  # .4 to .7 of raw


@pytest.mark.parametrize("n", [1, 2, 19])
def test_few_scores_tell_too_little(n):
    assert make_card(n=n, mean=1.0, deviation=0.0).interval == TOO_FEW


def test_equal_scores_have_a_width():
    assert make_card(n=30, mean=1.0, deviation=0.0).interval == "true mean likely 9.00-10.00 (95\u00a0%)"


def test_who_has_no_score_has_no_figure():
    card = make_card(n=0, mean=None, deviation=None, unscored={Cause.EMPTY_RETRIEVAL: 3}, bins=(0,) * 10)
    assert (card.value, card.interval, card.band, card.histogram) == ("", "", "", "")
    assert [one.words for one in card.unscored] == ["3 empty retrieval"]


def test_the_commonest_cause_comes_first():
    card = make_card(unscored={Cause.NO_CONTEXT: 1, Cause.EMPTY_RETRIEVAL: 5})
    assert [one.words for one in card.unscored] == ["5 empty retrieval", "1 no context"]


def test_a_scorer_that_is_configured_no_more_is_shown_all_the_same():
    card = make_card(scorers={})
    assert (card.name, card.value, card.band) == ("context_position", "0.60", "")


def test_a_scorer_without_a_better_way_has_no_band():
    scorers = {scorer.instance: scorer for scorer in build_scorers({"essential_context": None})}
    stream = make_summary().stream.model_copy(update={"scorer": "essential_context"})
    card = make_card(scorers=scorers, stream=stream)
    assert (card.value, card.band) == ("0.60", "")


def test_the_share_below_the_threshold():
    assert make_card(below=9).below.words == "25\u00a0%"
    assert make_card(below=None).below is None


def test_a_part_is_said():
    assert make_card(share=0.25).part == "in a sample of 25\u00a0%"
    assert make_card().part == ""


def test_every_number_leads_to_the_traces_of_its_own_stream():
    card = make_card(below=9, unscored={Cause.NO_ANSWER: 2})
    stream = {
        "judge": "lexical",
        "scorer": "context_position",
        "version": "1",
        "fingerprint": "f" * 16,
        "epoch": "1",
    }
    common = {"app": "shop", "environment": "production", **stream}
    assert read_query(card.n.link) == {**common, "scored": "yes"}
    assert read_query(card.below.link) == {**common, "below": "yes"}
    assert read_query(card.unscored[0].link) == {**common, "cause": "no_answer"}
    assert read_query(card.days[0].scores.link) == {**common, "scored": "yes", "day": "2026-10-06"}
    assert card.histogram.count("<a ") == 4
    assert "bin=9" in card.histogram
