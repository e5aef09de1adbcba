"""Charts: where their points stand, and what they say to who does not see them."""

import re
from datetime import date
from xml.etree import ElementTree as ET

import pytest

from ragsonde.page.charts import HEIGHT, WIDTH, draw_bar, draw_trend
from ragsonde_schemas.watched import DayMean


def day(number, mean):
    return DayMean(day=date(2026, 10, number), n=5, mean=mean)


def read_points(svg):
    points = ET.fromstring(svg).find("polyline").get("points").split()  # noqa: S314 - our own
    return [tuple(float(part) for part in point.split(",")) for point in points]


def test_time_goes_right_and_better_goes_up():
    (x1, y1), (x2, y2), (x3, y3) = read_points(draw_trend([day(1, 0.0), day(2, 1.0), day(4, 0.5)], name="p"))
    assert 0 <= x1 < x2 < x3 <= WIDTH
    assert x2 - x1 == pytest.approx((x3 - x2) / 2, abs=0.2)  # one day, then two
    assert HEIGHT >= y1 > y3 > y2 >= 0


def test_it_says_in_words_what_it_shows():
    said = re.search(r'aria-label="([^"]*)"', draw_trend([day(1, 0.25), day(2, 0.75)], name="position"))[1]
    assert said == "position: daily mean of Oct 01 to Oct 02, from 0.25 to 0.75, lowest 0.25, highest 0.75"


def test_one_day_is_a_point_and_none_is_nothing():
    assert len(read_points(draw_trend([day(1, 0.5)], name="p"))) == 1
    assert draw_trend([], name="p") == ""


def test_names_are_escaped():
    assert "<b>" not in draw_trend([day(1, 0.5)], name='"><b>')


@pytest.mark.parametrize(("share", "width"), [(-1, "0.0"), (0.25, "25.0"), (7, "100.0")])
def test_a_bar_is_filled_as_far_as_the_share_and_no_further(share, width):
    filled = ET.fromstring(draw_bar(share, said="s")).findall("rect")[1]  # noqa: S314 - our own
    assert filled.get("width") == width
