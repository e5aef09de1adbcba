"""`ragsonde receiver` as a process, on both brokers: what it answers is what is on the queue."""

import json
import re
import resource
import socket
import threading
from contextlib import ExitStack, closing
from functools import partial
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from fakes.receiver_clients import Poster
from fakes.receiver_road import open_road
from services.plain_amqp import open_channel
from services.rabbitmq import rabbitmqctl
from services.waiting import wait_for

pytestmark = pytest.mark.integration


def write_native(number, **more):
    return {"trace_id": f"t{number}", "query": "Wo?", "contexts": ["Da."], "answer": "Da.", **more}


def find_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(receiver, path, body=None, *, headers=None):
    """Status, headers and JSON of an answer."""
    where = urlsplit(receiver.url)
    with closing(HTTPConnection(where.hostname, where.port, timeout=30)) as connection:
        connection.request("GET" if body is None else "POST", path, body=body, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, answer.headers, json.loads(text) if text.startswith(b"{") else text.decode()


def start(deployment, *arguments):
    receiver = deployment.start("receiver", "--port", str(find_port()), *arguments)
    wait_for(lambda: receiver.url, what="a receiver")
    return receiver


def count_queued(deployment):
    with deployment.publisher() as publisher:
        return publisher.count_messages()["ragsonde.traces"]


def test_what_is_accepted_is_on_the_queue_and_counted(deployment):
    receiver = start(deployment)
    lines = b"\n".join(json.dumps(write_native(number)).encode() for number in range(5))
    status, _, told = ask(receiver, "/traces", lines + b'\n{"colour": 1}')
    assert (status, told["accepted"]) == (202, 5)
    assert [one["place"] for one in told["refused"]] == ["line 6"]
    assert count_queued(deployment) == 5
    assert ask(receiver, "/health/ready")[0] == 200
    series = ask(receiver, "/metrics")[2]
    assert 'ragsonde_receiver_messages_total{outcome="accepted"} 5.0' in series
    assert 'ragsonde_receiver_messages_total{outcome="refused"} 1.0' in series
    assert 'ragsonde_receiver_requests_total{path="/traces",status="202"} 1.0' in series


def test_many_clients_at_once_and_every_accepted_message_is_there(deployment):
    receiver = start(deployment)
    accepted = []

    def post(first):
        for number in range(first, 200, 8):
            body = json.dumps(write_native(number)).encode()
            accepted.append(ask(receiver, "/traces", body)[2]["accepted"])

    threads = [threading.Thread(target=post, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(accepted) == 200 == count_queued(deployment)


def test_what_it_takes_a_worker_scores(deployment):
    receiver = start(deployment)
    deployment.start_ready_worker()
    native = json.dumps([write_native(number) for number in range(3)]).encode()
    assert ask(receiver, "/traces", native)[2] == {"accepted": 3, "refused": []}
    deployment.wait_until_scored(3)


def test_a_full_queue_is_a_503_and_when_there_is_room_again_all_may_be_sent_again(rabbitmq_deployment):
    deployment = rabbitmq_deployment
    receiver = start(deployment)
    deployment.publish([])  # declares the queues
    limit = ["-p", deployment.vhost, "--apply-to", "queues", "short", r"^ragsonde\.traces$"]
    rabbitmqctl("set_policy", *limit, '{"max-length": 3}')
    body = b"\n".join(json.dumps(write_native(number)).encode() for number in range(50))

    # the broker looks at the length with a delay, so some more than three fit
    status, headers, told = wait_for(lambda: find_refusal(receiver, body), what="a full queue")

    assert (status, headers["Retry-After"]) == (503, "5")
    assert told["accepted"] < 50
    assert "its queue is full" in told["problem"]
    assert "its queue is full" in receiver.read_log()
    refused = [ask(receiver, "/traces", body)[0] for _ in range(20)]
    assert set(refused) == {503}
    assert len(list_connections(deployment)) <= 3, "refusals pile up no connections"
    rabbitmqctl("clear_policy", "-p", deployment.vhost, "short")
    taken = len(take_all(deployment))
    wait_for(lambda: ask(receiver, "/traces", body)[0] == 202, what="room")
    series = ask(receiver, "/metrics")[2]
    (accepted,) = re.findall(r'messages_total{outcome="accepted"} (\d+)', series)
    assert taken + count_queued(deployment) == int(accepted)


def take_all(deployment):
    """Takes the messages off the queue."""
    with open_channel(deployment.broker_url) as channel:
        taken = []
        while (message := channel.basic_get("ragsonde.traces")) is not None:
            channel.basic_ack(message.delivery_tag)
            taken.append(message.body)
        return taken


def find_refusal(receiver, body):
    answer = ask(receiver, "/traces", body)
    return answer if answer[0] == 503 else None


def list_connections(deployment):
    listed = rabbitmqctl("list_connections", "--quiet", "--formatter", "json", "vhost", "state")
    return [one for one in json.loads(listed.stdout) if one["vhost"] == deployment.vhost]


def test_connections_that_the_broker_closed_cost_nobody_an_answer(rabbitmq_deployment):
    receiver = start(rabbitmq_deployment)
    body = json.dumps(write_native(1)).encode()
    assert ask(receiver, "/traces", body)[0] == 202
    rabbitmqctl("close_all_connections", "-p", rabbitmq_deployment.vhost, "test")
    assert ask(receiver, "/traces", body)[0] == 202
    assert count_queued(rabbitmq_deployment) == 2


def test_without_a_broker_it_lives_is_not_ready_and_asks_to_come_again(embedded_deployment):
    deployment = embedded_deployment
    deployment.settings["RAGSONDE_BROKER_URL"] = "amqp://guest:hunter2@127.0.0.1:1//"
    receiver = start(deployment)
    export = {"Content-Type": "application/json"}
    for path, headers in (("/traces", None), ("/v1/traces", export)):
        body = EXPORT if headers else json.dumps(write_native(1)).encode()
        status, answered, told = ask(receiver, path, body, headers=headers)
        assert (status, answered["Retry-After"]) == (503, "5")
        assert "hunter2" not in str(told)
    assert told["code"] == 14
    assert ask(receiver, "/health/live")[0] == 200
    assert ask(receiver, "/health/ready")[0] == 503
    assert "hunter2" not in receiver.read_log()


EXPORT = json.dumps(
    {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"traceId": "5" * 32, "spanId": "6" * 16, "name": "answer"}]}]}
        ]
    }
).encode()


