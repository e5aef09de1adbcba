import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from ragsonde.resolving import loading
from ragsonde.resolving.loading import load_function
from ragsonde_schemas.errors import ConfigError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]


@pytest.fixture
def _installed(monkeypatch):
    points = EntryPoints(
        EntryPoint(name=name, value=value, group=loading.GROUP)
        for name, value in [
            ("dumps", "json:dumps"),
            ("two", "json:dumps"),
            ("two", "json:loads"),
            ("gone", "no_such:f"),
        ]
    )
    monkeypatch.setattr(loading, "entry_points", lambda group: points.select(group=group))


def find_refusal(name):
    with pytest.raises(ConfigError) as caught:
        load_function(name, place="extraction[0].contexts")
    (problem,) = caught.value.problems
    assert problem.startswith("extraction[0].contexts: ")
    return problem


def test_a_module_is_searched_from_the_working_directory_on(folder):
    (folder / "beside_us.py").write_text(
        "class Search:\n    @staticmethod\n    def contexts(trace):\n        return [trace]\n"
    )

    assert load_function("beside_us:Search.contexts", place="here")(1) == [1]


def test_what_is_not_there_is_told_with_the_place_that_was_searched(folder):
    (folder / "without_it.py").write_text("")

    assert f"No module named 'not_there'; modules are searched from {folder} on" in find_refusal(
        "not_there:f"
    )
    assert "has no attribute 'f'" in find_refusal("without_it:f")


def test_a_module_that_is_there_and_imports_what_is_not_is_told_apart(folder):
    (folder / "needs_more.py").write_text("import not_there.below")

    refusal = find_refusal("needs_more:f")

    assert "importing it failed: No module named 'not_there'; install that, or mend" in refusal
    assert "searched from" not in refusal


def test_a_module_that_raises_or_exits_is_told(folder):
    (folder / "raises_at_once.py").write_text("raise ValueError('broken')")
    (folder / "exits_at_once.py").write_text("raise SystemExit(2)")

    assert "importing it raised ValueError: broken; mend the module" in find_refusal("raises_at_once:f")
    assert "importing it raised SystemExit: 2" in find_refusal("exits_at_once:f")


@pytest.mark.usefixtures("folder")
def test_what_is_no_function_is_refused():
    assert find_refusal("sys:path").endswith("sys:path is a list, expected a function")


@pytest.mark.usefixtures("_installed")
def test_a_name_without_a_colon_is_an_entry_point():
    assert load_function("dumps", place="here")([1]) == "[1]"


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("dump", "no entry point dump in the group ragsonde.extractors (found: dumps, gone, two)"),
        ("two", "the entry point two is defined more than once (json:dumps, json:loads)"),
        ("gone", "importing the entry point gone raised ModuleNotFoundError"),
    ],
)
def test_an_entry_point_that_cannot_be_used_is_told(name, problem):
    assert problem in find_refusal(name)
