"""How scorers, judges and traces are named in labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.exposition.labels import clean_label, exemplar_of
from ragsonde.exposition.series.regressions import STREAM_LABELS
from ragsonde_schemas.score_stream import ScoreStream
from ragsonde_schemas.stream_labels import judge_label, label_stream, scorer_label


@pytest.mark.parametrize(
    ("version", "label"),
    [
        ("1", "strict"),
        ("1+1f2e3d", "strict@1f2e3d"),
        ("1:answer", "strict:answer"),
        ("2:reference", "strict:reference"),
        ("1+1f2e3d:answer", "strict:answer@1f2e3d"),
    ],
)
def test_a_scorer_is_named_by_instance_basis_and_changed_options(version, label):
    assert label == scorer_label("strict", version)


def test_a_judge_is_named_with_six_digits_of_its_fingerprint():
    assert judge_label("gpt", "3fa2c1d4e5f60718") == "gpt@3fa2c1"
    assert judge_label("gpt", "3fa2c1d4e5f60718", 1) == "gpt@3fa2c1"
    assert judge_label("gpt", "3fa2c1d4e5f60718", 2) == "gpt@3fa2c1.2"


def test_a_judge_without_a_known_fingerprint_is_named_alone():
    assert judge_label("gpt", "") == "gpt"


@given(st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=500))
def test_a_clean_label_can_be_written_on_one_line_of_utf8(value):
    label = clean_label(value)
    assert len(label) <= 100
    assert label.isprintable()
    label.encode()


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("  shop ", "shop"),
        ("a\nb\x00c", "a\ufffdb\ufffdc"),
        ("\udc80", "\ufffd"),
        ("x" * 101, "x" * 91 + "~c675a2e6"),
        ("поиск 検索", "поиск 検索"),
    ],
)
def test_a_label_is_stripped_mended_and_cut(value, label):
    assert label == clean_label(value)


def test_an_instance_name_of_the_longest_kind_keeps_its_suffix():
    label = scorer_label("s" * 64, "1+1f2e3d:reference")
    assert label == clean_label(label)


def test_an_exemplar_holds_ids_of_up_to_120_characters():
    assert exemplar_of("t" * 120) == {"trace_id": "t" * 120}
    assert exemplar_of("t" * 121) is None


@pytest.mark.parametrize("trace_id", ["", "a\nb", "a\x00", "\udc80", "a\u2028b"])
def test_an_id_that_would_break_the_page_is_no_exemplar(trace_id):
    assert exemplar_of(trace_id) is None


@pytest.mark.parametrize(("app", "shown"), [("shop", "shop"), ("", "default")])
def test_a_stream_is_labelled_as_its_scores_are(app, shown):
    stream = ScoreStream(
        scorer="context_precision",
        version="1+1f2e3d:answer",
        judge="gpt",
        fingerprint="3fa2c1aabbcc",
        judge_epoch=2,
        app=app,
        environment="prod",
    )
    labels = label_stream(stream)
    assert labels == {
        "scorer": "context_precision:answer@1f2e3d",
        "judge": "gpt@3fa2c1.2",
        "app": shown,
        "environment": "prod",
    }
    assert tuple(labels) == STREAM_LABELS
