import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.findings import Findings, FoundContext, cite
from ragsonde.extraction.mapping import Mappings
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.extraction.options import RetrievalChoice, RetrievalOptions
from ragsonde_schemas.decoded import ForeignDocument
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.trace import ContextOrigin, FieldEvidence, Reference

RULES = Findings(
    format="other",
    trace_id="t",
    app="shop",
    environment="prod",
    query="by the rules",
    contexts=(FoundContext("by the rules", ContextOrigin.RETRIEVER),),
    tags=("a", "b"),
    evidence={"query": cite("other:query"), "contexts": cite("other:contexts")},
)
UNKNOWN = Findings(format="other", trace_id="t")


def apply(entry, document, found=RULES):
    mappings = Mappings([ExtractionOptions.model_validate(entry)])
    return mappings.apply(found, ForeignDocument(format="other", document=document))


def texts(found):
    return None if found.contexts is None else [context.content for context in found.contexts]


def test_without_entries_the_rules_findings_are_left_as_they_are():
    assert Mappings().apply(RULES, ForeignDocument(format="other", document={})) is RULES


def test_a_mapping_goes_before_the_rules_and_says_so():
    found = apply(
        {"query": "metadata.q", "contexts": "output.chunks"},
        {
            "metadata": {"q": "mapped"},
            "output": '{"chunks": ["x", {"content": "y", "id": 7, "score": "0.9", "metadata": {"m": 1}}]}',
        },
    )

    assert found.query == "mapped"
    assert found.contexts == (
        FoundContext("x", ContextOrigin.MAPPING),
        FoundContext("y", ContextOrigin.MAPPING, id="7", score=0.9, metadata={"m": 1}),
    )
    assert found.evidence == {
        "query": FieldEvidence(rule="mapping:metadata.q"),
        "contexts": FieldEvidence(rule="mapping:output.chunks"),
    }
    assert (found.failure, found.gap, found.mapped_to_nothing, found.mapping) == (None, None, (), 0)


def test_null_is_not_here_so_the_rules_hold_and_it_is_counted():
    found = apply({"query": "metadata.q", "contexts": ["output.a", "output.b"]}, {"output": {"c": 1}})

    assert (found.query, texts(found)) == ("by the rules", ["by the rules"])
    assert found.evidence == RULES.evidence
    assert found.mapped_to_nothing == ("query", "contexts")


def test_an_empty_list_is_final():
    found = apply({"contexts": "metadata.docs"}, {"metadata": {"docs": []}}, UNKNOWN)

    assert (found.contexts, found.gap, found.mapped_to_nothing) == ((), None, ())


@pytest.mark.parametrize(
    ("docs", "found", "gap"),
    [
        ([{"s": "0.1"}], UNKNOWN, Cause.FILTERED_EMPTY),
        ([], UNKNOWN, None),
        ([], RULES, Cause.FILTERED_EMPTY),
    ],
)
def test_what_a_filter_emptied_is_told_from_what_was_empty(docs, found, gap):
    entry = {"contexts": "metadata.docs[?to_number(s) > `0.5`].{content: t}"}

    found = apply(entry, {"metadata": {"docs": docs}}, found)

    assert (found.contexts, found.gap) == ((), gap)


def test_contexts_that_a_mapping_found_clear_the_gap_that_the_rules_left():
    found = Findings(format="other", trace_id="t", gap=Cause.CONTEXT_TEXT_MISSING)

    assert apply({"contexts": "metadata.docs"}, {"metadata": {"docs": ["x"]}}, found).gap is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("one text", ["one text"]),
        (["a", None, "b"], ["a", "b"]),
        ([{"text": "t"}, {"page_content": "p"}, {"pageContent": "q"}], ["t", "p", "q"]),
        ([{"content": None, "id": "x"}], [None]),
        ([{"other": 1}], ['{"other": 1}']),
        ('["a", "b"]', ["a", "b"]),
        (["[1] see page 3", "[1]", '{"no": "document"}'], ["[1] see page 3", "[1]", '{"no": "document"}']),
        ([{"content": "[1]"}, {"content": {"a": 1}}], ["[1]", '{"a": 1}']),
        ([" ", ""], [" ", ""]),
        ("nul \x00", ["nul \N{REPLACEMENT CHARACTER}"]),
    ],
)
def test_contexts_are_a_text_or_a_list_of_texts_and_objects(value, expected):
    assert texts(apply({"contexts": "metadata.v"}, {"metadata": {"v": value}})) == expected


