"""The part of a system message that an application filled with what it retrieved."""

from __future__ import annotations

import re

_WORDS = (
    r"contexts?|documents?|sources?|passages?|excerpts?|snippets?|knowledge(?:[ _]base)?|search[ _]results?"
    r"|retrieved[ _]\w{1,20}|reference[ _]material"
)
_TAG = re.compile(rf"<({_WORDS})>", re.IGNORECASE)
_HEADING = re.compile(
    rf"^[ \t#*>-]{{0,10}}(?:[\w']{{1,20}}[ ]){{0,8}}(?:{_WORDS})(?:[ ][\w']{{1,20}}){{0,5}}"
    r"[*]{0,2}:[*]{0,2}(?=\s|$)",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT = re.compile(
    r"^[ \t#*]{0,10}(?:user[' s]{0,3} ?)?(?:question|query|input)[*]{0,2}:", re.IGNORECASE | re.MULTILINE
)


def find_prompt_section(text: str) -> str | None:
    """What stands between tags like <context>, else below a heading like `Context:`; None where neither is.

    A section below a heading ends where a question is announced.
    """
    tag = _TAG.search(text)
    if tag is not None:
        end = text.lower().find(f"</{tag[1].lower()}>", tag.end())
        section = text[tag.end() : end if end >= 0 else len(text)].strip()
        return section or None
    heading = _HEADING.search(text)
    if heading is None:
        return None
    following = _NEXT.search(text, heading.end())
    return text[heading.end() : following.start() if following else len(text)].strip() or None
