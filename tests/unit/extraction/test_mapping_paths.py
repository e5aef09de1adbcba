import pytest

from ragsonde.extraction.mapping_paths import compile_path
from ragsonde_schemas.errors import ExtractionError


def find_refusal(text):
    with pytest.raises(ValueError, match=r"\S") as caught:
        compile_path(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "metadata.x[?score > `0.5`",
            "no JMESPath: character 26: ends too early, at >>> in: metadata.x[?score > `0.5` >>>",
        ),
        ("a..b", "no JMESPath: character 3: did not expect '.', at >>> in: a. >>> .b"),
        ("a[?b > `0.5]", "no JMESPath: character 8: unclosed ` delimiter, at >>> in: a[?b > >>> `0.5]"),
        ("", "no JMESPath: Invalid JMESPath expression: cannot be empty."),
        ("a.\n.b", "no JMESPath: character 4: did not expect '.', at >>> in: a. >>> .b"),
    ],
)
def test_an_expression_that_does_not_compile_is_refused_with_its_place(text, expected):
    assert find_refusal(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lenth(a)", '"lenth(a)": no function lenth(); did you mean length()?'),
        ("a[?to_nmber(b) > `1`]", "no function to_nmber(); did you mean to_number()?"),
        ("xyzzy(a)", "no function xyzzy(); expected one of abs, avg, ceil"),
        ("length(a, b)", "length() has 2 arguments, expected 1"),
        ("not_null()", "not_null() has 0 arguments, expected at least 1"),
    ],
)
def test_functions_are_checked_before_any_trace_comes(text, expected):
    assert expected in find_refusal(text)


def test_an_expression_that_is_nested_too_deeply_or_too_long_is_refused():
    assert find_refusal("[" * 3_000).endswith("is nested too deeply")
    assert find_refusal("a" * 5_000) == "found an expression of 5000 characters, expected at most 4000"


@pytest.mark.parametrize(
    ("text", "tree", "expected"),
    [
        (
            "a[?b > `0.5`]",
            {"a": [{"b": "0.9"}]},
            "compared string with number by >, expected two of a type: to_number() makes numbers of strings",
        ),
        ("sum(a)", {"a": [1, "secret"]}, "sum() met a value of type string, expected array-number"),
        ("abs(a)", {"a": "secret"}, "abs() met a value of type string, expected number"),
        ("sort_by(a, &b)", {"a": [{"b": 1}, {"b": "secret"}]}, "sort_by() met a value of type string"),
        ("contains(a, b)", {"a": "secret", "b": 1}, "TypeError while it was evaluated"),
    ],
)
def test_a_value_of_the_wrong_type_is_told_by_its_type_and_not_by_its_content(text, tree, expected):
    with pytest.raises(ExtractionError) as caught:
        compile_path(text).find(tree)

    assert str(caught.value).startswith(f'"{text}": ')
    assert expected in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "tree", "expected"),
    [
        ("a[?b > `1`]", {"a": [{"b": 1}]}, True),
        ("a[?b > `1`].c", {"a": [{"b": 1, "c": 2}]}, True),
        ("a[?b > `1`].c", {"a": [{"b": 1}]}, False),
        ("a[?b > `1`]", {"a": []}, False),
        ("a[?b > `1`]", {}, False),
        ("a[*].d[?b > `1`] | [0]", {"a": [{"d": [{"b": 1}]}]}, True),
        ("(a || b)[?c].{content: c}", {"b": [{"c": ""}]}, True),
        ("a[:0]", {"a": [1]}, False),
    ],
)
def test_it_is_known_whether_a_filter_removed_what_was_there(text, tree, expected):
    assert compile_path(text).is_emptied_by_filter(tree) is expected


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("docs", {"docs"}),
        ("docs[].text", {"docs"}),
        ("docs[?score > `1`].text | [0]", {"docs"}),
        ("docs[0:3]", {"docs"}),
        ("@ | docs", {"docs"}),
        ("docs.a || question.b", {"docs", "question"}),
        ("{content: docs.text, id: other}", {"docs", "other"}),
        ("[question, answer]", {"question", "answer"}),
        ("sort_by(docs, &score)[].text", {"docs"}),
        ("join(' ', not_null(parts, []))", {"parts"}),
        ('attributes."my.docs"[?score > `1`].text', {"attributes", "my.docs"}),
        ("spans[?name == 'x'].attributes.docs | [0]", {"spans"}),
        ("!flag && docs", {"flag", "docs"}),
        ("*.text", set()),
        ("'constant'", set()),
    ],
)
def test_a_path_knows_the_keys_that_it_begins_with(text, keys):
    assert compile_path(text).keys == keys
