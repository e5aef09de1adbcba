from __future__ import annotations

import pytest

from ragsonde.scoring.phrases import join_words, quote, shorten
from unit.scoring.rag_traces import make_texts, make_trace
from unit.scoring.recorded_scores import by_number, score_one


def reason_of(name, flags, *, key="relevant", reference=None, **options):
    trace = make_trace(make_texts(len(flags)), reference=reference)
    return score_one(name, trace, {"contexts": by_number(key, flags)}, **options).reason


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (
            [0, 1, 1, 0],
            (
                "0.40: contexts 2 and 3 of 4 are relevant to question and answer; "
                "none at the top (the best order would give 0.72)"
            ),
        ),
        ([0, 0, 0], "0.00: none of 3 contexts is relevant to question and answer"),
        ([1, 1, 1], "1.00: all 3 contexts are relevant to question and answer"),
        ([1], "1.00: the only context is relevant to question and answer"),
        ([0], "0.00: none of 1 context is relevant to question and answer"),
        ([1, 0, 0], "0.55: context 1 of 3 is relevant to question and answer; in the best order"),
        (
            [1, 0, 1],
            (
                "0.73: contexts 1 and 3 of 3 are relevant to question and answer; "
                "one at the top, the others lower (the best order would give 0.82)"
            ),
        ),
    ],
)
def test_position_names_the_relevant_contexts_and_what_their_order_did(flags, reason):
    assert reason_of("context_position", [bool(flag) for flag in flags]) == reason


def test_precision_says_against_what():
    flags = [False, True]
    order = "none at the top (the best order would give 1.00)"
    assert reason_of("context_precision", flags) == (
        f"0.50: context 2 of 2 is relevant to question and answer; {order}"
    )
    assert reason_of("context_precision", flags, key="supports", reference="right") == (
        f"0.50: context 2 of 2 supports the reference; {order}"
    )
    assert reason_of("context_precision", [True, False]) == (
        "1.00: context 1 of 2 is relevant to question and answer; in the best order"
    )
    assert reason_of("context_precision", [True, True], key="supports", reference="right") == (
        "1.00: all 2 contexts support the reference"
    )


RELEVANCE = {
    "contexts": {
        "1": {"level": "high", "used": True, "reason": "It names the fee."},
        "2": {"level": "high", "used": False},
        "3": {"level": "low", "used": True},
        "4": {"level": "none", "used": False, "reason": "another subject"},
    },
    "missing": ["opening hours", "the fee\nabroad"],
}


def test_relevance_names_level_use_penalties_and_missing_items():
    trace = make_trace(make_texts(4))
    assert score_one("context_relevance", trace, RELEVANCE).reason == (
        "0.18: 4 contexts of mean weight 0.58 (1 high used, 2 high unused, 3 low used and 4 none unused); "
        "high but unused context 2: -0.10 (0.1 each); "
        'missing "opening hours" and "the fee abroad": -0.30 (0.15 each, at most 0.5). '
        "Context 1: It names the fee. Context 4: another subject"
    )


def test_relevance_names_the_configured_penalties():
    reason = score_one(
        "context_relevance",
        make_trace(make_texts(4)),
        RELEVANCE,
        penalties={"unused_high": 0.025, "missing_item": 0.2, "missing_cap": 0.3},
    ).reason
    assert "high but unused context 2: -0.03 (0.025 each)" in reason
    assert "-0.30 (0.2 each, at most 0.3)" in reason


def test_relevance_says_when_missing_items_were_not_assessed():
    recorded = {"contexts": {"1": {"level": "high", "used": True}}}
    reason = score_one("context_relevance", make_trace(["one"]), recorded).reason
    assert reason == "1.00: 1 context of mean weight 1.00 (1 high used); missing items were not assessed"


def test_the_number_in_front_is_the_value_on_its_scale():
    assert reason_of("context_position", [True, False, True], scale=100).startswith("72.73 of 100: ")


def test_long_lists_are_cut_and_counted():
    assert join_words([str(n) for n in range(1, 14)]) == "1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more"
    assert join_words(["1"]) == "1"
    assert join_words([]) == ""


def test_texts_are_cut_and_put_on_one_line():
    assert shorten("a\n b", most=10) == "a b"
    assert len(shorten("x" * 500, most=80)) == 80
    assert quote(["x" * 500]) == '"' + "x" * 77 + '..."'


def test_a_reason_stays_bounded_whatever_the_judge_writes():
    contexts = {
        str(n): {"level": "high", "used": False, "reason": "why " * 500, "relevant": n % 2 == 0}
        for n in range(1, 301)
    }
    trace = make_trace(make_texts(300))
    recorded = {"contexts": contexts, "missing": [f"{n} " + "item " * 500 for n in range(300)]}
    for name in ("context_position", "context_precision", "context_relevance"):
        assert len(score_one(name, trace, recorded).reason) < 4000