def test_a_broker_that_is_away_at_the_start_is_told_and_when_it_comes_everything_works(rabbitmq_deployment):
    deployment = rabbitmq_deployment
    port = find_port()
    deployment.settings["RAGSONDE_BROKER_URL"] = f"amqp://guest:guest@127.0.0.1:{port}/{deployment.vhost}"
    receiver = start(deployment)
    body = json.dumps(write_native(1)).encode()
    wait_for(lambda: "broker_away" in receiver.read_log(), seconds=30, what="an event")
    status, _, told = ask(receiver, "/health/ready")
    assert (status, told["status"]) == (503, "failing")
    assert "guest:guest" not in told["parts"]["broker"]
    assert ask(receiver, "/traces", body)[1]["Retry-After"] == "5"
    with open_road(port, to_port=5672):
        wait_for(lambda: ask(receiver, "/health/ready")[0] == 200, seconds=30, what="the broker")
        wait_for(lambda: ask(receiver, "/traces", body)[0] == 202, seconds=30, what="an accepted trace")
        assert "broker_back" in receiver.read_log()
    wait_for(lambda: ask(receiver, "/health/ready")[0] == 503, seconds=30, what="the loss")
    assert ask(receiver, "/traces", body)[0] == 503
    assert receiver.read_log().count("broker_away") == 2
    with open_road(port, to_port=5672):
        wait_for(lambda: ask(receiver, "/traces", body)[0] == 202, seconds=30, what="an accepted trace")
    assert count_queued(deployment) == 2


