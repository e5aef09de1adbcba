"""A RabbitMQ node of our own, beside the machine's: to be stopped, killed, and starved of disk or memory."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from amqp.exceptions import AMQPError

from ragsonde.servers.leash import PLAIN_ENVIRONMENT, spawn
from services.plain_amqp import open_channel
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEBIAN_SCRIPTS = Path("/usr/lib/rabbitmq/bin")
_HOST = "127.0.0.1"
_PLENTY_OF_DISK, _MORE_THAN_ANY_DISK = "50MB", "900000000000000"
_MOST_MEMORY, _LESS_THAN_IT_USES = "0.6", "0.0001"


def find_scripts() -> Path | None:
    """Where RabbitMQ's own scripts lie; Debian's on the path become another user and are no use here."""
    if (_DEBIAN_SCRIPTS / "rabbitmq-server").exists():
        return _DEBIAN_SCRIPTS
    found = shutil.which("rabbitmq-server")
    return Path(found).resolve().parent if found else None


class RabbitmqNode:
    """One node with name, ports, cookie, data, logs and epmd of its own; the same after every start.

    It and its epmd end with the thread that starts them, however that ends.

    Args:
        folder: for everything that it writes.
        scripts: where `rabbitmq-server` and `rabbitmqctl` lie.
    """

    def __init__(self, folder: Path, *, scripts: Path) -> None:
        self.port, distribution_port, epmd_port = find_free_ports(3)
        self._folder, self._scripts = folder, scripts
        self._cookie = folder / ".erlang.cookie"
        self._environment = {
            **PLAIN_ENVIRONMENT,
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "ERL_EPMD_PORT": str(epmd_port),
            "ERL_EPMD_ADDRESS": _HOST,
            "RABBITMQ_NODENAME": f"chaos-{secrets.token_hex(4)}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": _HOST,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(distribution_port),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-noinput -kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
            "RABBITMQ_CONF_ENV_FILE": str(folder / "environment"),
            # the script becomes the node instead of waiting for it: signals reach it, and its end is seen
            "RABBITMQ_ALLOW_INPUT": "1",
        }
        self._epmd: subprocess.Popen[bytes] | None = None
        self._node: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._cookie.write_text(secrets.token_hex(16))
        self._cookie.chmod(0o400)
        (self._folder / "enabled_plugins").write_text("[].")
        for name in ("rabbitmq.conf", "environment"):
            (self._folder / name).touch()
        epmd = shutil.which("epmd")
        assert epmd is not None, "RabbitMQ is installed without Erlang's epmd"
        self._epmd = self._spawn(
            epmd, "-port", self._environment["ERL_EPMD_PORT"], "-address", _HOST, name="epmd"
        )
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Starts the node and returns when it lets clients in."""
        self._node = self._spawn(str(self._scripts / "rabbitmq-server"), name="node")
        wait_for(self._lets_in, seconds=60, what="a RabbitMQ node of our own")

    def stop(self) -> None:
        """Stops it in order: clients are told."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kills it: nobody is told, what is not on disk is gone."""
        self._end(signal.SIGKILL)

    def close(self) -> None:
        """Ends node and epmd; nothing of them is left."""
        for process in (self._node, self._epmd):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait(timeout=30)

    def ctl(self, *arguments: str, check: bool = True) -> str:
        """What this node's rabbitmqctl answers; with `check`, a failure is an error."""
        return subprocess.run(
            [self._scripts / "rabbitmqctl", *arguments],
            env=self._environment,
            cwd=self._folder,
            check=check,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout

    @contextmanager
    def own_vhost(self) -> Iterator[str]:
        """The URL of a fresh virtual host, removed afterwards."""
        name = f"chaos-{secrets.token_hex(4)}"
        self.ctl("add_vhost", name)
        try:
            self.ctl("set_permissions", "-p", name, "guest", ".*", ".*", ".*")
            yield f"amqp://guest:guest@{_HOST}:{self.port}/{name}"
        finally:
            # after a long load that may take longer than rabbitmqctl waits; it ends with the node anyway
            self.ctl("delete_vhost", name, check=False)

    @contextmanager
    def disk_alarm(self) -> Iterator[None]:
        """The node believes that its disk is full: it takes nothing from publishers."""
        self.ctl("set_disk_free_limit", _MORE_THAN_ANY_DISK)
        try:
            wait_for(lambda: "disk" in self._read_alarms(), what="the alarm")
            yield
        finally:
            self.ctl("set_disk_free_limit", _PLENTY_OF_DISK)
            wait_for(lambda: "disk" not in self._read_alarms(), what="the end of the alarm")

    @contextmanager
    def memory_alarm(self) -> Iterator[None]:
        """The node believes that it uses too much memory: it takes nothing from publishers."""
        self.ctl("set_vm_memory_high_watermark", _LESS_THAN_IT_USES)
        try:
            wait_for(lambda: "memory" in self._read_alarms(), what="the alarm")
            yield
        finally:
            self.ctl("set_vm_memory_high_watermark", _MOST_MEMORY)
            wait_for(lambda: "memory" not in self._read_alarms(), what="the end of the alarm")

    def _read_alarms(self) -> str:
        return self.ctl("eval", "rabbit_alarm:get_alarms().")

    def _lets_in(self) -> bool:
        assert self._node is not None
        assert self._node.poll() is None, (self._folder / "node.log").read_text()
        try:
            with open_channel(f"amqp://guest:guest@{_HOST}:{self.port}//"):
                return True
        except (OSError, AMQPError):
            return False

    def _end(self, number: signal.Signals) -> None:
        assert self._node is not None
        self._node.send_signal(number)
        self._node.wait(timeout=60)

    def _spawn(self, *argv: str, name: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{name}.log").open("ab") as output:
            return spawn(
                argv,
                output=output.fileno(),
                death_signal=signal.SIGKILL,
                environment=self._environment,
                working_dir=self._folder,
            )


def find_free_ports(count: int) -> list[int]:
    """So many ports of loopback that nobody listens on now."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((_HOST, 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            with suppress(OSError):
                probe.close()
