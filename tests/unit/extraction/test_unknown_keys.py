"""A key that a mapping or a function uses is no unknown one."""

import pytest

from builders.envelopes import wrap_json
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde.extraction.findings import cite
from ragsonde.extraction.mapping import Mappings
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.extraction.table import find_fields

UNKNOWN = "kept, not used"


def settle(entry, *, evidence=None, **fields):
    """The warnings once an entry was applied to a message with these fields beside its id."""
    (record,) = decode(wrap_json({"trace_id": "t", **fields}), limits=DecodingLimits()).records
    mappings = Mappings([ExtractionOptions.model_validate(entry)])
    (found,) = find_fields(record)
    applied = mappings.apply(found, record)
    applied.evidence.update(evidence or {})
    return mappings.settle_warnings(applied, record).warnings


@pytest.mark.parametrize(
    "path", ["docs[].text", "attributes.docs[].text", "docs[?score > `0`].text", "missing || docs[].text"]
)
def test_a_key_that_a_mapping_used_is_not_told(path):
    assert settle({"contexts": path}, query="q", docs=[{"text": "a", "score": 1}]) == ()


def test_the_other_keys_still_are_without_a_question_for_what_is_found():
    warnings = settle({"contexts": "docs"}, query="q", docs=["a"], chunks=["b"], colour="red", reply="r")

    assert warnings == (f"unknown keys chunks, colour, reply: {UNKNOWN}; did you mean answer?",)


def test_a_key_of_a_mapping_that_found_nothing_is_told():
    warnings = settle({"contexts": "docs.body"}, query="q", docs={"text": "a"})

    assert warnings == (f"unknown key docs: {UNKNOWN}; did you mean contexts?",)


def test_a_key_of_a_mapping_that_failed_is_told():
    assert settle({"contexts": "abs(docs)"}, query="q", docs="a")[0].startswith("unknown key docs")


def test_a_key_of_an_entry_for_other_traces_is_told():
    entry = {"match": {"app": "other"}, "contexts": "docs"}

    assert settle(entry, query="q", docs=["a"]) == (f"unknown key docs: {UNKNOWN}; did you mean contexts?",)


def test_a_function_is_given_all_keys_so_none_is_called_unused():
    entry = {"contexts": {"function": "m:f"}}

    assert settle(entry, docs=["a"], colour="red", evidence={"contexts": cite("extractor:m:f")}) == ()


def test_other_warnings_stay_in_their_places():
    warnings = settle(
        {"contexts": "docs"},
        occurred_at="2026-01-01T00:00:00",
        docs=["a"],
        colour="red",
        messages=[{"role": "assistant", "content": "a"}],
    )

    assert warnings == (
        "occurred_at: no time zone, read as UTC",
        f"unknown key colour: {UNKNOWN}",
        "messages: no turn with role user, so there is no query",
    )
