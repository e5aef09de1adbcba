"""Templates: everything that is put into one is escaped, and a name that is missing is an error."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ragsonde.page.wording import drop_probability, say_score

_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of what follows them."""


class Missing(str):
    """HTML that says of something that it is not there: 404."""

    __slots__ = ()


class Partial(str):
    """HTML without what Postgres holds, because it is away: 503."""

    __slots__ = ()


def render(template: str, **values: object) -> str:
    """The HTML of a template of `page/templates`."""
    return _load().get_template(template).render(values)


def show_foreign(value: object) -> Markup:
    """A producer's text, or several with semicolons, so that its direction changes nothing around it."""
    texts = value if isinstance(value, tuple | list) else (value,)
    return Markup("; ").join(Markup("<bdi>{}</bdi>").format(text) for text in texts)


def drop_directions(value: object) -> str:
    """The same for a title or an attribute, which can hold no elements."""
    return _DIRECTIONS.sub("", str(value))


@cache
def _load() -> Environment:
    environment = Environment(
        loader=PackageLoader("ragsonde.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "foreign": show_foreign,
        "plain": drop_directions,
        "score": say_score,
        "without_probability": drop_probability,
    }
    return environment
