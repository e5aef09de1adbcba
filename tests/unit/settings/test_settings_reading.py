import json
from pathlib import Path

import pytest

from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde.settings import Settings, read_settings, read_with_origins
from ragsonde_schemas.errors import ConfigError


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write_yaml(text, name="ragsonde.yaml"):
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def find_problems(text="", *, environ=None, options=None):
    path = write_yaml(text) if text else None
    with pytest.raises(ConfigError) as caught:
        read_settings(path, environ=environ or {}, options=options)
    return caught.value.problems


def test_without_file_and_environment_the_defaults_of_the_design_hold():
    settings = read_settings(environ={})

    assert settings.broker_url is None
    assert settings.database_url is None
    assert settings.data_dir == Path("ragsonde-data")
    assert [(judge.name, judge.kind, judge.sample) for judge in settings.judges] == [
        ("lexical", "lexical", 1.0)
    ]
    assert list(settings.scorers) == [
        "context_position",
        "context_precision",
        "context_relevance",
        "essential_context",
        "statement_relevancy",
    ]
    assert settings.queues == ("ragsonde.traces",)
    assert settings.threads == 16
    assert settings.max_body_bytes == 1024 * 1024
    assert settings.retention_days.model_dump() == {
        "trace": 90,
        "trace_text": 14,
        "evaluation": 90,
        "assessment": 90,
        "judge_reply": 7,
        "score": 90,
        "score_block": 90,
        "parked_message": 30,
        "span": 1,
    }
    assert settings.host == "127.0.0.1"
    assert settings.ports.model_dump() == {"receiver": 4318, "monitor": 8321, "worker_metrics": 9321}
    assert not settings.receiver.asks_for_token
    assert settings.allow_message_overrides is False


def test_settings_are_frozen():
    settings = read_settings(environ={})

    with pytest.raises(ValueError, match="frozen"):
        settings.threads = 3


def test_the_file_beside_us_is_read_without_being_named():
    write_yaml("threads: 3")

    assert read_settings(environ={}).threads == 3


def test_the_file_is_named_by_argument_before_variable():
    first = write_yaml("threads: 3", "first.yaml")
    second = write_yaml("threads: 4", "second.yaml")

    assert read_settings(environ={"RAGSONDE_CONFIG": str(second)}).threads == 4
    assert read_settings(first, environ={"RAGSONDE_CONFIG": str(second)}).threads == 3


def test_a_named_file_that_is_not_there_is_an_error_that_says_how_files_are_named():
    with pytest.raises(ConfigError, match=r"gone\.yaml: cannot be read .*--config and RAGSONDE_CONFIG"):
        read_settings(Path("gone.yaml"), environ={})


def test_an_empty_file_is_no_error():
    assert read_settings(write_yaml("# nothing yet\n"), environ={}).threads == 16


def test_later_sources_win_and_every_origin_is_known():
    path = write_yaml("threads: 3\nprefetch_multiplier: 2\nports: {monitor: 1111, worker_metrics: 2222}\n")

    reading = read_with_origins(
        path,
        environ={"RAGSONDE_THREADS": "4", "RAGSONDE_PORTS__MONITOR": "3333"},
        options={"threads": 5, "data_dir": None},
    )

    assert reading.settings.threads == 5
    assert reading.settings.ports.model_dump() == {"receiver": 4318, "monitor": 3333, "worker_metrics": 2222}
    origins = {
        path: str(reading.find_origin(path))
        for path in [
            ("threads",),
            ("prefetch_multiplier",),
            ("ports", "monitor"),
            ("ports", "worker_metrics"),
            ("host",),
        ]
    }
    assert origins == {
        ("threads",): "--threads",
        ("prefetch_multiplier",): "ragsonde.yaml",
        ("ports", "monitor"): "RAGSONDE_PORTS__MONITOR",
        ("ports", "worker_metrics"): "ragsonde.yaml",
        ("host",): "default",
    }


