"""deploy/Dockerfile by rules of our own, and the two programs that are in it."""

import re
import runpy
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from builders.manifests import DEPLOY, read_composition, read_manifests
from ragsonde.cli.main import COMMANDS
from ragsonde.settings import Ports

ROOT = DEPLOY.parent
TEXT = (DEPLOY / "Dockerfile").read_text()
LINES = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
STEPS = [tuple(line.split(" ", 1)) for line in LINES if line]
STAGES = [number for number, (word, _) in enumerate(STEPS) if word == "FROM"]
BUILD, IMAGE = STEPS[STAGES[0] : STAGES[1]], STEPS[STAGES[1] :]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HEALTH = runpy.run_path(str(DEPLOY / "tools" / "health.py"), run_name="health")
PRUNE = runpy.run_path(str(DEPLOY / "tools" / "prune.py"), run_name="prune")


def select(steps, word):
    return [rest for step, rest in steps if step == word]


def test_its_python_is_a_minor_version_that_the_project_allows():
    (name, version), base = [one.split("=") for one in select(STEPS[: STAGES[0]], "ARG")]
    assert (name, base) == ("PYTHON", ["BASE", "python:${PYTHON}-slim"])
    assert re.fullmatch(r"3\.\d+", version)
    assert version in SpecifierSet(PROJECT["project"]["requires-python"])
    # both stages: the environment of the first leads to the interpreter of the second
    assert select(STEPS, "FROM") == ["${BASE} AS build", "${BASE}"]


def test_all_that_is_installed_from_elsewhere_is_checked_by_hashes():
    installs = [
        part
        for run in select(BUILD, "RUN")
        for part in run.split("&&")
        if "pip" in part and "install" in part
    ]
    assert len(installs) == 3
    for one in installs:
        assert "--no-deps" in one
        assert "--require-hashes" in one or "dist/*.whl" in one
    (built,) = (part for run in select(BUILD, "RUN") for part in run.split("&&") if "pip wheel" in part)
    assert "--no-build-isolation" in built


def test_what_builds_the_wheel_is_locked_within_its_bounds():
    lock = (DEPLOY / "build.lock").read_text()
    pins = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))
    assert lock.count("--hash=sha256:") >= len(pins)
    assert "://" not in lock
    for required in map(Requirement, PROJECT["build-system"]["requires"]):
        assert pins[required.name] in required.specifier


def test_the_build_gets_all_that_the_wheel_is_made_of():
    copied = {source for copy in select(BUILD, "COPY") for source in copy.split()[:-1]}
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    for path in (*wheel["packages"], *wheel["force-include"], *PROJECT["project"]["license-files"]):
        assert any(path == source or path.startswith(f"{source}/") for source in copied), path
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    ours = copied | {copy.split()[0] for copy in select(IMAGE, "COPY") if not copy.startswith("--from")}
    assert ours == allowed
    assert all((ROOT / source).exists() for source in ours)


def test_it_runs_as_a_user_of_its_own_that_manifests_know():
    assert select(IMAGE, "USER") == ["10001:10001"]
    (made,) = select(IMAGE, "RUN")
    assert "--uid 10001 --gid 10001" in made
    # after it nothing is changed as root
    order = [word for word, _ in IMAGE]
    assert order.index("USER") > max(order.index("RUN"), order.index("COPY"))
    pod = read_manifests(DEPLOY / "kubernetes" / "base" / "worker.yaml")[0]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == 10001


def test_it_is_started_asked_and_stopped_as_the_processes_expect():
    assert select(IMAGE, "ENTRYPOINT") == ['["ragsonde"]']
    assert PROJECT["project"]["scripts"]["ragsonde"] == "ragsonde.cli.main:run"
    assert {"worker", "monitor", "receiver", "migrate"} <= COMMANDS.keys()
    (check,) = select(IMAGE, "HEALTHCHECK")
    assert '["python", "/opt/ragsonde/health.py"]' in check
    assert set(HEALTH["PORTS"]) == set(Ports().model_dump().values())
    assert set(map(int, select(IMAGE, "EXPOSE")[0].split())) == set(HEALTH["PORTS"])
    assert select(IMAGE, "STOPSIGNAL") == ["SIGTERM"]
    (folder,) = select(IMAGE, "WORKDIR")
    mounted = [
        volume for volume in read_composition()["services"]["worker"]["volumes"] if "ragsonde.yaml" in volume
    ]
    assert mounted == [f"./ragsonde.yaml:{folder}/ragsonde.yaml:ro"]


