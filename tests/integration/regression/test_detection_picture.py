"""The picture of a detection in the docs is what the detector does now."""

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks/detector"))

from draw_detection import FILE, draw_detection

NAMESPACE = "http://www.w3.org/2000/svg"


def test_it_is_current():
    assert draw_detection() == FILE.read_text(), "make detection-picture"


def test_it_is_whole_and_refers_to_nothing_else():
    told = FILE.read_text()
    root = ET.fromstring(told)  # noqa: S314 - our own file
    assert root.tag == f"{{{NAMESPACE}}}svg"
    assert told.count("http") == 1  # its namespace
    for element in root.iter():
        assert element.tag.removeprefix(f"{{{NAMESPACE}}}") in {"svg", "title", "rect", "text", "polyline"}
        assert not {name for name in element.attrib if "href" in name or name.startswith("on")}


def test_it_shows_the_warning_before_the_page():
    root = ET.fromstring(FILE.read_text())  # noqa: S314 - our own file
    places = {text.text: float(text.get("x")) for text in root.iter(f"{{{NAMESPACE}}}text")}
    assert places["the fall"] < places["warning"] < places["page"]