@pytest.mark.parametrize(
    "source",
    [
        {"options": {"ports": {"worker_metrics": 9500}}},
        {"options": {"ports": {"worker_metrics": 9500, "monitor": None}}},
        {"environ": {"RAGSONDE_PORTS": '{"worker_metrics": 9500}'}},
        {"environ": {"RAGSONDE_PORTS__WORKER_METRICS": "9500"}},
    ],
)
def test_a_part_of_a_setting_leaves_its_other_parts_as_they_were(source):
    path = write_yaml("ports: {monitor: 9400, worker_metrics: 9401}")

    reading = read_with_origins(path, **{"environ": {}, **source})

    assert reading.settings.ports.model_dump() == {"receiver": 4318, "monitor": 9400, "worker_metrics": 9500}
    assert str(reading.find_origin(("ports", "monitor"))) == "ragsonde.yaml"
    assert "worker_metrics" in str(reading.find_origin(("ports", "worker_metrics"))).lower()


def test_a_part_that_an_option_sets_over_a_variable_leaves_the_variables_other_part():
    settings = read_settings(
        environ={"RAGSONDE_PORTS__MONITOR": "9400"}, options={"ports": {"worker_metrics": 9500}}
    )

    assert settings.ports.model_dump() == {"receiver": 4318, "monitor": 9400, "worker_metrics": 9500}


@pytest.mark.parametrize(
    "source",
    [
        {"environ": {"RAGSONDE_SCORERS": '{"context_position": null}'}},
        {"options": {"scorers": {"context_position": None}}},
    ],
)
def test_scorers_given_as_a_whole_replace_those_of_the_file(source):
    path = write_yaml("scorers: {context_precision: {}}")

    assert list(read_settings(path, **{"environ": {}, **source}).scorers) == ["context_position"]


@pytest.mark.parametrize("text", ["", "ports: {monitor: 9400}"])
def test_a_wrong_part_on_the_command_line_is_named(text):
    (problem,) = find_problems(text, options={"ports": {"worker_metrics": 99999}})

    assert problem.startswith("command line")
    assert "found the number 99999, expected at most 65535" in problem


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("RAGSONDE_THREADS", "7", lambda s: s.threads == 7),
        ("RAGSONDE_INSECURE", "true", lambda s: s.insecure is True),
        (
            "RAGSONDE_QUEUES",
            "ragsonde.traces, otlp_spans",
            lambda s: s.queues == ("ragsonde.traces", "otlp_spans"),
        ),
        ("RAGSONDE_QUEUES", '["otlp_spans"]', lambda s: s.queues == ("otlp_spans",)),
        ("RAGSONDE_RETENTION_DAYS__TRACE_TEXT", "3", lambda s: s.retention_days.trace_text == 3),
        (
            "RAGSONDE_BROKER_URL",
            "amqp://a:b@h/",
            lambda s: s.broker_url.get_secret_value() == "amqp://a:b@h/",
        ),
        ("RAGSONDE_JUDGES", '[{"name": "x", "kind": "lexical"}]', lambda s: s.judges[0].name == "x"),
        ("RAGSONDE_JUDGES__LEXICAL__SAMPLE", "0.5", lambda s: s.judges[0].sample == 0.5),
        ("RAGSONDE_JUDGES__0__SAMPLE", "0.5", lambda s: s.judges[0].sample == 0.5),
        ("RAGSONDE_SCORERS", '{"context_position": {}}', lambda s: list(s.scorers) == ["context_position"]),
        (
            "RAGSONDE_SCORERS__CONTEXT_POSITION__THRESHOLD",
            "0.3",
            lambda s: s.scorers["context_position"] == {"threshold": 0.3} and len(s.scorers) == 5,
        ),
        ("RAGSONDE_QUEUES__0", "otlp_spans", lambda s: s.queues == ("otlp_spans",)),
        ("RAGSONDE_THREADS", "", lambda s: s.threads == 16),
    ],
)
def test_everything_can_be_set_by_a_variable(variable, value, expected):
    assert expected(read_settings(environ={variable: value}))


