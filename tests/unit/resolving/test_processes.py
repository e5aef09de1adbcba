"""Users' functions run in a process of their own, which takes what hangs with it."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ragsonde.decoding.limits import DecodingLimits
from ragsonde.resolving import processes
from ragsonde.resolving.child import Child
from ragsonde.resolving.processes import ProcessCalls
from ragsonde.resolving.question import Question
from ragsonde.servers.processes import observe
from ragsonde_schemas.decoded_trace import DecodedTrace
from ragsonde_schemas.errors import ConfigError, ExtractionError, SetupError
from services.waiting import wait_for

MODULE = """
import os, signal, sys, threading
from ragsonde import Context

def contexts(trace):
    print("printed by the function")
    return [Context(content=trace.query, id=str(os.getpid()))]

def hang(trace):
    threading.Event().wait()

def wait_at_gate(trace):
    return open("gate").read()

def spin(trace):
    while True:
        pass

def leave(trace):
    os._exit(3)

def crash(trace):
    signal.raise_signal(signal.SIGSEGV)  # in this very thread: it does not return

def leave_or_find(trace):
    if trace.query == "leave":
        os._exit(3)
    if os.path.exists("met"):
        return "found"
    open("met", "w").close()
    threading.Event().wait()

def read_input(trace):
    return sys.stdin.read() or "nothing to read"

class Text(str):
    pass

class Score(float):
    pass

def score_oddly(trace):
    whole = Context(content="c").model_copy(update={"id": Text("1"), "score": Score(0.5)})
    return [whole, {"content": Text("d"), "score": Score(0.5), "metadata": {Text("k"): Score(2)}}]

def texts(ids):
    return [f"text of {one}" for one in ids]
