r"""Finds e-mail and IP addresses, in time that grows with the text and no faster.

Every repeat is possessive (`++`) and begins only where its run of characters begins, so that no character is
looked at more than a few times.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from ragsonde.redaction.matches import Match

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCAL = r"\w.!#$'*+^`~-"
"""Of what RFC 5322 allows before the @: not / = ? & { | } %, which surround addresses in links."""
_AT = r"(?:@|\uff20|%40|\\u0040)"
_LETTERS = r"[^\W\d_]{2}"
_EMAIL = re.compile(
    rf"(?:(?<![{_LOCAL}])[{_LOCAL}]++|\"[^\"\n@]{{1,64}}\"){_AT}"
    rf"[\w-]++(?:\.(?!{_LETTERS})[\w-]++)*+\.(?={_LETTERS})[\w-]++(?:\.[\w-]++)*+"
)
"""From the second label of the domain on, one begins with two letters: `pkg@1.2.3` is a version."""

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w]|\.[0-9])")
_VERSION = re.compile(r"(?:version|release|v)[ .:=]{0,2}\Z", re.IGNORECASE)
_LONGEST_VERSION_WORD = 9
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")


def find_emails(text: str) -> Iterator[Match]:
    """Addresses with a domain of letters, whatever stands around them."""
    if "@" not in text and "%40" not in text and "\uff20" not in text and "\\u0040" not in text:
        return
    for found in _EMAIL.finditer(text):
        yield Match(*found.span(), "email")


def find_ip_addresses(text: str) -> Iterator[Match]:
    """IPv4 addresses that no word calls a version, and IPv6 addresses that are no time of day."""
    for found in _IPV4.finditer(text):
        before = text[max(0, found.start() - _LONGEST_VERSION_WORD) : found.start()]
        if _VERSION.search(before) is None:
            yield Match(*found.span(), "ip")
    for found in _IPV6.finditer(text):
        if _is_ipv6(found.group()):
            yield Match(*found.span(), "ip")


def _is_ipv6(text: str) -> bool:
    """True for an address with a digit in it: `a::b` is more often code."""
    groups = [group for group in text.split(":") if group]
    if not any(character.isdigit() for character in text) or len(groups) + ("::" in text) <= 1:
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
