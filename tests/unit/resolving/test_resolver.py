import sys
from types import ModuleType

import pytest

from builders.envelopes import wrap_json
from fakes.user_code import DirectCalls
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde.extraction.findings import Findings, FoundContext, cite
from ragsonde.extraction.mapping import Mappings
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde_schemas.errors import Cause, ConfigError
from ragsonde_schemas.trace import Context, ContextOrigin

RULES = Findings(
    format="native",
    trace_id="t",
    app="shop",
    query="by the rules",
    contexts=(FoundContext("by the rules", ContextOrigin.PRODUCER),),
    evidence={"query": cite("native:query"), "contexts": cite("native:contexts")},
)
BY_ID = Findings(
    format="otlp_json",
    trace_id="t",
    contexts=(
        FoundContext(None, ContextOrigin.RETRIEVER, id="1", score=0.5),
        FoundContext("known", ContextOrigin.RETRIEVER, id="2"),
        FoundContext(None, ContextOrigin.RETRIEVER, id="3"),
        FoundContext(None, ContextOrigin.RETRIEVER, id="1"),
    ),
    evidence={"contexts": cite("genai:retrieval")},
    gap=Cause.CONTEXT_TEXT_MISSING,
)


@pytest.fixture
def app(monkeypatch):
    """The user's module."""
    module = ModuleType("my_app")
    monkeypatch.setitem(sys.modules, "my_app", module)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return module


def decode_native(**fields):
    (record,) = decode(wrap_json({"trace_id": "t", **fields}), limits=DecodingLimits()).records
    return record


def resolve(entry, *, found=RULES, resolver=None, **fields):
    record = decode_native(**fields)
    entries = [ExtractionOptions.model_validate(entry)]
    return (resolver or build([entry])).resolve(Mappings(entries).apply(found, record), record)


def build(entries, **options):
    return UserCodeResolver(
        [ExtractionOptions.model_validate(entry) for entry in entries], start_calls=DirectCalls, **options
    )


def call(name, **options):
    return {"function": f"my_app:{name}", **options}


def texts(found):
    return None if found.contexts is None else [context.content for context in found.contexts]


def test_without_entries_nothing_changes():
    assert UserCodeResolver().resolve(RULES, decode_native()) is RULES


def test_a_function_goes_before_mapping_and_rules(app):
    app.contexts = lambda trace: [
        f"for {trace.query}",
        Context(content="c", id="7", score=0.5),
        {"text": "t", "id": "8"},
    ]

    found = resolve({"contexts": [call("contexts"), "metadata.docs"]}, metadata={"docs": ["mapped"]})

    assert found.contexts == (
        FoundContext("for by the rules", ContextOrigin.EXTRACTOR),
        FoundContext("c", ContextOrigin.EXTRACTOR, id="7", score=0.5),
        FoundContext("t", ContextOrigin.EXTRACTOR, id="8"),
    )
    assert found.evidence["contexts"].rule == "extractor:my_app:contexts"
    assert (found.failure, found.re_retrieved, found.mapped_to_nothing) == (None, False, ())


@pytest.mark.parametrize(
    ("metadata", "expected", "rule"),
    [({"docs": ["mapped"]}, "mapped", "mapping:metadata.docs"), ({}, "by the rules", "native:contexts")],
)
def test_none_is_not_here_so_the_mapping_holds_and_then_the_rules(app, metadata, expected, rule):
    app.contexts = lambda _: None

    found = resolve({"contexts": [call("contexts"), "metadata.docs"]}, metadata=metadata)

    assert (texts(found), found.evidence["contexts"].rule) == ([expected], rule)
    assert found.mapped_to_nothing == ("contexts",)


def test_a_mapping_behind_a_function_is_not_even_looked_at_where_the_function_found_something(app):
    app.contexts = lambda _: "one text"

    found = resolve({"contexts": [call("contexts"), "abs(metadata.docs)"]}, metadata={"docs": "no number"})

    assert (texts(found), found.failure) == (["one text"], None)


