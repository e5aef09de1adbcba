"""Which transport a broker URL means."""

from __future__ import annotations

from kombu.transport import TRANSPORT_ALIASES

_EMBEDDED = "redis+socket://"
_OUR_SCHEME = "ragsonde-valkey"
_CONSUMER_SCHEMES = {
    "amqp": "ragsonde-amqp",
    "pyamqp": "ragsonde-amqp",
    "amqps": "ragsonde-amqps",
}

# by name, loaded when used: kombu's Redis transport needs packages of the embedded extra
TRANSPORT_ALIASES[_OUR_SCHEME] = "ragsonde.intake.valkey_transport:Transport"
TRANSPORT_ALIASES["ragsonde-amqp"] = "ragsonde.intake.amqp_transport:Transport"
TRANSPORT_ALIASES["ragsonde-amqps"] = "ragsonde.intake.amqp_transport:SSLTransport"


def is_amqp_url(broker_url: str) -> bool:
    """True for RabbitMQ, False for the embedded Valkey."""
    return broker_url.startswith(("amqp", "pyamqp"))


def name_transport(broker_url: str) -> str:
    """The URL as kombu takes it: the embedded broker's leads to our transport with a journal."""
    if not broker_url.startswith(_EMBEDDED):
        return broker_url
    return f"{_OUR_SCHEME}+socket://{broker_url.removeprefix(_EMBEDDED)}"


def name_consumer_transport(broker_url: str) -> str:
    """The URL as kombu takes it for consuming: on RabbitMQ a transport that trusts no property."""
    scheme, _, rest = broker_url.partition("://")
    if scheme in _CONSUMER_SCHEMES:
        return f"{_CONSUMER_SCHEMES[scheme]}://{rest}"
    return name_transport(broker_url)
