"""deploy/rabbitmq says what intake/topology.py declares."""

import base64
import hashlib
import json
import re
import runpy

import pytest

from builders.manifests import DEPLOY
from ragsonde.intake.topology import DEAD_EXCHANGE, TRACE_EXCHANGE, WORK_EXCHANGE, build_own_queues
from ragsonde.settings.fields import DELIVERY_SECONDS

FOLDER = DEPLOY / "rabbitmq"
DEFINITIONS = json.loads((FOLDER / "definitions.json").read_text())
PROGRAM = runpy.run_path(str(FOLDER / "fill_passwords.py"), run_name="fill_passwords")
QUEUES = build_own_queues(is_amqp=True)
VHOST = "ragsonde"


def test_queues_have_the_arguments_of_the_code():
    assert DEFINITIONS["queues"] == [
        {
            "name": queue.name,
            "vhost": VHOST,
            "durable": queue.durable,
            "auto_delete": queue.auto_delete,
            "arguments": queue.queue_arguments,
        }
        for queue in QUEUES
    ]


def test_exchanges_are_those_of_the_code():
    assert {
        (one["name"], one["type"], one["durable"], one["auto_delete"]) for one in DEFINITIONS["exchanges"]
    } == {
        (one.name, one.type, one.durable, one.auto_delete)
        for one in (TRACE_EXCHANGE, WORK_EXCHANGE, DEAD_EXCHANGE)
    }


def test_bindings_are_those_of_the_code():
    assert [(one["source"], one["destination"], one["routing_key"]) for one in DEFINITIONS["bindings"]] == [
        (queue.exchange.name, queue.name, queue.routing_key) for queue in QUEUES
    ]


def test_what_producers_fill_is_limited_and_refuses():
    (policy,) = DEFINITIONS["policies"]
    limited = [queue.name for queue in QUEUES if re.search(policy["pattern"], queue.name)]
    assert limited == ["ragsonde.traces"]
    assert policy["definition"]["overflow"] == "reject-publish"
    assert {"max-length", "max-length-bytes"} <= policy["definition"].keys()


@pytest.mark.parametrize("right", ["configure", "write", "read"])
def test_a_user_has_rights_on_what_is_ours_and_a_producer_on_one_exchange(right):
    rights = {one["user"]: one[right] for one in DEFINITIONS["permissions"]}
    names = {"ragsonde", *(queue.name for queue in QUEUES), *(queue.exchange.name for queue in QUEUES)}
    assert all(re.search(rights["ragsonde"], name) for name in names)
    assert not re.search(rights["ragsonde"], "amq.topic")
    assert not re.search(rights["ragsonde"], "ragsondes")
    assert {name for name in names if re.search(rights["producer"], name)} == (
        {"ragsonde"} if right == "write" else set()
    )


def test_no_password_is_in_the_file():
    assert {user["password_hash"] for user in DEFINITIONS["users"]} == {""}
    assert {user["name"] for user in DEFINITIONS["users"]} == {"ragsonde", "producer"}


def test_a_hash_is_of_salt_and_password():
    found = base64.b64decode(PROGRAM["hash_password"]("secret", salt=b"salt"))
    assert found == b"salt" + hashlib.sha256(b"saltsecret").digest()


def test_filled_are_those_who_are_named():
    filled = PROGRAM["fill"](DEFINITIONS, passwords={"ragsonde": "secret"})
    hashes = {user["name"]: user["password_hash"] for user in filled["users"]}
    assert len(base64.b64decode(hashes["ragsonde"])) == 4 + 32
    assert hashes["producer"] == ""
    assert {**filled, "users": None} == {**DEFINITIONS, "users": None}


@pytest.mark.parametrize(
    ("passwords", "told"),
    [
        ({"somebody": "x"}, "found the user somebody, expected one of producer, ragsonde"),
        ({"ragsonde": ""}, "found an empty password of ragsonde"),
    ],
)
def test_what_cannot_be_filled_is_told(passwords, told):
    with pytest.raises(ValueError, match=told):
        PROGRAM["fill"](DEFINITIONS, passwords=passwords)


def test_the_broker_waits_longer_for_an_ack_than_a_worker_keeps_a_message():
    conf = (FOLDER / "rabbitmq.conf").read_text()
    (milliseconds,) = re.findall(r"^consumer_timeout = (\d+)$", conf, re.MULTILINE)
    assert int(milliseconds) / 1000 >= 1.5 * DELIVERY_SECONDS
