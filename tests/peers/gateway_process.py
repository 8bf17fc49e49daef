"""The gateway itself as a process: the binary that `cargo build` made, or `HALLCALL_BIN`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_S = 20.0
STOP_S = 20.0


def find_gateway() -> Path | None:
    named = os.environ.get("HALLCALL_BIN")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = Path(named) if named else target / "debug" / "hallcall"
    return program if program.is_file() else None


def elevator(name: str, floors: list[str], driver: str, more: str = "") -> str:
    rows = ", ".join(f'{{ label = "{label}", sides = ["front"], height_m = {3.5 * n} }}'
                     for n, label in enumerate(floors))
    return (f'[[elevators]]\nid = "{name}"\nfloors = [ {rows} ]\n'
            f'driver = {driver}\n{more}\n')


class Gateway:
    """One data directory; started, killed and started again as often as a test wants."""

    def __init__(self, case: unittest.TestCase, broker: str, body: str, password: str = "gw-1"):
        self.dir = Path(case.enterContext(tempfile.TemporaryDirectory(prefix="hallcall-gw-")))
        secret = self.dir / "password"
        secret.write_text(password, encoding="utf-8")
        secret.chmod(0o600)
        self.config = self.dir / "hallcall.toml"
        self.config.write_text(
            f'[gateway]\nsite = "demo"\ndata_dir = "{self.dir / "data"}"\n'
            f'[mqtt]\nbroker = "mqtt://{broker}"\nusername = "gw-1"\n'
            f'password_file = "{secret}"\n{body}', encoding="utf-8")
        self.process: subprocess.Popen | None = None
        case.addCleanup(self.kill)

    def start(self) -> str:
        """Starts it and waits for its line `ready: ...`, which is returned."""
        with open(self.dir / "log", "ab") as log:
            self.process = subprocess.Popen([str(find_gateway()), "run", "--config",
                                             str(self.config)], stdout=subprocess.PIPE,
                                            stderr=log, text=True)
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            line = self.process.stdout.readline()
            if line.startswith("ready"):
                return line
            if line == "" and self.process.poll() is not None:
                break
        raise AssertionError("the gateway did not start: " + self.log())

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGKILL)
            self.process.wait(STOP_S)
            self.process.stdout.close()
            self.process = None

    def stop(self) -> int:
        """SIGTERM; returns the exit status."""
        self.process.terminate()
        status = self.process.wait(STOP_S)
        self.process.stdout.close()
        self.process = None
        return status

    def command(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(find_gateway()), *words, "--config", str(self.config)],
                              capture_output=True, text=True, timeout=STOP_S)

    def elevator(self, name: str) -> dict:
        answer = self.command("elevator", "show", name, "--json")
        return json.loads(answer.stdout.splitlines()[-1])

    def log(self) -> str:
        return (self.dir / "log").read_text(encoding="utf-8", errors="replace")[-4000:]
