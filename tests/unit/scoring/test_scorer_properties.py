"""What holds for every formula, whatever the verdicts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragsonde.scoring.outcomes import score_all
from ragsonde.scoring.table import build_scorers
from ragsonde.scoring.verdicts import read_assessment
from unit.scoring.rag_traces import make_texts, make_trace

VERDICT = st.fixed_dictionaries(
    {
        "relevant": st.booleans(),
        "supports": st.booleans(),
        "level": st.sampled_from(["high", "medium", "low", "none"]),
        "used": st.booleans(),
        "essential": st.booleans(),
    }
)
VERDICTS = st.lists(VERDICT, min_size=1, max_size=10)
NAMES = (
    "context_position",
    "context_precision",
    "context_relevance",
    "essential_context",
    "statement_relevancy",
)
PENALTY = st.floats(0, 1)
PENALTIES = st.fixed_dictionaries({"unused_high": PENALTY, "missing_item": PENALTY, "missing_cap": PENALTY})


def record(verdicts, *, missing=()):
    numbers = range(1, len(verdicts) + 1)
    return {
        "contexts": {str(n): verdict for n, verdict in zip(numbers, verdicts, strict=True)},
        "missing": list(missing),
        "essential": [str(n) for n, verdict in zip(numbers, verdicts, strict=True) if verdict["essential"]],
        "relevant_sentences": [
            str(n) for n, verdict in zip(numbers, verdicts, strict=True) if verdict["relevant"]
        ],
    }


def score_raw(verdicts, *, missing=(), config=None, reference=None):
    trace = make_trace(make_texts(len(verdicts)), reference=reference)
    assessment = read_assessment(record(verdicts, missing=missing), trace)
    outcomes = score_all(build_scorers(config), trace, assessment)
    assert all(outcome.status == "scored" for outcome in outcomes), outcomes
    return {outcome.scorer: outcome.raw for outcome in outcomes}


def is_relevant(verdict, reference):
    return verdict["relevant"] if reference is None else verdict["supports"]


@given(
    verdicts=VERDICTS,
    missing=st.lists(st.text(), max_size=6),
    penalties=PENALTIES,
    reference=st.sampled_from([None, "x"]),
)
def test_every_raw_score_lies_in_0_to_1(verdicts, missing, penalties, reference):
    config = {name: {} for name in NAMES} | {"context_relevance": {"penalties": penalties}}
    raws = score_raw(verdicts, missing=missing, config=config, reference=reference)
    assert all(0 <= raw <= 1 for raw in raws.values())


@settings(max_examples=30)
@given(count=st.integers(1, 300))
def test_all_relevant_is_exactly_1(count):
    best = {"relevant": True, "supports": True, "level": "high", "used": True, "essential": True}
    assert score_raw([best] * count) == dict.fromkeys(NAMES, 1.0)


@settings(max_examples=30)
@given(count=st.integers(1, 300))
def test_nothing_relevant_is_exactly_0(count):
    worst = {"relevant": False, "supports": False, "level": "none", "used": False, "essential": False}
    assert score_raw([worst] * count) == dict.fromkeys(NAMES, 0.0)


@given(verdicts=VERDICTS, place=st.integers(0, 8), reference=st.sampled_from([None, "x"]))
def test_moving_a_relevant_context_up_never_lowers_position_or_precision(verdicts, place, reference):
    place = min(place, len(verdicts) - 1)
    if place == 0 or not verdicts[place]["relevant"] or not verdicts[place]["supports"]:
        return
    moved = [*verdicts[: place - 1], verdicts[place], verdicts[place - 1], *verdicts[place + 1 :]]
    before, after = score_raw(verdicts, reference=reference), score_raw(moved, reference=reference)
    assert after["context_position"] >= before["context_position"]
    assert after["context_precision"] >= before["context_precision"]


@given(verdicts=VERDICTS, length=st.integers(1, 5))
def test_an_irrelevant_tail_leaves_precision_unchanged(verdicts, length):
    tail = [
        {"relevant": False, "supports": False, "level": "low", "used": False, "essential": False}
    ] * length
    assert score_raw(verdicts + tail)["context_precision"] == score_raw(verdicts)["context_precision"]


@given(data=st.data(), verdicts=VERDICTS)
def test_relevance_and_both_shares_are_blind_to_order(data, verdicts):
    shuffled = data.draw(st.permutations(verdicts))
    before, after = score_raw(verdicts), score_raw(shuffled)
    for name in ("context_relevance", "essential_context", "statement_relevancy"):
        assert after[name] == before[name]


@given(verdicts=VERDICTS, missing=st.lists(st.text(), max_size=6), penalties=PENALTIES)
def test_penalties_never_raise_the_score(verdicts, missing, penalties):
    free = {"penalties": {"unused_high": 0, "missing_item": 0}}
    config = {
        "free": {"scorer": "context_relevance", **free},
        "costly": {"scorer": "context_relevance", "penalties": penalties},
    }
    raws = score_raw(verdicts, missing=missing, config=config)
    assert raws["costly"] <= raws["free"]


@given(verdicts=VERDICTS, items=st.integers(0, 5))
def test_another_missing_item_never_raises_the_score(verdicts, items):
    names = [f"item {place}" for place in range(items + 1)]
    fewer, more = score_raw(verdicts, missing=names[:-1]), score_raw(verdicts, missing=names)
    assert more["context_relevance"] <= fewer["context_relevance"]


@given(verdicts=VERDICTS, scale=st.floats(0.01, 1000))
def test_scale_multiplies_the_value_and_leaves_raw_alone(verdicts, scale):
    trace = make_trace(make_texts(len(verdicts)))
    assessment = read_assessment(record(verdicts), trace)
    plain = score_all(build_scorers(None), trace, assessment)
    scaled = score_all(build_scorers({name: {"scale": scale} for name in NAMES}), trace, assessment)
    for one, other in zip(plain, scaled, strict=True):
        assert other.raw == one.raw
        assert other.version == one.version
        assert abs(other.value - one.raw * scale) <= 0.0050001


@given(verdicts=VERDICTS)
def test_a_stricter_instance_never_scores_higher_over_the_same_assessment(verdicts):
    config = {
        "context_relevance": {},
        "strict": {"scorer": "context_relevance", "penalties": {"unused_high": 0.2}},
    }
    raws = score_raw(verdicts, config=config)
    assert raws["strict"] <= raws["context_relevance"]
