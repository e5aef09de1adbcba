"""Owns an embedded stack: says where it is, waits for a line, and leaves without stopping it.

Arguments: data directory, state directory, and `outlived` where the servers shall not hear of this process'
death, as on a system without a death signal.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ragsonde.servers import server_process
from ragsonde.servers.stack import EmbeddedStack

UNLEASHED = {"death_signal": 0}


def main() -> None:
    if "outlived" in sys.argv[3:]:
        spawn = server_process.spawn
        server_process.spawn = lambda argv, **conditions: spawn(argv, **conditions | UNLEASHED)
    stack = EmbeddedStack(Path(sys.argv[1]), state_dir=Path(sys.argv[2]))
    urls = stack.start()
    sys.stdout.write(json.dumps([urls.database_url, urls.broker_url]) + "\n")
    sys.stdout.flush()
    sys.stdin.readline()


if __name__ == "__main__":
    main()
