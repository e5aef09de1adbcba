"""Where CI is set, a test that was skipped for want of something fails the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
LACKING = 'import pytest\n\ndef test_it():\n    pytest.skip("there is no such program")\n'
UNABLE = 'import pytest\n\ndef test_it():\n    pytest.skip("only root may become another user")\n'
ABSENT = 'import pytest\n\npytest.importorskip("no_such_module")\n'


@pytest.mark.parametrize(
    ("source", "is_ci", "code"),
    [(LACKING, True, 1), (ABSENT, True, 1), (UNABLE, True, 0), (LACKING, False, 0)],
)
def test_a_skip_for_want_of_something_fails_where_it_decides(source, is_ci, code, tmp_path):
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "test_skipped.py").write_text(source)
    (tmp_path / "test_other.py").write_text("def test_other():\n    pass\n")
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(TESTS), *sys.path]))
    environment |= {"CI": "true"} if is_ci else {}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    ended = subprocess.run(
        [*command, str(tmp_path)], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert ("for want of something" in ended.stdout) == (code == 1)