@pytest.mark.parametrize(("options", "gap"), [({}, Cause.FILTERED_EMPTY), ({"re_retrieved": True}, None)])
def test_an_empty_list_is_final(app, options, gap):
    app.contexts = lambda _: []

    found = resolve({"contexts": call("contexts", **options)})

    assert (found.contexts, found.gap, found.mapped_to_nothing) == ((), gap, ())


def test_contexts_that_were_searched_again_are_marked(app):
    app.search = lambda _: ["new"]

    assert resolve({"contexts": call("search", re_retrieved=True)}).re_retrieved is True


def test_a_search_that_found_nothing_leaves_no_mark_on_the_contexts_of_the_rules(app):
    app.search = lambda _: None

    assert resolve({"contexts": call("search", re_retrieved=True)}).re_retrieved is False


def test_several_functions_are_joined_in_order(app):
    app.first, app.second = lambda _: ["a", "b"], lambda _: ["b", "c"]

    found = resolve({"contexts": [call("first"), call("second")]})

    assert [(context.content, context.retrieval_step) for context in found.contexts] == [
        ("a", 0),
        ("b", 0),
        ("c", 1),
    ]
    assert found.evidence["contexts"].rule == "extractor:my_app:first + my_app:second"


def test_other_fields_take_the_first_text_and_contexts_see_it(app):
    app.nothing, app.query = lambda _: None, lambda _: "rewritten"
    app.contexts = lambda trace: [f"for {trace.query} of {trace.app}"]

    found = resolve(
        {"query": [call("nothing"), call("query")], "contexts": call("contexts"), "app": "'other'"}
    )

    assert (found.query, texts(found)) == ("rewritten", ["for rewritten of other"])
    assert found.evidence["query"].rule == "extractor:my_app:query"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (3, "contexts: extractor my_app:contexts gave number, expected array, string or null"),
        ([1, 2], "contexts[0]: extractor my_app:contexts gave number, expected string or"),
        ([{"content": 4}], "contexts[0].content: extractor my_app:contexts gave number, expected string"),
        ({"content": "x"}, "contexts: extractor my_app:contexts gave object, expected array"),
        ({"x"}, "contexts: extractor my_app:contexts gave set, expected array"),
        (object(), "contexts: extractor my_app:contexts gave object, expected array"),
    ],
)
def test_what_is_no_list_of_texts_is_a_failure(app, given, problem):
    app.contexts = lambda _: given

    found = resolve({"contexts": [call("contexts"), "metadata.docs"]}, metadata={"docs": ["mapped"]})

    assert problem in found.failure
    assert (found.contexts, "contexts" in found.evidence) == (None, False)


def test_a_function_that_raises_is_a_failure_by_its_name_and_type(app):
    def fail(trace):
        raise ValueError("secret of " + trace.query)

    app.contexts = fail

    found = resolve({"contexts": [call("contexts"), "metadata.docs"]}, metadata={"docs": ["mapped"]})

    assert found.failure == "contexts: extractor my_app:contexts raised ValueError"
    assert found.contexts is None


def test_an_object_that_raises_when_it_is_read_is_a_failure(app):
    class Odd:
        def __str__(self):
            raise ValueError("secret")

    app.contexts = lambda _: [{"content": "x", "metadata": {"odd": Odd()}}]

    assert resolve({"contexts": call("contexts")}).failure == (
        "contexts: extractor my_app:contexts gave a value that raised when read"
    )


def test_metadata_that_json_cannot_hold_is_kept_as_text(app):
    app.contexts = lambda _: [
        {"content": "x", "score": "0.9", "metadata": {"path": Context, "nan": float("nan"), "list": (1, 2.5)}}
    ]

    (context,) = resolve({"contexts": call("contexts")}).contexts

    assert (context.score, context.metadata) == (0.9, {"path": str(Context), "nan": None, "list": [1, 2.5]})


def test_after_a_failure_only_labels_are_still_asked_for(app):
    asked = []
    app.app = lambda _: asked.append("app") or "other"
    app.contexts = lambda _: asked.append("contexts")

    found = resolve(
        {"app": call("app"), "query": "abs(metadata.q)", "contexts": call("contexts")},
        metadata={"q": "no number"},
    )

    assert (asked, found.app) == (["app"], "other")
    assert found.failure.startswith("query: mapping")