def test_no_secret_and_no_tag_that_moves():
    assert ":latest" not in TEXT
    assert not re.search(r"ADD |PASSWORD|TOKEN|SECRET", TEXT)
    labels = set(re.findall(r"org\.opencontainers\.image\.(\w+)=", TEXT))
    assert labels == {"title", "description", "licenses", "version", "revision"}
    assert f"ARG VERSION={PROJECT['project']['version']}" in TEXT


class Answering(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health/live" else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def port():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_health_is_what_the_address_says(port):
    assert HEALTH["main"]([str(port)]) == 0
    assert HEALTH["main"]([str(port), "live"]) == 0
    assert HEALTH["main"]([str(port), "ready"]) == 1


def test_where_nothing_listens_nobody_is_well(port, unused_port):
    assert HEALTH["main"]([str(unused_port)]) == 1
    assert HEALTH["ask"](unused_port, question="live") is None
    assert HEALTH["ask"](port, question="live") is True


@pytest.fixture
def unused_port():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        return server.server_port


def test_an_image_has_no_servers_and_all_that_a_worker_needs():
    embedded = {Requirement(one).name for one in PROJECT["project"]["optional-dependencies"]["embedded"]}
    needless = set(
        PRUNE["find_needless"]([*embedded, "celery", "litellm", "psycopg", "psycopg-binary", "Jinja2"])
    )
    # litellm needs packaging, too
    assert needless == embedded - {"packaging"}
    assert PRUNE["find_needless"](["opentelemetry-proto", "protobuf"]) == []
    assert "psutil" in PRUNE["find_needless"](["psutil"])


def test_every_extra_of_the_lock_is_an_extra_of_make_lock_and_of_the_audit():
    makefile = (ROOT / "Makefile").read_text()
    (command,) = re.findall(r"uv pip compile[^@]*?-o requirements/run\.lock", makefile)
    audit = (DEPLOY / "tools" / "audit.py").read_text()
    (named,) = re.findall(r"^RUN_EXTRAS = \((.*)\)$", audit, re.MULTILINE)
    assert re.findall(r"--extra (\w+)", command) == re.findall(r'"(\w+)"', named) == ["embedded", "otlp"]
    assert PRUNE["KEPT_EXTRAS"] == {"otlp"}
    locked = (ROOT / "requirements" / "run.lock").read_text()
    for extra in ("embedded", "otlp"):
        for required in map(Requirement, PROJECT["project"]["optional-dependencies"][extra]):
            assert re.search(rf"^{required.name}==", locked, re.MULTILINE)


PLUGINS = (DEPLOY / "plugins" / "Dockerfile").read_text()


def test_packages_of_others_are_put_on_top_without_a_download_and_without_rights_that_stay():
    steps = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", PLUGINS, flags=re.MULTILINE)).splitlines()
    assert [step.split()[0] for step in steps] == ["ARG", "FROM", "USER", "RUN", "USER"]
    assert steps[0] == f"ARG RAGSONDE=ragsonde:{PROJECT['project']['version']}"
    assert steps[-1] == "USER 10001:10001"
    assert {"--no-index", "--no-cache-dir"} <= set(steps[3].split())
    assert "--python /opt/ragsonde/bin/python" in steps[3]
    # the environment has none: that of the base image works on it
    assert "/usr/local/bin/python -m pip" in steps[3]
    assert "--without-pip" in TEXT


def test_the_page_builds_it_from_the_folder_that_it_reads():
    page = (ROOT / "docs" / "how-to" / "add-a-scorer-or-judge.md").read_text()
    (wheels,) = re.findall(r"pip wheel --no-deps --wheel-dir (\S+)", page)
    (context,) = re.findall(r"docker build -f deploy/plugins/Dockerfile [^`]*? -t \S+ (\S+)\n", page)
    assert f"{context}/{re.search(r'source=([^,]+)', PLUGINS)[1]}" == wheels
    assert set(re.findall(r"--build-arg (\w+)=", page)) <= set(
        re.findall(r"^ARG (\w+)", PLUGINS, re.MULTILINE)
    )


def test_the_base_can_be_pinned_as_the_page_shows():
    page = (ROOT / "docs" / "how-to" / "run-with-compose.md").read_text()
    (name, shown) = re.search(r"--build-arg (\w+)=(\S+)@sha256:", page).groups()
    assert name == "BASE"
    assert shown == f"python:{re.search(r'ARG PYTHON=(.+)', TEXT)[1]}-slim"
    assert "`python:3.13-slim` in the Dockerfile" in page
