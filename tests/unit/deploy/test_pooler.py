"""docs/scaling.md on pgbouncer in transaction mode: nothing of ours lives longer than its transaction."""

import re
from pathlib import Path

from builders.manifests import DEPLOY
from ragsonde.storage.engine import LOCK_TIMEOUT_SECONDS, STATEMENT_TIMEOUT_SECONDS

ROOT = DEPLOY.parent
SOURCES = {path: path.read_text() for path in sorted((ROOT / "worker" / "ragsonde").rglob("*.py"))}
ROLES = (DEPLOY / "postgres" / "roles.sql").read_text()
PAGE = (ROOT / "docs" / "scaling.md").read_text()
OF_A_SESSION = {
    "a lock": r"pg_(?:try_)?advisory_(?:lock|unlock)",
    "a cursor": r"WITH HOLD",
    "a temporary table": r"CREATE TEMP",
    "a channel": r"\"\s*(?:UN)?LISTEN ",
    "a prepared statement": r"\"\s*PREPARE |prepare=True",
    "a setting": r"[\"']SET (?!LOCAL |\w+ = %)\w+",
    "a setting by function": r"set_config\([^)]*, ?false\)",
}
AT_THE_START_OF_A_CONNECTION = Path("worker/ragsonde/storage/engine.py")
ON_THE_EMBEDDED_POSTGRES = Path("worker/ragsonde/cli/demo_history.py")


def test_nothing_outlives_its_transaction():
    found = {
        (what, path.relative_to(ROOT))
        for path, text in SOURCES.items()
        for what, pattern in OF_A_SESSION.items()
        if re.search(pattern, text)
    }
    assert found == {
        ("a setting", AT_THE_START_OF_A_CONNECTION),
        ("a setting", ON_THE_EMBEDDED_POSTGRES),
    }


def test_what_is_set_at_the_start_of_a_connection_is_set_for_the_roles_too():
    text = SOURCES[ROOT / AT_THE_START_OF_A_CONNECTION]
    names = set(re.findall(r"\"SET (\w+) = ", text))
    given = dict(re.findall(r"'ALTER ROLE %I IN DATABASE %I SET (\w+) = ''(\w+)''', wanted", ROLES))
    assert given == {
        "statement_timeout": f"{STATEMENT_TIMEOUT_SECONDS}s",
        "lock_timeout": f"{LOCK_TIMEOUT_SECONDS}s",
        "timezone": "UTC",
    }
    assert names == given.keys()
    assert all(f"`{name}`" in PAGE for name in names)
    assert '"prepare_threshold": None' in text


def test_the_page_shows_the_mode_that_was_tried():
    assert "pool_mode = transaction" in PAGE
    tried = (ROOT / "tests" / "integration" / "deploy" / "test_pgbouncer.py").read_text()
    assert "pool_mode = transaction" in tried
