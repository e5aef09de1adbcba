"""Strata are few, whatever producers and plugins write."""

from itertools import product

import pytest

from ragsonde.judging.lexical.heads import QUERY_ANSWER, QUERY_ONLY
from ragsonde.storage.block_counting import sum_rows
from ragsonde.storage.strata import BAND_EDGES, CONTEXT_BANDS, HEADS, name_stratum
from ragsonde_schemas.score_stream import MOST_TAGS, OTHER

ROW = {
    "scorer": "s",
    "version": "1",
    "judge": "j",
    "fingerprint": "f",
    "judge_epoch": 1,
    "app": "a",
    "environment": "",
    "band": 1,
    "head": None,
    "is_truncated": False,
    "tag": None,
    "bin": 50,
    "n": 1,
    "total": 500_000_000,
    "squares": 250_000_000,
}


def test_the_heads_are_those_of_the_lexical_judge():
    assert {QUERY_ONLY, QUERY_ANSWER} == HEADS
    assert len(BAND_EDGES) == len(CONTEXT_BANDS) - 1


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ({}, "all"),
        ({"band": 0}, "contexts:0"),
        ({"band": 4, "head": QUERY_ONLY, "is_truncated": True, "tag": "re funds"},
         "contexts:11+ head:query_only truncated tag:re funds"),
        ({"head": "anything"}, "head:other"),
    ],
)  # fmt: skip
def test_a_stratum_names_what_is_known(known, name):
    unknown = {"band": None, "head": None, "is_truncated": False, "tag": None}
    assert name_stratum(**{**unknown, **known}) == name


def test_there_are_no_more_than_the_page_says():
    tags = [*map(str, range(MOST_TAGS)), OTHER]
    bands = [None, *range(len(CONTEXT_BANDS))]
    names = {
        name_stratum(band=band, head=head, is_truncated=cut, tag=tag)
        for band, head, cut, tag in product(bands, [None, *HEADS, "x", "y"], [True, False], tags)
    }
    assert len(names) == 6 * 4 * 2 * 9


def test_rows_of_one_stratum_are_summed_and_errors_are_apart():
    rows = [
        {**ROW, "head": "x", "n": 2},
        {**ROW, "head": "y", "bin": 50, "n": 3},
        {**ROW, "head": "y", "bin": 7, "n": 1},
        {**ROW, "head": "y", "bin": None, "n": 4, "total": 0, "squares": 0},
        {**ROW, "head": None, "bin": None, "n": 5, "total": 0, "squares": 0},
    ]
    counted = {stratum: counts for (_, stratum), counts in sum_rows(rows, has_tags=False).items()}
    assert counted["contexts:1-2 head:other"].bins == {50: 5, 7: 1}
    assert counted["contexts:1-2 head:other"].failed == 4
    assert counted["contexts:1-2 head:other"].total == 1_500_000_000
    assert (counted["contexts:1-2"].bins, counted["contexts:1-2"].failed) == ({}, 5)


def test_without_named_tags_nobody_is_of_the_others():
    for has_tags, name in ((True, "contexts:1-2 tag:other"), (False, "contexts:1-2")):
        assert [stratum for _, stratum in sum_rows([ROW], has_tags=has_tags)] == [name]
