"""The collector's recipes: what their exporters would send is scored; the filter takes nothing of it."""

import gzip
import json
import re
import socket
import urllib.request
from pathlib import Path

import pytest
import yaml

from ragsonde.api.traces import read_traces
from ragsonde.extraction.report import describe_trace
from services.plain_amqp import open_channel, publish
from services.waiting import wait_for

ROOT = Path(__file__).parents[3]
RECIPES = {name: ROOT / "deploy" / "otel-collector" / f"{name}.yaml" for name in ("rabbitmq", "otlp-http")}
HOW_TO = ROOT / "docs" / "how-to" / "send-from-otel-collector.md"
SAMPLES = ROOT / "tests" / "data" / "samples"
SPAN_SAMPLES = sorted(path.name for path in SAMPLES.glob("*.otlp.json") if "split" not in path.name)
STORED = "SELECT trace_id FROM trace"


def load(name):
    return yaml.safe_load(RECIPES[name].read_text())


@pytest.mark.parametrize("name", RECIPES)
def test_a_pipeline_names_only_what_is_defined_and_all_that_is_defined_is_used(name):
    config = load(name)
    (pipeline,) = config["service"]["pipelines"].values()
    assert {kind: set(config[kind]) for kind in pipeline} == {
        kind: set(names) for kind, names in pipeline.items()
    }
    assert pipeline["processors"] == ["memory_limiter", "filter/rag", "batch"]


def test_both_recipes_receive_and_filter_alike_and_leave_our_receivers_port_free():
    one, other = load("rabbitmq"), load("otlp-http")
    assert one["receivers"] == other["receivers"]
    assert one["processors"] == other["processors"]
    assert ":4318" not in json.dumps(one["receivers"])


def test_no_secret_stands_in_a_recipe():
    for path in RECIPES.values():
        for line in re.findall(
            r"^\s*(?:password|username|authorization): .*$", path.read_text(), re.MULTILINE
        ):
            assert "${env:" in line


def is_dropped(span):
    """What the filter's condition says of a span: the words that it is made of, and no others, are read."""
    (entry,) = load("rabbitmq")["processors"]["filter/rag"]["trace_conditions"]
    (condition,) = entry["conditions"]
    attributes = {attribute["key"] for attribute in span["attributes"]}
    clauses = condition.split(" and ")
    names = [re.fullmatch(r'span\.attributes\["(.+)"\] == nil', clause) for clause in clauses[1:]]
    assert (entry["context"], clauses[0], all(names)) == ("span", "not IsRootSpan()", True)
    return bool(span.get("parentSpanId")) and not attributes & {name[1] for name in names}


def filter_spans(export):
    """The export as it leaves the filter, and how many spans it dropped."""
    dropped = 0
    for scope in [scope for resource in export["resourceSpans"] for scope in resource["scopeSpans"]]:
        kept = [span for span in scope["spans"] if not is_dropped(span)]
        dropped += len(scope["spans"]) - len(kept)
        scope["spans"] = kept
    return export, dropped


def read_fields(export):
    return [
        {field: trace[field] for field in ("query", "contexts", "answer", "app", "user_id", "session_id")}
        for trace in map(describe_trace, read_traces(json.dumps(export).encode()))
    ]


@pytest.mark.parametrize("name", SPAN_SAMPLES)
def test_the_filter_changes_nothing_of_what_is_extracted(name):
    whole = json.loads((SAMPLES / name).read_text())
    found = read_fields(whole)
    filtered, _ = filter_spans(whole)
    assert len(found) == 1
    assert read_fields(filtered) == found


