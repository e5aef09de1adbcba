import pytest

from fakes.installed_packages import InstalledPackages


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Packages that are there for one test."""
    with InstalledPackages(tmp_path / "installed", monkeypatch) as installed:
        yield installed
