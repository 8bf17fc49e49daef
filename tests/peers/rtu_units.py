"""A serial line with eight units on a pseudoterminal. pymodbus answers for all of them; what stands
between takes the time of a line at its rate, keeps a record, and as it is told loses requests on
their way to a unit and brings replies late.

Written from the Modbus specification, without the code under test."""

from __future__ import annotations

import heapq
import os
import select
import socket
import threading
import time
import tty
import unittest
from collections.abc import Callable
from dataclasses import dataclass

from pymodbus import FramerType
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from test_rtu_servers import PymodbusServer

BAUD = 19200
UNITS = range(1, 9)
CHARACTER_S = 11 / BAUD
GAP_S = 3.5 * CHARACTER_S
REPLY_S = 0.005
END_S = 10.0
NUMBERS = 100  # what register 0 counts up to
READS, WRITES = (1, 2, 3, 4), (5, 6)


@dataclass
class Request:
    """One request as the line saw it."""

    at: float
    unit: int
    function: int
    frame: bytes
    number: int | None = None  # what register 0 held when the unit was asked
    reply: bytes | None = None  # none where the request was lost
    emitted: float | None = None  # when its reply was handed over


def lost_never(_request: Request) -> bool:
    return False


def late_never(_request: Request) -> float:
    return 0.0


class UnitLine:
    """`is_lost` and `late_s` may be set at any time; they are asked once for each request."""

    def __init__(self, case: unittest.TestCase):
        self.is_lost: Callable[[Request], bool] = lost_never
        self.late_s: Callable[[Request], float] = late_never
        self.record: list[Request] = []
        self._numbers = dict.fromkeys(UNITS, 0)
        self._busy: dict[int, float] = {}  # until when a unit has not answered what it was asked
        self._due: list[tuple[float, int, Request]] = []
        self._units = self._answering(case)
        self.master, self._end = os.openpty()
        tty.setraw(self._end)
        self.place = os.ttyname(self._end)
        self._stop_out, self._stop_in = os.pipe()
        self._thread = threading.Thread(target=self._carry, daemon=True)
        for fd in (self.master, self._end, self._stop_out):
            case.addCleanup(os.close, fd)
        case.addCleanup(self._stop)
        self._thread.start()

    def _answering(self, case: unittest.TestCase) -> socket.socket:
        bits = SimData(0, values=[False] * 640, datatype=DataType.BITS)
        words = SimData(0, values=[0, 1, 1] + [0] * 117, datatype=DataType.REGISTERS)
        devices = [SimDevice(unit, simdata=([bits], [bits], [words], [words])) for unit in UNITS]
        peer = PymodbusServer(case, lambda _one: ModbusTcpServer(
            devices, framer=FramerType.RTU, address=("127.0.0.1", 0)))
        address = peer.server.transport.sockets[0].getsockname()
        units = socket.create_connection(address, timeout=END_S)
        units.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        case.addCleanup(units.close)
        return units

    def _stop(self) -> None:
        os.close(self._stop_in)
        self._thread.join(END_S)

    def _carry(self) -> None:
        heard = b""
        while True:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            ready, _, _ = select.select([self.master, self._stop_out], [], [], wait)
            if self._stop_out in ready:
                return
            if self.master in ready:
                heard += os.read(self.master, 512)
            while len(heard) >= 8 and len(heard) >= request_len(heard):
                frame, heard = heard[:request_len(heard)], heard[request_len(heard):]
                self._asked(frame)
            while self._due and self._due[0][0] <= time.monotonic():
                request = heapq.heappop(self._due)[2]
                request.emitted = time.monotonic()
                os.write(self.master, request.reply)

    def _asked(self, frame: bytes) -> None:
        request = Request(time.monotonic(), frame[0], frame[1], frame)
        assert crc(frame[:-2]) == frame[-2:], frame.hex()
        self.record.append(request)
        if self.is_lost(request):
            return
        if request.function in READS:
            number = self._numbers[request.unit] = (self._numbers[request.unit] + 1) % NUMBERS
            self._answer(sealed(bytes((request.unit, 6, 0, 0, 0, number))))
            request.number = number
        request.reply = self._answer(frame)
        took = (len(frame) + len(request.reply)) * CHARACTER_S + GAP_S + REPLY_S
        # A unit answers in the order in which it was asked.
        due = max(request.at + took + self.late_s(request), self._busy.get(request.unit, 0.0))
        self._busy[request.unit] = due
        heapq.heappush(self._due, (due, len(self.record), request))

    def _answer(self, frame: bytes) -> bytes:
        """What pymodbus says to a request."""
        self._units.sendall(frame)
        reply = b""
        while len(reply) < 5 or len(reply) < reply_len(reply):
            part = self._units.recv(512)
            assert part, "pymodbus is gone"
            reply += part
        assert crc(reply[:-2]) == reply[-2:], reply.hex()
        return reply


def request_len(heard: bytes) -> int:
    return 9 + heard[6] if heard[1] in (15, 16) else 8


def reply_len(heard: bytes) -> int:
    if heard[1] & 0x80:
        return 5
    return 5 + heard[2] if heard[1] in READS else 8


def crc(frame: bytes) -> bytes:
    """Modbus over Serial Line V1.02, section 6.2.2."""
    value = 0xFFFF
    for byte in frame:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value.to_bytes(2, "little")


def sealed(frame: bytes) -> bytes:
    return frame + crc(frame)
