"""Under which names a server without a token is read.

A browser takes `evil.example` and what answers there for one origin, also when its owner lets the name
point to 127.0.0.1 (DNS rebinding): so a page from elsewhere could read ours by a name of its own. The name
stands in the header Host. Nobody can do so with an address.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_PORT = re.compile(r":[0-9]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNames:
    """Tells the names that are ours from others.

    Attributes:
        bound: the address or name that the server binds.
        names: further ones, as configured.
    """

    bound: str = "127.0.0.1"
    names: tuple[str, ...] = ()

    def admits(self, header: str | None) -> bool:
        """True for addresses, `localhost`, what is bound, what is configured, and where there is no header.

        Where other machines can reach the server, also for names without a dot, as services have in a network
        of containers: nobody from elsewhere owns one.
        """
        name = _read_name(header or "")
        if not name or is_address(name) or name == "localhost" or name.endswith(".localhost"):
            return True
        if name in {self.bound.casefold(), *(one.casefold() for one in self.names)}:
            return True
        return "." not in name and is_address(self.bound) and not ipaddress.ip_address(self.bound).is_loopback

    def describe(self, header: str | None) -> str:
        """What was found, what was expected, what to do."""
        found = (header or "")[:100]
        return (
            f"found the name {found} in the header Host, expected an address, localhost or one of our names; "
            "without a token any web page could read this by a name of its own: add yours to the setting "
            "host_names"
        )


def is_address(text: str) -> bool:
    """True for an IPv4 or IPv6 address without brackets."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _read_name(header: str) -> str:
    name = _PORT.sub("", header.strip()).casefold()
    if name.startswith("[") and name.endswith("]"):
        return name[1:-1]
    return name.removesuffix(".")
