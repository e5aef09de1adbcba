"""How a place inside a message is written: `contexts[2].content`."""

from __future__ import annotations

import json
import re

_PLAIN_KEY = re.compile(r"[\w$@:/-]{1,60}(?:\.[\w$@:/-]{1,60}){0,6}")
_KEY_CHARACTERS = 60


def format_path(*parts: str | int) -> str:
    """The place that `parts` lead to: indices in brackets, odd keys quoted and cut to 60 characters."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            path += f".{part}" if path else part
        else:
            path += f"[{json.dumps(part[:_KEY_CHARACTERS])}]"
    return path or "message"
