"""Label sets that are known before anything happens."""

from ragsonde.exposition.birth import KnownLabels, list_births
from ragsonde.exposition.declaration import Declaration, Kind, Rows


def declare(*labels: str, born: Rows | None = None) -> Declaration:
    return Declaration(name="things_total", kind=Kind.COUNTER, help="Things.", labels=labels, born=born)


def test_known_labels_are_combined_with_closed_ones():
    declaration = declare(
        "judge", "state", "cause", born=Rows(("state", "cause"), (("scored", ""), ("failed", "refused")))
    )
    assert list(list_births(declaration, KnownLabels(judges=("a", "b")))) == [
        {"state": "scored", "cause": "", "judge": "a"},
        {"state": "scored", "cause": "", "judge": "b"},
        {"state": "failed", "cause": "refused", "judge": "a"},
        {"state": "failed", "cause": "refused", "judge": "b"},
    ]


def test_a_series_with_an_open_label_is_not_born():
    assert list(list_births(declare("judge", "app"), KnownLabels(judges=("a",)))) == []


def test_a_series_whose_known_values_are_not_given_is_not_born():
    assert list(list_births(declare("stage"), KnownLabels())) == []


def test_a_series_without_labels_needs_no_birth():
    assert list(list_births(declare(), KnownLabels(judges=("a",)))) == []


def test_models_are_born_with_their_own_judge_only():
    known = KnownLabels(judges=("lexical", "x", "y"), models=(("x", "small"), ("y", "large")))
    assert list(list_births(declare("judge", "model"), known)) == [
        {"judge": "x", "model": "small"},
        {"judge": "y", "model": "large"},
    ]


def test_fallbacks_are_born_with_scores_and_not_with_evaluations():
    known = KnownLabels(judges=("x@1",), fallbacks=("x@2",), scorers=("p",))
    assert list(list_births(declare("scorer", "judge"), known)) == [
        {"scorer": "p", "judge": "x@1"},
        {"scorer": "p", "judge": "x@2"},
    ]
    assert list(list_births(declare("judge"), known)) == [{"judge": "x@1"}]
