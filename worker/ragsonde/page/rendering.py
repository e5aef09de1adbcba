"""Templates: everything that is put into one is escaped, and a name that is missing is an error."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


def render(template: str, **values: object) -> str:
    """The HTML of a template of `page/templates`."""
    return _load().get_template(template).render(values)


@cache
def _load() -> Environment:
    return Environment(
        loader=PackageLoader("ragsonde.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
