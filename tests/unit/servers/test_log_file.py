from __future__ import annotations

import os

from ragsonde.servers.log_file import LogFile


def test_a_log_over_its_limit_is_emptied_and_its_old_part_kept(tmp_path):
    log = LogFile(tmp_path / "log" / "x.log", limit_bytes=100)
    with log.open() as descriptor:
        os.write(descriptor, b"a" * 101)
        log.shorten()
        os.write(descriptor, b"b" * 10)  # the writer kept it open
        log.shorten()

    assert log.path.read_bytes() == b"b" * 10
    assert log.path.with_name("x.log.1").read_bytes() == b"a" * 101


def test_the_log_and_its_old_part_together_stay_bounded(tmp_path):
    log = LogFile(tmp_path / "x.log", limit_bytes=1_000)
    with log.open() as descriptor:
        for _ in range(1_000):
            os.write(descriptor, b"x" * 99 + b"\n")
            log.shorten()

    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2_200


def test_a_log_is_private(tmp_path):
    log = LogFile(tmp_path / "log" / "x.log")
    with log.open():
        pass

    assert log.path.stat().st_mode & 0o777 == 0o600
    assert log.path.parent.stat().st_mode & 0o777 == 0o700


def test_the_complaint_is_the_last_line_that_reads_like_an_error(tmp_path):
    log = LogFile(tmp_path / "x.log")
    log.path.write_text("FATAL:  first\nFATAL:  second\nLOG:  database system is shut down\n\n")

    assert log.complaint() == "FATAL:  second"


def test_without_an_error_the_complaint_is_the_last_line(tmp_path):
    log = LogFile(tmp_path / "x.log")
    log.path.write_text("one\ntwo\n")

    assert log.complaint() == "two"


def test_only_lines_of_this_run_are_complaints(tmp_path):
    log = LogFile(tmp_path / "x.log")
    log.path.write_text("FATAL: of an earlier run\n")
    since = log.size_bytes()

    assert log.complaint(since_bytes=since) == ""


def test_of_a_long_log_only_the_end_is_read(tmp_path):
    log = LogFile(tmp_path / "x.log")
    log.path.write_text("ERROR: long ago\n" + "fine\n" * 10_000)

    assert log.complaint() == "fine"


def test_a_missing_log_has_no_complaint_and_no_size(tmp_path):
    log = LogFile(tmp_path / "x.log")

    assert (log.complaint(), log.size_bytes()) == ("", 0)
    log.shorten()
