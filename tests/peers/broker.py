"""A Mosquitto of one's own for a test: the shipped configuration with paths and port replaced."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "mosquitto"
START_S = 10.0
STOP_S = 10.0


def find_mosquitto() -> str | None:
    """The broker's program; Debian puts it where plain users do not look."""
    return shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    """`users` = user names; each one's password is its name. Ends with `close`."""

    def __init__(self, users: list[str], *, username_as_clientid: bool = False):
        self.dir = Path(tempfile.mkdtemp(prefix="hallcall-mosquitto-"))
        self.port = free_port()
        self._process: subprocess.Popen | None = None
        passwd, acl = self.dir / "passwd", self.dir / "acl"
        passwd.touch(mode=0o600)
        for user in users:
            subprocess.run(["mosquitto_passwd", "-b", str(passwd), user, user], check=True,
                           timeout=START_S)
        shutil.copy(CONFIGS / "acl", acl)
        conf = (CONFIGS / "mosquitto.conf").read_text(encoding="utf-8")
        for pattern, line in (
            (r"^listener 1883 127\.0\.0\.1$", f"listener {self.port} 127.0.0.1"),
            (r"^password_file .*$", f"password_file {passwd}"),
            (r"^acl_file .*$", f"acl_file {acl}"),
            (r"^persistence_location .*$", f"persistence_location {self.dir}/"),
        ):
            conf, count = re.subn(pattern, line, conf, flags=re.MULTILINE)
            if count != 1:
                raise ValueError(f"mosquitto.conf: {count} lines match {pattern}, not one")
        if username_as_clientid:  # last line: belongs to the one listener
            conf += "use_username_as_clientid true\n"
        self._conf = self.dir / "mosquitto.conf"
        self._conf.write_text(f"user {getpass.getuser()}\n{conf}", encoding="utf-8")
        self.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        program = find_mosquitto()
        if program is None:
            raise FileNotFoundError("mosquitto is not installed")
        with open(self.dir / "log", "ab") as log:
            self._process = subprocess.Popen([program, "-c", str(self._conf)], stdout=log,
                                             stderr=log)
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        self.stop()
        raise RuntimeError("mosquitto did not start: " + self.log())

    def stop(self) -> None:
        """As at a site: SIGTERM, so that it writes its database."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_S)
        self._process = None

    def log(self) -> str:
        return (self.dir / "log").read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)
