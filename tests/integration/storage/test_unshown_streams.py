"""Streams of versions that were only tried: nobody is told of them, and who wants to see them names them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from ragsonde.cli.detected_streams import DetectionWish
from ragsonde.cli.stored_histories import StoredHistories, StreamChoice
from ragsonde.regression.options import RegressionOptions
from ragsonde.storage.block_changes import list_changed
from ragsonde.storage.chosen_baselines import find_streams
from ragsonde.storage.rescored import activate_versions
from ragsonde.storage.unshown_streams import find_tried, find_unshown
from ragsonde.storage.watched_streams import read_fall_watch
from services.block_ground import FAR_AHEAD, LONG_AGO, BlockGround

pytestmark = pytest.mark.integration
SCORER = "context_precision"
OLD, TRIED = "1:answer", "2:answer"


class Ground(BlockGround):
    def try_version(self, trace_id="t-1"):
        """A trace, scored, and a moment later scored again by other options; its counts are there."""
        self.rescore(self.admit(trace_id, raw=0.8), raw=0.3)
        self.count(minutes=10)

    def change(self, statement):
        with self.engine.begin() as connection:
            connection.execute(text(statement))

    def activate(self, version):
        activate_versions(self.engine, {SCORER: version}, now=self.clock.now())

    def ask(self, function, **given):
        """The versions of the scorer's streams that a function of a connection finds."""
        rows = self.query(f"SELECT id, version FROM score_stream WHERE scorer = '{SCORER}'")  # noqa: S608
        versions = dict(rows)
        with self.engine.begin() as connection:
            found = function(connection, list(versions), **given)
        return {versions[number] for number in found}

    def find_tried(self):
        return self.ask(find_tried, until=FAR_AHEAD)

    def find_unshown(self):
        return self.ask(find_unshown, until=FAR_AHEAD)

    def list_changed(self):
        return self.ask(
            lambda connection, known: list_changed(connection, until=FAR_AHEAD).keys() & set(known)
        )

    def name_streams(self, scorer):
        names = {"app": "shop", "environment": None, "judge": None}
        with self.engine.begin() as connection:
            found = find_streams(connection, **names, scorer=scorer, since=LONG_AGO, until=FAR_AHEAD)
        return {one.stream.version for one in found if one.stream.scorer == SCORER}


@pytest.fixture
def ground(own_engine):
    ground = Ground(own_engine)
    ground.begin()
    return ground


def test_what_was_tried_is_not_judged_and_is_once_it_is_shown(ground):
    ground.try_version()
    assert (ground.find_tried(), ground.list_changed()) == ({TRIED}, {OLD})
    ground.activate("2")
    assert (ground.find_tried(), ground.list_changed()) == ({OLD}, {TRIED})
    ground.activate(None)
    assert (ground.find_tried(), ground.list_changed()) == ({TRIED}, {OLD})


def test_workers_that_go_on_with_a_version_that_is_hidden_are_watched(ground):
    ground.try_version()
    ground.activate("2")
    ground.admit("t-2")
    ground.count(minutes=10)
    assert ground.find_tried() == set()
    assert ground.find_unshown() == {OLD}


def test_workers_that_have_changed_to_it_are_watched(ground):
    ground.try_version()
    ground.admit("t-2")
    ground.change(f"UPDATE score SET version = '{TRIED}' WHERE trace_id = 't-2' AND scorer = '{SCORER}'")  # noqa: S608
    ground.count(minutes=10)
    assert ground.find_tried() == set()


def test_of_scores_that_are_gone_it_is_not_known(ground):
    ground.try_version()
    ground.change("DELETE FROM score")
    assert ground.find_tried() == set()


def test_the_page_and_baselines_leave_it_out_unless_its_label_is_given(ground):
    ground.try_version()
    watched = read_fall_watch(ground.engine, now=ground.clock.now()).streams
    assert {one.stream.version for one in watched if one.stream.scorer == SCORER} == {OLD}
    assert ground.name_streams(None) == ground.name_streams(SCORER) == {OLD}
    ground.change(f"UPDATE score SET version = '1+ab:answer' WHERE version = '{TRIED}'")  # noqa: S608
    ground.change(f"UPDATE score_stream SET version = '1+ab:answer' WHERE version = '{TRIED}'")  # noqa: S608
    assert ground.name_streams(SCORER) == {OLD}
    assert ground.name_streams(f"{SCORER}:answer@ab") == {"1+ab:answer"}


@pytest.mark.parametrize(("active", "left_out"), [(None, TRIED), ("1", TRIED), ("2", OLD)])
def test_detect_replays_what_is_shown_and_names_the_rest(ground, capsys, active, left_out):
    ground.try_version()
    ground.change(f"UPDATE score SET version = '1+ab:answer' WHERE version = '{TRIED}'")  # noqa: S608
    ground.change(f"UPDATE score_stream SET version = '1+ab:answer' WHERE version = '{TRIED}'")  # noqa: S608
    ground.activate({"2": "1+ab"}.get(active, active))
    now = ground.clock.now()
    choice = StreamChoice("shop", None, SCORER, None, now - timedelta(days=1), now)
    histories = StoredHistories(engine=ground.engine, options=RegressionOptions(), targets=())
    found = histories.detect(choice, DetectionWish(baseline_days=7))
    label = f"{SCORER}:answer@ab" if left_out == TRIED else f"{SCORER}:answer"
    told = capsys.readouterr().err
    assert found.streams == 1
    assert f"{label}/" in told
    assert told.count("left out: another version of the scorer is shown") == 1
