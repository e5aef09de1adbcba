"""The part of a prompt that an application filled with what it retrieved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.tagged_sections import find_tagged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.trace import Turn

_WORDS = (
    r"contexts?|documents?|sources?|passages?|excerpts?|snippets?|knowledge(?:[ _]base)?|search[ _]results?"
    r"|retrieved[ _]\w{1,20}|reference[ _]material"
)
_TAG = re.compile(rf"<({_WORDS})>", re.IGNORECASE)
_HEADING = re.compile(
    rf"^[ \t#*>-]{{0,10}}(?:[\w']{{1,20}}[ ]){{0,8}}(?:{_WORDS})(?:[ ][\w']{{1,20}}){{0,5}}"
    r"(?:[*]{0,2}:[*]{0,2}|[ ](?:is|are)[ ]below\.)(?=\s|$)",
    re.IGNORECASE | re.MULTILINE,
)
_QUESTION = re.compile(
    r"^[ \t#*]{0,10}(?:user[' s]{0,3} ?)?(?:question|query|input)[*]{0,2}:", re.IGNORECASE | re.MULTILINE
)
_PARTS = (
    r"(?:your[ ])?(?:task|instructions?|rules?|guidelines?|constraints?|persona|role|style|tone)"
    r"|(?:output|response|answer|reply)[ ](?:format|rules?|style)|important(?:[ ](?:rules|notes?))?"
    r"|(?:chat|conversation|message)?[ ]?history|(?:previous[ ])?conversation(?:[ ]so[ ]far)?"
)
_FOLLOWING = re.compile(
    rf"^(?:(?P<mark>[ \t]*(?:[#]{{1,6}}[ ]|[*]{{2}}))|[ \t]{{0,3}})(?:{_PARTS})"
    r"(?:[*]{0,2}:[*]{0,2}|(?(mark)(?:[*]{2})?|:))[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A heading on a line of its own that announces another part of a prompt."""

_REPLY = re.compile(r"\n[ \t#*]{0,10}(?:\w{1,20} )?(?:answer|response)[*]{0,2}:[*]{0,2}\s*\Z", re.IGNORECASE)
"""Where a prompt ends in the word that the model is to go on after."""

_RULE = re.compile(r'[ \t]*([-=_*~]{3,}|"{3}|`{3})[ \t]*\n')


class PromptSection(NamedTuple):
    """What a prompt was filled with, and the role of the message that it stood in."""

    text: str
    role: str


def find_prompt_section(text: str) -> str | None:
    """What stands between tags like <context>, else below a heading like `Context:`; None where neither is.

    A section below a heading ends where a question is announced or another part of the prompt is headed;
    between two rules (`-----`) it is what stands between them.
    """
    tagged = find_tagged(text, words=_WORDS)
    if tagged is not None:
        return tagged
    heading = _HEADING.search(text)
    return None if heading is None else _read_below(text, heading.end())


def find_section_given(turns: Sequence[Turn]) -> PromptSection | None:
    """The section in what a model was given for its last question: by the user, else by the system.

    What the user was answered before had its own contexts. A user's own words may look like a heading: they
    count only where the message also announces a question or leaves the heading a line of its own.
    """
    for turn in _list_asking(turns):
        section = find_prompt_section(turn.content) if _is_template(turn.content) else None
        if section is not None:
            return PromptSection(section, turn.role)
    for turn in reversed(turns):
        section = find_prompt_section(turn.content) if turn.role == "system" else None
        if section is not None:
            return PromptSection(section, turn.role)
    return None


def _list_asking(turns: Sequence[Turn]) -> list[Turn]:
    """The user's turns since the last reply before the last question, last first."""
    asking: list[Turn] = []
    for turn in reversed(turns):
        if turn.role == "user":
            asking.append(turn)
        elif asking and turn.role == "assistant":
            break
    return asking


def _is_template(text: str) -> bool:
    if _TAG.search(text) is not None or _QUESTION.search(text) is not None:
        return True
    heading = _HEADING.search(text)
    return heading is not None and text[heading.end() :].lstrip(" \t").startswith("\n")


def _read_below(text: str, start: int) -> str | None:
    below = text[start:].lstrip()
    rule = _RULE.match(below)
    end = below.find(f"\n{rule[1]}", rule.end()) if rule is not None else -1
    if rule is not None and end >= 0:
        return below[rule.end() : end].strip() or None
    following = [found.start() for part in (_QUESTION, _FOLLOWING) if (found := part.search(below))]
    section = below[: min(following)] if following else _REPLY.sub("", below)
    return section.strip() or None