"""
NAMES = (
    "contexts",
    "hang",
    "wait_at_gate",
    "spin",
    "leave",
    "crash",
    "leave_or_find",
    "read_input",
    "score_oddly",
    "texts",
)
LIMITS = DecodingLimits()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "their_code.py").write_text(MODULE)
    return tmp_path


@pytest.fixture
def calls(folder):  # noqa: ARG001 - the module lies there
    started = start()
    yield started
    processes._stop_all(started._children)


def start(names=NAMES, **options):
    places = {f"their_code:{name}": f"extraction[0].{name}" for name in names}
    return ProcessCalls(places, limits=LIMITS, **options)


def ask(calls, name, *, query="q", field="contexts", timeout_seconds=30.0):
    argument = ("1", "2") if name == "texts" else DecodedTrace(trace_id="t", format="native", query=query)
    question = Question(
        name=f"their_code:{name}", argument=argument, timeout_seconds=timeout_seconds, field=field
    )
    try:
        return calls.ask(question)
    except ExtractionError as error:
        return str(error)


def find_process(calls):
    (context,) = ask(calls, "contexts")
    return int(context.id)


def is_alive(pid):
    return observe(pid) is not None


def test_a_function_is_given_the_trace_and_what_it_gives_comes_back_read(calls, capfd):
    (context,) = ask(calls, "contexts", query="Who asks?")

    assert (context.content, context.origin) == ("Who asks?", "extractor")
    assert int(context.id) != os.getpid()
    assert ask(calls, "texts") == {"1": "text of 1", "2": "text of 2"}
    assert ask(calls, "read_input", field="answer") == "nothing to read"
    assert capfd.readouterr().out == ""


def test_values_of_the_users_classes_come_back_as_plain_ones(calls):
    whole, mapped = ask(calls, "score_oddly")

    assert [type(value) for value in (whole.id, whole.score, mapped.content)] == [str, float, str]
    assert (whole.score, mapped.score, mapped.metadata) == (0.5, 0.5, {"k": 2.0})
    assert "their_code" not in sys.modules


def test_calls_stand_side_by_side_in_one_process(calls):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: ask(calls, "contexts", query=str(number)), range(64)))

    assert [context.content for (context,) in found] == [str(number) for number in range(64)]
    assert len({context.id for (context,) in found}) == 1


@pytest.mark.parametrize("name", ["hang", "spin"])
def test_calls_that_hang_never_keep_later_ones_from_being_answered(calls, name, caplog):
    first = find_process(calls)
    refusals = {ask(calls, name, timeout_seconds=0.02) for _ in range(processes.LATE_AT_MOST)}

    assert refusals == {f"contexts: extractor their_code:{name} took longer than 0.02 s"}
    assert find_process(calls) != first
    assert not is_alive(first)
    assert [record.msg for record in caplog.records] == ["user_code_process_replaced"]
    assert len(calls._children) == 1


def test_a_call_that_hangs_for_a_minute_is_enough(calls, monkeypatch):
    first = find_process(calls)
    ask(calls, "hang", timeout_seconds=0.01)
    assert find_process(calls) == first

    monkeypatch.setattr(processes, "LATE_SECONDS_AT_MOST", 0.0)

    assert find_process(calls) != first


def test_a_process_with_hanging_calls_lives_until_the_others_in_it_are_done(calls, folder):
    os.mkfifo(folder / "gate")
    first = find_process(calls)
    (child,) = calls._children
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(ask, calls, "wait_at_gate", field="answer")
        wait_for(lambda: calls._children[child] == 1, what="the other call to begin")
        for _ in range(processes.LATE_AT_MOST):
            ask(calls, "hang", timeout_seconds=0.01)
        assert find_process(calls) != first
        assert is_alive(first)
        (folder / "gate").write_text("come in")

    assert other.result() == "come in"
    assert not is_alive(first)


@pytest.mark.parametrize(("name", "how"), [("leave", "code 3"), ("crash", "SIGSEGV")])
def test_a_function_that_ends_its_process_is_named_and_the_next_call_has_a_new_one(calls, name, how):
    assert (
        ask(calls, name) == f"contexts: extractor their_code:{name} ended its process, which ended with {how}"
    )
    assert ask(calls, "contexts")[0].content == "q"


def test_a_call_that_was_running_beside_it_is_tried_once_more_alone(calls, folder):
    with ThreadPoolExecutor(1) as pool:
        innocent = pool.submit(ask, calls, "leave_or_find", field="answer")
        wait_for((folder / "met").exists, what="the innocent call to begin")
        guilty = ask(calls, "leave_or_find", query="leave", field="answer")

    assert guilty == "answer: extractor their_code:leave_or_find ended its process, which ended with code 3"
    assert innocent.result() == "found"


def test_functions_that_cannot_be_loaded_are_all_told_at_the_start(folder):
    (folder / "broken.py").write_text("raise ValueError('no index')")
    places = {"their_code:context": "extraction[0].contexts", "broken:f": "extraction[1].query"}

    with pytest.raises(ConfigError) as caught:
        ProcessCalls(places, limits=LIMITS)

    first, second = caught.value.problems
    assert first.startswith(
        "extraction[0].contexts: their_code:context: module 'their_code' has no attribute"
    )
    assert "did you mean contexts?" in first
    assert second.startswith("extraction[1].query: broken:f: importing it raised ValueError: no index")


def test_a_module_that_ends_its_process_or_hangs_when_it_is_imported_is_told_at_the_start(folder):
    (folder / "their_code.py").write_text("import os; os._exit(9)")
    with pytest.raises(SetupError, match="ended with code 9 at its start"):
        start(["contexts"])
    (folder / "their_code.py").write_text("import threading; threading.Event().wait()")
    with pytest.raises(SetupError, match="took longer than"):
        Child({"their_code:f": "extraction[0].query"}, limits=LIMITS, loading_seconds=0.05)


def test_where_no_new_process_starts_calls_fail_at_once_for_a_while(folder):
    now = [0.0]
    calls = start(monotonic=lambda: now[0])
    good = (folder / "their_code.py").read_text()
    (folder / "their_code.py").write_text("raise ValueError('deployed badly and at some length')")
    ask(calls, "leave")

    assert "is not called: extraction[0].contexts: their_code:contexts: importing it raised" in ask(
        calls, "contexts"
    )
    (folder / "their_code.py").write_text(good)
    assert "is not called" in ask(calls, "contexts")
    now[0] = processes.PAUSE_SECONDS
    assert ask(calls, "contexts")[0].content == "q"


def test_the_process_ends_with_what_uses_it(folder):  # noqa: ARG001 - the module lies there
    calls = start()
    process = find_process(calls)
    ask(calls, "spin", timeout_seconds=0.01)
    del calls

    assert not is_alive(process)


def test_the_process_ends_when_its_pipe_is_closed_though_a_call_hangs(calls):
    process = find_process(calls)
    (child,) = calls._children
    ask(calls, "hang", timeout_seconds=0.01)

    child._outbox.put(None)

    assert child._process.wait(10) == 0
    assert not is_alive(process)


def test_what_a_function_started_is_killed_with_it(folder):
    (folder / "their_code.py").write_text(
        "import subprocess\n"
        "def start(trace):\n"
        "    return str(subprocess.Popen(['/bin/cat'], stdin=subprocess.PIPE).pid)\n"
    )
    calls = start(["start"])
    grandchild = int(ask(calls, "start", field="answer"))
    (child,) = calls._children

    assert is_alive(grandchild)
    child.stop()

    wait_for(lambda: not is_alive(grandchild), what="what it started to end")