def test_a_record_that_comes_again_is_not_asked_for_again_and_another_one_is(app):
    asked = []
    app.contexts = lambda trace: asked.append(trace.trace_id) or ["x"]
    entry = {"contexts": call("contexts")}
    resolver = build([entry])

    first = resolve(entry, resolver=resolver, metadata={"a": 1})
    assert resolve(entry, resolver=resolver, metadata={"a": 1}) == first
    resolve(entry, resolver=resolver, metadata={"a": 2})

    assert asked == ["t", "t"]


def test_a_failure_is_tried_again_when_the_record_comes_again(app):
    given = [3, ["x"]]
    app.contexts = lambda _: given.pop(0)
    entry = {"contexts": call("contexts")}
    resolver = build([entry])

    assert resolve(entry, resolver=resolver).failure is not None
    assert texts(resolve(entry, resolver=resolver)) == ["x"]


def test_functions_that_are_not_there_are_all_told_at_start(app):
    app.number = 3
    entry = {"query": call("number"), "contexts": call("gone"), "resolver": call("gone_too")}

    with pytest.raises(ConfigError) as caught:
        build([entry])

    places = [problem.partition(": ")[0] for problem in caught.value.problems]
    assert places == ["extraction[0].query", "extraction[0].contexts", "extraction[0].resolver"]


@pytest.mark.parametrize("give", [lambda _: {"1": "one", "3": "three", "9": "x"}, lambda _: ["one", "three"]])
def test_texts_for_ids_are_asked_once_each_and_filled_in(app, give):
    asked = []
    app.texts = lambda ids: asked.append(ids) or give(ids)

    found = resolve({"resolver": call("texts")}, found=BY_ID)

    assert asked == [["1", "3"]]
    assert [(context.content, context.origin, context.score) for context in found.contexts] == [
        ("one", ContextOrigin.RESOLVER, 0.5),
        ("known", ContextOrigin.RETRIEVER, None),
        ("three", ContextOrigin.RESOLVER, None),
        ("one", ContextOrigin.RESOLVER, None),
    ]
    assert (found.gap, found.warnings) == (None, ())
    assert found.evidence["contexts"] == cite("genai:retrieval + resolver:my_app:texts", is_exact=False)


def test_a_text_that_the_resolver_does_not_have_stays_unknown(app):
    app.texts = lambda _: {"1": "one", "3": None}

    found = resolve({"resolver": call("texts")}, found=BY_ID)

    assert texts(found) == ["one", "known", None, "one"]
    assert found.gap is Cause.CONTEXT_TEXT_MISSING
    assert found.warnings == ("contexts: resolver my_app:texts has no text for 1 of 2 ids",)


def test_texts_are_also_found_for_ids_that_a_mapping_or_function_gave(app):
    app.texts = lambda ids: [f"text of {id_}" for id_ in ids]
    app.contexts = lambda _: [{"id": "f"}]

    mapped = resolve(
        {"contexts": "metadata.ids[].{id: @}", "resolver": call("texts")}, metadata={"ids": ["a", "b"]}
    )
    asked = resolve({"contexts": call("contexts"), "resolver": call("texts")})

    assert (texts(mapped), texts(asked)) == (["text of a", "text of b"], ["text of f"])


def test_a_context_given_back_by_a_function_without_its_text_is_still_without_it(app):
    app.texts = lambda _: {"1": "one", "3": "three"}
    app.contexts = lambda trace: [context for context in trace.contexts if context.id != "2"]

    found = resolve({"contexts": call("contexts"), "resolver": call("texts")}, found=BY_ID)

    assert texts(found) == ["one", "three"]


def test_where_all_texts_are_known_nobody_is_asked(app):
    app.texts = lambda _: 1 / 0

    assert resolve({"resolver": call("texts")}).failure is None


