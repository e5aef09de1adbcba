from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.scoring import exact_scores
from unit.scoring.rag_traces import make_texts, make_trace
from unit.scoring.recorded_scores import by_number, score_one

SCALES = (1, 2, 5, 10, 100)
FLAGS = st.lists(st.booleans(), min_size=1, max_size=12)
every_scale = pytest.mark.parametrize("scale", SCALES)


def assert_exact(outcome, exact, scale):
    assert outcome.status == "scored", outcome
    assert outcome.raw == pytest.approx(float(exact), abs=1e-14)
    assert outcome.value == exact_scores.round_half_up(exact * scale)


@every_scale
@given(relevant=FLAGS)
def test_position_equals_the_exact_fraction(relevant, scale):
    trace = make_trace(make_texts(len(relevant)))
    recorded = {"contexts": by_number("relevant", relevant)}
    assert_exact(
        score_one("context_position", trace, recorded, scale=scale), exact_scores.position(relevant), scale
    )


@every_scale
@given(relevant=FLAGS, has_reference=st.booleans())
def test_precision_equals_the_exact_fraction(relevant, has_reference, scale):
    trace = make_trace(make_texts(len(relevant)), reference="right" if has_reference else None)
    recorded = {"contexts": by_number("supports" if has_reference else "relevant", relevant)}
    assert_exact(
        score_one("context_precision", trace, recorded, scale=scale), exact_scores.precision(relevant), scale
    )


@every_scale
@given(
    contexts=st.lists(
        st.tuples(st.sampled_from(["high", "medium", "low", "none"]), st.booleans()), min_size=1, max_size=12
    ),
    n_missing=st.integers(0, 6),
    penalties=st.sampled_from(
        [("0.1", "0.15", "0.5"), ("0.2", "0.25", "0.6"), ("0", "0.05", "1"), ("0.05", "0", "0")]
    ),
)
def test_relevance_equals_the_exact_fraction(contexts, n_missing, penalties, scale):
    trace = make_trace(make_texts(len(contexts)))
    recorded = {
        "contexts": {
            str(n): {"level": level, "used": used} for n, (level, used) in enumerate(contexts, start=1)
        },
        "missing": [f"item {place}" for place in range(n_missing)],
    }
    named = dict(zip(("unused_high", "missing_item", "missing_cap"), penalties, strict=True))
    outcome = score_one(
        "context_relevance",
        trace,
        recorded,
        scale=scale,
        penalties={name: float(number) for name, number in named.items()},
    )
    levels, used = zip(*contexts, strict=True)
    assert_exact(outcome, exact_scores.relevance(levels, used, n_missing, **named), scale)


@every_scale
@given(essential=FLAGS)
def test_essential_share_is_the_exact_fraction_times_scale_unrounded(essential, scale):
    trace = make_trace(make_texts(len(essential)))
    recorded = {"essential": [str(n) for n, is_essential in enumerate(essential, start=1) if is_essential]}
    outcome = score_one("essential_context", trace, recorded, scale=scale)
    assert outcome.raw == float(exact_scores.share(essential))
    assert outcome.value == outcome.raw * scale


@every_scale
@given(relevant=FLAGS)
def test_relevant_sentences_equal_the_exact_fraction(relevant, scale):
    trace = make_trace([" ".join(f"Sentence {n} ends here." for n in range(len(relevant)))])
    recorded = {"relevant_sentences": [f"1.{n}" for n, is_hit in enumerate(relevant, start=1) if is_hit]}
    assert_exact(
        score_one("statement_relevancy", trace, recorded, scale=scale), exact_scores.share(relevant), scale
    )


@every_scale
@given(relevant=FLAGS)
def test_extracted_statements_equal_the_exact_fraction(relevant, scale):
    trace = make_trace(make_texts(2))
    recorded = {"statements": [{"text": f"S {n}", "relevant": is_hit} for n, is_hit in enumerate(relevant)]}
    outcome = score_one("statement_relevancy", trace, recorded, scale=scale, statements="extracted")
    assert_exact(outcome, exact_scores.share(relevant), scale)
