from itertools import combinations

import pytest

from fakes.traces import make_trace
from ragsonde.extraction.content_hash import compute_content_hash
from ragsonde.judging.options import Reasons
from ragsonde.judging.prompt import render_prompt
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.trace import Reference, Turn

ASPECTS = frozenset(Aspect)
PLAIN = {
    "query": "How long?",
    "retrieval_query": None,
    "turns": (),
    "contexts": ("a", "b"),
    "answer": "14 days",
    "reference": None,
}


def test_the_hash_is_sha256_of_the_canonical_json():
    """Both digests come from sha256sum over the canonical text written by hand."""
    assert compute_content_hash(**PLAIN) == "57aee678f667f5ecbcd725cd5f115064a69af18f5ce171c05735fbd7974cc39e"
    rich = {
        "query": "Käse",
        "retrieval_query": "r",
        "turns": [
            Turn(role=role, content=content)
            for role, content in [("user", "1"), ("user", "2"), ("assistant", "3"), ("user", "4")]
        ],
        "contexts": None,
        "answer": None,
        "reference": Reference(answer="x", contexts=("c",), context_ids=("1",)),
    }
    assert compute_content_hash(**rich) == "a9bd09255f9f6ca0384c7f05d21f9e79b0afbf64107d46bbb763bd4dabb1891c"


def test_whatever_a_judge_sees_changes_the_hash():
    variants = [
        PLAIN,
        {**PLAIN, "query": None},
        {**PLAIN, "query": ""},
        {**PLAIN, "retrieval_query": "How long?"},
        {**PLAIN, "turns": (Turn(role="user", content="hi"),)},
        {**PLAIN, "contexts": ("b", "a")},
        {**PLAIN, "contexts": ("ab",)},
        {**PLAIN, "contexts": ()},
        {**PLAIN, "contexts": None},
        {**PLAIN, "contexts": ("",)},
        {**PLAIN, "answer": None},
        {**PLAIN, "reference": Reference(answer="14 days")},
        {**PLAIN, "reference": Reference(contexts=("14 days",))},
        {**PLAIN, "reference": Reference(context_ids=("14 days",))},
    ]
    for one, other in combinations(variants, 2):
        assert compute_content_hash(**one) != compute_content_hash(**other)


def test_turns_before_the_last_three_change_nothing():
    turns = [Turn(role="user", content=str(number)) for number in range(5)]
    assert compute_content_hash(**{**PLAIN, "turns": turns}) == compute_content_hash(
        **{**PLAIN, "turns": turns[2:]}
    )


@pytest.mark.parametrize("text", ["\ud800", "\0", "\U0001f600"])
def test_any_text_can_be_hashed(text):
    assert len(compute_content_hash(**{**PLAIN, "query": text})) == 64


def test_the_hash_tells_traces_apart_exactly_where_a_judge_sees_another_turn():
    turns = [Turn(role="user", content=f"turn {number}") for number in range(6)]
    for changed in range(6):
        others = [*turns[:changed], Turn(role="user", content="another"), *turns[changed + 1 :]]
        shown, shown_others = (
            render_prompt(make_trace().model_copy(update={"turns": some}), ASPECTS, reasons=Reasons.NONE)
            for some in (tuple(turns), tuple(others))
        )
        hashed, hashed_others = (compute_content_hash(**{**PLAIN, "turns": some}) for some in (turns, others))
        assert (shown != shown_others) is (hashed != hashed_others), changed
