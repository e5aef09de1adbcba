"""Charts: where their points stand, and what they say to who does not see them."""

import re
from datetime import date
from xml.etree import ElementTree as ET

import pytest

from ragsonde.page.charts import HEIGHT, WIDTH, BinLink, draw_bar, draw_histogram, draw_trend
from ragsonde_schemas.watched import DayMean

LAST = date(2026, 10, 14)


def day(number, mean):
    return DayMean(day=date(2026, 10, number), n=5, mean=mean)


def draw(*days, name="p"):
    return draw_trend(days, until=LAST, name=name)


def read_runs(svg):
    lines = ET.fromstring(svg).findall("polyline")  # noqa: S314 - our own
    return [
        [tuple(float(part) for part in point.split(",")) for point in line.get("points").split()]
        for line in lines
    ]


def test_time_goes_right_and_better_goes_up():
    ((x1, y1), (x2, y2), (x3, y3)) = read_runs(draw(day(1, 0.0), day(2, 1.0), day(3, 0.5)))[0]
    assert 0 <= x1 < x2 < x3 <= WIDTH
    assert HEIGHT >= y1 > y3 > y2 >= 0


def test_the_axis_is_two_weeks_however_few_days_have_a_score():
    (((left, _),), ((right, _),)) = read_runs(draw(day(1, 0.5), day(14, 0.5)))
    assert (left, right) == (pytest.approx(4), pytest.approx(WIDTH - 4))
    ((before, _), (last, _)) = read_runs(draw(day(13, 0.5), day(14, 0.5)))[0]
    assert last - before == pytest.approx((WIDTH - 8) / 13, abs=0.2)


def test_a_day_without_a_score_is_a_gap():
    runs = read_runs(draw(day(1, 0.2), day(2, 0.3), day(5, 0.9)))
    assert [len(run) for run in runs] == [2, 1]
    assert len(ET.fromstring(draw(day(1, 0.2), day(5, 0.9))).findall("path")) == 2  # noqa: S314 - our own


def test_days_before_the_two_weeks_are_left_out():
    assert draw_trend([day(1, 0.5)], until=date(2026, 10, 15), name="p") == ""


def test_it_says_in_words_what_it_shows():
    said = re.search(r'aria-label="([^"]*)"', draw(day(13, 0.25), day(14, 0.75), name="position"))[1]
    assert said == (
        "position: daily mean of 2 of 14 days up to Oct 14, from 0.25 to 0.75, lowest 0.25, highest 0.75, "
        "none on 12"
    )


def test_none_is_nothing():
    assert draw() == ""
    assert draw_histogram([BinLink(0)] * 10, name="p") == ""


def test_names_are_escaped():
    assert "<b>" not in draw(day(1, 0.5), name='"><b>')
    assert "<b>" not in draw_histogram([BinLink(1, '"><b>')], name='"><b>')


def test_a_histogram_has_a_bar_for_each_tenth_that_holds_scores_and_each_leads_on():
    bins = [BinLink(0), BinLink(3, "/traces?bin=1"), BinLink(1, "/traces?bin=2"), *[BinLink(0)] * 7]
    chart = ET.fromstring(draw_histogram(bins, name="position"))  # noqa: S314 - our own
    assert [link.get("href") for link in chart.findall("a")] == ["/traces?bin=1", "/traces?bin=2"]
    assert [link.get("aria-label") for link in chart.findall("a")] == [
        "0.1 to 0.2: 3 of 4",
        "0.2 to 0.3: 1 of 4",
    ]
    first, second = (float(link.find("rect").get("height")) for link in chart.findall("a"))
    assert first == pytest.approx(3 * second)
    assert "4 scores by tenths" in chart.get("aria-label")


@pytest.mark.parametrize(("share", "width"), [(-1, "0.0"), (0.25, "25.0"), (7, "100.0")])
def test_a_bar_is_filled_as_far_as_the_share_and_no_further(share, width):
    filled = ET.fromstring(draw_bar(share, said="s")).findall("rect")[1]  # noqa: S314 - our own
    assert filled.get("width") == width