def test_a_list_of_nulls_is_not_here():
    found = apply({"contexts": "[metadata.a, metadata.b]"}, {"metadata": {}})

    assert (texts(found), found.mapped_to_nothing) == (["by the rules"], ("contexts",))


ITEM = "string or {content, id?, score?, metadata?}"


@pytest.mark.parametrize(
    ("field", "value", "place", "kind", "expected"),
    [
        ("contexts", 3, "contexts", "number", "array, string or null"),
        ("contexts", True, "contexts", "boolean", "array, string or null"),
        ("contexts", {"a": 1}, "contexts", "object", "array, string or null"),
        ("contexts", ["x", 3], "contexts[1]", "number", ITEM),
        ("contexts", [["x"]], "contexts[0]", "array", ITEM),
        ("contexts", [{"content": 3}], "contexts[0].content", "number", "string"),
        ("query", ["q"], "query", "array", "string, or null"),
        ("answer", 3, "answer", "number", "string, or null"),
        ("app", True, "app", "boolean", "string or number, or null"),
        ("user_id", {}, "user_id", "object", "string or number, or null"),
    ],
)
def test_a_wrong_type_is_a_failure_and_never_a_fall_through(field, value, place, kind, expected):
    found = apply({field: "metadata.v"}, {"metadata": {"v": value}})

    assert found.failure == f'{place}: mapping "metadata.v" gave {kind}, expected {expected}'
    assert getattr(found, field) is None
    assert field not in found.evidence
    assert found.mapped_to_nothing == ()


def test_an_expression_that_meets_a_wrong_type_is_a_failure_and_never_a_fall_through():
    document = {"metadata": {"v": [{"s": "0.9", "content": "secret"}]}}

    found = apply({"contexts": "metadata.v[?s > `0.5`]"}, document)

    assert (found.contexts, "contexts" in found.evidence) == (None, False)
    assert found.failure == (
        'contexts: mapping "metadata.v[?s > `0.5`]": compared string with number by >, '
        "expected two of a type: to_number() makes numbers of strings"
    )


def test_all_failures_are_told():
    found = apply({"query": "metadata.v", "app": "metadata.w"}, {"metadata": {"v": 1, "w": True}})

    assert found.failure == (
        'app: mapping "metadata.w" gave boolean, expected string or number, or null; '
        'query: mapping "metadata.v" gave number, expected string, or null'
    )


def test_a_failure_of_one_source_is_not_outweighed_by_another_that_found_something():
    found = apply({"contexts": ["metadata.good", "metadata.bad"]}, {"metadata": {"good": ["x"], "bad": 1}})

    assert (found.contexts, "metadata.bad" in found.failure) == (None, True)


def test_contexts_of_several_sources_are_joined_in_order_and_each_keeps_its_source():
    found = apply(
        {"contexts": ["metadata.docs", "metadata.none", "metadata.memory", "metadata.web"]},
        {
            "metadata": {
                "docs": [{"content": "a", "id": "1"}, {"content": "b", "id": "2"}],
                "memory": "m",
                "web": [{"content": "b", "id": "2"}, {"content": "b", "id": "3"}],
            }
        },
    )

    assert [(context.content, context.id, context.retrieval_step) for context in found.contexts] == [
        ("a", "1", 0),
        ("b", "2", 0),
        ("m", None, 2),
        ("b", "3", 3),
    ]
    assert {context.origin for context in found.contexts} == {ContextOrigin.MAPPING}
    assert found.evidence["contexts"].rule == "mapping:metadata.docs + metadata.memory + metadata.web"