def test_a_judge_with_punctuation_in_its_name_is_found_by_a_variable():
    path = write_yaml("judges: [{name: gpt-5.mini, kind: litellm, model: openai/gpt-5-mini, sample: 0.1}]")

    settings = read_settings(path, environ={"RAGSONDE_JUDGES__GPT_5_MINI__API_KEY": "sk-1"})

    assert settings.judges[0].api_key.get_secret_value() == "sk-1"
    assert settings.judges[0].sample == 0.1


def test_variables_that_kubernetes_makes_for_our_service_are_no_settings():
    environ = {
        "RAGSONDE_SERVICE_HOST": "10.0.0.1",
        "RAGSONDE_SERVICE_PORT": "8321",
        "RAGSONDE_SERVICE_PORT_HTTP": "8321",
        "RAGSONDE_PORT": "tcp://10.0.0.1:8321",
        "RAGSONDE_PORT_8321_TCP": "tcp://10.0.0.1:8321",
        "RAGSONDE_PORT_8321_TCP_ADDR": "10.0.0.1",
        "RAGSONDE_MONITOR_PORT": "tcp://10.0.0.1:8321",
    }

    assert read_settings(environ=environ) == Settings()


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.id)
def test_the_line_that_a_scorer_is_shown_with_configures_it(formula, tmp_path):
    path = tmp_path / "ragsonde.yaml"
    path.write_text(f"scorers:\n  {formula.configuration}\n")
    (scorer,) = build_scorers(read_settings(path, environ={}).scorers)
    assert scorer.formula is formula


def test_all_problems_are_told_at_once_each_with_place_found_and_expected():
    problems = find_problems(
        "thraeds: 16\nthreads: many\nports: {monitor: 99999}\nscorers: {context_position: {treshold: 0.5}}\n"
        "judges: [{name: lexical, kind: lexikal}]\nhost: ''\n",
        environ={"RAGSONDE_BROKR_URL": "x", "RAGSONDE_PREFETCH_MULTIPLIER": "0", "RAGSONDE_QUEUES": "["},
        options={"log_level": "loud"},
    )

    text = "\n".join(problems)
    for expected in [
        "ragsonde.yaml: thraeds: unknown setting; did you mean threads?",
        "ragsonde.yaml: threads: found 'many', expected a whole number",
        "ragsonde.yaml: ports.monitor: found the number 99999, expected at most 65535",
        "ragsonde.yaml: scorers.context_position: 'treshold' is no option",
        "judges[0].kind: found 'lexikal', expected 'lexical', 'litellm' or 'recorded'; did you mean lexical?",
        "RAGSONDE_BROKR_URL: unknown setting; did you mean RAGSONDE_BROKER_URL?",
        "RAGSONDE_PREFETCH_MULTIPLIER: found '0', expected at least 1",
        "RAGSONDE_QUEUES: begins like JSON but is none",
        "--log-level: found 'loud', expected 'debug', 'info', 'warning' or 'error'",
    ]:
        assert expected in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("threads: true", "ragsonde.yaml: threads: found true, expected a whole number"),
        ("threads: 0", "ragsonde.yaml: threads: found the number 0, expected at least 1"),
        ("threads: [1]", "ragsonde.yaml: threads: found a list, expected a whole number"),
        ("ports: 8321", "ragsonde.yaml: ports: found the number 8321, expected a mapping"),
        ("judges: []", "ragsonde.yaml: judges: is empty"),
        ("judges: {name: x}", "ragsonde.yaml: judges: found an object, expected a list"),
        ("judges: [{kind: lexical}]", "ragsonde.yaml: judges[0].name: is missing"),
        ("scorers: {}", "ragsonde.yaml: scorers: is empty"),
        ("scorers: [a]", "ragsonde.yaml: scorers: found a list, expected a mapping"),
        ("scorers: {position: {}}", "ragsonde.yaml: scorers.position: 'position' is no scorer"),
        ("queues: []", "ragsonde.yaml: queues: found a list, expected at least 1 item"),
        (
            "retention_days: {score: 400}",
            "ragsonde.yaml: retention_days.trace: found 90, expected at least 400",
        ),
        ("host: 0.0.0.0", "ragsonde.yaml: host: found 0.0.0.0, which other machines can reach"),
        ("broker_url: localhost", "ragsonde.yaml: broker_url: found no URL of a known kind"),
        ("database_url: mysql://h/d", "ragsonde.yaml: database_url: found no URL of a known kind"),
        ("- 1", "ragsonde.yaml: found a list, expected a mapping"),
        (
            "threads: 1\nthreads: 2",
            "ragsonde.yaml:2:1: no valid YAML: the key threads stands here again, after line 1",
        ),
        ("1: 2", "ragsonde.yaml:1:1: no valid YAML: the key 1 is no text"),
        (
            "scorers: {'rubric:x': {question: 'Is it?', labels: {yes: 1, no: 0}}}",
            'the key True is no text: YAML reads yes as true; write it in quotes, "yes"',
        ),
        ("a: [", "ragsonde.yaml:1:5: no valid YAML"),
        ("a: !!python/object:os.system x", "no valid YAML"),
        (
            "judges: &all\n- *all",
            "ragsonde.yaml:2:3: found the alias *all, expected its value written out",
        ),
        (
            "retention_days: {trace: 999999999999}",
            "retention_days.trace: found the number 999999999999, expected at most 36500",
        ),
    ],
)
def test_one_wrong_value_is_one_clear_problem(text, expected):
    (problem,) = find_problems(text)

    assert expected in problem


