"""A package that is installed beside ragsonde adds a format, by nothing but its entry point."""

import json

import pytest

from builders.envelopes import wrap
from ragsonde.decoding.table import decode
from ragsonde.plugins.formats import load_formats
from ragsonde_schemas.errors import ConfigError

OWN = """
from ragsonde.decoding.formats import JsonFormat
from ragsonde_schemas.decoded import Decoded, DecodedMessage
from ragsonde_schemas.message import TraceMessage


def decode(document, limits):
    value = document.value
    message = TraceMessage(trace_id=value["acme_id"], query=value["ask"], contexts=value["found"])
    return Decoded(format="acme", records=(DecodedMessage(message=message),))


FORMAT = JsonFormat("acme", frozenset(), lambda value: isinstance(value, dict) and "acme_id" in value, decode)
CLASH = JsonFormat("native", frozenset(), lambda value: False, decode)
NOTHING = 5
"""


@pytest.fixture
def install(packages):
    """Installs a package whose entry point leads to an object of its module."""

    def write(target, *, code=OWN):
        packages.write("acme_traces", group="ragsonde.formats", points={"acme": target}, code=code)

    return write


def test_its_messages_are_decoded_and_its_name_is_known(install):
    install("FORMAT")
    body = json.dumps({"acme_id": "a-1", "ask": "How long?", "found": ["14 days."]}).encode()
    decoded = decode(wrap(body), formats=load_formats())
    (record,) = decoded.records
    assert (decoded.format, record.message.trace_id, record.message.contexts) == ("acme", "a-1", ["14 days."])
    assert "acme" in load_formats().names


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("CLASH", "native"),
        ("NOTHING", "found a int, expected a JsonFormat or BinaryFormat"),
        ("MISSING", "cannot be loaded"),
    ],
)
def test_one_that_cannot_be_used_is_refused_by_name(install, target, problem):
    install(target)
    with pytest.raises(ConfigError, match=problem):
        load_formats()


def test_one_whose_import_fails_is_refused_by_name(install):
    install("FORMAT", code="1 / 0")
    with pytest.raises(ConfigError, match=r"acme = acme_traces:FORMAT.*ZeroDivisionError"):
        load_formats()