@pytest.mark.parametrize(
    ("texts_for", "problem"),
    [
        (lambda _: 1 / 0, "contexts: resolver my_app:texts raised ZeroDivisionError"),
        (lambda _: 3, "contexts: resolver my_app:texts gave number, expected a mapping from ids to texts"),
        (lambda _: "texts", "contexts: resolver my_app:texts gave string, expected a mapping"),
        (lambda _: ["one"], "contexts: resolver my_app:texts gave a list of 1 for 2 ids, expected as many"),
        (
            lambda _: {"1": 1},
            "contexts: resolver my_app:texts gave number for an id, expected text or None",
        ),
    ],
)
def test_a_resolver_that_fails_is_a_failure(app, texts_for, problem):
    app.texts = texts_for

    found = resolve({"resolver": call("texts")}, found=BY_ID)

    assert found.failure.startswith(problem)
    assert texts(found) == [None, "known", None, None]


@pytest.mark.parametrize(
    "give", [lambda texts: texts, tuple, lambda texts: [{"content": text} for text in texts]]
)
def test_more_contexts_than_a_message_may_hold_are_a_failure_and_not_cut(app, give):
    app.contexts = lambda _: give(["a", "b", "c"])
    entry = {"contexts": call("contexts")}

    found = resolve(entry, resolver=build([entry], limits=DecodingLimits(contexts=2)))

    assert found.failure == (
        "contexts: extractor my_app:contexts gave 3 contexts, expected at most 2: return the best ones only"
    )
    assert found.contexts is None


def test_as_many_contexts_as_a_message_may_hold_are_taken(app):
    app.contexts = lambda _: ["a", "b"]
    entry = {"contexts": call("contexts")}

    assert texts(resolve(entry, resolver=build([entry], limits=DecodingLimits(contexts=2)))) == ["a", "b"]


def test_functions_that_together_give_more_contexts_are_a_failure(app):
    app.first, app.second = lambda _: ["a", "b"], lambda _: ["c"]
    entry = {"contexts": [call("first"), call("second")]}

    found = resolve(entry, resolver=build([entry], limits=DecodingLimits(contexts=2)))

    assert found.failure.startswith(
        "contexts: extractors my_app:first + my_app:second gave 3 contexts, expected at most 2"
    )


@pytest.mark.parametrize(
    "given",
    [
        ["x" * 8, "y" * 9],
        ["ä" * 9],
        [{"content": "x", "metadata": {"key": "y" * 16}}],
        [{"content": "x", "id": "y" * 16}],
    ],
)
def test_more_text_than_a_message_may_hold_is_a_failure_and_not_cut(app, given):
    app.contexts = lambda _: given
    entry = {"contexts": call("contexts")}

    found = resolve(entry, resolver=build([entry], limits=DecodingLimits(body_bytes=16)))

    assert found.failure.startswith("contexts: extractor my_app:contexts gave ")
    assert "bytes, expected at most 16" in found.failure


def test_the_limit_holds_for_every_field_and_for_the_texts_of_ids(app):
    app.long = lambda _: "x" * 17
    app.texts = lambda _: {"1": "x" * 10, "3": "y" * 10}
    entries = [{"answer": call("long")}, {"resolver": call("texts")}]
    limits = DecodingLimits(body_bytes=16)

    failures = [
        resolve(entry, found=BY_ID, resolver=build([entry], limits=limits)).failure for entry in entries
    ]

    assert [failure.partition(",")[0] for failure in failures] == [
        "answer: extractor my_app:long gave 17 bytes",
        "contexts: resolver my_app:texts gave 20 bytes",
    ]


def test_a_coroutine_is_run_to_its_end(app):
    async def search(trace):
        return [f"for {trace.query}"]

    app.contexts = search

    assert texts(resolve({"contexts": call("contexts")})) == ["for by the rules"]


def test_what_a_function_gives_as_a_class_of_its_own_is_plain_text(app):
    class Text(str):
        __slots__ = ()

    app.contexts = lambda _: [{"content": Text("c"), "id": Text("7")}]

    (context,) = resolve({"contexts": call("contexts")}).contexts

    assert (type(context.content), type(context.id)) == (str, str)


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), RecursionError()])
def test_whatever_a_function_raises_is_told_by_its_type(app, raised):
    def fail(_):
        raise raised

    app.contexts = fail

    found = resolve({"contexts": call("contexts")})

    assert found.failure == f"contexts: extractor my_app:contexts raised {type(raised).__name__}"