def test_equal_contexts_are_kept_where_deduplicate_is_false():
    entry = {"contexts": ["metadata.a", "metadata.b"], "deduplicate": False}

    assert texts(apply(entry, {"metadata": {"a": ["x"], "b": ["x"]}})) == ["x", "x"]
    assert texts(apply({**entry, "deduplicate": True}, {"metadata": {"a": ["x"], "b": ["x"]}})) == ["x"]


def test_of_unknown_texts_without_an_id_none_is_dropped():
    document = {"metadata": {"a": [{"score": 1}, {"score": 2}, {"id": "x"}, {"id": "x"}]}}

    found = apply({"contexts": "metadata.a"}, document)

    assert [(context.content, context.id, context.score) for context in found.contexts] == [
        (None, None, 1.0),
        (None, None, 2.0),
        (None, "x", None),
    ]


def test_one_source_of_several_that_is_empty_is_no_gap_and_all_empty_ones_are_final():
    entry = {"contexts": ["metadata.a", "metadata.b"]}

    assert texts(apply(entry, {"metadata": {"a": [], "b": ["x"]}})) == ["x"]
    found = apply(entry, {"metadata": {"a": []}}, UNKNOWN)
    assert (found.contexts, found.gap, found.mapped_to_nothing) == ((), None, ())


def test_of_other_fields_the_first_that_is_there_holds():
    entry = {"query": ["metadata.a", "metadata.b", "metadata.c"], "session_id": "metadata.n"}

    found = apply(entry, {"metadata": {"b": "second", "c": "third", "n": 12}})

    assert (found.query, found.session_id) == ("second", "12")
    assert found.evidence["query"].rule == "mapping:metadata.b"


def test_labels_and_names_may_be_numbers():
    entry = {
        "app": "metadata.a",
        "release": "metadata.r",
        "variant": "metadata.v",
        "environment": "metadata.e",
    }

    found = apply(entry, {"metadata": {"a": "other", "r": 1.5, "v": 2, "e": "stage"}})

    assert (found.app, found.release, found.variant, found.environment) == ("other", "1.5", "2", "stage")


def test_every_field_of_the_contract_can_be_mapped():
    fields = [
        "query", "retrieval_query", "contexts", "answer", "reference", "app", "environment", "release",
        "variant", "session_id", "user_id",
    ]  # fmt: skip

    found = apply(
        {field: f"metadata.{field}" for field in fields}, {"metadata": {field: field for field in fields}}
    )

    assert found.failure is None
    assert found.reference == Reference(answer="reference")
    assert texts(found) == ["contexts"]
    plain = [field for field in fields if field not in {"reference", "contexts"}]
    assert [getattr(found, field) for field in plain] == plain
    assert {name: cited.rule for name, cited in found.evidence.items()} == {
        field: f"mapping:metadata.{field}" for field in fields
    }


def test_a_text_that_is_json_is_still_a_text():
    document = {"input": "[]", "output": '{"total": 3}', "metadata": {"list": ["real"]}}

    found = apply({"query": "input", "answer": "output"}, document)

    assert (found.query, found.answer, found.failure) == ("[]", '{"total": 3}', None)
    assert apply({"answer": "metadata.list"}, document).failure is not None


def test_a_long_path_is_cut_in_the_name_of_its_rule():
    path = "metadata." + "a" * 100

    rule = apply({"query": path}, {"metadata": {"a" * 100: "q"}}).evidence["query"].rule

    assert (len(rule), rule[-1], rule[:17]) == (80, "…", "mapping:metadata.")


@pytest.mark.parametrize(
    ("match", "is_met"),
    [
        ({}, True),
        ({"app": "shop"}, True),
        ({"app": ["other", "shop"]}, True),
        ({"app": "other"}, False),
        ({"app": "default"}, False),
        ({"app": "shop", "environment": "stage"}, False),
        ({"environment": "prod"}, True),
        ({"format": "other"}, True),
        ({"format": "native"}, False),
        ({"tag": "b"}, True),
        ({"tag": ["c", "d"]}, False),
    ],
)
def test_an_entry_is_for_the_traces_that_meet_all_it_names(match, is_met):
    found = apply({"match": match, "query": "metadata.q"}, {"metadata": {"q": "mapped"}})

    assert found.query == ("mapped" if is_met else "by the rules")


