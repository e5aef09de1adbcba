"""What every test of a command needs."""

import os

import pytest


@pytest.fixture(autouse=True)
def _neither_file_nor_variables(tmp_path, monkeypatch):
    """An empty folder and no setting from the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("RAGSONDE_")]:
        monkeypatch.delenv(name)
