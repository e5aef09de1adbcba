import json
import signal

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.e2e]


def examine(deployment, *arguments):
    result = deployment.run("doctor", "--output", "json", *arguments)
    findings = [json.loads(line) for line in result.stdout.splitlines()]
    return result.returncode, {finding["check"]: finding for finding in findings}


def test_all_is_well_after_migrate_and_the_first_worker(rabbitmq_deployment):
    worker = rabbitmq_deployment.start_ready_worker()
    code, findings = examine(rabbitmq_deployment)
    assert code == 0
    # what else listens on this machine is not ours to say
    own = {check: found for check, found in findings.items() if "http://" not in check or worker.url in check}
    assert set(own) == {
        "broker", "queues", "database", "schema", "partitions", "parked", "clock", "judges",
        "judge lexical", "due work", "waiting", f"worker {worker.url}",
    }  # fmt: skip
    assert {finding["verdict"] for check, finding in own.items() if check != "partitions"} == {"ok"}


def test_messages_that_nobody_takes_are_a_warning_with_what_to_do(rabbitmq_deployment):
    worker = rabbitmq_deployment.start_ready_worker()
    address = f"worker {worker.url}"
    messages = [{"trace_id": f"t-{n}", "query": "q", "contexts": ["a"]} for n in range(60)]
    worker.process.send_signal(signal.SIGSTOP)
    try:
        rabbitmq_deployment.publish(messages)
        code, findings = examine(rabbitmq_deployment)
        assert (code, findings["waiting"]["verdict"]) == (0, "warning")
        assert "nothing was taken or stored" in findings["waiting"]["found"]
        assert "in ragsonde.traces" in findings["waiting"]["found"]
        assert "curl -m 5" in findings["waiting"]["advice"]
        assert findings[address]["found"] == "no answer within 3 s"
        assert "kill it and start it again" in findings[address]["advice"]
    finally:
        worker.process.send_signal(signal.SIGCONT)
    rabbitmq_deployment.wait_until_scored(60)
    worker.terminate()
    rabbitmq_deployment.publish(messages[:1])
    _, findings = examine(rabbitmq_deployment)
    assert findings["waiting"]["found"] == "1 in ragsonde.traces; nobody consumes ragsonde.traces"
    assert "ragsonde worker" in findings["waiting"]["advice"]
    assert address not in findings


def test_parked_messages_are_counted_by_reason(rabbitmq_deployment):
    worker = rabbitmq_deployment.start_ready_worker()
    with rabbitmq_deployment.publisher() as publisher:
        for body in (b"junk", b"more junk", b'{"trace_id": 5}'):
            publisher.publish_trace(body, content_type=None)
        publisher.publish_trace(b'{"trace_id": "t", "query": "q", "contexts": ["a"]}', content_type=None)
    rabbitmq_deployment.wait_until_scored(1)
    _, findings = examine(rabbitmq_deployment)
    assert findings["parked"]["verdict"] == "warning"
    assert findings["parked"]["found"].startswith("2 unknown_format, 1 bad_trace_id")
    assert worker.read_log().count("message_parked") == 3


@pytest.mark.parametrize("broken", ["user", "vhost"])
@pytest.mark.parametrize("command", ["worker", "publish"])
def test_a_broker_that_refuses_us_is_one_line_and_exit_code_4(rabbitmq_deployment, command, broken, tmp_path):
    url = rabbitmq_deployment.broker_url
    wrong = url.replace("guest:guest", "guest:wrong") if broken == "user" else f"{url}-missing"
    rabbitmq_deployment.settings["RAGSONDE_BROKER_URL"] = wrong
    file = tmp_path / "t.jsonl"
    file.write_text('{"trace_id": "t"}\n')
    arguments = [str(file)] if command == "publish" else []
    result = rabbitmq_deployment.run(command, *arguments)
    assert result.returncode == 4
    assert "broker_url" in result.stderr
    assert "Traceback" not in result.stderr
    assert "wrong" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