def test_the_unknown_app_is_matched_by_the_name_that_it_is_shown_under():
    entry = {"match": {"app": "default"}, "query": "metadata.q"}

    assert apply(entry, {"metadata": {"q": "mapped"}}, UNKNOWN).query == "mapped"


def test_the_first_entry_that_matches_holds_also_after_it_has_changed_the_app():
    mappings = Mappings(
        [
            ExtractionOptions.model_validate({"match": {"app": "other"}, "query": "metadata.wrong"}),
            ExtractionOptions.model_validate({"match": {"app": "shop"}, "app": "'other'"}),
            ExtractionOptions.model_validate({"query": "metadata.late"}),
        ]
    )
    found = mappings.apply(
        RULES, ForeignDocument(format="other", document={"metadata": {"wrong": "w", "late": "l"}})
    )

    assert (found.app, found.query, mappings.choose(found).place) == ("other", "by the rules", 1)


def test_an_entry_says_which_retrievals_count_only_where_it_differs():
    mappings = Mappings(
        [
            ExtractionOptions.model_validate({"match": {"app": "shop"}, "retrievals": "per_step"}),
            ExtractionOptions(),
        ]
    )

    assert mappings.choose_options(RULES) == RetrievalOptions(retrievals=RetrievalChoice.PER_STEP)
    assert mappings.choose_options(UNKNOWN) is None
    assert Mappings().choose_options(RULES) is None


def test_a_field_with_a_function_is_left_to_it():
    entry = {"query": [{"function": "a:b"}, "metadata.q"], "answer": "metadata.q"}

    found = apply(entry, {"metadata": {"q": "mapped"}})

    assert (found.query, found.answer) == ("by the rules", "mapped")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
    | st.sampled_from(["0.9", '{"content": "x", "s": "0.9"}', '["a"]', "\x00", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "content", "id", "score", "s", "metadata"]), inner, max_size=4),
    max_leaves=15,
)  # fmt: skip
PATHS = [
    "a", "a[]", "a[0]", "*", "[a, content]", "a[?s > `0.5`]", "a[?to_number(s) > `0.5`].{content: content}",
    "@", "a.*.content[]", "sum(a)", "sort_by(a, &s)", "to_string(a)", "keys(@)", "length(a)", "!a",
    "to_number(s)", "max_by(a, &s).content", "{content: a, score: s}", "[{content: a, metadata: @}]", "&a",
    "merge(@, metadata)", "map(&content, to_array(a))", "join(', ', a)", "`1`", "avg(*)", "a == s",
    "a || metadata", "a[::-1]",
]  # fmt: skip


@given(st.dictionaries(st.sampled_from(["a", "content", "s", "metadata"]), JSON), st.sampled_from(PATHS))
def test_any_tree_and_any_path_give_findings(document, path):
    for field in ("contexts", "query", "app", "reference"):
        found = apply({field: path}, document)

        value = getattr(found, field)
        assert found.failure is None or value is None
        if field == "contexts" and value is not RULES.contexts:
            for context in value or ():
                assert context.content is None or isinstance(context.content, str)
                assert json.dumps(context.metadata, allow_nan=False)
        elif field in {"query", "app"}:
            assert value is None or (isinstance(value, str) and "\x00" not in value)


def test_the_names_of_all_rules_that_a_configuration_can_make_are_known():
    mappings = Mappings(
        [
            ExtractionOptions.model_validate(
                {"query": ["a", "b"], "contexts": ["c", "d"], "answer": {"function": "m:f"}}
            ),
            ExtractionOptions.model_validate({"query": "a", "contexts": "x" * 100}),
        ]
    )

    assert set(mappings.list_rules()) == {
        *("mapping:a", "mapping:b", "mapping:c", "mapping:d", "mapping:c + d", "extractor:m:f"),
        f"mapping:{'x' * 71}…",
    }


def test_of_many_joined_sources_not_every_combination_is_listed():
    sources = [f"p{number}" for number in range(20)]
    mappings = Mappings([ExtractionOptions.model_validate({"contexts": sources})])

    assert len(mappings.list_rules()) == 21
