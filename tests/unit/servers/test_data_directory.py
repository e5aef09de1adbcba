from __future__ import annotations

import os

import pytest

from ragsonde.servers.data_directory import prepare_data_dir
from ragsonde_schemas.errors import SetupError


def test_a_missing_directory_is_made_and_closed_to_others(tmp_path):
    path = prepare_data_dir(tmp_path / "a" / "b")

    assert path == tmp_path / "a" / "b"
    assert path.stat().st_mode & 0o077 == (0o011 if os.geteuid() == 0 else 0)


def test_a_relative_path_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert prepare_data_dir(type(tmp_path)("data")) == tmp_path / "data"


def test_an_existing_directory_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o750)

    assert prepare_data_dir(tmp_path).stat().st_mode & 0o777 == 0o750


def test_a_file_in_its_place_is_told(tmp_path):
    (tmp_path / "data").touch()

    with pytest.raises(SetupError, match=r"cannot be made \(File exists\): choose another with --data-dir"):
        prepare_data_dir(tmp_path / "data")
