import pytest
from pydantic import ValidationError

from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.extraction.options import RetrievalChoice, RetrievalOptions


def find_refusal(**entry):
    with pytest.raises(ValidationError) as caught:
        ExtractionOptions.model_validate(entry)
    (details,) = caught.value.errors()
    return details["loc"], details["msg"]


def test_a_source_is_a_path_or_a_function_and_one_stands_for_a_list_of_one():
    entry = ExtractionOptions.model_validate(
        {
            "match": {"app": "shop", "tag": ["a", "b"]},
            "query": "input.q",
            "contexts": [
                "output.docs",
                {"function": "my_app.rag:search", "timeout_seconds": 3, "re_retrieved": True},
            ],
            "resolver": {"function": "my_app.rag:texts"},
        }
    )

    assert (entry.match.app, entry.match.tag, entry.match.format) == (("shop",), ("a", "b"), None)
    assert [source.path for source in entry.query] == ["input.q"]
    first, second = entry.contexts
    assert (first.path, first.function) == ("output.docs", None)
    assert (second.path, second.function, second.timeout_seconds, second.re_retrieved) == (
        None,
        "my_app.rag:search",
        3.0,
        True,
    )
    assert (entry.resolver.function, entry.resolver.timeout_seconds) == ("my_app.rag:texts", 10.0)
    assert entry.answer is None
    assert entry.retrieval == RetrievalOptions()


def test_an_entry_also_says_which_retrievals_count():
    entry = ExtractionOptions.model_validate({"retrievals": "union", "deduplicate": False})

    assert entry.retrieval == RetrievalOptions(retrievals=RetrievalChoice.UNION, deduplicate=False)


def test_what_is_written_reads_back_as_it_was():
    given = {
        "query": ["input.q"],
        "contexts": ["a", {"function": "m:f", "timeout_seconds": 3.0}],
        "match": {"app": ["shop"]},
        "resolver": {"function": "m:texts"},
    }
    entry = ExtractionOptions.model_validate(given)
    written = entry.model_dump(mode="json", exclude_defaults=True)

    assert written == given
    assert ExtractionOptions.model_validate(written) == entry


@pytest.mark.parametrize(
    ("entry", "place", "problem"),
    [
        ({"contexts": "a["}, ("contexts", 0), "no JMESPath: character 3: ends too early"),
        ({"query": ["a", "lenth(b)"]}, ("query", 1), "did you mean length()?"),
        ({"contexts": {"function": "no good"}}, ("contexts", 0, "function"), "expected module:function"),
        ({"query": {"function": "m:f", "timeout_seconds": 0}}, ("query", 0, "timeout_seconds"), "than 0"),
        ({"contexts": {}}, ("contexts", 0), "expected a JMESPath as text, or `function"),
        ({"contexts": {"path": "a", "function": "m:f"}}, ("contexts", 0), "one of the two"),
        ({"contexts": {"path": "a", "re_retrieved": True}}, ("contexts", 0), "options belong to functions"),
        ({"contexts": 3}, ("contexts", 0), "valid dictionary"),
        ({"resolver": {"function": ""}}, ("resolver", "function"), "expected module:function"),
        ({"retrievals": "first"}, ("retrievals",), "'last', 'union' or 'per_step'"),
        ({"contxts": "a"}, ("contxts",), "not permitted"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_with_its_place(entry, place, problem):
    found, message = find_refusal(**entry)

    assert found == place
    assert problem in message
