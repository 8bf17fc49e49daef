"""The gateway's RTU master against servers that share no code with it: pymodbus and libmodbus, on a
pseudoterminal and behind TCP, by `hallcall bus`."""

import asyncio
import contextlib
import ctypes
import ctypes.util
import json
import os
import select
import subprocess
import threading
import tty
import unittest

from gateway_process import find_gateway
from pymodbus import FramerType
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

BAUD = 38400
END_S = 10.0
UNIT = 3


class Cable:
    """Two pseudoterminals, each of which says what the other hears."""

    def __init__(self, case: unittest.TestCase):
        self.masters, self.ends = [], []
        for _ in range(2):
            master, end = os.openpty()
            tty.setraw(end)
            self.masters.append(master)
            self.ends.append(end)
            case.addCleanup(os.close, master)
            case.addCleanup(os.close, end)
        self.stop_out, self.stop_in = os.pipe()
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()
        case.addCleanup(os.close, self.stop_out)
        case.addCleanup(self.stop)

    def place(self, end: int) -> str:
        return os.ttyname(self.ends[end])

    def carry(self) -> None:
        one, two = self.masters
        while True:
            ready, _, _ = select.select([one, two, self.stop_out], [], [])
            if self.stop_out in ready:
                return
            for here, there in ((one, two), (two, one)):
                if here in ready:
                    os.write(there, os.read(here, 512))

    def stop(self) -> None:
        os.close(self.stop_in)
        self.thread.join(END_S)


class PymodbusServer:
    """Unit 3 with 20 coils, inputs and registers that tell their own addresses."""

    def __init__(self, case: unittest.TestCase, make):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        bits = SimData(0, values=[n % 2 == 1 for n in range(32)], datatype=DataType.BITS)
        words = [SimData(0, values=[n + more for n in range(20)], datatype=DataType.REGISTERS)
                 for more in (0, 1000)]
        device = SimDevice(UNIT, simdata=([bits], [bits], [words[0]], [words[1]]))
        self.server = self.run(self.start(make, device))
        case.addCleanup(self.stop)

    async def start(self, make, device):
        server = make(device)
        await server.listen()
        return server

    def run(self, what):
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(END_S)

    def stop(self) -> None:
        with contextlib.suppress(Exception):
            self.run(self.server.shutdown())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(END_S)


class LibmodbusServer:
    """The same in C, by the library of most makers' tools."""

    def __init__(self, case: unittest.TestCase, place: str):
        lib = ctypes.CDLL(ctypes.util.find_library("modbus") or "libmodbus.so.5")
        lib.modbus_new_rtu.restype = ctypes.c_void_p
        lib.modbus_new_rtu.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char, ctypes.c_int,
                                       ctypes.c_int]
        lib.modbus_mapping_new.restype = ctypes.POINTER(Mapping)
        for name in ("modbus_set_slave", "modbus_connect", "modbus_receive", "modbus_reply",
                     "modbus_close", "modbus_free", "modbus_set_indication_timeout"):
            getattr(lib, name).restype = ctypes.c_int
        self.lib = lib
        self.context = ctypes.c_void_p(lib.modbus_new_rtu(place.encode(), BAUD, b"N", 8, 2))
        case.assertEqual(lib.modbus_set_slave(self.context, UNIT), 0)
        case.assertEqual(lib.modbus_connect(self.context), 0)
        # It looks each 0.2 s whether it is to end.
        lib.modbus_set_indication_timeout(self.context, ctypes.c_uint32(0), ctypes.c_uint32(200_000))
        self.mapping = lib.modbus_mapping_new(20, 20, 20, 20)
        for n in range(20):
            self.mapping.contents.bits[n] = n % 2
            self.mapping.contents.input_bits[n] = n % 2
            self.mapping.contents.registers[n] = n
            self.mapping.contents.input_registers[n] = n + 1000
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        case.addCleanup(self.stop)

    def serve(self) -> None:
        query = (ctypes.c_uint8 * 260)()
        while not self.ended.is_set():
            count = self.lib.modbus_receive(self.context, query)
            if count > 0:
                self.lib.modbus_reply(self.context, query, count, self.mapping)

    def stop(self) -> None:
        self.ended.set()
        self.thread.join(END_S)
        self.lib.modbus_close(self.context)


