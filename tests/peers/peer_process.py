"""A peer as a process of its own, started and ended by a test."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
START_S = 20.0
END_S = 5.0


class Peer:
    """`ready` is what it printed when it was; it has a record and a side channel."""

    def __init__(self, case: unittest.TestCase, program: str, *options: str):
        self.dir = Path(case.enterContext(tempfile.TemporaryDirectory(prefix="hallcall-peer-")))
        command = [sys.executable, str(HERE / program), "--record", str(self.dir / "record"),
                   "--side-listen", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        case.addCleanup(self.stop)
        late = threading.Timer(START_S, self.process.kill)  # ends the read below
        late.start()
        self.ready = json.loads(self.process.stdout.readline() or '{"ready": false}')
        late.cancel()
        case.assertTrue(self.ready["ready"], f"{program} was not ready within {START_S} s")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(END_S)
        self.process.kill()
        self.process.wait(END_S)
        self.process.stdout.close()

    def record(self, what: str) -> list[dict]:
        lines = (self.dir / "record").read_text(encoding="utf-8").splitlines()
        return [entry for entry in map(json.loads, lines) if entry["what"] == what]

    def tell(self, **message) -> dict:
        host, _, port = self.ready["side"].rpartition(":")
        with socket.create_connection((host, int(port)), timeout=5) as line:
            line.sendall(json.dumps(message).encode() + b"\n")
            return json.loads(line.makefile().readline())
