# ruff: noqa: INP001  # a program, in no package
"""Asks the process of this container whether it is well: health.py [PORT [live|ready]]; exit code 0 says yes.

Without a port it is whichever of worker, monitor and receiver listens here on its usual one. It imports
nothing of ragsonde's, so that asking often costs little.
"""

from __future__ import annotations

import http.client
import sys

PORTS = (9321, 8321, 4318)
"""Of a worker, the monitor and the receiver, as settings have them by default."""
TIMEOUT_SECONDS = 5.0
"""Beyond the 4 s within which the address itself answers."""


def ask(port: int, *, question: str) -> bool | None:
    """Whether the process on a port is well; None where nothing listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", f"/health/{question}")
        return connection.getresponse().status == http.client.OK
    except ConnectionRefusedError:
        return None
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main(arguments: list[str]) -> int:
    """0 where one that listens is well, else 1."""
    ports = (int(arguments[0]),) if arguments else PORTS
    question = arguments[1] if arguments[1:] else "live"
    answers = [answer for port in ports if (answer := ask(port, question=question)) is not None]
    return 0 if answers and all(answers) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
