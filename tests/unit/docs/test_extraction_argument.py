"""What `ragsonde.evaluate` says to mappings that are none."""

import pytest

from ragsonde import evaluate
from ragsonde_schemas.errors import ConfigError

TRACE = {"trace_id": "t-1", "query": "How long?"}


@pytest.mark.parametrize(
    ("extraction", "problem"),
    [
        ({"contexts": "metadata.docs"}, "extraction: found a dict, expected a list of mappings"),
        ("metadata.docs", "extraction: found a str, expected a list of mappings"),
        (["metadata.docs"], "extraction[0]: found a str, expected a mapping"),
        ([{}, None], "extraction[1]: found a NoneType, expected a mapping"),
    ],
)
def test_what_is_no_list_of_mappings_is_a_config_error_with_its_place(extraction, problem):
    with pytest.raises(ConfigError) as refused:
        evaluate([TRACE], extraction=extraction)
    assert list(refused.value.problems) == [problem]