def test_aliases_that_would_unfold_to_millions_of_values_are_refused_at_once():
    layers = [f"l{depth}: &l{depth} [{', '.join([f'*l{depth - 1}'] * 9)}]" for depth in range(1, 10)]

    (problem,) = find_problems("\n".join(["l0: &l0 [x]", *layers]))

    assert "ragsonde.yaml:2:10: found the alias *l0" in problem


def test_two_judges_with_one_name_and_a_public_host_are_two_problems():
    judges = "judges: [{name: a, kind: lexical}, {name: a, kind: lexical}]"

    problems = find_problems(f"{judges}\nhost: example.org\n")

    assert [problem.split(",")[0].split(";")[0] for problem in problems] == [
        "ragsonde.yaml: judges: the name a is given to 2 judges",
        "ragsonde.yaml: host: found example.org",
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_addresses_need_no_consent(host):
    assert read_settings(environ={"RAGSONDE_HOST": host}).host == host


def test_another_address_is_bound_only_with_consent():
    settings = read_settings(environ={"RAGSONDE_HOST": "0.0.0.0", "RAGSONDE_INSECURE": "true"})

    assert settings.host == "0.0.0.0"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RAGSONDE_JUDGES__OTHER__SAMPLE", "1"),
        ("RAGSONDE_JUDGES__7__SAMPLE", "1"),
        ("RAGSONDE_THREADS__MORE", "1"),
        ("RAGSONDE_PORTS__OTHER", "1"),
        ("RAGSONDE_", "1"),
        ("RAGSONDE___", "1"),
        ("RAGSONDE_PORTS_MONITOR", "1"),
    ],
)
def test_a_variable_that_leads_nowhere_is_named(variable, value):
    (problem,) = find_problems(environ={variable: value})

    assert variable.rstrip("_") in problem


def test_an_environment_of_json_is_read_like_the_file():
    values = {
        "threads": 2,
        "ports": {"monitor": 1},
        "judges": [{"name": "a", "kind": "lexical", "sample": 0.5}],
    }
    path = write_yaml(json.dumps(values))

    environ = {f"RAGSONDE_{name.upper()}": json.dumps(value) for name, value in values.items()}

    assert read_settings(Path("/dev/null"), environ=environ) == read_settings(path, environ={})
