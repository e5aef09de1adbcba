import json
from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from ragsonde.judging.lexical.features import ANSWER_FEATURES, QUESTION_FEATURES, SENTENCE_FEATURES
from ragsonde.judging.lexical.heads import QUERY_ANSWER, QUERY_ONLY, load_weights, parse_weights

WEIGHTS = load_weights()
DOCUMENT = json.loads(files("ragsonde.judging.lexical").joinpath("weights.json").read_text(encoding="utf-8"))
SHARE = st.floats(0, 1)


def test_the_heads_read_the_features_in_the_order_they_are_measured():
    assert WEIGHTS.context[QUERY_ONLY].features == QUESTION_FEATURES
    assert WEIGHTS.context[QUERY_ANSWER].features == QUESTION_FEATURES + ANSWER_FEATURES
    assert WEIGHTS.sentence[QUERY_ONLY].features == SENTENCE_FEATURES[:1]
    assert WEIGHTS.sentence[QUERY_ANSWER].features == SENTENCE_FEATURES


def test_no_weight_is_negative():
    for head in (*WEIGHTS.context.values(), *WEIGHTS.sentence.values()):
        assert all(weight >= 0 for weight in head.weights)


def test_nothing_in_common_is_irrelevant_and_everything_in_common_is_relevant():
    cut_offs = WEIGHTS.cut_offs
    for place, name in enumerate((QUERY_ONLY, QUERY_ANSWER)):
        head = WEIGHTS.context[name]
        assert head.estimate([0.0] * len(head.features)) < cut_offs.low
        assert head.estimate([1.0] * len(head.features)) > max(cut_offs.relevant[place], cut_offs.high)
        sentence = WEIGHTS.sentence[name]
        assert sentence.estimate([0.0] * len(sentence.features)) < cut_offs.relevant_sentence[place]
        assert sentence.estimate([1.0] * len(sentence.features)) > cut_offs.sufficient[place]
    assert cut_offs.low < cut_offs.medium <= cut_offs.high


@given(st.lists(SHARE, min_size=11, max_size=11), st.integers(0, 10), SHARE)
def test_more_in_common_never_lowers_the_probability(values, place, more):
    head = WEIGHTS.context[QUERY_ANSWER]
    raised = [max(value, more) if at == place else value for at, value in enumerate(values)]
    assert 0 < head.estimate(values) <= head.estimate(raised) + 1e-12 < 1 + 1e-9


def test_the_weights_say_what_they_were_fitted_on_and_under_which_licence():
    assert "XQuAD" in DOCUMENT["provenance"]["fitted_on"]
    assert "HotpotQA" in DOCUMENT["provenance"]["fitted_on"]
    assert "CC BY-SA 4.0" in DOCUMENT["provenance"]["licence_of_the_data"]


def test_the_version_changes_with_any_number_and_with_nothing_else():
    other = json.loads(json.dumps(DOCUMENT))
    other["provenance"] = {}
    assert parse_weights(other).version == WEIGHTS.version
    other["cut_offs"]["used"] += 0.001
    assert parse_weights(other).version != WEIGHTS.version
