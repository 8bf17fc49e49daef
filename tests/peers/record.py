"""What a peer keeps and hears besides its bus: its own record, and a side channel for the truth.

The record is a file of JSON lines that no gateway code writes, so that a test can compare the
gateway's story with what the car really did. The side channel is TCP, one JSON object a line,
answered by one line: a robot of the test says where it really stands, a test changes the mode.
"""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

MAX_LINE = 4096


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Record:
    """JSON lines: `at` (wall clock), `mono_s` (monotonic seconds), `what`, and its fields."""

    def __init__(self, path: str | None):
        self._file = open(path, "a", encoding="utf-8", buffering=1) if path else None
        self._lock = threading.Lock()

    def write(self, what: str, mono_s: float | None = None, **fields) -> None:
        if self._file is None:
            return
        mono_s = time.monotonic() if mono_s is None else mono_s
        entry = {"at": timestamp(), "mono_s": round(mono_s, 4), "what": what, **fields}
        with self._lock:
            self._file.write(json.dumps(entry) + "\n")


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class SideChannel:
    """Listens on `host:port` (port 0: any) and hands each object to `ask`, whose result it returns.

    `ask` runs on a thread of its own and may raise ValueError or Refused with the reason."""

    def __init__(self, listen: str, ask: Callable[[dict], dict]):
        class Handler(socketserver.StreamRequestHandler):
            timeout = 600

            def handle(self) -> None:
                while line := self.rfile.readline(MAX_LINE):
                    try:
                        answer = {"ok": True, **ask(json.loads(line))}
                    except Exception as why:  # told to the other end, whatever it was
                        answer = {"ok": False, "error": f"{type(why).__name__}: {why}"}
                    self.wfile.write(json.dumps(answer).encode() + b"\n")

        host, _, port = listen.rpartition(":")
        self._server = _Server((host, int(port)), Handler)
        self.address = "{}:{}".format(*self._server.server_address)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def tell_truth(car, message: dict) -> dict:
    """What the side channel may say of a car, and what is answered: how the car stands.

    `{"robot_id", "where"}` a robot's true place; `{"mode"}`; `{"doors_stuck": true}` a fault;
    `{"press": "4F", "direction": "up"}` people at a landing, without direction: in the car."""
    if "robot_id" in message:
        car.robot_is(str(message["robot_id"]), message.get("where"))
    if "mode" in message:
        car.set_mode(message["mode"])
    if "doors_stuck" in message:
        car.stick_doors(bool(message["doors_stuck"]))
    if "press" in message:
        floor, direction = car.index_of(message["press"]), message.get("direction")
        side = message.get("side", car.floors[floor].sides[0])
        if direction is None:
            car.car_call(floor, side)
        elif direction in ("up", "down"):
            car.hall_call(floor, side, direction)
        else:
            raise ValueError(f"direction: {direction!r} is not up or down")
    doors = {side: door.state for side, door in car.doors.items()}
    return {"floor": car.floors[car.floor].label, "motion": car.motion, "mode": car.mode,
            "doors": doors, "robots": dict(car.robots), "calls": len(car.calls)}


def ready(**fields) -> None:
    """One line on standard output, for whoever started this peer and waits for it."""
    print(json.dumps({"ready": True, **fields}), flush=True)
