"""The simulator's serial line, through pymodbus: a master that shares no code with it."""

import contextlib
import json
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from gateway_process import find_gateway
from pymodbus import FramerType
from pymodbus.client import ModbusSerialClient, ModbusTcpClient
from pymodbus.exceptions import ModbusIOException

BAUD = 38400
END_S = 10.0


class SimLine:
    """`hallcall sim line`: unit 1 a car, 2 a relay board before another, 7 plain registers."""

    def __init__(self, case: unittest.TestCase, *options: str):
        self.process = subprocess.Popen(
            [str(find_gateway()), "sim", "line", "--baud", str(BAUD), "--floors", "4", "--speed",
             "20", "--unit", "1=car", "--unit", "2=relays", "--unit", "7=plain", *options],
            stdout=subprocess.PIPE, text=True)
        case.addCleanup(self.kill)
        said = self.process.stdout.readline().split()
        case.assertEqual((said[0], said[2:]), ("ready:", ["at", str(BAUD), "baud"]))
        self.place = said[1]

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(END_S)
        self.process.stdout.close()

    def end(self) -> dict:
        """What the line itself saw."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(END_S)
        return json.loads(self.process.stdout.readline())


@unittest.skipUnless(find_gateway(), "hallcall is not built")
class RtuLineTest(unittest.TestCase):
    def on_pty(self, *options: str):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="hallcall-line-"))
        line = SimLine(self, "--link", str(Path(folder) / "adapter"), *options)
        # A pseudoterminal has no parity bit; the line's characters have 11 bits all the same.
        client = ModbusSerialClient(line.place, framer=FramerType.RTU, baudrate=BAUD, parity="N",
                                    timeout=0.5, retries=3)
        return line, self.connected(client)

    def over_tcp(self, *options: str):
        line = SimLine(self, "--listen", "127.0.0.1:0", *options)
        host, port = line.place.split(":")
        client = ModbusTcpClient(host, framer=FramerType.RTU, port=int(port), timeout=0.5, retries=3)
        return line, self.connected(client)

    def connected(self, client):
        self.assertTrue(client.connect())
        self.addCleanup(client.close)
        return client

    def plain(self, client):
        """Every function on unit 7, whose points tell their own addresses until written."""
        def good(reply):
            self.assertFalse(reply.isError(), reply)
            return reply
        read = client.read_holding_registers
        self.assertEqual(good(read(100, count=5, device_id=7)).registers, [100, 101, 102, 103, 104])
        inputs = good(client.read_input_registers(65000, count=125, device_id=7)).registers
        self.assertEqual(inputs, list(range(65000, 65125)))
        coils = good(client.read_coils(3, count=11, device_id=7)).bits[:11]
        self.assertEqual(coils, [True, False] * 5 + [True])
        bits = good(client.read_discrete_inputs(0, count=2000, device_id=7)).bits
        self.assertEqual(bits, [False, True] * 1000)
        good(client.write_register(101, 7, device_id=7))
        good(client.write_registers(103, [8, 9], device_id=7))
        self.assertEqual(good(read(100, count=5, device_id=7)).registers, [100, 7, 102, 8, 9])
        good(client.write_coil(4, True, device_id=7))
        good(client.write_coils(5, [False] * 9, device_id=7))
        coils = good(client.read_coils(3, count=11, device_id=7)).bits[:11]
        self.assertEqual(coils, [True, True] + [False] * 9)

    def test_every_function_on_a_pty(self):
        line, client = self.on_pty()
        self.plain(client)
        seen = line.end()
        self.assertEqual(seen["answered"], {"7": 10})
        self.assertEqual((seen["unreadable"], seen["faults"]), (0, {}))

    def test_every_function_over_tcp(self):
        line, client = self.over_tcp()
        self.plain(client)
        self.assertEqual(line.end()["answered"], {"7": 10})

    def test_a_car_and_a_relay_board_ride_on_one_line(self):
        line, client = self.on_pty()
        client.write_coil(32 + 3, True, device_id=1)  # the car of unit 1 to the fourth floor
        # Relay 8 + 2 is the car call to the third floor.
        client.write_coil(8 + 2, True, device_id=2)
        client.write_coil(8 + 2, False, device_id=2)
        self.wait(lambda: client.read_input_registers(0, count=2, device_id=1).registers == [3, 2])
        # Inputs 8 to 11 are the floor sensors, 0 is the open limit of the door.
        self.wait(lambda: client.read_discrete_inputs(8, count=4, device_id=2).bits[:4]
                  == [False, False, True, False])
        self.wait(lambda: client.read_discrete_inputs(0, count=1, device_id=2).bits[0])
        refused = client.write_register(9, 0, device_id=1)
        self.assertEqual(refused.exception_code, 2)
        self.assertEqual(line.end()["unreadable"], 0)

    def test_faults_by_rate_are_survived_and_counted(self):
        line, client = self.on_pty("--seed", "3", "--fault", "bad_crc:0.1", "--fault",
                                   "no_reply:0.05", "--fault", "junk=20:0.1")
        right = 0
        for address in range(40):
            with contextlib.suppress(ModbusIOException):  # no answer, after all its retries
                reply = client.read_holding_registers(address, count=1, device_id=7)
                self.assertEqual(reply.registers, [address])
                right += 1
        self.assertGreater(right, 34)
        faults = line.end()["faults"]
        self.assertEqual(set(faults), {"H2", "H9", "junk"})

    def wait(self, is_so) -> None:
        deadline = time.monotonic() + 20
        while not is_so():
            self.assertLess(time.monotonic(), deadline)


if __name__ == "__main__":
    unittest.main()
