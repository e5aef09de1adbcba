"""A report as Markdown and as HTML: what stands in it, and that nothing in it breaks out."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from fakes.reports import (
    make_cost,
    make_empty_report,
    make_fall,
    make_line,
    make_place,
    make_report,
    make_worst,
)
from ragsonde.reporting.figures import NO_TRACE
from ragsonde.reporting.html import write_html
from ragsonde.reporting.markdown import escape_markdown, write_markdown

HOSTILE = "<img src=x onerror=alert(1)> | [a](javascript:alert(1)) `b`\n# c \u202e\x1b[31m www.evil.example http://e"
EVIL_LINK = 'https://page.example/traces/t?a="><script>&|\\'


class Reader(HTMLParser):
    """What elements and attributes a file has, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def make_hostile():
    line = make_line(scorer=HOSTILE, judge=HOSTILE, name=HOSTILE)
    worst = make_worst(trace_id=HOSTILE, reason=HOSTILE, link=EVIL_LINK)
    place = make_place(app=HOSTILE, environment=HOSTILE, scorers=(line,), worst=(worst,))
    release = place.releases[0].model_copy(update={"name": HOSTILE})
    place = place.model_copy(update={"releases": (release,)})
    fall = make_fall(app=HOSTILE, words=HOSTILE, reason=HOSTILE, link=EVIL_LINK)
    return make_report(app=HOSTILE, places=(place,), falls=(fall,), costs=(make_cost(judge=HOSTILE),))


@pytest.mark.parametrize("write", [write_markdown, lambda report: Reader(write_html(report)).text])
def test_all_that_owners_ask_for_is_in_it(write):
    told = re.sub(r"\\|&nbsp;", "", write(make_report())).replace("\u00a0", " ")
    for words in [
        "2026-05-31 00:00 to 2026-06-30 00:00 UTC",
        "1,006 traces seen; 903 in the time before",
        "4 empty retrieval",
        "0.70 (0.68 to 0.72)",
        "-0.10 (-0.12 to -0.08), worse; was 0.80 over 900",
        "fell by .12 (.08 to .16)",
        "a page, recovered",
        "2 d",
        "3 pages in the 365 days up to this report, 1 called false by a person. Chance alone may",
        "0.2500 USD",
        "50 of 1,000 (5 %)",
        "answered by the model m",
        "2.4",
        "context_precision by lexical 0.71 (10)",
        "none of 5 contexts is relevant",
        "0.800 at first, 0.700 now over 30 traces (-0.100, standard error 0.010): the judge moved",
        "gpt and lexical agree about 90 % of 90 contexts",
        "2 invalid json",
    ]:
        assert words in told


def test_bars_show_what_is_there_however_little():
    assert "| ··▁··▂·▇█· |" in write_markdown(make_report())


@pytest.mark.parametrize("write", [write_markdown, write_html])
def test_an_empty_database_is_said_to_be_empty(write):
    told = write(make_empty_report())
    assert NO_TRACE in told
    assert "No fall was told or open in this time." in told
    assert "No judge looked at any trace in this time." in told
    assert "0.0000" not in told


def test_html_loads_nothing_from_anywhere():
    told = write_html(make_hostile())
    reader = Reader(told)
    assert not {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "audio",
        "video",
        "image",
        "use",
    }.intersection(reader.tags)
    loading = {"src", "srcset", "background", "poster", "data", "action", "xlink:href", "style", "ping"}
    assert [one for one in reader.attributes if one[1] in loading or one[1].startswith("on")] == []
    assert {one[0] for one in reader.attributes if one[1] == "href"} == {"a"}
    style = told[told.index("<style>") : told.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style
    assert (
        "meta",
        "content",
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    ) in reader.attributes


def test_html_shows_hostile_text_as_text():
    reader = Reader(write_html(make_hostile()))
    assert "<img src=x onerror=alert(1)>" in reader.text
    links = {one[2] for one in reader.attributes if one[1] == "href"}
    assert links == {"#main", EVIL_LINK}
    assert "\u202e" not in "".join(value or "" for _, name, value in reader.attributes if name != "href")


def test_each_hostile_text_of_html_keeps_its_direction_to_itself():
    told = write_html(make_hostile())
    title = told[told.index("<title>") : told.index("</title>")]
    assert "\u202e" not in title
    outside = re.sub(r"<bdi>.*?</bdi>", "", told[told.index("<body>") :], flags=re.DOTALL)
    assert "\u202e" not in outside


def test_markdown_leads_to_each_fall():
    falls = tuple(make_fall(number=n, link=link) for n, link in ((3, "https://p.example/falls/3"), (4, "")))
    told = write_markdown(make_report(falls=falls))
    assert "On the page, in the same order: [3](<https://p.example/falls/3>)." in told


def test_markdown_shows_hostile_text_as_text():
    told = write_markdown(make_hostile())
    assert "<img" not in told
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert not re.search(r"(?<!\\)\[a(?<!\\)\]", told)
    assert "](javascript" not in told.replace("\\]", "")
    assert not re.search(r"(?i)www\.", told)
    assert "http://" not in told
    for line in told.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in {5, 6, 7, 8, 9}
        assert not line.startswith("# c")
    assert '(<https://page.example/traces/t?a="%3E%3Cscript%3E&%7C%5C>)' in told


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("context_precision", r"context\_precision"),
        ("a\nb\t c", "a b c"),
        ("a|b", r"a\|b"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("back\\", "back\\\\"),
        ("2.4.1", "2.4.1"),
        ("WWW.x", "WWW\\.x"),
        ("https://x", "https\\://x"),
    ],
)
def test_markup_is_escaped(text, shown):
    assert escape_markdown(text) == shown


@pytest.mark.parametrize("write", [write_markdown, write_html])
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"cost_usd": None, "unpriced": 3}, "unknown: the price of 3 evaluations is not known"),
        ({"cost_usd": 0.5, "unpriced": 1}, "0.5000 USD, and an unknown price for 1 evaluation"),
        ({"cost_usd": 0.0, "calls": 0}, "no call, no cost"),
        ({"cost_usd": 0.0}, "0.0000 USD"),
    ],
)
def test_an_unknown_price_is_unknown_and_never_nothing(write, fields, words):
    told = write(make_report(costs=(make_cost(**fields),)))
    assert words in told
    assert ("0.0000 USD" in told) == (words == "0.0000 USD")


def test_what_is_left_out_is_said():
    report = make_report(
        more_places=3, more_falls=True, brought=9, kept_days=90, places=(make_place(more_releases=4),)
    )
    for told in (write_markdown(report), Reader(write_html(report)).text):
        assert "3 more apps" in told
        assert "There are more than these." in told
        assert "9 traces that a backfill brought" in told
        assert "kept for 90 days" in told
        assert "4 more releases" in told


def test_html_reads_on_paper_in_the_dark_and_on_a_phone():
    told = write_html(make_report())
    assert "@media print" in told
    assert "prefers-color-scheme: dark" in told
    assert "@media (max-width: 37.5rem)" in told
    cells = re.findall(r"<td(?![^>]*data-name)", told)
    assert cells == []
