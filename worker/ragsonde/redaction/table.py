"""Every built-in pattern, read top to bottom: where places overlap, the one that begins first names it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ragsonde.redaction.addresses import find_emails, find_ip_addresses
from ragsonde.redaction.credentials import find_keys
from ragsonde.redaction.numbers import find_cards, find_ibans, find_phones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ragsonde.redaction.matches import Match

    Find = Callable[[str], Iterator[Match]]

KINDS: Mapping[str, Find] = MappingProxyType(
    {
        "key": find_keys,
        "email": find_emails,
        "iban": find_ibans,
        "card": find_cards,
        "phone": find_phones,
        "ip": find_ip_addresses,
    }
)