class Mapping(ctypes.Structure):
    """`modbus_mapping_t` of libmodbus 3.1."""

    _fields_ = [("nb_bits", ctypes.c_int), ("start_bits", ctypes.c_int),
                ("nb_input_bits", ctypes.c_int), ("start_input_bits", ctypes.c_int),
                ("nb_input_registers", ctypes.c_int), ("start_input_registers", ctypes.c_int),
                ("nb_registers", ctypes.c_int), ("start_registers", ctypes.c_int),
                ("bits", ctypes.POINTER(ctypes.c_uint8)),
                ("input_bits", ctypes.POINTER(ctypes.c_uint8)),
                ("input_registers", ctypes.POINTER(ctypes.c_uint16)),
                ("registers", ctypes.POINTER(ctypes.c_uint16))]


@unittest.skipUnless(find_gateway(), "hallcall is not built")
class RtuServersTest(unittest.TestCase):
    def bus(self, verb: str, *options: str):
        command = [str(find_gateway()), "bus", verb, *self.place, "--unit", str(UNIT), "--json",
                   *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        return done.returncode, done.stdout, done.stderr

    def read(self, table: str, address: int, count: int) -> list[int]:
        code, out, error = self.bus("read", "--table", table, "--address", str(address), "--count",
                                    str(count))
        self.assertEqual(code, 0, error)
        return [point["value"] for point in json.loads(out)["points"]]

    def write(self, table: str, address: int, value: str) -> None:
        code, out, error = self.bus("write", "--table", table, "--address", str(address), "--value",
                                    value, "--yes")
        self.assertEqual(code, 0, out + error)

    def talk(self) -> None:
        """Every table read, a coil and a register written and read back, and an exception."""
        self.assertEqual(self.read("holding", 3, 5), [3, 4, 5, 6, 7])
        self.assertEqual(self.read("input", 3, 5), [1003, 1004, 1005, 1006, 1007])
        self.assertEqual(self.read("coil", 3, 11), [1, 0] * 5 + [1])
        self.assertEqual(self.read("discrete", 0, 16), [0, 1] * 8)
        self.write("holding", 4, "4711")
        self.assertEqual(self.read("holding", 3, 3), [3, 4711, 5])
        self.write("coil", 4, "on")
        self.assertEqual(self.read("coil", 3, 3), [1, 1, 1])
        code, out, error = self.bus("read", "--table", "holding", "--address", "900", "--count", "2")
        self.assertEqual(code, 1)
        self.assertIn("exception 02", out + error)

    def on_a_cable(self) -> str:
        cable = Cable(self)
        # A pseudoterminal has no parity bit.
        self.place = ["--port", cable.place(0), "--baud", str(BAUD), "--parity", "none"]
        return cable.place(1)

    def test_pymodbus_on_a_pty(self):
        place = self.on_a_cable()
        PymodbusServer(self, lambda device: ModbusSerialServer(
            device, framer=FramerType.RTU, port=place, baudrate=BAUD, parity="N", stopbits=2))
        self.talk()

    def test_pymodbus_behind_tcp(self):
        peer = PymodbusServer(self, lambda device: ModbusTcpServer(
            device, framer=FramerType.RTU, address=("127.0.0.1", 0)))
        port = peer.server.transport.sockets[0].getsockname()[1]
        self.place = ["--rtu-over-tcp", f"127.0.0.1:{port}"]
        self.talk()

    def test_libmodbus_on_a_pty(self):
        LibmodbusServer(self, self.on_a_cable())
        self.talk()


if __name__ == "__main__":
    unittest.main()