def test_the_filter_drops_spans_of_others_but_for_their_root():
    export = json.loads((SAMPLES / "otel_genai_retrieval.otlp.json").read_text())
    spans = export["resourceSpans"][0]["scopeSpans"][0]["spans"]
    (root,) = (span for span in spans if not span.get("parentSpanId"))
    query = {**root, "spanId": "00000000000000aa", "parentSpanId": root["spanId"], "name": "SELECT"}
    query["attributes"] = [{"key": "db.system", "value": {"stringValue": "postgresql"}}]
    before = len(spans)
    spans.append(query)
    _, dropped = filter_spans(export)
    kept = export["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert (dropped, len(kept), root in kept) == (1, before, True)


def export_through(channel, routing, body):
    """Publishes as the exporter does: persistent, mandatory, confirmed, neither content type nor headers."""
    publish(
        channel,
        body,
        exchange=routing.get("exchange", ""),
        routing_key=routing["routing_key"],
        delivery_mode=2,
    )


def count_scored(deployment):
    return deployment.count("SELECT count(*) FROM evaluation WHERE state = 'scored'")


@pytest.mark.integration
@pytest.mark.e2e
def test_what_the_rabbitmq_exporter_publishes_is_scored_without_a_queue_of_its_own(rabbitmq_deployment):
    exporter = load("rabbitmq")["exporters"]["rabbitmq"]
    rabbitmq_deployment.start_ready_worker()
    with open_channel(rabbitmq_deployment.broker_url) as channel:
        for name in ("langchain_openinference.otlp.pb", "otel_genai_retrieval.otlp.json"):
            export_through(channel, exporter["routing"], (SAMPLES / name).read_bytes())
    rabbitmq_deployment.wait_until_scored(2)
    assert rabbitmq_deployment.query("SELECT reason FROM parked_message") == []


def read_block(text, number):
    """A fenced block of YAML in the how-to, by its number."""
    return yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[number])


@pytest.mark.integration
@pytest.mark.e2e
def test_the_exporters_own_queue_is_consumed_as_the_how_to_says(rabbitmq_deployment):
    text = HOW_TO.read_text()
    exporter, settings = read_block(text, 0)["exporters"]["rabbitmq"], read_block(text, 1)
    rabbitmq_deployment.settings["RAGSONDE_QUEUES"] = ",".join(settings["queues"])
    with open_channel(rabbitmq_deployment.broker_url) as channel:
        channel.queue_declare("otlp_spans", durable=True, auto_delete=False)
        rabbitmq_deployment.start_ready_worker()
        body = (SAMPLES / "llamaindex_traceloop.otlp.pb").read_bytes()
        export_through(channel, exporter["routing"], body)
    rabbitmq_deployment.wait_until_scored(1)


@pytest.mark.integration
@pytest.mark.e2e
def test_what_the_http_exporter_posts_is_scored_and_another_token_is_refused(rabbitmq_deployment):
    exporter = load("otlp-http")["exporters"]["otlphttp/ragsonde"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    rabbitmq_deployment.settings |= {
        "RAGSONDE_PORTS__RECEIVER": str(port),
        "RAGSONDE_RECEIVER__TOKEN": "secret",
    }
    rabbitmq_deployment.start_ready_worker()
    receiver = rabbitmq_deployment.start("receiver")
    wait_for(lambda: "receiver_started" in receiver.read_log(), seconds=30, what="the receiver")

    def post(token):
        headers = {
            "content-type": "application/x-protobuf",
            "content-encoding": exporter["compression"],
            "authorization": exporter["headers"]["authorization"].replace("${env:RAGSONDE_TOKEN}", token),
        }
        body = gzip.compress((SAMPLES / "langchain_openinference.otlp.pb").read_bytes())
        url = exporter["endpoint"].replace(":4318", f":{port}") + "/v1/traces"
        request = urllib.request.Request(url, data=body, headers=headers, method="POST")  # noqa: S310 - our own
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own
            return answer.status

    with pytest.raises(urllib.error.HTTPError, match="401") as refused:
        post("another")
    refused.value.close()
    assert post("secret") == 200
    rabbitmq_deployment.wait_until_scored(1)
    assert len(rabbitmq_deployment.query(STORED)) == 1