def test_a_thousand_silent_clients_keep_nobody_from_being_answered(embedded_deployment):
    receiver = start(embedded_deployment)
    where = urlsplit(receiver.url)
    with ExitStack() as stack:
        open_more_files(stack)
        for _ in range(1000):
            stack.enter_context(socket.create_connection((where.hostname, where.port), timeout=30))
        assert ask(receiver, "/health/live")[0] == 200
        assert ask(receiver, "/health/ready")[0] == 200
        assert ask(receiver, "/traces", json.dumps(write_native(1)).encode())[0] == 202
    wait_for(lambda: "connections_full" in receiver.read_log(), seconds=10, what="an event")


def open_more_files(stack):
    """Lets this process open the thousand."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2000 <= hard or hard == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))


def test_a_replaced_token_holds_at_once(embedded_deployment):
    deployment = embedded_deployment
    token = deployment.folder / "token"
    token.write_text("old")
    deployment.settings["RAGSONDE_RECEIVER__TOKEN_FILE"] = str(token)
    receiver = start(deployment)
    body = json.dumps(write_native(1)).encode()
    old, new = {"Authorization": "Bearer old"}, {"Authorization": "Bearer new"}
    assert ask(receiver, "/traces", body)[0] == 401
    assert ask(receiver, "/traces", body, headers=old)[0] == 202
    token.write_text("new")
    assert ask(receiver, "/traces", body, headers=old)[0] == 401
    assert ask(receiver, "/traces", body, headers=new)[0] == 202
    token.unlink()
    status, _, told = ask(receiver, "/traces", body, headers=new)
    assert (status, str(token) in told["problem"]) == (503, False), "without its token it lets nobody in"
    assert str(token) in receiver.read_log()
    assert ask(receiver, "/health/live")[0] == 200


def test_a_taken_port_is_one_clear_line(embedded_deployment):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = embedded_deployment.run("receiver", "--port", str(port))
    assert ended.returncode == 4
    (line,) = ended.stderr.strip().splitlines()
    assert f"port {port} is taken on 127.0.0.1" in line
    assert "--port" in line


def test_another_address_without_a_token_is_refused_and_with_insecure_bound(embedded_deployment):
    ended = embedded_deployment.run("receiver", "--host", "0.0.0.0", "--port", str(find_port()))
    assert ended.returncode == 2
    assert "no token" in ended.stderr
    receiver = start(embedded_deployment, "--host", "0.0.0.0", "--insecure")
    assert ask(receiver, "/health/live")[0] == 200


def test_sigterm_ends_it_at_once_with_0(deployment):
    receiver = start(deployment)
    with socket.create_connection(("127.0.0.1", urlsplit(receiver.url).port)):
        assert receiver.terminate(seconds=10) == 0
    assert "receiver_stopped" in receiver.read_log()


@pytest.mark.parametrize("keeps_connection", [True, False])
def test_what_was_accepted_before_sigterm_is_on_the_queue_exactly_once(rabbitmq_deployment, keeps_connection):
    receiver = start(rabbitmq_deployment)

    def write(name, number):
        return json.dumps(write_native(f"{name}-{number}")).encode()

    port = urlsplit(receiver.url).port
    posters = [Poster(port, partial(write, name), keeps_connection=keeps_connection) for name in range(6)]
    for poster in posters:
        poster.start()
    wait_for(lambda: all(len(poster.told) > 20 for poster in posters), seconds=30, what="many requests")
    assert receiver.terminate(seconds=20) == 0
    for poster in posters:
        poster.join(timeout=30)
    assert all(isinstance(poster.end, ConnectionError) for poster in posters)
    assert {status for poster in posters for status in poster.told.values()} == {202}
    accepted = [body for poster in posters for body in poster.told]
    assert sorted(take_all(rabbitmq_deployment)) == sorted(accepted)
